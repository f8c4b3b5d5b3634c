/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-nvml.h - the driver's answers about its GPUs through NVML. Part of facts.h, which includes it. */
#ifndef FACTS_NVML_H
#define FACTS_NVML_H

#include "facts/fact.h"

/* ---- nvml: answers of the NVIDIA driver, only with --nvml ----
 *
 * Absent: NVML_ERROR_NOT_SUPPORTED, which nvidia-smi prints as N/A. Unknown: any other error, which a gap has, by the
 * name of the function that was called. */

enum nvml_p2p {
	NVML_P2P_IS_OK,
	NVML_P2P_CHIPSET,
	NVML_P2P_GPU,
	NVML_P2P_TOPOLOGY,
	NVML_P2P_REGISTRY,
	NVML_P2P_NOT_SUPPORTED,
	NVML_P2P_UNKNOWN,
};
extern const char *const nvml_p2p_words[];
enum nvml_level {
	NVML_LEVEL_INTERNAL,
	NVML_LEVEL_PIX,
	NVML_LEVEL_PXB,
	NVML_LEVEL_PHB,
	NVML_LEVEL_NODE,
	NVML_LEVEL_SYS,
};
extern const char *const nvml_level_words[];
enum nvml_cc_environment { NVML_CC_UNAVAILABLE, NVML_CC_SIMULATION, NVML_CC_PRODUCTION };
extern const char *const nvml_cc_environment_words[];
enum nvml_cc_multi_gpu { NVML_CC_ONE_GPU, NVML_CC_PROTECTED_PCIE, NVML_CC_NVLE };
extern const char *const nvml_cc_multi_gpu_words[];
enum nvml_remote { NVML_REMOTE_GPU, NVML_REMOTE_NPU, NVML_REMOTE_SWITCH, NVML_REMOTE_UNKNOWN };
extern const char *const nvml_remote_words[];
enum nvml_fabric_state {
	NVML_FABRIC_NOT_SUPPORTED,
	NVML_FABRIC_NOT_STARTED,
	NVML_FABRIC_IN_PROGRESS,
	NVML_FABRIC_COMPLETED,
};
extern const char *const nvml_fabric_state_words[];
enum nvml_compute_mode {
	NVML_COMPUTE_DEFAULT,
	NVML_COMPUTE_EXCLUSIVE_THREAD,
	NVML_COMPUTE_PROHIBITED,
	NVML_COMPUTE_EXCLUSIVE_PROCESS,
};
extern const char *const nvml_compute_mode_words[];
enum nvml_virtualization {
	NVML_VIRTUALIZATION_NONE,
	NVML_VIRTUALIZATION_PASSTHROUGH,
	NVML_VIRTUALIZATION_VGPU,
	NVML_VIRTUALIZATION_HOST_VGPU,
	NVML_VIRTUALIZATION_HOST_VSGA,
};
extern const char *const nvml_virtualization_words[];
enum nvml_recovery {
	NVML_RECOVERY_NONE,
	NVML_RECOVERY_GPU_RESET,
	NVML_RECOVERY_NODE_REBOOT,
	NVML_RECOVERY_DRAIN_P2P,
	NVML_RECOVERY_DRAIN_AND_RESET,
	NVML_RECOVERY_IMEX_DOMAIN,
};
extern const char *const nvml_recovery_words[];

struct nvml_memory {
	struct fact_u64 total_bytes; /* of the GPU's memory */
	struct fact_u64 used_bytes;  /* allocated, without the driver's reserve */
	/* by driver and firmware; absent: not reported separately */
	struct fact_u64 reserved_bytes;
	struct fact_u64 bar1_total_bytes; /* size of BAR1 */
	struct fact_u64 bar1_used_bytes;  /* mapped through it */
};

