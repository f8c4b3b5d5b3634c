/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-pci.h - the functions on the PCI buses, and the paths between GPUs and NICs. Part of facts.h, which includes
 * it. */
#ifndef FACTS_PCI_H
#define FACTS_PCI_H

#include "facts/fact.h"

/* ---- pci ---- */

enum pci_port {
	PCI_ENDPOINT,
	PCI_ROOT_PORT,
	PCI_UPSTREAM_PORT,
	PCI_DOWNSTREAM_PORT,
	PCI_BRIDGE,	  /* PCI Express to PCI, PCI to PCI */
	PCI_ROOT_COMPLEX, /* integrated endpoint, event collector */
};
extern const char *const pci_port_words[];

/*
 * A BAR without an address has start 0. Its size is then that of the kernel's resource (if the kernel kept it) or of
 * the Resizable BAR capability, else unknown: the register shows that the BAR exists, but only a write would show its
 * size. A 32-bit one without an address looks the same as one that does not exist, so it is not in the list.
 */
struct pci_bar {
	struct fact_u64 index;	       /* of the register: a 64-bit BAR 2 is registers 2 and 3 */
	struct fact_u64 start;	       /* bus address; hexadecimal. 0: not assigned */
	struct fact_u64 size_bytes;    /* a power of two */
	struct fact_bool prefetchable; /* reading has no side effects */
	struct fact_bool wide;	       /* 64-bit */
	struct fact_bool io;	       /* I/O ports: not reachable for peers */
};

/* Absent: not PCI Express, inside the root complex, or a virtual function. */
struct pci_link {
	enum fact_state state;
	struct fact_u64 speed_mts;     /* megatransfers a second: 32000 is Gen5 */
	struct fact_u64 speed_max_mts; /* maximum of this end */
	/* The upper limit that a root or downstream port has for its link, Target Link Speed of Link Control 2; absent:
	 * another function, or a port without that register. */
	struct fact_u64 speed_target_mts;
	/* The function may not change the speed by itself (Hardware Autonomous Speed Disable of Link Control 2), except
	 * to lower that of a bad link; absent: it has no such register. */
	struct fact_bool speed_fixed;
	struct fact_u64 width;	   /* lanes; 0: no link */
	struct fact_u64 width_max; /* maximum of this end */
};

/* Access Control Services: the values of both registers (PCIe 6.0, 7.7.11). */
struct pci_acs {
	enum fact_state state;
	struct fact_u64 capability; /* supported, in the bits of that section */
	struct fact_u64 control;    /* of these, switched on */
};

#define PCI_ACS_SV 0x01 /* source validation */
#define PCI_ACS_RR 0x04 /* P2P request redirect */
#define PCI_ACS_CR 0x08 /* P2P completion redirect */
#define PCI_ACS_UF 0x10 /* upstream forwarding */
#define PCI_ACS_EC 0x20 /* P2P egress control */
#define PCI_ACS_DT 0x40 /* direct translated P2P */

struct pci_rebar {
	struct fact_u64 index;		/* the BAR */
	struct fact_u64 size_bytes;	/* now */
	struct fact_u64 size_max_bytes; /* the largest that the device offers */
};

/* The 64-bit prefetchable window of a bridge, which large BARs need. */
struct pci_window {
	enum fact_state state;
	struct fact_u64 start;	    /* the first address passed down */
	struct fact_u64 size_bytes; /* 0: closed */
};

/*
 * Each register costs a bus transaction, and a server has hundreds of functions without a role for GPU or RDMA traffic.
 * From the subsystem on, display, network and InfiniBand controllers, PCI-to-PCI bridges and NVSwitches have all
 * fields. Others have only driver, parent, root and bars, and the rest stays unknown without a gap. A virtual function
 * has no memory_enabled, MPS, MRRS, relaxed ordering or link of its own (PCIe 6.0, 9.3.5): they are absent there, and
 * physical_function names the function that has them.
 */
