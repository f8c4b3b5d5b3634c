/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rule.h - how rules are evaluated on a node.
 *
 * A rule is a row of a table in a file of src/rules/: its texts, and one function that gets the facts and nothing else.
 * The function reads no file, prints nothing and calls no probe, so its answers are equal for this host, a capture and
 * the facts of another machine.
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
#include "query/cure.h"
#include "query/node-find.h"
#include "query/repaired-by.h"

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

extern const char *const repaired_by_words[]; /* by enum repaired_by */

/* What must be done, as a word for other programs. */
enum action {
	ACTION_DERIVED, /* from verdict, activation and who repairs it: finding_action() */
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

#define FIX_ARGS_MAX 4

/* A kind of repair (a file of src/fixes defines it, and says what its arguments mean), and the arguments.
 * KIND NULL: nothing that this program can change. */
struct fix_call {
	const char *kind;
	const char *args[FIX_ARGS_MAX];
};

/*
 * What a failure means, and what to do about it. A rule has one. An answer has one too, and each of its members that is
 * not 0 replaces the rule's. struct rule and struct answer have it as a member without a name (-fms-extensions).
 */
struct failure {
	const char *impact; /* what it does to the user's work */
	/* A failure means that this module is not loaded; "": the subject is the module. The finding then has the
	 * reason why a load fails (refused.h). */
	const char *needs_module;
	const char *remedy; /* without what THEN adds */
	unsigned int then;  /* enum remedy_end: how the remedy ends. It belongs to REMEDY */
	/* REMEDY as shell commands, one a line; NULL: none. It belongs to REMEDY. In place of BDF the finding has the
	 * address that is its subject. */
	const char *command;
	struct fix_call fix;
	enum repaired_by repaired_by; /* if there is no fix */
	enum action action;
	enum activation activation; /* of the fix or the remedy */
	bool ends_jobs; /* the repair ends or disturbs running jobs: the node is drained first */
	bool wrong_data; /* jobs compute wrong results without an error: it comes before others as grave */
};

#define RULE_CAUSES_MAX 6

/* The variables by which jobs ask for RDMA, and for networking that a GPU starts itself. */
#define USED_BY_RDMA_JOBS "NCCL_IB_HCA NVSHMEM_HCA_LIST NVSHMEM_HCA_PE_MAPPING !NCCL_IB_DISABLE=1"
#define USED_BY_GIN_JOBS "NCCL_GIN_TYPE=3 NVSHMEM_IBGDA_NIC_HANDLER=gpu"

struct rule_context;

struct rule {
	const char *id; /* area/condition; permanent */
	void (*evaluate)(struct rule_context *ctx);
	unsigned int profiles; /* enum profile; base rules apply in every profile */
	/* The rule is evaluated in every profile if its software is in use (used.h): if one of these modules is loaded,
	 * or a file loads it at boot. The names are separated by blanks. */
	const char *used_modules;
	/* Its software is also in use if a job has one of these variables. Each word is NAME, NAME=VALUE, or the
	 * beginning of names and "*". A word !NAME or !NAME=VALUE says that the software is not in use if that is
	 * set. */
	const char *used_variables;

	/* Of its findings. */
	enum severity severity; /* of a fail, unless the answer has its own */
	/* The highest that an answer may have. If it is lower than severity, severity is. */
	enum severity max_severity;
	/* Rules whose failure on the same subject, or on the node, causes this one. */
	const char *follows[RULE_CAUSES_MAX];
	enum proof_trial trial; /* of prove; its result outranks the facts */
	/* A failure means that a PCI function, the subject, has no driver. The finding then has the reason why the
	 * driver's module does not load (refused.h). */
	bool needs_driver;
	/* The head of a report names the subjects of failures (NICs without an RDMA device), or counts the findings
	 * (earlier repairs and whether they took effect). */
	bool lacks_rdma_device;
	bool is_about_repairs;

	/* What breaks. A title is EFFECT: REASON. */
	const char *title;    /* what breaks for the user, as a statement about the node */
	bool is_reason_name;  /* REASON begins with the name of a program or module */
	bool is_short_effect; /* REASON is no sentence without EFFECT */

	struct failure;		 /* what a failure means, and what to do */
	bool stops_boot;	 /* the next boot fails until it is repaired */
	bool in_container_image; /* in a container the files are those of the container image */
	bool on_site;	    /* the remedy is at a cable, a switch or the fabric: no restart helps */
	bool needs_running; /* the remedy needs the driver and the links: it comes after a restart */
	const char *cost;   /* what the repair costs or risks; NULL: nothing to mention */
	bool is_risk;	    /* the cost is a risk, or disturbs others: the steps show it */

