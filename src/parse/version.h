/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version.h - compares versions, and finds the version of software in names and texts of its files. */
#ifndef PARSE_VERSION_H
#define PARSE_VERSION_H

#include "base/span.h"

/* Compares versions by their numbers: 580.9 < 580.82.07. Returns <0, 0 or >0. A missing part counts as 0. */
int version_compare(const char *a, const char *b);

/* libnccl.so.2.28.9 with STEM libnccl.so: "2.28.9". False for another library. A bare libnccl.so
 * has an empty version. */
bool version_of_library(struct span name, const char *stem, struct span *version);
/* Returns true if a suffix is more than the ABI. "2" is a SONAME, "2.28" a version. */
bool version_is_whole(struct span version);

/* What an installed Python project leaves beside its files: name and version.
 *   nvidia_nccl_cu12-2.28.9.dist-info		PyPA: recording installed projects
 *   deep_ep-1.2.1+9af0e0d-py3.10-linux-x86_64.egg	setuptools */
bool version_of_dist_info(struct span name, struct span *project, struct span *version);

/* #define NAME 3 in a C header. */
bool version_define(struct span text, const char *name, uint64_t *value);

/* "cuda": { "version": "12.8.1" } in the version.json of a CUDA toolkit: the first "version" after
 * the key. */
bool version_of_cuda(struct span text, struct span *version);

/* The version in the text of the ofed_info script: MLNX_OFED_LINUX-24.10-1.1.4.0,
 * OFED-internal-24.10-1.1.4. */
bool version_of_ofed(struct span text, struct span *version);

/* The upstream part of a package's version: 1:580.159.04-1ubuntu2 -> 580.159.04. */
struct span version_upstream(struct span version);

/* 580.159.04, 580.95: the form of a driver's version. */
bool version_is_driver(struct span s);

/*
 * Finds such versions in a program, which has them as separate strings. Bytes are fed in any portions. Several
 * different versions are no answer.
 */
struct version_scan {
	char run[16];
	size_t n;   /* of the string that is being read; larger than its size: too long */
	bool fresh; /* the byte before it was NUL */
	char found[16];
	bool several;
};

void version_scan_feed(struct version_scan *scan, struct span bytes);

/*
 * Finds the first version after a mark ("Initializing aws-ofi-nccl "), in bytes that are fed in any portions.
 */
struct version_mark {
	const char *mark;
	size_t seen; /* bytes of the mark */
	char found[32];
	size_t n; /* of the version that is being read */
	bool is_whole;
};

/* Returns true if it was found. */
bool version_mark_feed(struct version_mark *mark, struct span bytes);

/* dpkg's status file, a line at a time. */
struct version_dpkg {
	char package[64]; /* of this stanza; empty: not a package of interest */
	char state[24];	  /* its last word of Status: installed, unpacked, half-configured, ... */
	bool held;
	char version[64];
};

/* Returns true if LINE gave VERSION of a PACKAGE, in any state. WANTED returns true for a name of interest. */
bool version_dpkg_line(struct version_dpkg *dpkg, struct span line,
		       bool (*wanted)(struct span name));

/* The version after MARK in a text: after ENROOT_VERSION=" it is 3.5.0. */
bool version_after(struct span text, const char *mark, struct span *version);

/* A folder of sources that DKMS builds from: "nvidia-srv-570.133.20" is NAME nvidia-srv and its VERSION. */
bool version_of_sources(struct span folder, struct span *name, struct span *version);

#endif
