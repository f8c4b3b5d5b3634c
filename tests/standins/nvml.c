/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvml.c - a stand-in for libnvidia-ml: boards with NVSwitches that are well, or not as STANDIN_FAULTS says:
 *
 *   no-init                 nvmlInit_v2 answers NVML_ERROR_LIB_RM_VERSION_MISMATCH
 *   hang, crash             it never returns; it ends with SIGSEGV
 *   crash-late              the second GPU's memory does that
 *   exit                    it ends the process
 *   fork, write, connect    it tries to start a process, to create /tmp/standin-nvml, to open a TCP socket
 *   thread                  it starts a thread, and cannot go on without
 *   together                a GPU has no handle before a handle was asked for of each
 *   remap-pending, remap-failed, uncorrectable, retirement, sram, channel-repair, tpc-repair, unrepairable, ecc-off,
 *   ecc-pending             errors and modes of the first GPU's memory
 *   mig, mig-pending        the first GPU has two MIG devices; it will be in MIG mode
 *   cc, cc-dev-tools        confidential computing is on; it is on for development
 *   link-down, no-nvlink    of the first GPU; of all
 *   link-asleep             the first GPU's links save power
 *   link-fewer              the first GPU has one link less
 *   fabric-progress, fabric-error, fabric-degraded, no-fabric
 *   brake, thermal, capped  what slows the first GPU down; a power limit below the default
 *   reset, drain            what the driver recommends for the first GPU
 *   p2p-1 ... p2p-6         P2P has that status (nvmlGpuP2PStatus_t); with -write only writes have
 *   exclusive, exclusive-thread, prohibited    the compute mode
 *   lost                    the first GPU has fallen off the bus
 *   hidden                  the last GPU is not this process's
 *   hidden-ends             a hypervisor hides what the NVLinks lead to
 *   hidden-gpus             the same, and the links lead to GPUs
 *   errors                  all that can fails with NVML_ERROR_UNKNOWN
 *
 * STANDIN_GPUS has the PCI addresses. Compiled with -DOLD it lacks the functions that came last.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GPUS 16
#define LINKS 18
#define DONE 0
#define UNSUPPORTED 3
#define WRONG 2
#define UNKNOWN 999

static int has(const char *fault)
{
	const char *all = getenv("STANDIN_FAULTS");
	size_t n = strlen(fault);

	for (const char *p = all; p && (p = strstr(p, fault)); p += n)
		if ((p == all || p[-1] == ',') && (p[n] == '\0' || p[n] == ','))
			return 1;
	return 0;
}

static unsigned int gpus(unsigned int bus[GPUS])
{
	const char *list = getenv("STANDIN_GPUS");
	unsigned int n = 0, domain, device;

	while (list && n < GPUS && sscanf(list, "%x:%x:%x", &domain, &bus[n], &device) == 3) {
		n++;
		list = strchr(list, ',');
		list = list ? list + 1 : NULL;
	}
	return n - (n && has("hidden"));
}

static unsigned int index_of(const void *device)
{
	return (unsigned int)(unsigned long)device - 1;
}

/* The first GPU is the one that is ill. */
static int ill(const void *device, const char *fault)
{
	return index_of(device) == 0 && has(fault);
}

#define ANSWER(place, value) return has("errors") ? UNKNOWN : (*(place) = (value), DONE)

static void *idle(void *unused)
{
	return unused;
}

static int start_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, idle, NULL) || pthread_join(thread, NULL);
}

/* Memory that others see as well, all of it, more than once. */
static void write_over_shared_memory(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], mode[5];
	unsigned long from, to;
	bool any = false;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %4s", &from, &to, mode) == 3 && mode[1] == 'w' &&
		    mode[3] == 's')
			for (unsigned int byte = 0; byte < 4; byte++, any = true)
				memset((void *)from, (int)(byte * 0x55), to - from);
	if (any)
		_exit(0);
}

/* What a library that was replaced would try. True: it was allowed. */
static bool gets_away(void)
{
	char *const argv[] = { "true", NULL };

	if (has("exec"))
		execv("/bin/true", argv);
	return (has("unix") && socket(AF_UNIX, SOCK_STREAM, 0) >= 0) ||
	       (has("netlink") && socket(AF_NETLINK, SOCK_RAW, 0) >= 0) ||
	       (has("packet") && socket(AF_PACKET, SOCK_RAW, 0) >= 0) ||
	       (has("kill") && kill(getppid(), SIGTERM) == 0) ||
	       (has("trace") && ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0) ||
	       (has("unlink") && unlink("/tmp/standin-nvml-kept") == 0) ||
	       (has("vfork") && syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0);
}

static bool tries(void)
{
	return has("exec") || has("unix") || has("netlink") || has("packet") || has("kill") ||
	       has("trace") || has("unlink") || has("vfork");
}

