/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts.h - the data model: all facts about one node. Read this first.
 *
 * Probes fill it, rules read it, facts.c describes it field by field (JSON keys are the member names). Units are in the
 * names. Strings and lists belong to the node's arena. Every value starts unknown; "absent" means that it was probed
 * and does not exist. Lists are sorted by the first member unless their order has a meaning (ORDERED below). A path in
 * facts is the path on the host, whatever root it was read through.
 */
#ifndef FACTS_H
#define FACTS_H

#include "facts/fact.h"
#include "facts/proof.h"

/* ---- os: the system, and the kind of machine that it runs on ---- */

struct kernel_option {
	struct fact_str name;  /* CONFIG_PCI_P2PDMA */
	struct fact_str value; /* y, m; absent: not set */
};

struct sysctl {
	struct fact_str name;  /* kernel.numa_balancing */
	struct fact_str value; /* as the file has it */
};

/* The sysctls that are read; NULL-terminated. */
extern const char *const sysctl_names[];

struct hugepages {
	struct fact_u64 size_bytes; /* of one page */
	struct fact_u64 pages;	    /* in the pool, used or not */
};

/* Mounts as the node's first process sees them; if that process is not accessible, as this process does. Of several
 * mounts on one point, the top one. Mounts inside containers are left out. */
struct mount_point {
	struct fact_str point;	 /* where it is mounted */
	struct fact_str type;	 /* ext4, nfs4, lustre, hugetlbfs */
	struct fact_str source;	 /* the device, or server and path */
	struct fact_str options; /* rw,noatime,...: of the mount and of the file system */
};

struct os_facts {
	struct fact_str hostname; /* its own name, as the kernel has it */
	struct fact_str id;	  /* os-release ID: debian, ubuntu, rhel, ... */
	struct fact_str like;	  /* os-release ID_LIKE, separated by blanks; absent: none */
	struct fact_str version;  /* os-release VERSION_ID */
	struct fact_str name;	  /* os-release PRETTY_NAME */
	struct fact_str kernel;	  /* release of the kernel that runs (uname -r), or see next_boot */
	/* Absent: a kernel runs. Else these are the files of an image, and os.kernel, cmdline.running and driver are
	 * those of its next boot. The value is the origin of its kernel: option, boot-loader, newest, none */
	struct fact_str next_boot;
	struct fact_str machine;	  /* x86_64, aarch64 */
	struct fact_str boot_id;	  /* changes at every boot */
	struct fact_u64 boot_time_s;	  /* Unix time of the boot, from /proc/stat */
	struct fact_u64 observed_time_s;  /* Unix time at which these facts were read */
	struct fact_u64 observed_uid;	  /* effective user who read them */
	struct fact_str cpu_vendor;	  /* GenuineIntel, AuthenticAMD, ARM */
	struct fact_str cpu_model;	  /* the processor's name */
	struct fact_u64 cpu_family;	  /* x86 only, as is the next */
	struct fact_u64 cpu_model_number; /* 79 of family 6: Broadwell server */
	struct fact_u64 cpus;		  /* logical processors that are online */
	struct fact_bool cpu_ibt;     /* indirect branch tracking; absent: not an x86 processor */
	struct fact_u64 memory_bytes; /* usable by the kernel, a little less than is installed */
	/* Words of systemd-detect-virt(1), firecracker, or unknown-hypervisor; absent: bare metal. */
	struct fact_str hypervisor;
	struct fact_str product; /* DMI product name */
	/* Cloud named in the firmware's tables: aws, azure, google, oracle, ...; absent: none */
	struct fact_str cloud;
	struct fact_str container;    /* docker, podman, kubernetes, ...; absent: a host */
	struct fact_bool secure_boot; /* absent: not booted through UEFI, or UEFI without it */
	struct fact_str lockdown;     /* none, integrity, confidentiality; absent: no such LSM */
	/* ostree, nixos, live, ...: files are not for editing; or absent */
	struct fact_str image_based;
	/* Files of /etc/apparmor.d for container engines that ordinary users start; absent: no such folder */
	LIST(const char *) apparmor_profiles;
	LIST(struct kernel_option) kernel_config; /* of the kernel that runs */
	LIST(struct sysctl) sysctls;		  /* kernel settings, the ones that rules need */
	LIST(struct hugepages) hugepages;	  /* absent: a kernel without them */
	LIST(struct mount_point) mounts;
};

