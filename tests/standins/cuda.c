/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cuda.c - a libcuda and a libnvidia-ml for tests of prove, whose GPU memory is this process's own.
 *
 * STANDIN_GPUS is the list of their PCI addresses; STANDIN_FAULTS is what goes wrong, separated by
 * commas: a name, or name=FROM>TO for copies (FROM>TO by their places in the list).
 *
 *   no-device init-fails init-hangs init-crashes     cuInit
 *   fewer                   a child that is begun again after a crash finds one GPU less
 *   open                    the doorbell is for everybody; else for CAP_SYS_ADMIN alone
 *   v1                      the first version of the stream memory operations works too
 *   v2-refused v2-lost v2-hangs
 *   no-access=F>T           no peer access between the two
 *   zeros=F>T stale=F>T shift=F>T flip=F>T           what a copy leaves
 *   slow=F>T                takes ten times as long
 *   copy-hangs=F>T copy-crashes=F>T
 *   copy-fails=F>T          error 719, which every later call of that process gives as well
 *   exits=F>T               the library ends the process with status 0
 *   no-export               error 801
 *   no-nvml busy            a process of number 1 uses GPU 0
 *   nvlink                  18 links of 26562 MB/s, all to all
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef unsigned long long address;
typedef int result;

#define GPUS_MAX 16
#define BYTES_PER_MS 300000000.0 /* 300 GB/s */

/* ---- faults ---- */

static bool has(const char *name)
{
	const char *faults = getenv("STANDIN_FAULTS");
	size_t n = strlen(name);

	while (faults && *faults) {
		size_t word = strcspn(faults, ",");

		if (word == n && strncmp(faults, name, n) == 0)
			return true;
		faults += word + (faults[word] == ',');
	}
	return false;
}

static bool between(const char *name, long from, long to)
{
	char text[64];

	snprintf(text, sizeof(text), "%s=%ld>%ld", name, from, to);
	return has(text);
}

static _Noreturn void hang(void)
{
	for (;;)
		pause();
}

/* ---- GPUs; a context is the GPU's number plus one ---- */

static long current;
static bool broken;
static float elapsed_ms;
static struct allocation {
	char *start;
	size_t bytes;
	long gpu;
} allocations[256];

static int gpus(char bdfs[GPUS_MAX][16])
{
	const char *list = getenv("STANDIN_GPUS"), *only = getenv("CUDA_VISIBLE_DEVICES");
	int n = 0;

	while (list && *list && n < GPUS_MAX) {
		size_t word = strcspn(list, ",");

		snprintf(bdfs[n++], 16, "%.*s", (int)word, list);
		list += word + (list[word] == ',');
	}
	if (has("fewer") && getenv("STANDIN_MARK") && access(getenv("STANDIN_MARK"), F_OK) == 0)
		memmove(bdfs[0], bdfs[1], (size_t)(--n) * 16);
	return only && *only && n > 0 ? 1 : n;
}

/* Over all memory that this process shares with another. */
static void scribble(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long begin, end;
	char line[512], mode[8];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 && mode[1] == 'w' &&
		    mode[3] == 's')
			memset((char *)begin, 'A', end - begin > 1 << 20 ? 1 << 20 : end - begin);
	if (maps)
		fclose(maps);
}

result cuInit(unsigned int flags)
{
	(void)flags;
	if (has("scribbles"))
		scribble();
	if (has("forks") && fork() == 0)
		hang();
	if (has("init-hangs"))
		hang();
	if (has("init-crashes"))
		raise(SIGSEGV);
	return has("no-device") ? 100 : has("init-fails") ? 999 : 0;
}

result cuDriverGetVersion(int *version)
{
	*version = 12080;
	return 0;
}

result cuGetErrorName(result code, const char **name)
{
	static char hostile[4096];
	static const struct {
		result code;
		const char *name;
	} names[] = { { 1, "CUDA_ERROR_INVALID_VALUE" },   { 100, "CUDA_ERROR_NO_DEVICE" },
		      { 719, "CUDA_ERROR_LAUNCH_FAILED" }, { 800, "CUDA_ERROR_NOT_PERMITTED" },
		      { 801, "CUDA_ERROR_NOT_SUPPORTED" }, { 999, "CUDA_ERROR_UNKNOWN" } };

	if (has("lies-words")) {
		memset(hostile, 0x1b, sizeof(hostile) - 1);
		snprintf(hostile, 40, "%s", "\x1b]0;owned\a<script>\n# HELP x\xff");
		*name = hostile;
		return 0;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == code) {
			*name = names[i].name;
			return 0;
		}
	return 1;
}