/* Counts since the driver was loaded (volatile), and in the life of the board (aggregate). */
struct nvml_ecc {
	struct fact_bool enabled;	       /* absent: no ECC memory */
	struct fact_bool pending;	       /* the mode after the next reset or reboot */
	struct fact_u64 corrected_volatile;    /* corrected since the driver was loaded */
	struct fact_u64 uncorrected_volatile;  /* not corrected since the driver was loaded */
	struct fact_u64 corrected_aggregate;   /* corrected in the life of the board */
	struct fact_u64 uncorrected_aggregate; /* not corrected in the life of the board */
	/* A page waits for retirement, which a reset or reboot does; before Ampere. */
	struct fact_bool retirement_pending;
	/* Pages retired after several corrected errors; before Ampere. */
	struct fact_u64 pages_corrected;
	/* Pages retired after an error that was not corrected; before Ampere. */
	struct fact_u64 pages_uncorrected;
	/* The SRAM had so many uncorrected errors that the vendor replaces the board. */
	struct fact_bool sram_threshold_exceeded;
	struct fact_bool unrepairable; /* the memory has a fault that no repair removes */
	/* The next reset repairs a channel of the memory. */
	struct fact_bool channel_repair_pending;
	/* The next reset repairs a cluster of processors. */
	struct fact_bool tpc_repair_pending;
};

/* Rows of memory that were replaced by spare ones; since Ampere. */
struct nvml_rows {
	struct fact_u64 correctable;   /* remapped after correctable errors */
	struct fact_u64 uncorrectable; /* remapped after uncorrectable errors */
	struct fact_bool pending;      /* a remap waits for a reset or reboot */
	struct fact_bool failed;       /* a remap failed: no spare row was left */
	struct fact_u64 banks_max;     /* banks with all their spare rows */
	struct fact_u64 banks_high;    /* with most of them */
	struct fact_u64 banks_partial; /* with some of them */
	struct fact_u64 banks_low;     /* with few of them */
	struct fact_u64 banks_none;    /* with none */
};

struct nvml_link {
	struct fact_u64 link;	    /* its number, from 0 */
	struct fact_bool active;    /* it is up */
	struct fact_u64 version;    /* as NVML numbers them: 5 is NVLink 3.1, 6 NVLink 4.0 */
	struct fact_str remote;	    /* PCI address of the other end; a hypervisor can hide it */
	struct fact_enum remote_is; /* enum nvml_remote */
	struct fact_u64 mb_per_s;   /* 10^6 bytes, one direction; absent: it is down */
	struct fact_u64 replays;    /* packets that were sent again */
	struct fact_u64 recoveries; /* times that the link was trained again */
	struct fact_u64 crc_errors; /* packets that arrived damaged */
	struct fact_bool low_power; /* it runs at low speed to save power */
};

struct nvml_fabric {
	struct fact_enum state;	      /* enum nvml_fabric_state; absent: no fabric */
	struct fact_str error;	      /* the probe's error, as in NVML; absent: success */
	struct fact_u64 clique;	      /* number of the clique in the cluster */
	struct fact_str cluster_uuid; /* of the NVLink domain; all zeros: a single node */
	/* Bits of NVML_GPU_FABRIC_HEALTH_MASK; absent: this driver has none. */
	struct fact_u64 health_mask;
};

struct nvml_clocks {
	struct fact_u64 reasons;	   /* bits of nvmlClocksEventReasons: why clocks are low */
	struct fact_u64 temperature_c;	   /* of the GPU */
	struct fact_u64 slowdown_c;	   /* the hardware slows down from here on */
	struct fact_u64 shutdown_c;	   /* the GPU turns itself off from here on */
	struct fact_u64 margin_c;	   /* degrees to the nearest slowdown; 0: none is left */
	struct fact_u64 power_limit_mw;	   /* that is set */
	struct fact_u64 power_default_mw;  /* that the board comes with */
	struct fact_u64 power_enforced_mw; /* the lowest of all limits that count */
};

struct nvml_pcie {
	struct fact_u64 replays;	/* packets sent again since the driver was loaded */
	struct fact_u64 generation;	/* of the link now; lower while the GPU is idle */
	struct fact_u64 generation_max; /* maximum of GPU and slot */
	struct fact_u64 width;		/* lanes now */
	struct fact_u64 width_max;	/* maximum of GPU and slot */
};

