/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-dkms.h - the modules that DKMS has built, and why others failed. Part of facts.h, which includes it. */
#ifndef FACTS_DKMS_H
#define FACTS_DKMS_H

#include "facts/fact.h"

/* ---- dkms: modules of GPUs and RDMA that are registered with DKMS ---- */

enum build_cause {
	BUILD_SPACE,	/* the file system was full */
	BUILD_REALTIME, /* the sources refuse a real-time kernel */
	BUILD_HEADERS,	/* the kernel's headers are missing or incomplete */
	BUILD_COMPILER, /* the compiler is missing, or older than the one that built the kernel */
	BUILD_DRIVER,	/* the NVIDIA driver has to be built for that kernel first */
	BUILD_LICENSE,	/* the kernel restricts a symbol to GPL modules */
	BUILD_SOURCE,	/* the sources do not compile against that kernel */
};
extern const char *const build_cause_words[];

/* A version of a package of modules. */
struct dkms_package {
	struct fact_str path;	       /* /var/lib/dkms/nvidia/570.153.02 */
	struct fact_str name;	       /* nvidia */
	struct fact_str version;       /* 570.153.02 */
	LIST(const char *) built;      /* kernels that it was built for */
	struct fact_str failed_kernel; /* of the last build that failed; absent: no log */
	struct fact_enum cause;	       /* enum build_cause; absent: the log does not show it */
	struct fact_str error;	       /* the line that shows it; absent: none */
	struct fact_u64 log_line;      /* its number in build/make.log */
	struct fact_str compiler; /* the compiler that built the kernel; absent: not in the log */
};

struct dkms_facts {
	LIST(struct dkms_package) packages; /* absent: DKMS has none */
	/* Kernels with headers: /lib/modules/RELEASE/build leads to a folder. */
	LIST(const char *) headers;
};

#endif