result cuDeviceGetCount(int *count)
{
	char bdfs[GPUS_MAX][16];

	*count = has("lies-none") ? -1 : has("lies-many") ? 1 << 30 : gpus(bdfs);
	return 0;
}

result cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return 0;
}

result cuDeviceGetPCIBusId(char *text, int size, int device)
{
	char bdfs[GPUS_MAX][16];

	gpus(bdfs);
	if (has("lies-id"))
		memset(text, 0x1b, (size_t)size);
	else
		snprintf(text, (size_t)size, "%s", bdfs[device % GPUS_MAX]);
	return 0;
}

result cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)attribute;
	(void)device;
	*value = 1;
	return 0;
}

result cuDevicePrimaryCtxRetain(void **context, int device)
{
	*context = (void *)(long)(device + 1);
	return 0;
}

result cuDevicePrimaryCtxRelease(int device)
{
	(void)device;
	return 0;
}

result cuCtxSetCurrent(void *context)
{
	current = (long)context - 1;
	return 0;
}

/* ---- memory ---- */

result cuMemAlloc_v2(address *to, size_t bytes)
{
	size_t i = 0;
	char *p = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);

	while (i < 255 && allocations[i].start)
		i++;
	allocations[i] = (struct allocation){ p, bytes, current };
	*to = (uintptr_t)p;
	return 0;
}

result cuMemFree_v2(address at)
{
	for (size_t i = 0; i < 256; i++)
		if ((uintptr_t)allocations[i].start == at)
			allocations[i].start = NULL;
	free((void *)(uintptr_t)at);
	return 0;
}

result cuMemHostAlloc(void **host, size_t bytes, unsigned int flags)
{
	(void)flags;
	*host = aligned_alloc(4096, bytes);
	return 0;
}

result cuMemFreeHost(void *host)
{
	free(host);
	return 0;
}

static bool has_sys_admin(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	syscall(SYS_capget, &header, data);
	return data[0].effective & 1u << CAP_SYS_ADMIN;
}

/* IOMEMORY is 4: what is allowed to all and what is not, as NVIDIA's driver has it. */
result cuMemHostRegister_v2(void *host, size_t bytes, unsigned int flags)
{
	(void)host;
	(void)bytes;
	return !(flags & 4) || has("open") || has_sys_admin() ? 0 : 800;
}

result cuMemHostUnregister(void *host)
{
	(void)host;
	return 0;
}

result cuMemcpyHtoD_v2(address to, const void *from, size_t bytes)
{
	memcpy((void *)(uintptr_t)to, from, bytes);
	return 0;
}

result cuMemcpyDtoH_v2(void *to, address from, size_t bytes)
{
	memcpy(to, (void *)(uintptr_t)from, bytes);
	return 0;
}

result cuMemsetD32_v2(address to, unsigned int value, size_t words)
{
	for (size_t i = 0; i < words; i++)
		((unsigned int *)(uintptr_t)to)[i] = value;
	return 0;
}

result cuPointerSetAttribute(const void *value, int attribute, address at)
{
	(void)value;
	(void)attribute;
	(void)at;
	return 0;
}

/* A memory file stands for the DMA-BUF: only its number is looked at. */
result cuMemGetHandleForAddressRange(void *handle, address at, size_t bytes, int type,
				     unsigned long long flags)
{
	(void)at;
	(void)bytes;
	(void)type;
	(void)flags;
	if (has("no-export"))
		return 801;
	*(int *)handle = memfd_create("standin", MFD_CLOEXEC);
	return 0;
}

/* ---- peers ---- */

result cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	*can = !between("no-access", device, peer);
	return 0;
}

result cuCtxEnablePeerAccess(void *peer, unsigned int flags)
{
	(void)peer;
	(void)flags;
	return 0;
}

result cuMemcpyPeerAsync(address to, void *to_context, address from, void *from_context,
			 size_t bytes, void *stream)
{
	long f = (long)from_context - 1, t = (long)to_context - 1;
	char *target = (char *)(uintptr_t)to;
	const char *source = (const char *)(uintptr_t)from;

	(void)stream;
	elapsed_ms += (float)((double)bytes / BYTES_PER_MS) * (between("slow", f, t) ? 10 : 1);
	if (between("copy-hangs", f, t))
		hang();
	if (between("copy-crashes", f, t)) {
		if (getenv("STANDIN_MARK"))
			close(creat(getenv("STANDIN_MARK"), 0600));
		raise(SIGBUS);
	}
	if (between("exits", f, t))
		exit(0);
	if (between("copy-fails", f, t) && bytes > 1 << 20)
		broken = true;
	if (broken)
		return 719;
	if (between("stale", f, t))
		return 0;
	if (between("zeros", f, t))
		memset(target, 0, bytes);
	else if (between("shift", f, t))
		memcpy(target, source + 64, bytes - 64);
	else
		memcpy(target, source, bytes);
	if (between("flip", f, t))
		target[bytes / 2] ^= 1;
	return 0;
}