/* The access of one GPU to another GPU's memory. */
struct nvml_peer {
	struct fact_str bdf;	  /* of the other GPU */
	struct fact_enum read;	  /* enum nvml_p2p */
	struct fact_enum write;	  /* enum nvml_p2p */
	struct fact_enum nvlink;  /* enum nvml_p2p */
	struct fact_enum atomics; /* enum nvml_p2p */
	struct fact_enum pcie;	  /* enum nvml_p2p: over PCIe, whatever NVLink there is */
	struct fact_enum level;	  /* enum nvml_level: of the PCIe path */
	/* Links that lead to it, directly or through NVSwitches: NV18; absent: none. */
	struct fact_u64 links;
};

/* A part of a GPU in MIG mode that jobs use as a device. */
struct nvml_mig_device {
	struct fact_u64 index;		  /* NVML's number of it, from 0 */
	struct fact_u64 gpu_instance;	  /* GI */
	struct fact_u64 compute_instance; /* CI within it */
	struct fact_str uuid;		  /* MIG- and its number */
	struct fact_u64 memory_bytes;	  /* of its memory; other devices can share it */
	struct fact_u64 multiprocessors;  /* that it has */
};

struct nvml_gpu {
	struct fact_str bdf;			  /* as in pci.devices */
	struct fact_u64 index;			  /* the number that nvidia-smi gives it */
	struct fact_u64 minor;			  /* /dev/nvidiaN */
	struct fact_str uuid;			  /* GPU- and its number */
	struct fact_str serial;			  /* of the board; asked for only with --serials */
	struct nvml_memory memory;		  /* its memory, and BAR1 */
	struct nvml_ecc ecc;			  /* its ECC mode and counts */
	struct nvml_rows rows;			  /* its remapped rows */
	LIST(struct nvml_link) links;		  /* absent: no NVLink */
	struct nvml_fabric fabric;		  /* its place in the NVLink fabric */
	struct nvml_clocks clocks;		  /* the reason of low clocks */
	struct nvml_pcie pcie;			  /* its PCIe link */
	struct fact_enum compute_mode;		  /* enum nvml_compute_mode */
	struct fact_bool mig;			  /* MIG mode; absent: the GPU has none */
	struct fact_bool mig_pending;		  /* the mode after the next reset */
	LIST(struct nvml_mig_device) mig_devices; /* absent: MIG is off */
	struct fact_bool persistence;		  /* the driver keeps the GPU initialised */
	struct fact_bool display_active;	  /* a display server uses the GPU */
	struct fact_bool accounting;		  /* the driver keeps counts of processes */
	struct fact_str numa_affinity;	 /* NUMA nodes of the CPUs that are nearest: "0", "0-1" */
	struct fact_u64 numa_node;	 /* of the GPU's own memory; absent: it has none */
	struct fact_enum virtualization; /* enum nvml_virtualization */
	struct fact_str gsp_firmware;	 /* version; absent: GSP is not in use */
	struct fact_enum recovery;	 /* enum nvml_recovery: what the driver recommends */
	LIST(struct nvml_peer) peers;	 /* the other GPUs that this process can see */
};

/* A function that failed unexpectedly. */
struct nvml_failure {
	struct fact_str function; /* nvmlDeviceGetEccMode */
	struct fact_str gpu;	  /* BDF; absent: not about a GPU */
	struct fact_str error;	  /* NVML_ERROR_UNKNOWN (999), or "the library does not have it" */
};

/* Confidential computing, of the whole system. */
struct nvml_cc {
	struct fact_bool enabled;     /* absent: this system has none */
	struct fact_bool dev_tools;   /* in the mode for development, which protects nothing */
	struct fact_enum environment; /* enum nvml_cc_environment */
	struct fact_enum multi_gpu;   /* enum nvml_cc_multi_gpu */
};

struct nvml_facts {
	enum fact_state state;		    /* unknown: --nvml was not given */
	struct fact_str refused;	    /* why the driver was not asked; absent: it was */
	struct fact_str library;	    /* path of libnvidia-ml.so.1 */
	struct fact_str library_version;    /* by the name of its file */
	struct nvml_cc cc;		    /* confidential computing */
	LIST(struct nvml_gpu) gpus;	    /* that this process can see */
	LIST(struct nvml_failure) failures; /* ORDERED: as they happened */
};

#endif
