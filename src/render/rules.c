/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules.c - prints the rules as a list, and one of them in full. */
#include <string.h>

#include "evaluate/used.h"
#include "fixes/fix.h"
#include "render/render.h"

#define INDENT 4

const char *render_profiles(unsigned int profiles, char buffer[64])
{
	size_t n = 0;

	buffer[0] = '\0';
	for (unsigned int i = 0; profile_words[i] && n < 60; i++)
		if (profiles & 1u << i)
			n += (size_t)snprintf(buffer + n, 64 - n, "%s%s", n ? "," : "",
					      profile_words[i]);
	return buffer;
}

const char *activation_text(enum activation activation)
{
	switch (activation) {
	case ACTIVATION_NOW:
		return "at once";
	case ACTIVATION_NEW_JOBS:
		return "for new jobs and logins";
	case ACTIVATION_RESTART:
		return "when the service is restarted";
	case ACTIVATION_RECREATE:
		return "when the container is created again";
	case ACTIVATION_RELOAD:
		return "when the module is loaded again";
	case ACTIVATION_REBOOT:
		return "at the next boot";
	case ACTIVATION_POWER_CYCLE:
		return "after a power cycle";
	case ACTIVATION_NONE:
		break;
	}
	return NULL;
}

enum exit_status render_rules_text(const struct rule *const *rules, size_t count,
				   const struct render_options *options)
{
	struct page page;
	char buffer[64];

	page_begin(&page, options->color, options->pager);
	page_printf(&page, "%-40s %-4s %-20s%s\n", "RULE", "SEV", "FIX", "PROFILES");
	for (size_t i = 0; i < count; i++)
		page_printf(&page, "%-40s %-4s %-20s%s\n", rules[i]->id,
			    severity_words[rules[i]->severity],
			    rules[i]->fix.kind ? rules[i]->fix.kind : "-",
			    render_profiles(rules[i]->profiles, buffer));
	return page_end(&page, EXIT_WELL);
}

enum exit_status render_rules_titles(const struct rule *const *rules, size_t count,
				     const struct render_options *options)
{
	struct page page;

	page_begin(&page, options->color, options->pager);
	page_printf(&page, "%zu rules; name one of them to have it explained.\n\n", count);
	for (size_t i = 0; i < count; i++) {
		page_printf(&page, "%s%s%s\n%*s", page_style(&page, STYLE_BOLD), rules[i]->id,
			    page_style(&page, STYLE_PLAIN), INDENT, "");
		text_wrap(page.out, rules[i]->title, INDENT, INDENT, page.width);
	}
	return page_end(&page, EXIT_WELL);
}

static void section(struct page *page, const char *title, const char *text)
{
	if (!text || !*text)
		return;
	page_printf(page, "\n%s%s%s\n", page_style(page, STYLE_BOLD), title,
		    page_style(page, STYLE_PLAIN));
	text_wrap_lines(page->out, text, INDENT, page->width);
}

/* Returns what a reader can do who may not change the node; NULL if there is nothing to change. */
static const char *without_root(const struct rule *rule)
{
	if (!rule->remedy || rule->severity < SEVERITY_WARN)
		return NULL;
	if (starts_with(rule->id, "env/"))
		return "The user who starts the job can make this change in the job's environment.";
	return "nvnodecheck doctor --for provider writes a request, with the evidence, that you can send to the "
	       "administrator or the provider of the node.";
}

enum exit_status render_rule_text(const struct rule *rule, const struct render_options *options)
{
	struct page page;
	const struct fix *fix = rule->fix.kind ? fix_find(rule->fix.kind) : NULL;
	char buffer[64], text[512], used[USED_TEXT_MAX], remedy[REMEDY_MAX];

	page_begin(&page, options->color, options->pager);
	page_printf(&page, "%s%s%s\n", page_style(&page, STYLE_BOLD), rule->id,
		    page_style(&page, STYLE_PLAIN));
	text_wrap(page.out, rule->title, INDENT, 0, page.width);
	snprintf(text, sizeof(text), "severity %s; profiles %s%s%s", severity_words[rule->severity],
		 render_profiles(rule->profiles, buffer),
		 rule_used_text(rule, used) ? "; in all profiles with " : "",
		 rule_used_text(rule, used) ? used : "");
	text_wrap(page.out, text, INDENT, 0, page.width);
	section(&page, "What it does to a job", rule->impact);
	section(&page, "What to do", rule_remedy(rule, remedy));
	if (rule->fix.kind)
		snprintf(text, sizeof(text), "%s: %s%s%s.", rule->fix.kind, fix ? fix->title : "",
			 rule->activation ? "; takes effect " : "",
			 rule->activation ? activation_text(rule->activation) : "");
	else
		snprintf(text, sizeof(text), "This program does not repair it%s",
			 rule->remedy ? "; see What to do." : ".");
	section(&page, "Repair", text);
	section(&page, "What it costs", rule->cost);
	section(&page, "Without root", without_root(rule));
	section(&page, "How to check by hand", rule->check);
	section(&page, "Why it matters", rule->why);
	section(&page, "What is read", rule->reads);
	section(&page, "Sources", rule->sources);
	return page_end(&page, EXIT_WELL);
}
