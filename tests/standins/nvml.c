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
 *   remap-pending, remap-failed, uncorrectable, retirement, ecc-off, ecc-pending, mig-pending
 *   link-down, no-nvlink    of the first GPU; of all
 *   fabric-progress, fabric-error, fabric-degraded, no-fabric
 *   brake, thermal, capped  what slows the first GPU down; a power limit below the default
 *   reset, drain            what the driver recommends for the first GPU
 *   no-p2p, exclusive       P2P is off by a registry key; the compute mode
 *   lost                    the first GPU has fallen off the bus
 *   hidden                  the last GPU is not this process's
 *   errors                  all that can fails with NVML_ERROR_UNKNOWN
 *
 * STANDIN_GPUS has the PCI addresses. Compiled with -DOLD it lacks the functions that came last.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

int nvmlInit_v2(void)
{
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

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
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

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int n)
{
	if (has("errors"))
		return UNKNOWN;
	snprintf(uuid, n, "GPU-deadbeef-1234-4abc-9def-0123456789%02x", index_of(device));
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

int nvmlDeviceGetNvLinkState(void *device, unsigned int link, int *active)
{
	if (link >= LINKS)
		return WRONG;
	if (has("no-nvlink"))
		return UNSUPPORTED;
	ANSWER(active, !(link == 5 && ill(device, "link-down")));
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned int link, struct pci *pci)
{
	(void)device;
	*pci = (struct pci){ .bus = 0xe0 + link % 4 };
	return has("errors") ? UNKNOWN : DONE;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned int link, int *type)
{
	(void)device;
	(void)link;
	ANSWER(type, 2);
}

struct field {
	unsigned int id, scope;
	long long timestamp, latency;
	int type, result;
	unsigned long long value;
};

int nvmlDeviceGetFieldValues(void *device, int count, struct field *fields)
{
	for (struct field *f = fields; f < fields + count; f++) {
		f->type = 1;
		f->result = has("errors") ? UNKNOWN : DONE;
		f->value = f->id == 166 ? 6 : f->id == 164 ? 26562 : 0;
		if (f->id != 230)
			continue;
		f->value = ill(device, "reset") ? 1 : ill(device, "drain") ? 4 : 0;
#ifdef OLD
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
	ANSWER(mode, ill(device, "exclusive") ? 3 : 0);
}

int nvmlDeviceGetMigMode(void *device, unsigned int *current, unsigned int *pending)
{
	*current = 0;
	*pending = ill(device, "mig-pending");
	return has("errors") ? UNKNOWN : DONE;
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
	(void)a;
	(void)b;
	(void)what;
	ANSWER(status, has("no-p2p") ? 4 : 0);
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
