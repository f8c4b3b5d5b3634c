/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-references.h - names in files of the node, and the objects with these names on the node. Part of facts.h, which
 * includes it. */
#ifndef FACTS_REFERENCES_H
#define FACTS_REFERENCES_H

#include "facts/fact.h"

/* The role of the socket through which nvidia-imex takes commands, if one is configured. */
#define IMEX_SOCKET_KEY "IMEX_CMD_UNIX_DOMAIN_PATH"

/* The role of what setpci writes, and of what a udev rule writes to a file of a PCI function in sysfs. */
#define REGISTERS_SETPCI "setpci"
#define REGISTERS_UDEV "ATTR"

/* Keys of the container toolkit's config.toml (NVIDIA Container Toolkit 1.20: api/config/v1). */
#define TOOLKIT_ROOT "nvidia-container-cli.root"
#define TOOLKIT_LDCONFIG "nvidia-container-cli.ldconfig"
#define TOOLKIT_NO_CGROUPS "nvidia-container-cli.no-cgroups"
#define TOOLKIT_MODE "nvidia-container-runtime.mode"
#define TOOLKIT_SKIP_MODE "nvidia-container-runtime-hook.skip-mode-detection"
#define TOOLKIT_CAPABILITIES "supported-driver-capabilities"
#define TOOLKIT_ENVIRONMENT "accept-nvidia-visible-devices-envvar-when-unprivileged"
#define TOOLKIT_MOUNTS "accept-nvidia-visible-devices-as-volume-mounts"
#define TOOLKIT_ANY_LDCONFIG "features.allow-ldconfig-from-container"
#define LDCONFIG_REAL ".real"

/* Keys of slurm.conf and cgroup.conf. */
#define SLURM_GRES_TYPES "GresTypes"
#define SLURM_TASK_PLUGIN "TaskPlugin"
#define SLURM_DEVICES "ConstrainDevices"
#define SLURM_DEVICES_FILE "AllowedDevicesFile"
#define SLURM_PROLOG "Prolog"
#define SLURM_EPILOG "Epilog"
#define SLURM_HEALTH "HealthCheckProgram"
#define SLURM_SELECT "SelectType"
#define SLURM_EXCLUSIVE "OverSubscribe" /* of a partition that gives whole nodes */
#define SLURM_LIMITS "PropagateResourceLimits"
#define SLURM_LIMITS_EXCEPT "PropagateResourceLimitsExcept"
#define SLURM_AUTODETECT "AutoDetect" /* of gres.conf */
#define SLURM_PLUGIN_DIR "PluginDir"
#define SLURM_GPU_PLUGIN "plugin of AutoDetect"
#define SLURM_PLUGIN "plugin of " /* and the key that selects it */
#define SPANK_REQUIRED "required" /* in plugstack.conf */

/* Names in a topology file: a GPU, a NIC, and the attributes of <cpu> that NCCL requires. */
#define TOPOLOGY_GPU "gpu"
#define TOPOLOGY_NIC "nic"

/* The key with which an LXC container is allowed devices, by their numbers. */
#define LXC_ALLOW "devices.allow"

/* The devices of a CDI specification: nvidia.com/gpu=0. */
#define CDI_DEVICES "devices"
/* Its version, and what of it needs a version: the role ends with the field, and the name is the version. */
#define REFERENCE_CDI_VERSION "cdiVersion"
#define REFERENCE_CDI_FIELD "field: "

/* Values of the configuration of containerd and Docker. */
#define ENGINE_VERSION "version"
#define ENGINE_IMPORTS "imports"
#define ENGINE_DISABLED "disabled_plugins"
#define ENGINE_CDI "enable_cdi"
#define ENGINE_HOOK "hook.path" /* of a hook of OCI */
#define ENGINE_EXEC_OPTS "exec-opts"
/* A table of NVIDIA's runtime: the plugin whose table it is. */
#define ENGINE_NVIDIA "plugin of NVIDIA's runtime"
#define ENGINE_SYSTEMD "SystemdCgroup of "

/* ---- references: names in configuration files, compared with the node ---- */

/* The kind of file that contains the name. */
enum reference_format {
	REFERENCE_CDI,		/* Container Device Interface */
	REFERENCE_TOOLKIT,	/* nvidia-container-runtime/config.toml */
	REFERENCE_ENGINE,	/* Docker, containerd, CRI-O */
	REFERENCE_GRES,		/* Slurm's gres.conf, slurm.conf, cgroup.conf */
	REFERENCE_MODULES_LOAD, /* modules-load.d */
	REFERENCE_MODPROBE,	/* modprobe.d */
	REFERENCE_SYSCTL,	/* sysctl.d */
	REFERENCE_UDEV,		/* udev rules */
	REFERENCE_UNIT,		/* units of systemd and their drop-ins */
	REFERENCE_IMEX,		/* nvidia-imex */
	REFERENCE_FABRIC,	/* fabric manager */
	REFERENCE_ENVIRONMENT,	/* the job's variables, and NCCL's files */
	REFERENCE_SPANK,	/* Slurm's plugstack.conf */
	REFERENCE_TOPOLOGY,	/* the topology file that NCCL reads */
	REFERENCE_LXC,		/* containers of LXC and Proxmox */
	REFERENCE_NUMBERS,	/* udev rules, services, modprobe.d and scripts that call mknod */
	REFERENCE_LIMITS,	/* limits.conf and limits.d, of which only the keys are compared */
	REFERENCE_REGISTERS,	/* udev rules, services and scripts that change PCI functions */
};
extern const char *const reference_format_words[];

