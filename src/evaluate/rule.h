/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rule.h - how rules are evaluated on a node. A rule is a row of a table in src/rules/AREA.c: its texts and one
 * function that sees the facts and nothing else. It reads no file, prints nothing and knows no
 * probe, so it says the same of this host, of a capture and of facts on another machine.
 *
 * An evaluate function gives at least one answer, and for each subject (a GPU, a port) at most one:
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

#include "base/array.h"
#include "evaluate/profiles.h"
#include "facts/facts.h"
#include "query/node-find.h"

enum severity { SEVERITY_INFO, SEVERITY_WARN, SEVERITY_ERR, SEVERITY_CRIT };
extern const char *const severity_words[];

/*
 * pass, fail (severity warn, err, crit), pending (configured, not in effect yet), unknown, not applicable,
 * and note: true, worth knowing, asks for nothing. A note is always of severity info and is never counted
 * as a failure; an answer of severity info is a note.
 */
enum verdict {
	VERDICT_PASS,
	VERDICT_FAIL,
	VERDICT_PENDING,
	VERDICT_UNKNOWN,
	VERDICT_NOTE,
	VERDICT_NOT_APPLICABLE
};
extern const char *const verdict_words[];

/* When a repair takes effect. Later values disturb the node more. */
enum activation {
	ACTIVATION_NONE,
	ACTIVATION_NOW,
	ACTIVATION_NEW_JOBS, /* for what starts from now on */
	ACTIVATION_RESTART,  /* when the service is restarted */
	ACTIVATION_RECREATE, /* when the container is created again */
	ACTIVATION_RELOAD,   /* when the driver or module is loaded again: not while jobs run */
	ACTIVATION_REBOOT,
	ACTIVATION_POWER_CYCLE
};
extern const char *const activation_words[];

/* Who can make the change if this program cannot. */
enum mender {
	MENDER_ADMIN,	 /* an administrator of this node, by hand */
	MENDER_FIRMWARE, /* the administrator of the machine's firmware */
	MENDER_HARDWARE, /* hardware service */
	MENDER_HOST,	 /* an administrator of the host that runs this guest or container */
	MENDER_PROVIDER, /* the cloud provider */
	MENDER_PROGRAM	 /* this program: the rule or the answer names a fix */
};
extern const char *const mender_words[];

/* What must be done, as a word for other programs. */
enum action {
	ACTION_DERIVED, /* from verdict, activation and mender: finding_action() */
	ACTION_NONE,
	ACTION_RELOAD,
	ACTION_REBOOT,
	ACTION_POWER_CYCLE,
	ACTION_RESET_GPU,
	ACTION_CONFIGURE,
	ACTION_UPDATE_FIRMWARE,
	ACTION_REPLACE_HARDWARE,
	ACTION_HOST_SIDE,
	ACTION_PROVIDER
};
extern const char *const action_words[]; /* by enum action */

/* How a remedy ends, or begins. One step can do this for several remedies, so their texts leave it out. */
enum then {
	THEN_IMAGE = 1 << 0,	   /* rebuild the initramfs */
	THEN_REBOOT = 1 << 1,	   /* reboot */
	THEN_RELOAD = 1 << 2,	   /* load the driver again */
	THEN_LOADER = 1 << 3,	   /* restart systemd-modules-load */
	FIRST_POWER_CYCLE = 1 << 4 /* before the rest: power the node off and on */
};

#define FIX_ARGS_MAX 4

/* A kind of repair (a file of src/fixes defines it, and says what its arguments mean), and the arguments.
 * KIND NULL: nothing that this program can change. */
struct fix_call {
	const char *kind;
	const char *args[FIX_ARGS_MAX];
};

#define RULE_CAUSES_MAX 6

struct rule_context;