/* ---- streams ---- */

result cuStreamCreate(void **stream, unsigned int flags)
{
	(void)flags;
	*stream = &current;
	return 0;
}

result cuStreamQuery(void *stream)
{
	(void)stream;
	return broken ? 719 : has("v2-hangs") ? 600 : 0;
}

result cuStreamSynchronize(void *stream)
{
	(void)stream;
	return 0;
}

result cuStreamDestroy_v2(void *stream)
{
	(void)stream;
	return 0;
}

result cuEventCreate(void **event, unsigned int flags)
{
	(void)flags;
	*event = &elapsed_ms;
	return 0;
}

result cuEventRecord(void *event, void *stream)
{
	static bool second;

	(void)event;
	(void)stream;
	if (!second)
		elapsed_ms = 0;
	second = !second;
	return 0;
}

result cuEventElapsedTime(float *ms, void *start, void *end)
{
	(void)start;
	(void)end;
	*ms = elapsed_ms;
	return 0;
}

result cuEventDestroy_v2(void *event)
{
	(void)event;
	return 0;
}

static result value(address at, uint64_t number, size_t bytes, bool write, bool first)
{
	if (first ? !has("v1") : has("v2-refused"))
		return 801;
	if (write && !has("v2-lost"))
		memcpy((void *)(uintptr_t)at, &number, bytes);
	return 0;
}

#define OPERATION(name, type, write, first)                                    \
	result name(void *stream, address at, type number, unsigned int flags) \
	{                                                                      \
		(void)stream;                                                  \
		(void)flags;                                                   \
		return value(at, number, sizeof(number), write, first);        \
	}
OPERATION(cuStreamWriteValue32, uint32_t, true, true)
OPERATION(cuStreamWaitValue32, uint32_t, false, true)
OPERATION(cuStreamWriteValue64, uint64_t, true, true)
OPERATION(cuStreamWaitValue64, uint64_t, false, true)
OPERATION(cuStreamWriteValue32_v2, uint32_t, true, false)
OPERATION(cuStreamWaitValue32_v2, uint32_t, false, false)
OPERATION(cuStreamWriteValue64_v2, uint64_t, true, false)
OPERATION(cuStreamWaitValue64_v2, uint64_t, false, false)

/* ---- NVML: a device is the GPU's number plus one ---- */

struct process {
	unsigned int pid;
	unsigned long long memory;
	unsigned int gpu_instance, compute_instance;
};

struct field_value {
	unsigned int id, scope;
	long long timestamp, latency;
	unsigned int type;
	result result;
	unsigned long long value;
};

result nvmlInit_v2(void)
{
	return has("no-nvml") ? 9 : 0;
}

result nvmlDeviceGetCount_v2(unsigned int *count)
{
	char bdfs[GPUS_MAX][16];

	*count = (unsigned int)gpus(bdfs);
	return 0;
}

result nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
	*device = (void *)(long)(index + 1);
	return 0;
}

result nvmlDeviceGetHandleByPciBusId_v2(const char *bdf, void **device)
{
	char bdfs[GPUS_MAX][16];

	for (int i = 0, n = gpus(bdfs); i < n; i++)
		if (strcmp(bdfs[i], bdf) == 0) {
			*device = (void *)(long)(i + 1);
			return 0;
		}
	return 6;
}

result nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count,
					       struct process *processes)
{
	*count = has("busy") && device == (void *)1L;
	if (*count)
		processes[0] = (struct process){ .pid = 1 };
	return 0;
}

result nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned int *count,
						struct process *processes)
{
	(void)device;
	(void)processes;
	*count = 0;
	return 0;
}

result nvmlDeviceGetP2PStatus(void *a, void *b, int what, int *status)
{
	(void)a;
	(void)b;
	*status = what == 2 && has("nvlink") ? 0 : 4;
	return 0;
}

result nvmlDeviceGetNvLinkState(void *device, unsigned int link, int *up)
{
	(void)device;
	*up = 1;
	return !has("nvlink") ? 3 : link < 18 ? 0 : 2;
}

result nvmlDeviceGetFieldValues(void *device, int count, struct field_value *values)
{
	(void)device;
	for (int i = 0; i < count; i++) {
		values[i].result = values[i].id == 164 ? 0 : 3;
		values[i].value = 26562;
	}
	return 0;
}