	/* For explain and nvnodecheck-rules(7). */
	const char *reads;   /* the files and facts that are read */
	const char *why;     /* why it matters, and when it does not */
	const char *check;   /* how to check by hand */
	const char *sources; /* one a line: a document, its version and a place in it */
};

struct rule_table {
	const struct rule *rules;
	size_t count;
};

/* The last line of a file in src/rules/. The table before it is static const struct rule NAME_rules[]. */
#define RULE_TABLE(name)                             \
	extern const struct rule_table rules_##name; \
	const struct rule_table rules_##name = { name##_rules, ARRAY_SIZE(name##_rules) }

/* Returns all rules, sorted by id. */
const struct rule *const *rule_all(size_t *count);
const struct rule *rule_find(const char *id);
/* Returns the highest severity of the rule's findings, unless the configuration changes it. */
static inline enum severity rule_max_severity(const struct rule *rule)
{
	return rule->max_severity > rule->severity ? rule->max_severity : rule->severity;
}

/* ---- evaluating ---- */

#define EVIDENCE_MAX 6

struct answer {
	enum verdict verdict;
	const char *subject;	/* BDF, device, variable; NULL: the node */
	enum severity severity; /* if graded */
	bool graded;		/* severity is the answer's own; set by FAIL_AS and NOTE */
	const char *title;	/* EFFECT: REASON, in place of the rule's; or NULL */
	const char *observed;
	const char *expected;
	const char *evidence[EVIDENCE_MAX]; /* paths of facts; of an UNKNOWN, what is missing */
	const char *source; /* where this answer is written, beside the rule's sources; or NULL */
	bool is_advice; /* a note whose remedy is worth doing for a profile: it comes before other notes */
	/* The service that does not start: if it runs, the failure is a warning of its next start (next-start.h). */
	const char *stops;
	bool is_unit_restart; /* a restart of the unit is the whole remedy: a reboot does it too */
	bool needs_nvml;      /* of an UNKNOWN: --nvml answers it */
	bool is_alone; /* a problem of its own: its remedy is not that of the rule's other answers */

	struct failure; /* replaces the rule's, member by member. A REMEDY replaces THEN and COMMAND too */
	bool has_fix; /* FIX replaces the rule's. If its kind is NULL, there is no fix */
	bool is_kept; /* the remedy asks to leave the setting as it is: the rule's cost does not count */

	/* The cause, beside the rule's follows. */
	const char *follows; /* id of a rule */
	/* the subject of that rule's finding; NULL: this one's, or the node */
	const char *follows_subject;
	bool follows_any; /* that finding can have any subject */
};

struct finding {
	const struct rule *rule;
	struct answer answer;
	enum severity severity;
	const char *remedy;	/* the whole: with its end */
	const char *command;	/* with the address of its device; NULL: none */
	const char *why_graded; /* the configuration's reason for another severity */
	/* The configuration switched the rule off, or an administrator has seen it. */
	bool off;
	const struct acknowledgement *acknowledged; /* if an administrator has seen it; else NULL */
	bool not_here; /* unknown of a mounted image: see mounted-image.h */
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

/* The number of answers of RULE, by enum verdict and enum severity. */
struct answered {
	const struct rule *rule;
	unsigned int count[VERDICT_NOT_APPLICABLE + 1][SEVERITY_CRIT + 1];
};

struct rule_context {
	struct answered answered; /* only rule.c uses it */
	const struct node *node;
	const struct endpoints *endpoints; /* of the node: many rules ask for them */
	const struct settings *settings;
	unsigned int profiles;
	struct arena *arena;
	bool only_wrong;	    /* PASS and NOT_APPLICABLE need no texts */
	const struct rule *rule;    /* the one that is evaluated */
	struct fact_list *findings; /* LIST(struct finding) */
};

/* With only_wrong the arguments of these answers are not evaluated. */
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
/* Values of a finding: those of its answer, else those of its rule. NULL: it has none. */
const char *finding_title(const struct finding *finding);
const char *finding_impact(const struct finding *finding);
/* A trial failed although the setting is right: another repair than the rule's, which would set it again. */
void finding_keep_setting(struct finding *finding);
const char *finding_remedy(const struct finding *finding);
/* The remedy without its end, and the end (enum remedy_end). */
const char *finding_change(const struct finding *finding);
unsigned int finding_then(const struct finding *finding);
/* Returns REMEDY with its end, in ARENA. */
const char *remedy_with(struct arena *arena, const char *remedy, unsigned int then);
#define REMEDY_MAX 1024
/* Returns the remedy of RULE with its end, in BUFFER. */
const char *rule_remedy(const struct rule *rule, char buffer[REMEDY_MAX]);
enum activation finding_activation(const struct finding *finding);
const struct fix_call *finding_fix(const struct finding *finding); /* NULL: none */
/* Never BY_UNSET; BY_PROGRAM if a fix exists. */
enum repaired_by rule_repaired_by(const struct rule *rule);
enum repaired_by finding_repaired_by(const struct finding *finding);
enum action finding_action(const struct finding *finding);
/* Returns true for fail and pending: something is to be done. */
static inline bool finding_is_problem(const struct finding *finding)
{
	return finding->answer.verdict == VERDICT_FAIL ||
	       finding->answer.verdict == VERDICT_PENDING;
}
/* A fail or pending of severity info becomes a note, and a note of a higher severity a fail. */
void finding_set_severity(struct finding *finding, enum severity severity);
/* Sets the severity of the findings of this rule from number BEFORE on. */
void rule_regrade(struct rule_context *ctx, size_t before, enum severity severity);

/* Returns a string in the report's arena, in UTF-8. */
const char *text_printf(struct rule_context *ctx, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Returns BYTES as text in ARENA: 256 GiB, 32 MiB, 100 B, unlimited. */
const char *format_bytes(struct arena *arena, uint64_t bytes);
/* Returns true if any of these profiles is asked for. */
static inline bool is_asked_for(const struct rule_context *ctx, unsigned int profiles)
{
	return (ctx->profiles & profiles) != 0;
}

#endif
