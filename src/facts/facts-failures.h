/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts-failures.h - the failures in the kernel log, and errors that no rule explains. Part of facts.h, which
 * includes it.
 */
#ifndef FACTS_FAILURES_H
#define FACTS_FAILURES_H

#include "facts/fact.h"

enum failure_kind {
	FAILURE_UNKNOWN_SYMBOL,	   /* nothing exports a symbol that the module needs */
	FAILURE_SYMBOL_VERSION,	   /* the exporter was built differently */
	FAILURE_NAMESPACE,	   /* it is in a namespace that the module does not import */
	FAILURE_LICENSE,	   /* GPL-only symbols, and a module that is not GPL */
	FAILURE_SYMBOL_GET,	   /* symbol_get() of a symbol that is not GPL-only */
	FAILURE_DUPLICATE_SYMBOL,  /* another module offers the same symbol */
	FAILURE_VERSION_MAGIC,	   /* built for another kernel */
	FAILURE_SIGNATURE,	   /* no signature that the kernel accepts */
	FAILURE_BLACKLISTED,	   /* module_blacklist= of the kernel */
	FAILURE_PARAMETER,	   /* a value that the module's parameter does not accept */
	FAILURE_KERNEL_PARAMETERS, /* words that the kernel does not know, passed on to process 1 */
	FAILURE_KERNEL_ARGUMENT,   /* words that the kernel knows, with a value that it refuses */
	FAILURE_PROBE,		   /* a driver refused its device */
	FAILURE_FIRMWARE,	   /* a firmware file was not loaded */
	FAILURE_DEVICE,		   /* a driver gave up on its device */
	FAILURE_CRASH,		   /* BUG, Oops, missing ENDBR in the module's code */
};
extern const char *const failure_kind_words[];

/* Failures of one kind, of one module and one device. ORDERED: in the order of the log. */
struct log_failure {
	struct fact_str subject; /* the device or the module; "kernel": neither is named */
	struct fact_enum kind;	 /* enum failure_kind */
	struct fact_str module;	 /* or driver, with underscores; absent: not named */
	struct fact_str device;	 /* PCI address, or the device's other name; absent: not named */
	/* Symbols, files, parameters, words: the first 32. */
	LIST(const char *) details;
	struct fact_u64 error;	  /* errno, as a positive number; absent: not said */
	struct fact_u64 count;	  /* how many lines */
	struct fact_str last;	  /* the last line */
	struct fact_u64 first_us; /* when the first one was written, since the boot, or unknown */
	struct fact_u64 last_us;  /* when the last one was written */
};

/* A message of level err or worse of a GPU, NIC, PCIe or IOMMU driver that no pattern matches; in a log without levels,
 * one whose words report a failure. Messages that differ only in numbers are one. ORDERED: as the log has them. */
struct log_message {
	struct fact_str text;	  /* the last one */
	struct fact_str driver;	  /* the driver, by how the line begins: NVRM, mlx5_core, DMAR */
	struct fact_u64 level;	  /* 0 emerg to 3 err; unknown: the log has no levels */
	struct fact_u64 count;	  /* how many */
	struct fact_u64 first_us; /* when the first one was written, since the boot */
	struct fact_u64 last_us;  /* when the last one was written */
};

enum denial_policy { POLICY_SELINUX, POLICY_APPARMOR };
extern const char *const denial_policy_words[];

/* Accesses to GPUs, RDMA devices, their modules or services that a policy refused, of one program to one object, since
 * the boot. ORDERED: as the logs have them. */
struct log_denial {
	struct fact_str target; /* the file or object; absent: not in the record */
	struct fact_enum policy;
	struct fact_str action;	 /* module_load, read write, open */
	struct fact_str program; /* the name of the process */
	struct fact_str domain;	 /* the process's SELinux type or AppArmor profile */
	struct fact_str label;	 /* the object's SELinux type; absent: AppArmor */
	struct fact_str class;	 /* chr_file, system; absent: AppArmor */
	struct fact_u64 count;	 /* how many records */
	struct fact_str record;	 /* the first one */
};

#endif