/* The kind of thing that is named. */
enum reference_kind {
	REFERENCE_DEVICE,    /* a device node */
	REFERENCE_FILE,	     /* a file, folder, socket */
	REFERENCE_PROGRAM,   /* a file that is run */
	REFERENCE_LIBRARY,   /* what the loader looks up by its SONAME */
	REFERENCE_MODULE,    /* a kernel module */
	REFERENCE_INTERFACE, /* a network interface */
	REFERENCE_FUNCTION,  /* a PCI function */
	REFERENCE_ADDRESS,   /* an IP address of this node */
	REFERENCE_SETTING,   /* a sysctl */
	REFERENCE_USER,	     /* a user */
	REFERENCE_PROCESSOR, /* a list of processors or cores */
	REFERENCE_AMOUNT,    /* a number of GPUs, or MiB of memory, as a minimum */
	REFERENCE_RUNTIME,   /* a name that the same file gives to a container runtime */
	REFERENCE_DRIVER,    /* a folder with the driver's libraries */
	REFERENCE_VALUE,     /* a value; its role is the key */
	REFERENCE_REGISTER, /* what is written to PCI functions: CAP_EXP+30.w=20:20; the claim selects them */
};
extern const char *const reference_kind_words[];

/* A name in a file. ORDERED: as the files have them. */
struct reference {
	struct fact_str name;	 /* as the file has it; lists are split */
	struct fact_enum kind;	 /* enum reference_kind */
	struct fact_enum format; /* enum reference_format */
	struct fact_str role;	 /* the purpose in the file: its key, such as ExecStart */
	/* The file's claim: "510:0" of a device, the value of a sysctl, the name that a udev rule gives to a PCI
	 * function's device; absent: the file makes no claim. */
	struct fact_str claim;
	/* The node's value: "509:0" of a device, the path of a module, program or library, the value of a sysctl, a
	 * library in a driver's folder, or "folder" if it has none; absent: it does not exist. */
	struct fact_str found;
	struct fact_str file; /* that names it */
	struct fact_u64 line; /* in that file; absent: it has no lines */
};

/* A file that was searched for names. */
struct reference_file {
	struct fact_str path;	 /* of the file */
	struct fact_enum format; /* enum reference_format */
	/* True if the file was read to its end and understood: the list of its names is complete. */
	struct fact_bool complete;
	/* True if every line was compared with the keys that the file's reader knows; absent: no table has them. */
	struct fact_bool compared;
};

/* A line of gres.conf about GPUs of this node. ORDERED: as the files have them. */
struct gres_record {
	struct fact_str type; /* Type=; absent: none */
	/* How many devices File= names, 1 for MultipleFiles=; absent: neither is set. */
	struct fact_u64 devices;
	struct fact_u64 count;	  /* Count=; absent: not set */
	struct fact_str repeated; /* a device of File= that the file names twice; absent: none */
	struct fact_str file;	  /* the gres.conf that has the line */
	struct fact_u64 line;	  /* in that file */
};

/* The kinds of configuration files whose keys data/conf-keys.tsv has. */
enum conf_format {
	CONF_SLURM,	 /* slurm.conf */
	CONF_GRES,	 /* Slurm's gres.conf */
	CONF_CGROUP,	 /* Slurm's cgroup.conf */
	CONF_DOCKER,	 /* Docker's daemon.json */
	CONF_TOOLKIT,	 /* config.toml of the NVIDIA Container Toolkit */
	CONF_CONTAINERD, /* config.toml of containerd */
	CONF_UNIT,	 /* units of systemd and their drop-ins */
	CONF_LIMITS,	 /* limits.conf and limits.d of pam_limits */
	CONF_FORMATS
};
extern const char *const conf_format_words[];

/* The fault of a line of such a file. */
enum conf_fault_kind {
	CONF_SYNTAX,  /* it has not the form of the file */
	CONF_UNKNOWN, /* no release of the program knows the key */
	CONF_PLACE,   /* the key, or the table, belongs elsewhere */
	CONF_TYPE,    /* the value is not of the key's type */
	CONF_RELEASE, /* only some releases know the key */
	CONF_TWICE,   /* the program's command line has the same setting */
};
extern const char *const conf_fault_kind_words[];

/* A line that the program that reads the file refuses or ignores. ORDERED: as the files have them. */
struct conf_fault {
	struct fact_str file;	 /* that has the line */
	struct fact_u64 line;	 /* in that file */
	struct fact_enum format; /* enum conf_format */
	struct fact_enum kind;	 /* enum conf_fault_kind */
	/* The section of the file, as data/conf-keys.tsv has it; absent: none. */
	struct fact_str section;
	struct fact_str key; /* absent: none, or its name is not a plain word */
	/* Of a key that needs a number, or yes or no; absent: not a plain word. */
	struct fact_str value;
	/* The fault of the form; the section where the key belongs; the type of its values, as data/conf-keys.tsv has
	 * it. Absent: the kind is enough. */
	struct fact_str wanted;
	/* The first release in which the line is right; absent: no first one. */
	struct fact_str since;
	struct fact_str gone; /* the first release in which it is wrong again; absent: none */
};

/* A file in a folder whose reader only reads names with another ending. Copies of an editor or a package manager are
 * left out, and so are files that are not about GPUs, RDMA or limits. */
struct skipped_file {
	struct fact_str path;	/* of the file */
	struct fact_str reader; /* the program that would read it */
	struct fact_str ending; /* the ending that its name would need */
};

struct references_facts {
	LIST(struct reference_file) files; /* files that were searched */
	LIST(struct reference) items;	   /* what they name */
	LIST(struct gres_record) gres;	   /* lines of gres.conf about GPUs of this node */
	LIST(struct conf_fault) faults;	   /* lines that the files' readers refuse or ignore */
	LIST(struct skipped_file) skipped; /* files that no program reads because of their names */
	/* True if every folder that may have such files could be searched. */
	struct fact_bool complete;
};

#endif