/* ---- numa ---- */

struct numa_node {
	struct fact_u64 id;	      /* the kernel's number */
	struct fact_str cpus;	      /* cpulist: 0-31,64-95 */
	struct fact_u64 memory_bytes; /* only of this node */
	struct fact_u64 socket;	      /* physical package of its first processor; or absent */
};

struct numa_facts {
	LIST(struct numa_node) nodes; /* NUMA nodes that are online */
};

#include "facts/facts-pci.h"

/* ---- gpu: the NVIDIA GPUs, as the driver reports them ---- */

struct gpu {
	struct fact_str bdf;	       /* as in pci.devices */
	struct fact_str model;	       /* as the driver names it: NVIDIA H200 */
	struct fact_str uuid;	       /* GPU- and its number in NVML */
	struct fact_u64 minor;	       /* /dev/nvidiaN */
	struct fact_str firmware;      /* GSP firmware version; absent: N/A, GSP not in use */
	struct fact_str video_bios;    /* version of the VBIOS */
	struct fact_bool excluded;     /* the driver is configured to ignore it */
	struct fact_u64 mig_instances; /* GPU instances that exist; absent: no MIG entry */
	struct fact_u64 dma_bits;      /* of the addresses that it can reach */
	/* Connectors that a display is plugged into: HDMI-A-1. Absent: nvidia_drm shows none. */
	LIST(const char *) displays;
};

struct gpu_facts {
	LIST(struct gpu) devices; /* NVIDIA GPUs on the bus, with any driver */
};

/* ---- driver: the NVIDIA kernel driver that is loaded ---- */

enum driver_flavour { FLAVOUR_OPEN, FLAVOUR_PROPRIETARY };
extern const char *const driver_flavour_words[];

struct driver_param {
	struct fact_str name;  /* as in params: EnableStreamMemOPs, without NVreg_ */
	struct fact_str value; /* strings without their quotes */
	struct fact_u64 line;  /* in /proc/driver/nvidia/params */
};

struct driver_facts {
	struct fact_bool loaded;	  /* the module nvidia is in the kernel */
	struct fact_str version;	  /* 580.159.04 */
	struct fact_enum flavour;	  /* enum driver_flavour */
	struct fact_str builder;	  /* user@host that built the module */
	struct fact_str banner;		  /* the whole NVRM version line */
	LIST(struct driver_param) params; /* in the driver's order */
	LIST(const char *) gsp_firmware;  /* files found for the loaded version */
	/* The line of the installer's log that explains why its last run failed; absent: no log, or it did not fail. */
	struct fact_str installer_error;
	/* The version of the driver that it was to install; absent: no log. */
	struct fact_str installer_version;
};

/* ---- modules ---- */

enum module_state { MODULE_LIVE, MODULE_LOADING, MODULE_UNLOADING, MODULE_BUILTIN };
extern const char *const module_state_words[];

struct module_param {
	struct fact_str name;  /* without the module's */
	struct fact_str value; /* as the kernel prints it */
};

struct module {
	struct fact_str name;	    /* with underscores: nvidia_peermem */
	struct fact_enum state;	    /* enum module_state */
	struct fact_u64 refcnt;	    /* absent: the kernel does not count */
	LIST(const char *) holders; /* modules that use it */
	/* Only for modules that rules ask about: */
	struct fact_str version;
	struct fact_str srcversion;	  /* hash of its sources */
	struct fact_str taint;		  /* letters: O out of tree, E not signed */
	LIST(struct module_param) params; /* that sysfs shows */
};

struct module_symbol {
	struct fact_str name; /* of the function or variable */
	struct fact_u64 crc;  /* absent: the module has no symbol versions */
};

/* A .ko on disk, of the modules of interest. All fields for the running kernel; for others the version, and that of a
 * large compressed file only if its kernel boots next. */
