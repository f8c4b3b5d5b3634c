/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kind.c - the kinds of the node, from the facts. */
#include "query/kind.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/array.h"
#include "query/gpus.h"
#include "query/guests.h"
#include "query/node-find.h"
#include "query/pci-device.h"

/* The state of one question. */
struct question {
	const struct node *node;
	struct arena *arena; /* NULL: no reason is needed */
	struct kind_answer answer;
};

__attribute__((format(printf, 4, 0))) static void answer(struct question *q, struct fact_bool is,
							 const char *fact, const char *format,
							 va_list ap)
{
	char text[256];

	q->answer = (struct kind_answer){ .is = is, .fact = fact };
	if (!q->arena)
		return;
	vsnprintf(text, sizeof(text), format, ap);
	q->answer.reason = arena_strdup(q->arena, text);
}

#define ANSWER(name, value)                                                    \
	__attribute__((format(printf, 3, 4))) static void name(                \
		struct question *q, const char *fact, const char *format, ...) \
	{                                                                      \
		va_list ap;                                                    \
		va_start(ap, format);                                          \
		answer(q, (value), fact, format, ap);                          \
		va_end(ap);                                                    \
	}
ANSWER(yes, fact_bool(true))
ANSWER(no, fact_bool(false))
ANSWER(unknown, ((struct fact_bool){ 0 }))

/* Gets the answer for another kind. */
static struct fact_bool ask(struct question *q, enum kind kind)
{
	q->answer = kind_find(q->node, kind, q->arena);
	return q->answer.is;
}

/* ---- the system ---- */

/* Answers whether the node is a mounted image: every running kernel has these files. For a copy without /proc the
 * probes report -ENODATA (host.h). */
static void is_mounted_image(struct question *q)
{
	const struct node *node = q->node;
	bool missing = false;

	if (is_known(node->os.next_boot)) {
		yes(q, "os.next_boot", "a root file system without /proc and /sys");
		return;
	}
	if (was_read(node->cmdline.running) || was_read(node->pci.devices) ||
	    was_read(node->os.boot_id)) {
		no(q, "cmdline.running", "a kernel runs");
		return;
	}
	for_each(gap, &node->gaps)
		missing |= str_is(gap->path, "/proc") && str_is(gap->error, "ENODATA");
	if (missing && is_known(node->os.id))
		yes(q, "os.id", "a root file system without /proc and /sys");
	else
		unknown(q, "cmdline.running",
			"neither the kernel's files nor their absence was read");
}

static void is_machine(struct question *q, bool virtual)
{
	struct fact_str hypervisor = q->node->os.hypervisor;

	if (is_unknown(hypervisor))
		unknown(q, "os.hypervisor", "whether there is a hypervisor was not read");
	else if (is_known(hypervisor))
		(virtual ? yes : no)(q, "os.hypervisor", "the hypervisor is %s", hypervisor.value);
	else
		(virtual ? no : yes)(q, "os.hypervisor", "there is no hypervisor");
}

static void is_bare_metal(struct question *q)
{
	is_machine(q, false);
}

static void is_virtual(struct question *q)
{
	is_machine(q, true);
}

static void is_container(struct question *q)
{
	struct fact_str container = q->node->os.container;

	if (is_known(container))
		yes(q, "os.container", "these are the files of a container (%s)", container.value);
	else if (is_absent(container))
		no(q, "os.container", "these are no container's files");
	else
		unknown(q, "os.container", "whether these are a container's files was not read");
}

static void is_pod(struct question *q)
{
	const struct node *node = q->node;

	if (str_is(node->os.container, "kubernetes"))
		yes(q, "os.container", "these are the files of a pod");
	else if (str_is(node->env.container, "kubernetes"))
		yes(q, "env.container", "the process is in a pod's control group");
	else if (is_unknown(node->os.container))
		unknown(q, "os.container", "whether these are a pod's files was not read");
	else if (is_unknown(node->env.container))
		unknown(q, "env.container", "the process's control group was not read");
	else
		no(q, "os.container", "neither files nor control group are a pod's");
}

static void is_cloud(struct question *q)
{
	struct fact_str cloud = q->node->os.cloud;

	if (is_known(cloud))
		yes(q, "os.cloud", "the firmware's tables name %s", cloud.value);
	else if (is_absent(cloud))
		no(q, "os.cloud", "the firmware's tables name no cloud");
	else
		unknown(q, "os.cloud", "the firmware's tables were not read");
}

