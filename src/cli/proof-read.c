/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proof-read.c - reads the document of prove. */
#include "cli/proof-read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json-pick.h"
#include "base/json.h"
#include "base/open-file.h"
#include "host/host.h"

#define PROOF_FIRST 65536

static int read_file(const char *file, struct text *text)
{
	_cleanup_close_ int fd = open_for_reading(file);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return text_read(fd, PROOF_FIRST, PROOF_MAX, false, 0, text);
}

/* The member "proof" of a document that has the form of one of prove. */
static int find_proof(struct span text, struct span *proof, bool *later, struct json_error *why)
{
	static const char *const names[] = { "proof" };
	_cleanup_json_ struct json_object *head = NULL;

	if (!json_pick(text, names, ARRAY_SIZE(names), proof, why))
		return -EINVAL;
	head = json_head(text.p, text.n);
	return json_check_document(head, PROOF_FORMAT, later, why);
}

/* Two different boots are two different configurations. */
static bool is_of_same(struct fact_str proof, struct fact_str node)
{
	return is_known(proof) && is_known(node) && strcmp(proof.value, node.value) == 0;
}

static int fill(struct node *node, struct arena *arena, const char *file, struct span text,
		char error[256])
{
	struct proof_facts *proof = &node->proof;
	struct fact_error fact_error;
	struct json_error why;
	struct span value;
	bool later;

	if (find_proof(text, &value, &later, &why)) {
		snprintf(error, 256, "%s:%zu: %s", file, why.line, why.text);
		return -EINVAL;
	}
	if (!value.p) {
		snprintf(error, 256,
			 "%s: it has no \"proof\"; write it with nvnodecheck prove --json", file);
		return -EINVAL;
	}
	if (fact_from_json(&proof_facts_desc, proof, value, arena, later, &fact_error)) {
		snprintf(error, 256, "%s: proof: %.*s", file, 160, fact_error.text);
		return -EINVAL;
	}
	if (is_of_same(proof->boot_id, node->os.boot_id) &&
	    is_of_same(proof->driver, node->driver.version))
		return 0;
	snprintf(error, 256,
		 "%s: it was made on another node, in another boot or with another driver; run "
		 "nvnodecheck prove --json again",
		 file);
	return -EINVAL;
}

int proof_read(struct node *node, struct arena *arena, const char *file, char error[256])
{
	_cleanup_text_ struct text text = { 0 };
	int rc = read_file(file, &text);

	if (rc == 0)
		return fill(node, arena, file, text_span(&text), error);
	if (rc == -EFBIG)
		snprintf(error, 256, "%s: more than %u MiB", file, PROOF_MAX >> 20);
	else
		snprintf(error, 256, "%s: %s", file, strerror(-rc));
	return rc;
}