struct module_file {
	struct fact_str path;	       /* below /lib/modules */
	struct fact_str name;	       /* of the module, with underscores */
	struct fact_str file_name;     /* of the file, with underscores: nvidia_current */
	struct fact_str kernel;	       /* the release under /lib/modules */
	struct fact_bool indexed;      /* in that kernel's modules.dep */
	struct fact_str version;       /* as in the module */
	struct fact_str srcversion;    /* hash of its sources */
	struct fact_str vermagic;      /* the kernel that it was built for */
	struct fact_str license;       /* Dual MIT/GPL, NVIDIA, ... */
	struct fact_str description;   /* one line */
	struct fact_str signer;	       /* absent: not signed */
	LIST(const char *) depends;    /* modules that must be loaded first */
	LIST(const char *) parameters; /* their names */
	/* NAME:TYPE as in parmtype, without int, which most are */
	LIST(const char *) parameter_types;
	LIST(struct module_symbol) imports; /* peer-memory and nvidia_p2p_ symbols that it needs */
	LIST(struct module_symbol) exports; /* that it offers, of those and for nvidia-fs */
	/* Functions that nvidia-fs looks up by name when it is opened: nvme_v1_register_nvfs_dma_ops. Absent: another
	 * module. Unknown: the file is compressed. */
	LIST(const char *) looked_up;
};

struct kernel_tree {
	struct fact_str release;  /* the folder's name */
	struct fact_bool indexed; /* modules.dep is there */
};

/* A module that is loaded at boot by name: modules-load.d, /etc/modules. ORDERED */
struct module_at_boot {
	struct fact_str name; /* with underscores */
	struct fact_str file; /* that names it */
	struct fact_u64 line; /* in that file */
};

/* A module about which libkmod and /proc/modules disagree. Absent: not loaded. */
struct module_view {
	struct fact_str name;	  /* as above */
	struct fact_enum libkmod; /* enum module_state, by /sys/module */
	struct fact_enum file;	  /* enum module_state, by /proc/modules */
};

struct modules_facts {
	LIST(struct module) loaded;	  /* in the kernel that runs */
	LIST(struct module_view) views;	  /* only differences; absent: only files were read */
	LIST(struct kernel_tree) kernels; /* installed ones */
	LIST(struct module_file) files;	  /* of all kernels */
	LIST(struct module_at_boot) at_boot;
};

/* ---- modprobe: the configuration of the next load of a module ----
 *
 * Names of modules and parameters have underscores, and are those that are written: where one
 * module is reached through another's install line or alias (Debian's nvidia -> nvidia-current),
 * each keeps its own. When a folder or a file that counts could not be read, complete is false: a
 * setting that is missing here may be in that file, and an unread line may override one. Of more
 * than 96 KiB only lines that name a GPU or RDMA module are here, and a gap says so. In
 * node.modprobe the running kernel's command line comes last, as far as it can be read; an image's
 * facts have neither that nor times. */

struct modprobe_file {
	struct fact_str path;	   /* on the host, or in the image */
	struct fact_str masked_by; /* the file of the same name that counts instead; or absent */
	/* Lines about GPU and RDMA modules that the other file lacks; or absent. */
	LIST(const char *) lost;
	struct fact_u64 mtime_s; /* absent: in an image, or a link to /dev/null */
};

/* One options line in the form of the file: MODULE TEXT. */
struct modprobe_options {
	struct fact_str module; /* that the line names */
	struct fact_str text;	/* the rest of the line */
	struct fact_str file;	/* /proc/cmdline for options of the kernel command line */
	struct fact_u64 line;	/* absent: it is in /proc/cmdline */
};

/* One parameter, after all lines of its module are joined and split as the kernel splits them. Modules by name, and
 * parameters in the kernel's order. */
struct modprobe_assignment {
	struct fact_str module;	    /* that the parameter belongs to */
	struct fact_str param;	    /* its name */
	struct fact_str value;	    /* absent: named without a value */
	struct fact_bool effective; /* the last one for this parameter */
	struct fact_str file;	    /* that holds it */
	struct fact_u64 line;	    /* its line, also in a command of several lines */
};