/* amzn-drivers, kernel/linux/efa/src/efa_main.c: the virtual functions of its generations */
static bool is_efa_function(const struct pci_device *d)
{
	return known_is(d->vendor_id, 0x1d0f) && is_known(d->device_id) &&
	       d->device_id.value >= 0xefa0 && d->device_id.value <= 0xefa3;
}

static void is_efa(struct question *q)
{
	const struct node *node = q->node;
	size_t n = 0;

	for_each(d, &node->pci.devices)
		n += is_efa_function(d);
	for_each(d, &node->rdma.devices)
		if (!n && str_is(d->driver, "efa"))
			n = 1;
	if (n)
		yes(q, "pci.devices", "%zu Elastic Fabric Adapter%s", n, n == 1 ? "" : "s");
	else if (!was_read(node->pci.devices))
		unknown(q, "pci.devices", "the PCI functions were not read");
	else
		no(q, "pci.devices", "no Elastic Fabric Adapter");
}

/* ---- virtual machines, and hosts of them ---- */

/* Counts the GPUs of a virtual machine: vGPUs, whole ones, and those without a name from the driver. */
static void count_guest_gpus(const struct node *node, size_t *parts, size_t *whole, size_t *unnamed)
{
	*parts = *whole = *unnamed = 0;
	for_each(d, &node->pci.devices) {
		bool named = false;

		if (!pci_is_gpu(d))
			continue;
		for_each(g, &node->gpu.devices)
			named |= str_is(d->bdf, g->bdf.value) && is_known(g->model);
		if (gpu_is_vgpu(node, d))
			++*parts;
		else if (named)
			++*whole;
		else
			++*unnamed;
	}
}

static void is_gpu_guest(struct question *q, bool vgpu)
{
	const struct node *node = q->node;
	struct fact_bool machine = ask(q, KIND_VIRTUAL_MACHINE);
	size_t parts, whole, unnamed;

	if (!known_is(machine, true))
		return;
	count_guest_gpus(node, &parts, &whole, &unnamed);
	if (!was_read(node->pci.devices))
		unknown(q, "pci.devices", "the PCI functions were not read");
	else if (vgpu ? parts : whole)
		yes(q, "gpu.devices", "%zu GPU%s", vgpu ? parts : whole,
		    (vgpu ? parts : whole) == 1 ? "" : "s");
	else if (unnamed)
		unknown(q, "gpu.devices", "the driver, which names the GPUs, was not read");
	else
		no(q, "gpu.devices", vgpu ? "no vGPU" : "no GPU of the host");
}

static void is_vgpu_guest(struct question *q)
{
	is_gpu_guest(q, true);
}

static void is_passthrough_guest(struct question *q)
{
	is_gpu_guest(q, false);
}

static void is_vfio_host(struct question *q)
{
	struct guest_gpus found = guest_gpus(q->node);

	if (found.given)
		yes(q, found.fact, "%zu of %zu GPU%s %s given to virtual machines: %s", found.given,
		    found.gpus, found.gpus == 1 ? "" : "s", found.given == 1 ? "is" : "are",
		    found.why);
	else if (!was_read(q->node->pci.devices))
		unknown(q, "pci.devices", "the PCI functions were not read");
	else if (found.unread)
		unknown(q, found.fact, "whether a GPU is given to virtual machines was not read");
	else if (found.bound)
		no(q, "pci.devices", "%zu of %zu GPU%s %s held back, and nothing says for what",
		   found.bound, found.gpus, found.gpus == 1 ? "" : "s",
		   found.bound == 1 ? "is" : "are");
	else
		no(q, "pci.devices", "no GPU is held back for virtual machines");
}

/* NVIDIA vGPU software documentation, "Verifying the installation of the vGPU package": lsmod lists it. */
static void is_vgpu_host(struct question *q)
{
	if (node_module(q->node, "nvidia_vgpu_vfio"))
		yes(q, "modules.loaded[nvidia_vgpu_vfio].state", "nvidia_vgpu_vfio is loaded");
	else if (!was_read(q->node->modules.loaded))
		unknown(q, "modules.loaded", "the loaded modules were not read");
	else
		no(q, "modules.loaded", "nvidia_vgpu_vfio is not loaded");
}

/* ---- what starts jobs ---- */

