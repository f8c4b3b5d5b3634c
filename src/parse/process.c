/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process.c - text about one process: /proc/PID/status, uid_map, environ. */
#include "parse/process.h"

#include <string.h>
#include <strings.h>

#include "base/array.h"

static struct span after(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

/* Gets the text after "NAME:". */
static bool field(struct span text, const char *name, struct span *value)
{
	struct span line;

	while (span_cut(&text, '\n', &line)) {
		if (!span_starts(line, name))
			continue;
		*value = after(line, strlen(name));
		return true;
	}
	return false;
}

bool process_uids(struct span status, uint64_t *real, uint64_t *effective)
{
	struct span value, first, second;

	/* The saved and the file system user id follow. */
	return field(status, "Uid:", &value) && span_word(&value, &first) &&
	       span_word(&value, &second) && span_u64(first, 10, real) == 0 &&
	       span_u64(second, 10, effective) == 0;
}

static bool number_of(struct span status, const char *name, int base, uint64_t *number)
{
	struct span value, word;

	return field(status, name, &value) && span_word(&value, &word) &&
	       span_u64(word, base, number) == 0;
}

bool process_capabilities(struct span status, const char *name, uint64_t *capabilities)
{
	return number_of(status, name, 16, capabilities);
}

bool process_number(struct span status, const char *name, uint64_t *number)
{
	return number_of(status, name, 10, number);
}

bool process_has_group(struct span status, uint64_t gid)
{
	struct span value, word;
	uint64_t number;

	if (field(status, "Gid:", &value) && span_word(&value, &word) && span_word(&value, &word) &&
	    span_u64(word, 10, &number) == 0 && number == gid)
		return true;
	if (!field(status, "Groups:", &value))
		return false;
	while (span_word(&value, &word))
		if (span_u64(word, 10, &number) == 0 && number == gid)
			return true;
	return false;
}

bool process_is_initial_namespace(struct span uid_map)
{
	static const char *const map[] = { "0", "0", "4294967295" };
	struct span word;

	for (size_t i = 0; i < 3; i++)
		if (!span_word(&uid_map, &word) || !span_is(word, map[i]))
			return false;
	return !span_word(&uid_map, &word);
}

/* The name of the program before the fields is in parentheses, and may have any bytes. */
static bool field_of_stat(struct span stat, unsigned int number, uint64_t *value)
{
	const char *end = memrchr(stat.p, ')', stat.n);
	struct span rest, word;

	if (!end)
		return false;
	rest = after(stat, (size_t)(end + 1 - stat.p));
	for (unsigned int i = 2; i < number; i++)
		if (!span_word(&rest, &word))
			return false;
	return span_u64(word, 10, value) == 0;
}

bool process_has_no_variables(struct span stat)
{
	uint64_t start, end;

	return field_of_stat(stat, 50, &start) && field_of_stat(stat, 51, &end) && start &&
	       start == end;
}

bool process_environ_is_whole(struct span block)
{
	struct span entry;

	for (bool first = true; span_cut(&block, '\0', &entry); first = false)
		if (!entry.n || (first && span_find(entry, '=') == entry.n))
			return false;
	return true;
}

bool process_environ_next(struct span *rest, struct span *name, struct span *value)
{
	struct span entry;

	while (span_cut(rest, '\0', &entry)) {
		size_t equals = span_find(entry, '=');

		*name = (struct span){ entry.p, equals };
		if (equals == entry.n || !equals)
			continue;
		*value = after(entry, equals + 1);
		return true;
	}
	return false;
}

bool process_environ_find(struct span block, const char *name, struct span *value)
{
	struct span found;

	while (process_environ_next(&block, &found, value))
		if (span_is(found, name))
			return true;
	return false;
}

/* HOST: MC_HOST_s3=https://ACCESS:SECRET@host names a server of MinIO's client. */
static bool holds_secret(struct span name)
{
	static const char *const words[] = {
		"KEY", "APIKEY", "TOKEN", "SECRET", "AUTH", "PASS", "PW",
		"PWD", "CRED",	 "CREDS", "HOST",   "URL",  "URI",
	};
	static const char *const beginnings[] = { "PASSW", "PASSPHR", "CREDENTIAL", "SECRET" };
	struct span word;

	while (span_cut(&name, '_', &word)) {
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (word.n == strlen(words[i]) &&
			    strncasecmp(word.p, words[i], word.n) == 0)
				return true;
		for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
			if (word.n >= strlen(beginnings[i]) &&
			    strncasecmp(word.p, beginnings[i], strlen(beginnings[i])) == 0)
				return true;
	}
	return false;
}

bool process_variable_matters(struct span name)
{
	static const char *const prefixes[] = { "NCCL_",
						"NVSHMEM_",
						"GLOO_",
						"UCX_",
						"EP_",
						"DEEP_EP_",
						"SGLANG_DEEPEP_",
						"MC_",
						"MLX5_",
						"GDRCOPY_",
						"CUDA_",
						"NVIDIA_",
						"TORCH_NCCL_",
						"FI_EFA_",
						"FI_PROVIDER",
						"TP_SOCKET_",
						"OMPI_MCA_btl_tcp_if_",
						"OMPI_MCA_oob_tcp_if_" };

	if (span_is(name, "LD_LIBRARY_PATH") || span_is(name, "LD_PRELOAD"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (span_starts(name, prefixes[i]))
			return !holds_secret(name);
	return false;
}

#define STARTED_FIELD 22
#define MS_PER_TICK 10

bool process_started(struct span stat, uint64_t *ms)
{
	if (!field_of_stat(stat, STARTED_FIELD, ms) || *ms > UINT64_MAX / MS_PER_TICK)
		return false;
	*ms *= MS_PER_TICK;
	return true;
}