/* install MODULE TEXT, remove MODULE TEXT, softdep MODULE TEXT, alias TEXT MODULE, blacklist MODULE. In
 * blacklist, TEXT is absent for a line of a file, else the word of the command line that blocks the
 * module: modprobe.blacklist, module_blacklist (the kernel itself), rd.driver.blacklist (dracut). */
struct modprobe_command {
	struct fact_str module; /* the first word */
	struct fact_str text;	/* the rest of the line */
	struct fact_str file;	/* that holds it */
	struct fact_u64 line;	/* the command's first */
};

/* A line that modprobe ignores, or a whole file: then without text and line. */
struct modprobe_bad_line {
	struct fact_str text; /* the line */
	struct fact_str why;  /* for people */
	struct fact_str file; /* that holds it */
	struct fact_u64 line; /* the command's last line, which is the number that kmod reports */
};

/* ORDERED throughout: as modprobe reads it. */
struct modprobe_facts {
	struct fact_bool complete;	  /* every file that counts was read */
	struct fact_bool etc_complete;	  /* every file of /etc was, which packages leave alone */
	LIST(struct modprobe_file) files; /* read, or masked by another */
	LIST(struct modprobe_options) options;
	LIST(struct modprobe_assignment) assignments;
	LIST(struct modprobe_command) blacklist; /* lines of blacklist */
	LIST(struct modprobe_command) install;	 /* lines of install */
	LIST(struct modprobe_command) remove;	 /* lines of remove */
	LIST(struct modprobe_command) alias;	 /* lines of alias */
	LIST(struct modprobe_command) softdep;	 /* lines of softdep */
	LIST(struct modprobe_bad_line) bad_lines;
};

/* ---- initramfs: configuration in effect before the root file system is mounted ---- */

struct initramfs_module {
	struct fact_str path;	 /* in the image, links followed */
	struct fact_str name;	 /* with underscores */
	struct fact_str version; /* absent: the module has none */
};

struct initramfs_image {
	struct fact_str path;		/* of the file */
	struct fact_str kernel;		/* release of the kernel that it is for */
	struct fact_bool running;	/* the image of the kernel that runs */
	struct fact_bool next;		/* the image of the kernel that boots next */
	struct fact_u64 size_bytes;	/* of the file */
	struct fact_u64 mtime_s;	/* when it was built */
	struct fact_str generator;	/* initramfs-tools, dracut, mkinitcpio, booster */
	LIST(const char *) compressors; /* one word a segment, ORDERED: none, zstd, xz, ... */
	struct fact_bool complete;	/* read to its last trailer: what is not in it is absent */
	struct fact_str problem;	/* why it could not be read completely */
	/* Modules that rules need: nvidia*, nouveau, nova*, gdrdrv, nv_peer_mem, mlx*, ib_*, rdma*, vfio*, efa*. If the
	 * image was not read completely, those found before. */
	LIST(struct initramfs_module) modules;
	struct modprobe_facts modprobe; /* unknown in an image that is not complete */
};

struct initramfs_facts {
	LIST(struct initramfs_image) images; /* of the kernels that are installed */
};

/* ---- cmdline and boot ---- */

struct cmdline_arg {
	struct fact_str key;   /* the text before the first = */
	struct fact_str value; /* absent: a bare word */
};

/* Kernel arguments of a boot entry, or of a file that boot entries are made from. ORDERED. If a variable is assigned
 * several times, each assignment has the whole value up to there: the last one counts. */
struct cmdline_text {
	struct fact_str kernel;	  /* absent where it is for every kernel */
	struct fact_str variable; /* GRUB_CMDLINE_LINUX, options; absent for a plain file */
	struct fact_str text;	  /* the arguments */
	struct fact_str file;	  /* that holds them */
	struct fact_u64 line;	  /* in that file; absent: it has only one line */
};

struct cmdline_facts {
	struct fact_str running;	   /* the kernel's arguments, as it has them */
	LIST(struct cmdline_arg) args;	   /* of the running one; ORDERED */
	struct cmdline_text staged;	   /* of the entry that boots next */
	LIST(struct cmdline_text) sources; /* places where arguments are configured */
};