/* Ends the signals that it can, and never comes back. */
static void spin(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (;;)
		;
}

int nvmlInit_v2(void)
{
	if (has("spin"))
		spin();
	if (has("scribble"))
		write_over_shared_memory();
	if (has("close"))
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
	if (tries())
		return gets_away() ? DONE : 4;
	if (has("hang"))
		for (;;)
			pause();
	if (has("crash"))
		raise(SIGSEGV);
	if (has("exit"))
		exit(0);
	if (has("thread") && start_thread())
		return UNKNOWN;
	if (has("fork") && fork() >= 0)
		return DONE;
	if (has("write") && open("/tmp/standin-nvml", O_CREAT | O_WRONLY, 0600) >= 0)
		return DONE;
	if (has("connect") && socket(AF_INET, SOCK_STREAM, 0) >= 0)
		return DONE;
	if (has("fork") || has("write") || has("connect"))
		return 4;
	return has("no-init") ? 18 : DONE;
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
	unsigned int bus[GPUS];

	*count = gpus(bus);
	return DONE;
}

static int wait_for_all(void)
{
	static atomic_uint waiting;
	unsigned int bus[GPUS];

	atomic_fetch_add(&waiting, 1);
	for (int ms = 0; ms < 20000; ms++) {
		if (atomic_load(&waiting) >= gpus(bus))
			return DONE;
		usleep(1000);
	}
	return UNKNOWN;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
	if (has("together") && wait_for_all())
		return UNKNOWN;
	*device = (void *)(unsigned long)(index + 1);
	return index == 0 && has("lost") ? 15 : DONE;
}

struct pci {
	char legacy[16];
	unsigned int domain, bus, device, ids, subsystem;
	char text[32];
};

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci)
{
	unsigned int bus[GPUS];

	gpus(bus);
	*pci = (struct pci){ .bus = bus[index_of(device)] };
	return DONE;
}

int nvmlDeviceGetMinorNumber(void *device, unsigned int *minor)
{
	ANSWER(minor, index_of(device));
}

/* MIG devices are numbered from 100 on. */
static int is_mig_device(const void *device)
{
	return index_of(device) >= 100;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int n)
{
	if (has("errors"))
		return UNKNOWN;
	if (is_mig_device(device)) {
		snprintf(uuid, n, "MIG-deadbeef-1234-4abc-9def-0123456789%02x", index_of(device));
		return DONE;
	}
	snprintf(uuid, n, "GPU-deadbeef-1234-4abc-9def-0123456789%02x", index_of(device));
	return DONE;
}

int nvmlDeviceGetSerial(void *device, char *serial, unsigned int n)
{
	if (has("errors"))
		return UNKNOWN;
	snprintf(serial, n, "16541230%05u", index_of(device));
	return DONE;
}

struct memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

#ifndef OLD
int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory)
{
	if (index_of(device) == 1 && has("crash-late"))
		raise(SIGSEGV);
	if (memory->version != (40 | 2u << 24))
		return 25;
	if (has("errors"))
		return UNKNOWN;
	memory->total = 80ull << 30;
	memory->reserved = 1ull << 30;
	memory->used = 2ull << 30;
	return DONE;
}
#endif

