/* SPDX-License-Identifier: GPL-2.0-or-later */
/* param-value.c - checks whether the kernel accepts a value for a module's parameter. */
#include "parse/param-value.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "base/span.h"

/* Bits of the type, on 64-bit kernels, the only ones with drivers. */
static const struct number {
	const char *type;
	unsigned int bits;
	bool negative;
} numbers[] = {
	{ "byte", 8, false }, { "short", 16, true },  { "ushort", 16, false },
	{ "int", 32, true },  { "uint", 32, false },  { "hexint", 32, false },
	{ "long", 64, true }, { "ulong", 64, false }, { "ullong", 64, false },
};

static const char *refuses_number(const struct number *n, struct span s)
{
	uint64_t most = UINT64_MAX >> (64 - n->bits), value;
	bool minus = n->negative && s.n && *s.p == '-';
	int rc;

	/* kstrtoull() allows one line break at the end. */
	if (s.n && s.p[s.n - 1] == '\n')
		s.n--;
	if (minus || (s.n && *s.p == '+'))
		s = (struct span){ s.p + 1, s.n - 1 };
	rc = span_u64(s, 0, &value);
	if (rc == -EINVAL)
		return "is not a whole number";
	if (n->negative)
		most = (most >> 1) + minus;
	return rc || value > most ? "does not fit its type" : NULL;
}

/* kstrtobool() looks at the first two characters. Those that it has only learnt with Linux 6.7 pass. */
static const char *refuses_bool(struct span s)
{
	if (s.n && strchr("yYtT1nNfF0", *s.p))
		return NULL;
	if (s.n > 1 && strchr("oO", *s.p) && strchr("nNfF", s.p[1]))
		return NULL;
	return "is neither Y nor N";
}

static const char *refuses(struct span type, struct span value)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (span_is(type, numbers[i].type))
			return refuses_number(&numbers[i], value);
	if (span_is(type, "bool") || span_is(type, "invbool") || span_is(type, "bint"))
		return refuses_bool(value);
	return NULL;
}

const char *param_refuses(const char *type, const char *value)
{
	static const char array[] = "array of ";
	const char *why;

	/* KERNEL_PARAM_OPS_FL_NOARG: those that are true by being named. */
	if (!value)
		return strcmp(type, "bool") == 0 || strcmp(type, "bint") == 0 ? NULL : "is missing";
	if (!starts_with(type, array))
		return refuses(span_of(type), span_of(value));
	do {
		size_t n = strcspn(value, ",");

		why = refuses(span_of(type + strlen(array)), (struct span){ value, n });
		value += n;
	} while (!why && *value++);
	return why;
}