enum boot_loader { BOOT_GRUB, BOOT_GRUB_BLS, BOOT_SYSTEMD_BOOT, BOOT_UKI };
extern const char *const boot_loader_words[];

/* One line of the boot loader's menu that starts a Linux kernel. */
struct boot_entry {
	struct fact_str id;	 /* as the loader names it; in a submenu: "outer>inner" */
	struct fact_str title;	 /* as the menu shows it */
	struct fact_str kernel;	 /* its release; unknown if the file name does not have it */
	struct fact_str initrd;	 /* path on the host, the last one of several; absent: none */
	struct fact_str cmdline; /* as the kernel would see it, without BOOT_IMAGE and initrd */
	struct fact_str file;	 /* that holds the entry */
	struct fact_u64 line;	 /* in that file */
};

struct boot_facts {
	struct fact_enum loader;	  /* enum boot_loader */
	LIST(struct boot_entry) entries;  /* ORDERED: as in the menu */
	struct fact_str next_entry;	  /* id of the one that boots next */
	struct fact_str next_kernel;	  /* release that boots next */
	struct fact_str next_initrd;	  /* path of its image; absent: it has none */
	struct fact_bool reboot_required; /* according to the distribution */
};

/* ---- iommu ---- */

struct iommu_device {
	struct fact_str bdf;   /* as in pci.devices */
	struct fact_u64 group; /* the kernel's number */
	struct fact_str type;  /* identity, DMA, DMA-FQ, ...; absent: not reported by the kernel */
};

struct iommu_facts {
	LIST(const char *) units;	   /* dmar0, ivhd0, smmu3...: IOMMUs that are switched on */
	LIST(struct iommu_device) devices; /* functions that are in a group */
};

/* ---- dev: device nodes ---- */

enum device_node_type {
	DEVICE_NODE_CHARACTER,
	DEVICE_NODE_BLOCK,
	DEVICE_NODE_FILE,
	DEVICE_NODE_FOLDER,
	DEVICE_NODE_LINK,
	DEVICE_NODE_OTHER
};
extern const char *const device_node_type_words[];

struct device_node {
	struct fact_str path;  /* below /dev */
	struct fact_enum kind; /* enum device_node_type; file: a copy that was made without root */
	struct fact_u64 major; /* unknown unless it is a device */
	struct fact_u64 minor; /* unknown unless it is a device */
	struct fact_u64 mode;  /* permission bits */
	struct fact_u64 group; /* number of the group that owns it; unknown unless it is a device */
};

/* A group that device nodes are restricted to: by their mode, or by the driver's DeviceFileGID. Of its members nothing
 * else is kept. */
struct device_group {
	struct fact_str gid;	      /* its number */
	struct fact_bool exists;      /* unknown: it can be in a directory service */
	struct fact_bool has_members; /* users other than root */
	struct fact_bool has_process; /* the process that was asked about is in it */
};

struct device_major {
	struct fact_str name;  /* nvidia, nvidia-uvm, infiniband_verbs */
	struct fact_u64 major; /* its number in this kernel */
};

struct dev_facts {
	LIST(struct device_node) nodes;	  /* device nodes of GPUs, NICs and their companions */
	LIST(struct device_major) majors; /* character devices of /proc/devices */
	LIST(const char *) char_links;	  /* names in /dev/char that lead to NVIDIA nodes */
	LIST(struct device_group) groups; /* that device nodes are restricted to */
};

/* ---- limits ---- */

struct process_limits {
	struct fact_str name;		    /* comm */
	struct fact_u64 pid;		    /* process id */
	struct fact_u64 memlock_soft_bytes; /* FACT_UNLIMITED */
	struct fact_u64 memlock_hard_bytes; /* the process may raise it up to here */
	struct fact_u64 nofile_soft;	    /* open files */
	struct fact_u64 nofile_hard;	    /* up to which the process may raise it */
	/* processes and threads of its user; it does not apply to root */
	struct fact_u64 processes_soft;
	struct fact_u64 stack_soft_bytes; /* FACT_UNLIMITED; of threads too */
	struct fact_str unit;		  /* systemd unit, from its cgroup */
};

