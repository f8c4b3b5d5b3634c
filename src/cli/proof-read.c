/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/proof-read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/open-file.h"

#define DOCUMENT_MAX (16u << 20)

static int read_file(const char *file, struct arena *arena, char **data, size_t *size)
{
	_cleanup_close_ int fd = open_for_reading(file);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > DOCUMENT_MAX)
		return -EFBIG;
	*data = arena_alloc(arena, (size_t)st.st_size + 1);
	n = read(fd, *data, (size_t)st.st_size);
	*size = n > 0 ? (size_t)n : 0;
	return n < 0 ? -errno : 0;
}

/* Two different boots are two different configurations. */
static bool is_of_same(struct fact_str proof, struct fact_str node)
{
	return is_known(proof) && is_known(node) && strcmp(proof.value, node.value) == 0;
}

int proof_read(struct node *node, struct arena *arena, const char *file, char error[256])
{
	_cleanup_json_ struct json_object *json = NULL;
	struct proof_facts *proof = &node->proof;
	struct fact_error fact_error;
	struct json_error why;
	char *data = NULL;
	size_t size = 0;
	bool later;
	int rc = read_file(file, arena, &data, &size);

	if (rc) {
		snprintf(error, 256, "%s: %s", file, strerror(-rc));
		return rc;
	}
	json = json_parse(data, size, &why);
	if (!json || json_check_document(json, PROOF_FORMAT, &later, &why)) {
		snprintf(error, 256, "%s:%zu: %s", file, why.line, why.text);
		return -EINVAL;
	}
	if (!json_member(json, "proof")) {
		snprintf(error, 256,
			 "%s: it has no \"proof\"; write it with nvnodecheck prove --json", file);
		return -EINVAL;
	}
	if (fact_from_json(&proof_facts_desc, proof,
			   span_of(json_object_to_json_string_ext(json_member(json, "proof"),
								  JSON_C_TO_STRING_PLAIN)),
			   arena, later, &fact_error)) {
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