static bool runs(const struct node *node, const char *process, const char *unit, const char **fact)
{
	const struct service *service = node_service(node, unit);

	*fact = "limits.launchers";
	for_each(p, &node->limits.launchers)
		if (str_is(p->name, process))
			return true;
	*fact = "services.units";
	return service && str_is(service->active, "active");
}

/* Started at each boot, whether it runs now or not. */
static bool is_enabled(const struct node *node, const char *unit)
{
	const struct service *service = node_service(node, unit);

	return service && str_is(service->enabled, "enabled");
}

static void is_kubernetes(struct question *q)
{
	const struct node *node = q->node;
	const char *fact;

	if (runs(node, "kubelet", "kubelet.service", &fact))
		yes(q, fact, "the kubelet runs");
	else if (is_known(node->containers.kubelet))
		yes(q, "containers.kubelet", "the kubelet has pods in %s",
		    node->containers.kubelet.value);
	else if (known_is(ask(q, KIND_POD), true))
		return;
	else if (is_known(node->os.container))
		unknown(q, "os.container", "a container does not see its host's kubelet");
	else if (!was_read(node->limits.launchers))
		unknown(q, "limits.launchers", "the processes were not read");
	else if (is_unknown(node->containers.kubelet))
		unknown(q, "containers.kubelet", "the kubelet's folder was not read");
	else
		no(q, "limits.launchers", "no kubelet");
}

static void is_plugin_host(struct question *q, const char *driver)
{
	const struct containers_facts *containers = &q->node->containers;
	struct fact_bool kubernetes = ask(q, KIND_KUBERNETES);

	if (known_is(kubernetes, false))
		return;
	for (uint32_t i = 0; i < containers->kubelet_plugins.count; i++)
		if (strcmp(containers->kubelet_plugins.items[i], driver) == 0) {
			yes(q, "containers.kubelet_plugins", "the kubelet has the plugin %s",
			    driver);
			return;
		}
	if (is_unknown(containers->kubelet_plugins) || is_known(q->node->os.container))
		unknown(q, "containers.kubelet_plugins", "the kubelet's plugins were not read");
	else
		no(q, "containers.kubelet_plugins", "the kubelet has no plugin %s", driver);
}

/* kubernetes-sigs/dra-driver-nvidia-gpu: cmd/gpu-kubelet-plugin/main.go */
static void is_dra(struct question *q)
{
	is_plugin_host(q, "gpu.nvidia.com");
}

/* cmd/compute-domain-kubelet-plugin/main.go */
static void is_compute_domains(struct question *q)
{
	is_plugin_host(q, "compute-domain.nvidia.com");
}

static void is_slurm(struct question *q)
{
	const struct node *node = q->node;
	const char *fact;

	if (runs(node, "slurmd", "slurmd.service", &fact))
		yes(q, fact, "slurmd runs");
	else if (is_enabled(node, "slurmd.service"))
		yes(q, "services.units", "slurmd.service is enabled");
	else if (is_known(node->os.container))
		unknown(q, "os.container", "a container does not see its host's slurmd");
	else if (!was_read(node->limits.launchers))
		unknown(q, "limits.launchers", "the processes were not read");
	else if (!was_read(node->services.units))
		unknown(q, "services.units", "the services were not read");
	else
		no(q, "limits.launchers", "no slurmd");
}

static void is_job_node(struct question *q)
{
	struct fact_bool container = ask(q, KIND_CONTAINER), kubernetes;

	if (!known_is(container, false)) {
		q->answer.is.value = false;
		return;
	}
	kubernetes = ask(q, KIND_KUBERNETES);
	if (!known_is(kubernetes, false)) {
		q->answer.is.value = false;
		return;
	}
	if (guests_have_all_gpus(q->node))
		no(q, "pci.devices", "all GPUs are given to virtual machines");
	else if (is_unknown(q->node->pci.devices))
		unknown(q, "pci.devices", "the PCI functions were not read");
	else
		yes(q, "limits.launchers", "no container, and no kubelet");
}

/* ---- what it is built of ---- */

struct gpu_counts {
	size_t all;
	size_t unnamed; /* neither the table nor the driver names them */
	size_t named;	/* with the word that is looked for */
	size_t data_centre, cards;
};

/* GPUs whose name contains the word NAME; NULL: any. */
static struct gpu_counts count_gpus(const struct node *node, const char *name)
{
	struct gpu_counts n = { 0 };
	const struct pci_device *last = NULL;
	const struct gpu_model *model = NULL;