/* A setting of a limit: limits.conf, limits.d, LimitMEMLOCK= of a unit or its drop-ins, DefaultLimitMEMLOCK= of
 * system.conf (scope "systemd"), default-ulimits of Docker ("docker"). If several set one limit, the last one
 * counts. */
struct limit_setting {
	struct fact_str item;  /* memlock, nofile */
	struct fact_str scope; /* user or group as in limits.conf, or the unit */
	struct fact_str kind;  /* soft, hard, - */
	/* as written: KiB in limits.conf; 64K, 8M of a unit; bytes of Docker */
	struct fact_str value;
	struct fact_str file; /* that holds it */
	struct fact_u64 line; /* in that file; absent: it is JSON */
};

/* Limits of the RDMA controller of control groups for a process and one device (Linux: cgroup-v2.rst, RDMA). The
 * lowest limit of its control group and those above. */
struct rdma_limit {
	struct fact_str device;	 /* mlx5_0 */
	struct fact_u64 handles; /* maximum of open handles */
	struct fact_u64 objects; /* queue pairs, memory regions and the like */
};

/* The limits of the control group of a process, and of those above it, for all its processes together. */
struct group_limits {
	struct fact_u64 tasks;	      /* processes and threads: pids.max */
	struct fact_u64 memory_bytes; /* memory.max */
};

/* Do sessions of sshd get the limits of limits.conf? */
struct login_facts {
	/* UsePAM of sshd_config; absent: there is no such file; unknown: it does not say */
	struct fact_bool ssh_uses_pam;
	/* pam_limits is among the session modules of sshd in pam.d; absent: there is no such file */
	struct fact_bool ssh_has_limits;
};

struct limits_facts {
	struct process_limits self;   /* of --pid, else of this process */
	struct group_limits group;    /* of that process's cgroups */
	LIST(struct rdma_limit) rdma; /* of that process's cgroups; only devices that are limited */
	/* Processes that start jobs: slurmd, containerd, sshd, ...; if several have one name, the one with the
	 * lowest memlock limit. */
	LIST(struct process_limits) launchers;
	/* Services that start at boot and whose program belongs to the site (/usr/local, /opt, /srv); one for each
	 * name. */
	LIST(struct process_limits) daemons;
	LIST(struct limit_setting) settings; /* ORDERED */
	struct login_facts logins;
	struct fact_u64 shm_bytes; /* size of /dev/shm */
};

/* ---- log: lines of the kernel log with a meaning for rules ---- */

/* Times are since the boot, as printk counts; those of the clock follow from os.boot_time_s. Unknown: the log
 * does not have them. */
struct log_subject {
	struct fact_str name; /* PCI address of the device, or the module's name with underscores */
	struct fact_u64 count;	  /* how many of those lines */
	struct fact_str first;	  /* the first of them */
	struct fact_str last;	  /* the last of them */
	struct fact_u64 first_us; /* when the first one was written */
	struct fact_u64 last_us;  /* when the last one was written */
};

struct log_line {
	struct fact_str pattern;  /* its name in probes/log/log.c: allow-peermapping, xid-79 */
	struct fact_u64 count;	  /* how many such lines */
	struct fact_str first;	  /* the first such line */
	struct fact_str last;	  /* the last such line */
	struct fact_u64 first_us; /* when the first one was written */
	struct fact_u64 last_us;  /* when the last one was written */
	LIST(struct log_subject) devices; /* those that such lines name, each with its own lines */
	/* The modules that such lines are about: "nvidia_peermem: Unknown symbol". */
	LIST(struct log_subject) modules;
};

#include "facts/facts-failures.h"

