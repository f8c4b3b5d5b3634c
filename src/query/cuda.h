/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cuda.h - the driver that a CUDA release needs: the table data/cuda.tsv. */
#ifndef CUDA_H
#define CUDA_H

struct cuda_release {
	unsigned int major;
	unsigned int minor;
	const char *minimum; /* the oldest driver that its programs run on */
	const char *own;     /* the driver that it came with */
};

/* VERSION is that of a toolkit or of its runtime: 12.8.1, 12.8.57, or a SONAME's 12 alone. Of a release
 * that is not in the table the last one before it of the same major version; NULL when there is none. */
const struct cuda_release *cuda_release(const char *version);

/* The major version of CUDA that a driver of that version brings; 0: older than the table. */
unsigned int cuda_major_of_driver(const char *driver);

#endif