struct rule {
	const char *id;	   /* area/condition; permanent */
	const char *title; /* what breaks for the user, as a statement about the node */
	bool is_reason_name; /* its reason, after the colon, begins with the name of a program or module */
	bool is_short_effect; /* its reason, after the colon, is no sentence without the effect before it */
	unsigned int profiles;	/* enum profile; base rules apply in every profile */
	enum severity severity; /* of a fail, unless the answer says otherwise */
	enum severity gravest;	/* that an answer may say; lower than severity: severity is */
	const char *impact;	/* what it does to the user's work */
	const char *remedy;	/* what to do, without what THEN adds */
	unsigned int then;	/* enum then: how the remedy ends */
	const char *command;	/* the same as shell commands to paste, one a line; or NULL */
	enum mender mender;	/* who can do it by hand */
	enum action action;
	struct fix_call fix;
	enum activation activation; /* of the fix, or of the remedy by hand */
	/* A failure of it means that this module is not loaded; "": the subject is the module. What the kernel log and
	 * the files say against loading it is put into the finding (refused.h). */
	const char *needs_module;
	bool needs_driver; /* the same where the subject is a PCI function without a driver */
	/* Rules whose failure on the same subject (or on the node) causes this one. */
	const char *follows[RULE_CAUSES_MAX];
	enum proof_trial trial; /* of prove that outranks what files say */
	const char *reads;	/* what is read */
	const char *why;	/* why it matters, and when it does not */
	const char *check;	/* how to check by hand */
	const char *cost;	/* what the repair costs or risks; NULL: nothing to mention */
	bool is_risk; /* the cost is a risk, or hits others: the steps have it in a line of its own */
	bool stops_boot; /* the next boot fails until it is repaired */
	bool in_image;	 /* in a container the files are those of its image */
	bool on_site;	 /* the remedy is at a cable, a switch or the fabric: no restart helps */
	bool needs_running; /* the remedy needs the driver and the links to run: after a restart that is needed anyway */
	const char *sources; /* one a line */
	void (*evaluate)(struct rule_context *ctx);
};

struct rule_table {
	const struct rule *rules;
	size_t count;
};

/* Belongs in src/rules/AREA.c, after static const struct rule AREA_rules[] = { ... }; */
#define RULE_TABLE(area)                             \
	extern const struct rule_table rules_##area; \
	const struct rule_table rules_##area = { area##_rules, ARRAY_SIZE(area##_rules) }

/* Returns all rules, sorted by id. */
const struct rule *const *rule_all(size_t *count);
const struct rule *rule_find(const char *id);
/* Returns the highest severity of the rule's findings, unless the configuration changes it. */
static inline enum severity rule_gravest(const struct rule *rule)
{
	return rule->gravest > rule->severity ? rule->gravest : rule->severity;
}

/* ---- evaluating ---- */

#define EVIDENCE_MAX 6

struct answer {
	enum verdict verdict;
	enum severity severity;
	bool graded;	     /* severity is the answer's own; set by FAIL_AS */
	const char *subject; /* BDF, device, variable; NULL: the node */
	const char *observed;
	const char *expected;
	/* Instead of the rule's, where they are set: */
	const char *impact;
	const char *remedy;
	unsigned int
		then; /* enum then, of the remedy above; the rule's own counts only for the rule's remedy */
	const char *command;
	const char *source; /* where this very answer is written, beside what the rule names */
	bool is_advice; /* a note whose remedy is worth doing for a profile: it comes before other notes */
	bool is_kept; /* the remedy asks to leave the setting as it is: it has no cost */
	bool is_alone; /* a problem of its own: what is to be done is not what the rule's other answers ask */
	enum activation activation;
	enum action action;
	enum mender mender;
	bool has_mender;	  /* mender is the answer's own */
	const char *needs_module; /* instead of the rule's */
	struct fix_call fix;
	bool has_fix; /* fix is the answer's own; with a kind of NULL there is none */
	const char *
		follows; /* id of the rule whose finding on the same subject or the node causes this */
	const char *follows_subject; /* the subject of that finding, where it is not this one's */
	bool follows_any;	     /* that finding can have any subject */
	const char *evidence[EVIDENCE_MAX]; /* paths of facts; for an UNKNOWN, what is missing */
};

