/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json-line.c - a log's line that is a JSON object: its message, its time and its host. */
#include <string.h>

#include "base/array.h"
#include "base/json-scan.h"
#include "why/line.h"

/* Keys of the message; if a line has several, the first in this order counts. */
static const char *const message_keys[] = { "log",  "message", "msg",
					    "text", "MESSAGE", "textPayload" };
static const char *const host_keys[] = { "hostname", "host",	  "node",    "node_name",
					 "pod",	     "_HOSTNAME", "pod_name" };
static const char *const time_keys[] = { "time", "timestamp", "@timestamp", "ts", "asctime" };

/* Takes VALUE if LIST has KEY before all keys that were taken until now. */
static void take(struct span key, struct json_raw value, const char *const *list, size_t count,
		 size_t *best, struct json_raw *out)
{
	for (size_t i = 0; i < *best && i < count; i++)
		if (span_is(key, list[i])) {
			*best = i;
			*out = value;
		}
}

static void take_rank(struct json_scan *s, struct json_line *out)
{
	struct json_digits digits;

	if (json_scan_number(s, &digits) && digits.whole && !digits.negative &&
	    digits.value < INT32_MAX)
		out->rank = (int64_t)digits.value;
}

/* A string with escapes is not accepted as a time or host. */
static struct span plain(struct json_raw raw)
{
	return raw.escapes ? (struct span){ 0 } : raw.text;
}

bool json_line_parse(struct json_line *out, struct span line, char *room)
{
	struct json_error error;
	_cleanup_scan_ struct json_scan s = { 0 };
	struct json_raw message = { 0 }, host = { 0 }, time = { 0 };
	size_t best_message = ARRAY_SIZE(message_keys), best_host = ARRAY_SIZE(host_keys),
	       best_time = ARRAY_SIZE(time_keys);

	*out = (struct json_line){ .rank = LINE_NONE };
	if (!line.n || *line.p != '{')
		return false;
	json_scan_begin(&s, line.p, line.n, &error);
	if (s.wrong || json_scan_type(&s) != json_type_object)
		return false;
	json_scan_enter(&s);
	while (json_scan_next(&s, '}')) {
		struct json_raw key, value;

		if (!json_scan_key(&s, &key) || !json_scan_colon(&s))
			return false;
		if (json_scan_type(&s) == json_type_string) {
			if (!json_scan_string(&s, &value))
				return false;
			take(key.text, value, message_keys, ARRAY_SIZE(message_keys), &best_message,
			     &message);
			take(key.text, value, host_keys, ARRAY_SIZE(host_keys), &best_host, &host);
			take(key.text, value, time_keys, ARRAY_SIZE(time_keys), &best_time, &time);
		} else if (span_is(key.text, "rank") && json_scan_type(&s) == json_type_int) {
			take_rank(&s, out);
		} else if (!json_scan_value(&s)) {
			return false;
		}
	}
	if (!json_scan_finish(&s) || !message.text.n)
		return false;
	out->message = (struct span){ room, json_decode(room, message.text) };
	out->host = plain(host);
	out->time = plain(time);
	return true;
}
