/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rule.h - how a node is judged. A rule is a row of a table in src/rules/AREA.c: its texts and one
 * function that sees the facts and nothing else. It reads no file, prints nothing and knows no
 * probe, so it says the same of this host, of a capture and of facts on another machine.
 *
 * A judging function gives at least one answer, and for each subject (a GPU, a port) at most one:
 *
 *     static void check_uvm(struct rule_context *ctx)
 *     {
 *             if (!is_known(ctx->node->modules.loaded))
 *                     UNKNOWN(ctx, .evidence = { "modules.loaded" });
 *             else if (node_module(ctx->node, "nvidia_uvm"))
 *                     PASS(ctx, .evidence = { "modules.loaded[nvidia_uvm].state" });
 *             else
 *                     FAIL(ctx, .observed = "nvidia_uvm is not loaded", ...);
 *     }
 *
 * Never PASS on what is not known; never FAIL on what does not apply.
 */
#ifndef RULE_H
#define RULE_H

#include "evaluate/profiles.h"
#include "facts/facts.h"
#include "query/node-find.h"

enum severity { SEVERITY_INFO, SEVERITY_WARN, SEVERITY_ERR, SEVERITY_CRIT };
extern const char *const severity_words[];

enum verdict {
	VERDICT_PASS,
	VERDICT_FAIL,
	VERDICT_PENDING,
	VERDICT_UNKNOWN,
	VERDICT_NOT_APPLICABLE
};
extern const char *const verdict_words[];

/* When a repair takes effect. */
enum activation {
	ACTIVATION_NONE,
	ACTIVATION_NOW,
	ACTIVATION_RELOAD,
	ACTIVATION_REBOOT,
	ACTIVATION_POWER_CYCLE
};
extern const char *const activation_words[];

struct rule_context;

struct rule {
	const char *id;		/* area/condition; permanent */
	const char *title;	/* what is wrong, as a statement about the node */
	unsigned int profiles;	/* enum profile; base rules apply in every profile */
	enum severity severity; /* of a fail, unless the answer says otherwise */
	enum severity gravest;	/* that an answer may say; lower than severity: severity is */
	const char *impact;	/* what it does to the user's work */
	const char *remedy;	/* what to do */
	const char *fix;	/* the kind of repair, or NULL: nothing that software can change */
	enum activation activation; /* of that repair, or of the remedy by hand */
	const char *reads;	    /* what is read */
	const char *why;	    /* why it matters, and when it does not */
	const char *check;	    /* how to check by hand */
	const char *cost;	    /* what the repair costs or risks; NULL: nothing to mention */
	const char *sources;	    /* one a line */
	void (*evaluate)(struct rule_context *ctx);
};

struct rule_table {
	const struct rule *rules;
	size_t count;
};

/* In src/rules/AREA.c, after static const struct rule AREA_rules[] = { ... }; */
#define RULE_TABLE(area)                                       \
	extern const struct rule_table rules_##area;           \
	const struct rule_table rules_##area = { area##_rules, \
						 sizeof(area##_rules) / sizeof(area##_rules[0]) }

/* All rules, sorted by id. */
const struct rule *const *rule_all(size_t *count);
const struct rule *rule_find(const char *id);
/* No finding of the rule is graver, but where the configuration says so. */
static inline enum severity rule_gravest(const struct rule *rule)
{
	return rule->gravest > rule->severity ? rule->gravest : rule->severity;
}

/* ---- judging ---- */

#define EVIDENCE_MAX 6

struct answer {
	enum verdict verdict;
	enum severity severity;
	bool graded;	     /* severity is the answer's own; set by FAIL_AS */
	const char *subject; /* BDF, device, variable; NULL: the node */
	const char *observed;
	const char *expected;
	const char *impact;		    /* instead of the rule's */
	const char *remedy;		    /* instead of the rule's */
	enum activation activation;	    /* instead of the rule's */
	const char *evidence[EVIDENCE_MAX]; /* paths of facts; for an UNKNOWN, what is missing */
};

struct finding {
	const struct rule *rule;
	struct answer answer;
	enum severity severity;
	const char *why_graded; /* the configuration's reason for another severity */
	bool off;		/* the configuration switched the rule off */
	/* What a trial on the hardware showed of it (proof.h); NULL: nothing. The verdict is the trial's
	 * then, and CONFIGURED what the facts alone would have said. */
	const char *proved;
	enum verdict configured;
	/* Why the facts that an unknown lacks are not known, and what would make them known; NULL: that is
	 * not recorded. */
	const struct gap *gap;
};

struct settings;
struct endpoints;

struct rule_context {
	const struct node *node;
	const struct endpoints *endpoints; /* what of it many rules ask */
	const struct settings *settings;
	unsigned int profiles;
	struct arena *arena;
	bool only_wrong;	    /* nobody asks what is said of the rest */
	const struct rule *rule;    /* the one being asked */
	struct fact_list *findings; /* LIST(struct finding) */
};

/* An answer that may be left out: then what it would say is not even put together. */
extern const struct answer answer_bare[]; /* by verdict */
#define ANSWER_GOOD(ctx, v, ...)                             \
	rule_answer(ctx, (ctx)->only_wrong ? &answer_bare[v] \
					   : &(const struct answer){ .verdict = v, __VA_ARGS__ })
#define PASS(ctx, ...) ANSWER_GOOD(ctx, VERDICT_PASS, __VA_ARGS__)
#define NOT_APPLICABLE(ctx, ...) ANSWER_GOOD(ctx, VERDICT_NOT_APPLICABLE, __VA_ARGS__)
#define FAIL(ctx, ...) rule_answer(ctx, &(struct answer){ .verdict = VERDICT_FAIL, __VA_ARGS__ })
#define FAIL_AS(ctx, s, ...)          \
	rule_answer(ctx,              \
		    &(struct answer){ \
			    .verdict = VERDICT_FAIL, .graded = true, .severity = s, __VA_ARGS__ })
#define PENDING(ctx, ...) \
	rule_answer(ctx, &(struct answer){ .verdict = VERDICT_PENDING, __VA_ARGS__ })
/* With .observed when the reason is not a file that could not be read; the first evidence is the
 * fact that is missing. */
#define UNKNOWN(ctx, ...) \
	rule_answer(ctx, &(struct answer){ .verdict = VERDICT_UNKNOWN, __VA_ARGS__ })

void rule_answer(struct rule_context *ctx, const struct answer *answer);
/* Has the rule that is being asked answered for SUBJECT? */
bool rule_has_answered(const struct rule_context *ctx, const char *subject);
/* A string in the report's arena. */
const char *text_printf(struct rule_context *ctx, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* 256 GiB, 32 MiB, 100 B */
const char *format_bytes(struct arena *arena, uint64_t bytes);
/* Is any of these profiles asked for? */
static inline bool is_asked_for(const struct rule_context *ctx, unsigned int profiles)
{
	return (ctx->profiles & profiles) != 0;
}

#endif