struct log_facts {
	/* /dev/kmsg, journal, /var/log/kern.log, /var/log/messages, /var/log/syslog, /var/log/dmesg */
	struct fact_str source;
	/* complete from the boot on: an event that is not in it did not happen */
	struct fact_bool complete;
	LIST(struct log_line) lines;	   /* lines with a meaning, by their pattern */
	LIST(struct log_failure) failures; /* failed attempts */
	/* Errors that no pattern matches; unknown: the log has no levels, and no message reports a failure. */
	LIST(struct log_message) unexplained;
	/* From /var/log/audit/audit.log and the kernel log; unknown: no permission to read the file. */
	LIST(struct log_denial) denials;
};

#include "facts/facts-acknowledged.h"
#include "facts/facts-containers.h"
#include "facts/facts-dkms.h"
#include "facts/facts-env.h"
#include "facts/facts-kinds.h"
#include "facts/facts-libraries.h"
#include "facts/facts-loads.h"
#include "facts/facts-nvml.h"
#include "facts/facts-rdma.h"
#include "facts/facts-references.h"
#include "facts/facts-repairs.h"
#include "facts/facts-services.h"
#include "facts/facts-software.h"

/* ---- the node ---- */

/* Data that could not be read. An unknown fact finds its reason here by its file. */
struct gap {
	struct fact_str path;  /* that was asked for */
	struct fact_str error; /* EACCES, ENODATA, ... */
	struct fact_str why;   /* for people */
	struct fact_str probe; /* that asked for it */
};

enum probe_state { PROBE_OK, PROBE_PARTIAL, PROBE_FAILED, PROBE_TIMED_OUT };
extern const char *const probe_state_words[];

struct probe_result {
	struct fact_str name;	     /* its file in src/probes */
	struct fact_enum state;	     /* enum probe_state */
	struct fact_u64 duration_us; /* how long it took */
	struct fact_str stuck_at;    /* the file that it was reading when its time ran out */
};

struct node {
	struct os_facts os;
	struct numa_facts numa;
	struct pci_facts pci;
	struct topology_facts topology;
	struct gpu_facts gpu;
	struct driver_facts driver;
	struct modules_facts modules;
	struct modprobe_facts modprobe;
	struct initramfs_facts initramfs;
	struct cmdline_facts cmdline;
	struct boot_facts boot;
	struct iommu_facts iommu;
	struct rdma_facts rdma;
	struct net_facts net;
	struct dev_facts dev;
	struct containers_facts containers;
	struct limits_facts limits;
	struct services_facts services;
	struct mps_facts mps;
	struct software_facts software;
	struct log_facts log;
	struct env_facts env;
	struct proof_facts proof;
	struct repairs_facts repairs;
	struct references_facts references;
	struct acknowledged_facts acknowledged;
	struct libraries_facts libraries;
	struct loads_facts loads;
	struct dkms_facts dkms;
	struct nvml_facts nvml;
	LIST(struct kind_fact) kinds; /* all kinds, ORDERED */
	LIST(struct gap) gaps;
	LIST(struct probe_result) probes; /* ORDERED: as they ran */
};

/* The descriptions of sections and of answers of libraries. */
extern const struct desc node_desc;
extern const struct desc os_facts_desc;
extern const struct desc driver_facts_desc;
extern const struct desc numa_facts_desc;
extern const struct desc pci_facts_desc;
extern const struct desc topology_facts_desc;
extern const struct desc initramfs_image_desc;
extern const struct desc boot_entry_desc;
extern const struct desc module_file_desc;
extern const struct desc modules_facts_desc;
extern const struct desc dev_facts_desc;
extern const struct desc limits_facts_desc;
extern const struct desc software_facts_desc;
extern const struct desc env_facts_desc;
extern const struct desc services_facts_desc;
extern const struct desc mps_facts_desc;
extern const struct desc log_facts_desc;
extern const struct desc rdma_device_desc;
extern const struct desc rdma_facts_desc;
extern const struct desc net_facts_desc;
extern const struct desc containers_facts_desc;
extern const struct desc repairs_facts_desc;
extern const struct desc references_facts_desc;
extern const struct desc acknowledged_facts_desc;
extern const struct desc libraries_facts_desc;
extern const struct desc loads_facts_desc;
extern const struct desc dkms_facts_desc;
extern const struct desc nvml_facts_desc;
extern const struct desc service_desc;

#endif