struct memory {
	unsigned long long total, free, used;
};

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
	(void)device;
	*memory = (struct memory){ 80ull << 30, 77ull << 30, 3ull << 30 };
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetBAR1MemoryInfo(void *device, struct memory *bar1)
{
	(void)device;
	*bar1 = (struct memory){ 128ull << 30, 0, 1ull << 20 };
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetEccMode(void *device, int *current, int *pending)
{
	*current = !ill(device, "ecc-off");
	*pending = *current && !ill(device, "ecc-pending");
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *count)
{
	ANSWER(count, type == 1 && counter == 0 && ill(device, "uncorrectable") ? 2 : 0);
}

int nvmlDeviceGetRetiredPagesPendingStatus(void *device, int *pending)
{
	if (!has("retirement"))
		return UNSUPPORTED;
	ANSWER(pending, index_of(device) == 0);
}

int nvmlDeviceGetRetiredPages(void *device, int cause, unsigned int *count,
			      unsigned long long *addresses)
{
	unsigned int room = *count;

	if (!has("retirement"))
		return UNSUPPORTED;
	*count = index_of(device) ? 0 : 3 - (unsigned int)cause;
	if (*count && room)
		*addresses = 0x1000;
	return has("errors") ? UNKNOWN : room < *count ? 7 : DONE;
}

#ifndef OLD
struct sram {
	unsigned int version;
	unsigned long long counts[11];
	unsigned int exceeded;
};

int nvmlDeviceGetSramEccErrorStatus(void *device, struct sram *sram)
{
	if (sram->version != (104 | 1u << 24))
		return 25;
	ANSWER(&sram->exceeded, ill(device, "sram"));
}

int nvmlDeviceGetRepairStatus(void *device, unsigned int status[3])
{
	if (status[0] != (12 | 1u << 24))
		return 25;
	status[1] = ill(device, "channel-repair");
	status[2] = ill(device, "tpc-repair");
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetUnrepairableMemoryFlag_v1(void *device, unsigned int *flag)
{
	ANSWER(flag, ill(device, "unrepairable"));
}

int nvmlDeviceGetMarginTemperature(void *device, int margin[2])
{
	if (margin[0] != (8 | 1 << 24))
		return 25;
	ANSWER(&margin[1], ill(device, "thermal") ? -2 : 55);
}

int nvmlSystemGetConfComputeSettings(unsigned int settings[5])
{
	if (settings[0] != (20 | 1u << 24))
		return 25;
	settings[1] = has("cc") ? 2 : 0;
	settings[2] = has("cc") || has("cc-dev-tools");
	settings[3] = has("cc-dev-tools");
	settings[4] = has("cc");
	return has("errors") ? UNKNOWN : DONE;
}
#endif

int nvmlSystemGetConfComputeState(unsigned int state[3])
{
	state[0] = state[1] = state[2] = 0;
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetRemappedRows(void *device, unsigned int *correctable, unsigned int *uncorrectable,
			      unsigned int *pending, unsigned int *failed)
{
	*correctable = 0;
	*uncorrectable = ill(device, "remap-pending");
	*pending = ill(device, "remap-pending");
	*failed = ill(device, "remap-failed");
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetRowRemapperHistogram(void *device, unsigned int banks[5])
{
	(void)device;
	banks[0] = 2560;
	banks[1] = banks[2] = banks[3] = banks[4] = 0;
	return has("errors") ? UNKNOWN : DONE;
}

static unsigned int links(const void *device)
{
	return has("no-nvlink") ? 0 : LINKS - (unsigned int)ill(device, "link-fewer");
}

int nvmlDeviceGetNvLinkState(void *device, unsigned int link, int *active)
{
	if (link >= LINKS - (unsigned int)ill(device, "link-fewer"))
		return WRONG;
	if (has("no-nvlink"))
		return UNSUPPORTED;
	ANSWER(active, !(link == 5 && ill(device, "link-down")));
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned int link, struct pci *pci)
{
	(void)device;
	*pci = (struct pci){ .bus = 0xe0 + link % 4 };
	if (has("hidden-ends") || has("hidden-gpus"))
		*pci = (struct pci){ .domain = 0xffffffff, .bus = 0xffff, .device = 0xff };
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned int link, int *type)
{
	(void)device;
	(void)link;
	ANSWER(type, has("hidden-gpus") ? 0 : 2);
}

struct field {
	unsigned int id, scope;
	long long timestamp, latency;
	int type, result;
	unsigned long long value;
};

static unsigned long long value_of(const void *device, const struct field *f)
{
	switch (f->id) {
	case 91:
		return links(device);
	case 164:
		return 26562;
	case 165:
		return ill(device, "link-asleep") ? 2
						  : !(f->scope == 5 && ill(device, "link-down"));
	case 166:
		return 6;
	case 167:
		return (unsigned long long)ill(device, "link-asleep");
	case 230:
		return ill(device, "reset") ? 1 : ill(device, "drain") ? 4 : 0;
	default:
		return 0;
	}
}

int nvmlDeviceGetFieldValues(void *device, int count, struct field *fields)
{
	for (struct field *f = fields; f < fields + count; f++) {
		f->type = 1;
		f->result = has("errors") ? UNKNOWN : DONE;
		f->value = value_of(device, f);
#ifdef OLD
		if (f->id == 230 || f->id == 91 || f->id == 165 || f->id == 167)
			f->result = WRONG;
#endif
	}
	return DONE;
}

struct fabric {
	unsigned int version;
	unsigned char cluster[16];
	int status;
	unsigned int clique;
	unsigned char state;
	unsigned int health;
};

#ifndef OLD
/* Bandwidth, recovery, route, timeout: the value 2 is "no" (NVML_GPU_FABRIC_HEALTH_MASK_..._FALSE). */
int nvmlDeviceGetGpuFabricInfoV(void *device, struct fabric *fabric)
{
	if (fabric->version != (36 | 2u << 24))
		return 25;
	if (has("errors"))
		return UNKNOWN;
	fabric->state = has("no-fabric") ? 0 : ill(device, "fabric-progress") ? 2 : 3;
	fabric->status = ill(device, "fabric-error") ? UNKNOWN : DONE;
	fabric->health = ill(device, "fabric-degraded") ? 0xa9 : 0xaa;
	return DONE;
}
#endif

int nvmlDeviceGetGpuFabricInfo(void *device, unsigned char *info)
{
	(void)device;
	memset(info, 0, 28);
	info[24] = 3;
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
	ANSWER(reasons, ill(device, "brake") ? 0x88 : ill(device, "thermal") ? 0x48 : 1);
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *degrees)
{
	(void)sensor;
	ANSWER(degrees, ill(device, "thermal") ? 92 : 30);
}

int nvmlDeviceGetTemperatureThreshold(void *device, int threshold, unsigned int *degrees)
{
	(void)device;
	ANSWER(degrees, threshold == 0 ? 95 : 90);
}

int nvmlDeviceGetPowerManagementLimit(void *device, unsigned int *limit)
{
	ANSWER(limit, ill(device, "capped") ? 500000 : 700000);
}

int nvmlDeviceGetPowerManagementDefaultLimit(void *device, unsigned int *limit)
{
	(void)device;
	ANSWER(limit, 700000);
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned int *limit)
{
	return nvmlDeviceGetPowerManagementLimit(device, limit);
}

int nvmlDeviceGetComputeMode(void *device, int *mode)
{
	ANSWER(mode, ill(device, "exclusive")	       ? 3
		     : ill(device, "exclusive-thread") ? 1
		     : ill(device, "prohibited")       ? 2
						       : 0);
}

int nvmlDeviceGetMigMode(void *device, unsigned int *current, unsigned int *pending)
{
	*current = ill(device, "mig");
	*pending = *current || ill(device, "mig-pending");
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned int *count)
{
	ANSWER(count, ill(device, "mig") ? 7 : 0);
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned int index, void **mig)
{
	(void)device;
	if (index > 1)
		return 6;
	*mig = (void *)(unsigned long)(101 + index);
	return DONE;
}

int nvmlDeviceGetGpuInstanceId(void *device, unsigned int *id)
{
	ANSWER(id, index_of(device) - 99);
}

int nvmlDeviceGetComputeInstanceId(void *device, unsigned int *id)
{
	(void)device;
	ANSWER(id, 0);
}

struct attributes {
	unsigned int multiprocessors, shared[5], gpu_slices, compute_slices;
	unsigned long long memory_mib;
};

int nvmlDeviceGetAttributes_v2(void *device, struct attributes *attributes)
{
	(void)device;
	*attributes = (struct attributes){ .multiprocessors = 60, .memory_mib = 40448 };
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetDisplayActive(void *device, int *active)
{
	(void)device;
	ANSWER(active, 0);
}

int nvmlDeviceGetAccountingMode(void *device, int *mode)
{
	(void)device;
	ANSWER(mode, 0);
}

/* Four GPUs at each socket. */
int nvmlDeviceGetMemoryAffinity(void *device, unsigned int size, unsigned long *nodes,
				unsigned int scope)
{
	if (!size || scope)
		return WRONG;
	ANSWER(nodes, index_of(device) < 4 ? 1 : 2);
}

int nvmlDeviceGetNumaNodeId(void *device, unsigned int *node)
{
	(void)device;
	(void)node;
	return has("errors") ? UNKNOWN : UNSUPPORTED;
}

int nvmlDeviceGetTopologyCommonAncestor(void *a, void *b, int *level)
{
	ANSWER(level, index_of(a) / 4 == index_of(b) / 4 ? 40 : 50);
}

int nvmlDeviceGetPersistenceMode(void *device, int *mode)
{
	(void)device;
	ANSWER(mode, 1);
}

int nvmlDeviceGetVirtualizationMode(void *device, int *mode)
{
	(void)device;
	ANSWER(mode, 0);
}

int nvmlDeviceGetGspFirmwareVersion(void *device, char *version)
{
	(void)device;
	strcpy(version, "1.2.3");
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetP2PStatus(void *a, void *b, int what, int *status)
{
	const char *faults = getenv("STANDIN_FAULTS");
	const char *fault = faults ? strstr(faults, "p2p-") : NULL;

	(void)a;
	(void)b;
	if (!fault || (strstr(fault, "-write") && what != 1))
		fault = "p2p-0";
	ANSWER(status, fault[4] - '0');
}

int nvmlDeviceGetPcieReplayCounter(void *device, unsigned int *count)
{
	(void)device;
	ANSWER(count, 0);
}

int nvmlDeviceGetCurrPcieLinkGeneration(void *device, unsigned int *generation)
{
	(void)device;
	ANSWER(generation, 5);
}

int nvmlDeviceGetMaxPcieLinkGeneration(void *device, unsigned int *generation)
{
	(void)device;
	ANSWER(generation, 5);
}

int nvmlDeviceGetCurrPcieLinkWidth(void *device, unsigned int *width)
{
	(void)device;
	ANSWER(width, 16);
}

int nvmlDeviceGetMaxPcieLinkWidth(void *device, unsigned int *width)
{
	(void)device;
	ANSWER(width, 16);
}