struct pci_device {
	struct fact_str bdf;		     /* 0000:1b:00.0 */
	struct fact_u64 vendor_id;	     /* 0x10de is NVIDIA */
	struct fact_u64 device_id;	     /* the model, in the vendor's numbering */
	struct fact_u64 subsystem_vendor_id; /* the vendor of the board */
	struct fact_u64 subsystem_device_id; /* the board, in that vendor's numbering */
	struct fact_u64 class_id;	     /* base class, sub-class, interface: 0x030200 */
	struct fact_u64 revision;	     /* of the chip */
	struct fact_str driver;		     /* absent: none bound */
	/* The only driver that may bind to it, of a GPU and of a function that vfio-pci or pci-stub has; absent:
	 * any. */
	struct fact_str driver_override;
	struct fact_str parent;		 /* BDF of the bridge above; absent: on a root bus */
	struct fact_str root;		 /* the host bridge: pci0000:00 */
	struct fact_enum port;		 /* enum pci_port; absent: a conventional PCI device */
	struct fact_u64 numa_node;	 /* absent: the firmware gave none */
	struct fact_u64 config_bytes;	 /* of config space that could be read: 64 without root */
	struct fact_bool answers;	 /* config space is not all ones: it is still on the bus */
	struct fact_bool memory_enabled; /* it answers at the addresses of its BARs */
	struct fact_bool bus_master;	 /* it may start transfers itself */
	LIST(struct pci_bar) bars;	 /* those that exist, sized by the kernel */
	LIST(struct pci_rebar) rebar;	 /* absent: no Resizable BAR capability */
	struct pci_link link;		 /* to the port above */
	struct fact_u64 mps_bytes;	 /* Max_Payload_Size in use */
	struct fact_u64 mps_max_bytes;	 /* the largest Max_Payload_Size that it takes */
	struct fact_u64 mrrs_bytes;	 /* Max_Read_Request_Size in use */
	struct fact_bool relaxed_ordering; /* it may set the attribute in its requests */
	struct pci_acs acs;		   /* absent: no such capability */
	struct fact_bool ats_enabled;	   /* absent: no ATS capability */
	struct pci_window window;	   /* absent: not a bridge */
	struct fact_str physical_function; /* absent: not a virtual function */
	struct fact_u64 virtual_functions; /* SR-IOV functions in use; absent: not capable */
	struct fact_bool boot_vga;	   /* absent: not a VGA controller */
	/* For a ConnectX beside GPUs whose NVSwitches are managed through one (HGX B200), from its vital product
	 * data: SW_MNG is such a management function and no NIC. Unknown for all others, without a gap. */
	struct fact_str sub_model;
	struct fact_str power_state;	/* D0, D3hot, D3cold: then its registers are not read */
	struct fact_str runtime_status; /* active, suspended */
};

/* A reserved part of a function's BAR: by its driver, or for the firmware's frame buffer. */
struct pci_claim {
	struct fact_str bdf;	    /* of the function */
	struct fact_str holder;	    /* name of the holder: nvidia, BOOTFB, efifb */
	struct fact_u64 start;	    /* bus address; hexadecimal. Unknown: only root may see it */
	struct fact_u64 size_bytes; /* unknown with it */
};

/* A driver that driverctl binds to a function at each boot. */
struct pci_override {
	struct fact_str bdf;	/* of the function */
	struct fact_str driver; /* vfio-pci, none */
};

struct pci_facts {
	LIST(struct pci_device) devices; /* every function on the bus */
	/* Holders of the BARs of display controllers. ORDERED */
	LIST(struct pci_claim) claims;
	/* files of /etc/driverctl.d; absent: there is no such folder */
	LIST(struct pci_override) overrides;
};

/* ---- topology: the paths between GPUs and NICs; derived from the section pci by topology.h ---- */

/* Distances between two PCI functions, with the names of NCCL and nvidia-smi topo, nearest first. */
enum path_class {
	PATH_PIX,     /* one switch between them */
	PATH_PXB,     /* several switches, no host bridge */
	PATH_PHB,     /* through one host bridge: the CPU */
	PATH_NODE,    /* between host bridges of one NUMA node */
	PATH_SYS,     /* between NUMA nodes */
	PATH_UNKNOWN, /* only in code: a fact is then unknown itself */
};
extern const char *const path_class_words[];

enum nic_role { NIC_COMPUTE, NIC_STORAGE, NIC_MANAGEMENT };
extern const char *const nic_role_words[];

struct topology_path {
	struct fact_str bdf;	     /* of the other end */
	struct fact_enum class;	     /* enum path_class */
	struct fact_u64 ports;	     /* bridges between them, without the one above both */
	struct fact_bool redirected; /* ACS of one of those redirects requests upwards */
};

struct topology_gpu {
	struct fact_str bdf;		 /* of the GPU */
	LIST(struct topology_path) gpus; /* the other ones */
	LIST(struct topology_path) nics; /* the NICs of this node */
	LIST(const char *) nearest_nics; /* the nearest NICs */
	/* of these, the GPU's own, with as few GPUs for each NIC as possible; absent: this node has no NIC */
	struct fact_str nearest_nic;
};

struct topology_nic {
	struct fact_str bdf;   /* of the NIC */
	struct fact_enum role; /* enum nic_role; unknown: no evidence (topology.h) */
};

struct topology_facts {
	LIST(struct topology_gpu) gpus; /* GPUs, and their paths to the rest */
	LIST(struct topology_nic) nics; /* NICs, and their roles */
};

#endif