	for_each(d, &node->pci.devices) {
		if (!pci_is_gpu(d))
			continue;
		/* Mostly they are all of one model. */
		if (!last || !known_is(d->device_id, last->device_id.value))
			model = gpu_model(d);
		last = d;
		n.all++;
		n.unnamed += !model && strcmp(gpu_name(node, d), "NVIDIA GPU") == 0;
		n.named += name && strstr(model ? model->name : gpu_name(node, d), name);
		n.data_centre += model ? model->kind == GPU_DATA_CENTRE : gpu_is_data_centre(d);
		n.cards += model && (model->kind == GPU_GEFORCE || model->kind == GPU_WORKSTATION);
	}
	return n;
}

/* Recognises the product by its GPUs' names, else by the DMI name. OTHER is an alternative name, or NULL. */
static void is_named(struct question *q, const char *name, const char *other)
{
	const struct node *node = q->node;
	struct gpu_counts n = count_gpus(node, name);

	if (n.named)
		yes(q, "pci.devices", "%zu GPU%s %s", n.named, n.named == 1 ? " is a" : "s are",
		    name);
	else if (is_known(node->os.product) && strstr(node->os.product.value, name))
		yes(q, "os.product", "the product is %s", node->os.product.value);
	else if (other)
		is_named(q, other, NULL);
	else if (!was_read(node->pci.devices))
		unknown(q, "pci.devices", "the PCI functions were not read");
	else if (n.unnamed)
		unknown(q, "pci.devices", "a GPU is of a model that is not in the table");
	else
		no(q, "pci.devices", "the GPUs are others");
}

static void is_gb10(struct question *q)
{
	is_named(q, "GB10", NULL);
}

static void is_gh200(struct question *q)
{
	is_named(q, "GH200", NULL);
}

static void is_gb200(struct question *q)
{
	is_named(q, "GB200", "GB300");
}

/* Its cores are Neoverse V2, like those of others, so the GPU on the same module decides, or the board's name. */
static void is_grace(struct question *q)
{
	static const char *const names[] = { "GH200", "GB200", "GB300", "Grace", "P4352", "P4764" };
	const struct node *node = q->node;

	if (is_known(node->os.machine) && !str_is(node->os.machine, "aarch64")) {
		no(q, "os.machine", "the processor is %s", node->os.machine.value);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		is_named(q, names[i], NULL);
		if (known_is(q->answer.is, true))
			return;
	}
	if (is_unknown(q->answer.is))
		return;
	if (is_unknown(node->os.machine))
		unknown(q, "os.machine", "the processor was not read");
	else if (is_unknown(node->os.product))
		unknown(q, "os.product", "the product was not read");
	else
		no(q, "os.product", "neither a GPU nor the product is of Grace");
}

/* The generation of NVSwitches that boards of these GPUs have; 0: none. */
static unsigned int board_generation(const struct node *node)
{
	unsigned int generation = 0;

	for_each(d, &node->pci.devices) {
		const struct gpu_model *model = pci_is_gpu(d) ? gpu_model(d) : NULL;

		if (model && model->nvswitch > generation)
			generation = model->nvswitch;
	}
	return generation;
}

/* Until generation 3 NVSwitches are functions of NVIDIA's own; from 4 on ConnectX functions manage
 * them, and the GPU's model tells. In a virtual machine only the host may see them. */
static void is_hgx(struct question *q)
{
	const struct node *node = q->node;
	unsigned int generation = board_generation(node);
	size_t switches = 0;

	for_each(d, &node->pci.devices)
		switches += pci_is_nvswitch(d);
	if (switches && generation)
		yes(q, "pci.devices", "%zu NVSwitch%s of generation %u", switches,
		    switches == 1 ? "" : "es", generation);
	else if (switches)
		yes(q, "pci.devices", "%zu NVSwitch%s", switches, switches == 1 ? "" : "es");
	else if (!was_read(node->pci.devices))
		unknown(q, "pci.devices", "the PCI functions were not read");
	else if (generation && !is_absent(node->os.hypervisor))
		unknown(q, "os.hypervisor",
			"boards of these GPUs have NVSwitches, which the host "
			"of a virtual machine can keep");
	else if (generation == NVSWITCH_BEHIND_NICS)
		yes(q, "pci.devices", "boards of these GPUs have NVSwitches of generation %u",
		    generation);
	else
		no(q, "pci.devices", "no NVSwitch");
}

