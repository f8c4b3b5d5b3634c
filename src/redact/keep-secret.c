/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-secret.c - names whose value is always a secret: a number that is kept beside other names can be a PIN or a
 * key. */
#include <fnmatch.h>

#include "redact/keep-private.h"

static bool fits(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (fnmatch(*list, name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

bool keep_names_secret(struct span name)
{
	/* Partition keys of InfiniBand are no secrets; the memory manager of the driver pins pages. */
	static const char *const others[] = { "*pkey", "uvm_perf_*", NULL };
	static const char *const secrets[] = { "*key",
					       "*passw*",
					       "*passph*",
					       "*passcode*",
					       "pass",
					       "*[-_.]pass",
					       "*pw",
					       "*pwd",
					       "*psk",
					       "*pin",
					       "*[-_.]pin[-_.]*",
					       "*otp",
					       "*token",
					       "*secret*",
					       "*token_*",
					       "*credential*",
					       "cred",
					       "*[-_.]cred",
					       "*creds",
					       "auth",
					       "*[-_.]auth",
					       "*signature*",
					       "*serial",
					       "*serial*number*",
					       "*licen[cs]e",
					       "*[-_.]sig",
					       NULL };
	char text[256];

	/* Nothing that programs call a name is as long. */
	if (name.n >= sizeof(text) || span_find(name, '\0') < name.n)
		return true;
	snprintf(text, sizeof(text), "%.*s", SPAN_FMT(name));
	return fits(secrets, text) && !fits(others, text);
}

bool keep_is_short_number(struct span word)
{
	return word.n <= 3 && keep_is_plain(word);
}
