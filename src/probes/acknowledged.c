/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acknowledged.c - findings that an administrator has seen, from the file that nvnodecheck ack writes. */
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "facts/own-files.h"
#include "probes/probe.h"

static struct fact_str text_of(struct arena *arena, struct json_object *json, const char *key)
{
	const char *text = json_string(json, key);

	return text ? fact_str(arena, text) : FACT_NONE(fact_str);
}

static bool read_until(struct json_object *json, struct acknowledgement *a)
{
	const char *word = json_string(json, "until");
	uint64_t time_s;

	for (unsigned int i = 0; word && acknowledged_until_words[i]; i++)
		if (strcmp(word, acknowledged_until_words[i]) == 0)
			a->until = fact_enum(i);
	if (!is_known(a->until))
		return false;
	if (a->until.value != ACKNOWLEDGED_UNTIL_TIME)
		a->until_s.state = FACT_ABSENT;
	else if (json_number(json, "until_s", &time_s))
		a->until_s = fact_u64(time_s);
	else
		return false;
	return true;
}

static bool read_one(struct arena *arena, struct json_object *json, struct acknowledgement *a)
{
	uint64_t time_s;

	a->rule = text_of(arena, json, "rule");
	a->subject = text_of(arena, json, "subject");
	a->observed = text_of(arena, json, "observed");
	a->reason = text_of(arena, json, "reason");
	a->boot_id = text_of(arena, json, "boot_id");
	if (!json_number(json, "time_s", &time_s))
		return false;
	a->time_s = fact_u64(time_s);
	return is_known(a->rule) && is_known(a->reason) && read_until(json, a);
}

/* Reads the whole list or nothing: no entry of a damaged file counts. */
static int read_list(struct acknowledged_facts *facts, struct arena *arena, const struct text *text)
{
	_cleanup_json_ struct json_object *json = NULL;
	struct json_object *list;
	struct json_error error;
	bool later;

	json = json_parse(text->data, text->size, &error);
	list = json ? json_member(json, "findings") : NULL;
	if (!json || json_check_document(json, OWN_ACKNOWLEDGED_FORMAT, &later, &error) ||
	    !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > OWN_ACKNOWLEDGED_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (!read_one(arena, json_object_array_get_idx(list, i),
			      LIST_ADD(arena, &facts->findings)))
			return -EBADMSG;
	return 0;
}

static int acknowledged_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct acknowledged_facts *answer = facts, read = { 0 };
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(host, &text, OWN_ACKNOWLEDGED_BYTES_MAX, "%s", OWN_ACKNOWLEDGED);

	(void)user;
	if (rc == 0)
		rc = read_list(&read, arena, &text);
	if (rc && rc != -ENOENT)
		return rc;
	read.findings.state = FACT_KNOWN;
	*answer = read;
	return 0;
}

/* Boot and time decide how long they hold, which preflight reads for nothing else. */
static void read_now(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;

	if (is_unknown(os->boot_id))
		probe_str(ctx, &os->boot_id, "/proc/sys/kernel/random/boot_id");
	if (is_unknown(os->observed_time_s))
		os->observed_time_s = fact_u64((uint64_t)time(NULL));
}

static void acknowledged_run(struct probe_context *ctx)
{
	struct acknowledged_facts *facts = &ctx->node->acknowledged;
	int rc = host_query(ctx->host, OWN_ACKNOWLEDGED, &acknowledged_facts_desc, facts,
			    ctx->arena, acknowledged_ask, NULL);

	if (rc == -EBADMSG)
		host_gap_note(ctx->host, OWN_ACKNOWLEDGED, rc, "not what 'ack' writes");
	if (facts->findings.count && ctx->preflight)
		read_now(ctx);
}

const struct probe probe_acknowledged = {
	.name = "acknowledged",
	.phase = PHASE_ALONE,
	PROBE_SECTION(acknowledged),
	.run = acknowledged_run,
	.preflight = { .run = acknowledged_run },
};