static void is_pcie_server(struct question *q)
{
	struct fact_bool grace = ask(q, KIND_GRACE), hgx;
	struct gpu_counts n = count_gpus(q->node, NULL);

	if (!known_is(grace, false)) {
		q->answer.is.value = false;
		return;
	}
	hgx = ask(q, KIND_HGX);
	if (!known_is(hgx, false)) {
		q->answer.is.value = false;
		return;
	}
	if (n.data_centre)
		yes(q, "pci.devices", "%zu data-centre GPU%s, no NVSwitch", n.data_centre,
		    n.data_centre == 1 ? "" : "s");
	else
		no(q, "pci.devices", "no data-centre GPU");
}

static void is_workstation(struct question *q)
{
	struct gpu_counts n = count_gpus(q->node, NULL);

	if (!was_read(q->node->pci.devices))
		unknown(q, "pci.devices", "the PCI functions were not read");
	else if (n.all && n.cards == n.all)
		yes(q, "pci.devices", "%zu GeForce or workstation card%s", n.cards,
		    n.cards == 1 ? "" : "s");
	else if (n.all && n.cards + n.unnamed == n.all)
		unknown(q, "pci.devices", "a GPU is of a model that is not in the table");
	else
		no(q, "pci.devices", n.all ? "other GPUs than cards" : "no GPU");
}

/* ---- all of them ---- */

static const struct {
	const char *word;
	void (*ask)(struct question *q);
} kinds[KINDS] = {
	[KIND_MOUNTED_IMAGE] = { "mounted-image", is_mounted_image },
	[KIND_BARE_METAL] = { "bare-metal", is_bare_metal },
	[KIND_VIRTUAL_MACHINE] = { "virtual-machine", is_virtual },
	[KIND_CONTAINER] = { "container", is_container },
	[KIND_POD] = { "pod", is_pod },
	[KIND_CLOUD] = { "cloud", is_cloud },
	[KIND_EFA] = { "efa", is_efa },
	[KIND_VGPU_GUEST] = { "vgpu-guest", is_vgpu_guest },
	[KIND_PASSTHROUGH_GUEST] = { "passthrough-guest", is_passthrough_guest },
	[KIND_VFIO_HOST] = { "vfio-host", is_vfio_host },
	[KIND_VGPU_HOST] = { "vgpu-host", is_vgpu_host },
	[KIND_KUBERNETES] = { "kubernetes", is_kubernetes },
	[KIND_DRA] = { "dra", is_dra },
	[KIND_COMPUTE_DOMAINS] = { "compute-domains", is_compute_domains },
	[KIND_SLURM] = { "slurm", is_slurm },
	[KIND_JOB_NODE] = { "job-node", is_job_node },
	[KIND_GB10] = { "gb10", is_gb10 },
	[KIND_GRACE] = { "grace", is_grace },
	[KIND_GH200] = { "gh200", is_gh200 },
	[KIND_GB200] = { "gb200-tray", is_gb200 },
	[KIND_HGX] = { "hgx", is_hgx },
	[KIND_PCIE_SERVER] = { "pcie-server", is_pcie_server },
	[KIND_WORKSTATION] = { "workstation", is_workstation },
};

struct kind_answer kind_find(const struct node *node, enum kind kind, struct arena *arena)
{
	struct question q = { .node = node, .arena = arena };

	kinds[kind].ask(&q);
	return q.answer;
}

bool node_is(const struct node *node, enum kind kind)
{
	return known_is(kind_find(node, kind, NULL).is, true);
}

bool node_may_be(const struct node *node, enum kind kind)
{
	return !known_is(kind_find(node, kind, NULL).is, false);
}

const char *kind_word(enum kind kind)
{
	return kinds[kind].word;
}

void kinds_fill(struct node *node, struct arena *arena)
{
	node->kinds = (typeof(node->kinds)){ 0 };
	for (enum kind k = 0; k < KINDS; k++) {
		struct kind_answer found = kind_find(node, k, arena);
		struct kind_fact *item = LIST_ADD(arena, &node->kinds);

		item->name = fact_str(arena, kinds[k].word);
		item->is = found.is;
		item->reason = fact_str(arena, found.reason);
		item->fact = fact_str(arena, found.fact);
	}
}