struct finding {
	const struct rule *rule;
	struct answer answer;
	enum severity severity;
	const char *remedy;	/* the whole: with its end */
	const char *why_graded; /* the configuration's reason for another severity */
	/* The configuration switched the rule off, or an administrator has seen it. */
	bool off;
	const struct acknowledgement *acknowledged; /* the latter; else NULL */
	bool not_here;				    /* unknown of an image: see image.h */
	/* The result of a trial on the hardware (proof.h), or NULL. If there is one it decides the verdict, and
	 * CONFIGURED is the verdict of the facts alone. */
	const char *proved;
	enum verdict configured;
	const struct finding *follows_from; /* the finding that causes this one, or NULL */
	/* Why the facts that an unknown lacks are not known, and what would make them known; NULL: that is
	 * not recorded. */
	const struct gap *gap;
};

struct settings;
struct endpoints;

/* How many answers of RULE, by verdict and severity: enum verdict, enum severity. */
struct answered {
	const struct rule *rule;
	unsigned int count[VERDICT_NOT_APPLICABLE + 1][SEVERITY_CRIT + 1];
};

struct rule_context {
	struct answered answered; /* rule.c's */
	const struct node *node;
	const struct endpoints *endpoints; /* what of it many rules ask */
	const struct settings *settings;
	unsigned int profiles;
	struct arena *arena;
	bool only_wrong;	    /* no answer is needed for the rest */
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
/* The rule's severity must be info, or does not matter: a note is info. */
#define NOTE(ctx, ...)                                                \
	rule_answer(ctx, &(struct answer){ .verdict = VERDICT_NOTE,   \
					   .graded = true,            \
					   .severity = SEVERITY_INFO, \
					   __VA_ARGS__ })
#define FAIL(ctx, ...) rule_answer(ctx, &(struct answer){ .verdict = VERDICT_FAIL, __VA_ARGS__ })
#define FAIL_AS(ctx, s, ...)          \
	rule_answer(ctx,              \
		    &(struct answer){ \
			    .verdict = VERDICT_FAIL, .graded = true, .severity = s, __VA_ARGS__ })
#define PENDING(ctx, ...) \
	rule_answer(ctx, &(struct answer){ .verdict = VERDICT_PENDING, __VA_ARGS__ })
/* Needs .observed unless a file that could not be read is the reason. The first evidence is the missing fact. */
#define UNKNOWN(ctx, ...) \
	rule_answer(ctx, &(struct answer){ .verdict = VERDICT_UNKNOWN, __VA_ARGS__ })

void rule_answer(struct rule_context *ctx, const struct answer *answer);
/* Returns true if the rule that is evaluated has an answer for SUBJECT. */
bool rule_has_answered(const struct rule_context *ctx, const char *subject);
/* Values of a finding: its answer's own, else its rule's. */
const char *finding_impact(const struct finding *finding);
const char *finding_remedy(const struct finding *finding);
/* The same without its end, and that end (enum then). */
const char *finding_change(const struct finding *finding);
unsigned int finding_then(const struct finding *finding);
/* REMEDY with its end; that of a rule, which no node is asked about. */
const char *remedy_with(struct arena *arena, const char *remedy, unsigned int then);
#define REMEDY_MAX 1024
const char *rule_remedy(const struct rule *rule, char buffer[REMEDY_MAX]);
const char *finding_command(const struct finding *finding);
enum activation finding_activation(const struct finding *finding);
const struct fix_call *finding_fix(const struct finding *finding); /* NULL: none */
enum mender finding_mender(const struct finding *finding);
enum action finding_action(const struct finding *finding);
/* Fail or pending: something is to be done. */
static inline bool finding_is_problem(const struct finding *finding)
{
	return finding->answer.verdict == VERDICT_FAIL ||
	       finding->answer.verdict == VERDICT_PENDING;
}
/* Grades it: a fail or pending of severity info is a note, a note of a higher one is a fail. */
void finding_set_severity(struct finding *finding, enum severity severity);

/* A string in the report's arena. */
const char *text_printf(struct rule_context *ctx, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* 256 GiB, 32 MiB, 100 B */
const char *format_bytes(struct arena *arena, uint64_t bytes);
/* Returns true if any of these profiles is asked for. */
static inline bool is_asked_for(const struct rule_context *ctx, unsigned int profiles)
{
	return (ctx->profiles & profiles) != 0;
}

#endif
