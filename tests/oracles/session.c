/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session.c - opens a PAM session for each user, and prints the limits that pam_limits sets: its calls of getrlimit()
 * and setrlimit() end here, so that neither root is needed nor a limit is raised.
 *
 *     session MEMLOCK-SOFT MEMLOCK-HARD NOFILE-SOFT NOFILE-HARD USER... */
#include <security/pam_appl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct rlimit first[RLIM_NLIMITS], now[RLIM_NLIMITS];

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	*limit = now[resource];
	return 0;
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	now[resource] = *limit;
	return 0;
}

int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit)
{
	return getrlimit(resource, (struct rlimit *)limit);
}

int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	return setrlimit(resource, (const struct rlimit *)limit);
}

static int converse(int n, const struct pam_message **messages, struct pam_response **responses,
		    void *user)
{
	(void)n;
	(void)messages;
	(void)responses;
	(void)user;
	return PAM_CONV_ERR;
}

static rlim_t amount(const char *word)
{
	return strcmp(word, "unlimited") == 0 ? RLIM_INFINITY : strtoull(word, NULL, 10);
}

static void print(const struct rlimit *limit)
{
	const rlim_t values[] = { limit->rlim_cur, limit->rlim_max };

	for (int i = 0; i < 2; i++)
		if (values[i] == RLIM_INFINITY)
			printf(" unlimited");
		else
			printf(" %llu", (unsigned long long)values[i]);
}

static void try_user(const char *user)
{
	const struct pam_conv conv = { converse, NULL };
	pam_handle_t *pam;

	memcpy(now, first, sizeof(now));
	if (pam_start("session", user, &conv, &pam))
		exit(1);
	printf("%s %d", user, pam_open_session(pam, PAM_SILENT));
	print(&now[RLIMIT_MEMLOCK]);
	print(&now[RLIMIT_NOFILE]);
	putchar('\n');
	pam_end(pam, 0);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < RLIM_NLIMITS; i++)
		first[i] = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	if (argc < 6)
		return 2;
	first[RLIMIT_MEMLOCK] = (struct rlimit){ amount(argv[1]), amount(argv[2]) };
	first[RLIMIT_NOFILE] = (struct rlimit){ amount(argv[3]), amount(argv[4]) };
	for (int i = 5; i < argc; i++)
		try_user(argv[i]);
	return 0;
}
