/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services.c - fabric manager, which sets up the NVSwitches between GPUs (rules services/...). */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/driver-files.h"
#include "query/gpu-reset.h"
#include "query/gpus.h"
#include "query/guests.h"
#include "query/pci-device.h"
#include "query/service-cause.h"
#include "query/topology.h"

#define FABRIC_MANAGER "nvidia-fabricmanager.service"

/*
 * From the fourth generation on NVSwitches have no NVIDIA function of their own: on the host they
 * show as ConnectX management functions, and the GPU's model has to tell. GB200 and GB300 are not
 * among them: their switches are in trays of their own, with fabric manager there.
 */
static bool is_on_switch_board(const struct pci_device *device)
{
	const struct gpu_model *model = pci_is_gpu(device) ? gpu_model(device) : NULL;

	return model && model->nvswitch == NVSWITCH_BEHIND_NICS;
}

enum switches { SWITCHES_NONE, SWITCHES_MAYBE, SWITCHES_YES };

/* Fabric manager runs where the switches are: in a virtual machine that has the GPUs but not them,
 * it is the host's, and a guest's where they were given away with the GPUs. */
static enum switches find_switches(const struct node *node, const char **bdf)
{
	enum switches found = SWITCHES_NONE;
	bool given = guests_have_all_gpus(node);

	for_each(d, &node->pci.devices) {
		if (pci_is_nvswitch(d) && !pci_is_for_guest(d)) {
			*bdf = d->bdf.value;
			return SWITCHES_YES;
		}
		if (!is_on_switch_board(d) || found)
			continue;
		*bdf = d->bdf.value;
		found = is_absent(node->os.hypervisor) && !given ? SWITCHES_YES : SWITCHES_MAYBE;
	}
	return found;
}

/* Returns true if the rule has been answered. BDF is a switch, or a GPU of a board with switches. */
static bool skip_without_switches(struct rule_context *ctx, enum switches *switches,
				  const char **bdf)
{
	if (skip_without_gpu(ctx))
		return true;
	*switches = find_switches(ctx->node, bdf);
	if (*switches != SWITCHES_NONE)
		return false;
	NOT_APPLICABLE(ctx, .observed = "no NVSwitch on this node", .evidence = { "pci.devices" });
	return true;
}

/* ---- is it running? ---- */

static const char *state_of(struct rule_context *ctx, const struct service *s)
{
	const char *ending, *enabled;

	if (service_condition(s) == SERVICE_MASKED)
		return "nvidia-fabricmanager is masked";
	if (!s || str_is(s->load, "not-found"))
		return s && is_known(s->program)
			       ? text_printf(ctx, "%s exists, and no unit starts it",
					     s->program.value)
			       : "nvidia-fabricmanager is not installed";
	ending = service_ending(ctx->arena, s);
	enabled = is_known(s->enabled) ? s->enabled.value : "not enabled";
	if (ending && str_is(s->enabled, "enabled"))
		return text_printf(ctx, "nvidia-fabricmanager has failed (%s)", ending);
	if (ending)
		return text_printf(ctx, "nvidia-fabricmanager has failed (%s); its unit is %s",
				   ending, enabled);
	return text_printf(ctx, "nvidia-fabricmanager is %s; its unit is %s", s->active.value,
			   enabled);
}

/* What to install and to start; NULL: the rule's remedy says it. */
static const char *remedy_of(struct rule_context *ctx, const struct service *s)
{
	const struct node *node = ctx->node;

	if (service_condition(s) == SERVICE_MASKED || (s && !str_is(s->load, "not-found")))
		return NULL;
	/* driver/library-mismatch asks for one version, and does not say which. */
	return is_known(node->driver.version) && !driver_libraries(node).other
		       ? text_printf(
				 ctx,
				 "Install nvidia-fabricmanager %s, the version of the loaded driver%s. "
				 "Then enable and start it.",
				 node->driver.version.value,
				 gpu_nvswitch_is_nic(&node->pci) ? ", and nvlsm" : "")
		       : NULL;
}

/* Offers to start it, unless something says that it would fail as the last time. */
static void fail_down(struct rule_context *ctx, const struct service *s, const char *device)
{
	struct service_cause cause = { 0 };
	const struct service_line *word = s ? service_last_word(s) : NULL;
	const char *text = state_of(ctx, s), *install = remedy_of(ctx, s);

	if (s && service_condition(s) != SERVICE_MASKED)
		cause = service_find_cause(ctx->arena, ctx->node, s);
	if (cause.text)
		text = text_printf(ctx, "%s: %s", text, cause.text);
	if (word)
		text = text_printf(ctx, "%s. It wrote (%s): %.200s", text, word->file.value,
				   word->text.value);
	FAIL(ctx, .observed = text, .expected = "nvidia-fabricmanager active",
	     .remedy = cause.remedy ? cause.remedy : install,
	     .command = cause.remedy || !install
				? NULL
				: "sudo systemctl enable --now nvidia-fabricmanager",
	     .has_fix = cause.text || install || service_condition(s) == SERVICE_FAILED,
	     .evidence = { s ? "services.units[" FABRIC_MANAGER "].active" : "services.units",
			   device, cause.fact });
}

/* NVSwitches behind ConnectX functions are managed by MADs. Without mlx5_ib and ib_umad fabric manager finds no
 * switch and ends. Returns true if one is missing, and that was reported. */
static bool lacks_umad(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	bool mlx5 = node_module(node, "mlx5_ib"), umad = node_module(node, "ib_umad");

	if (!gpu_nvswitch_is_nic(&node->pci) || !was_read(node->modules.loaded) || (mlx5 && umad))
		return false;
	FAIL(ctx, .needs_module = mlx5 ? "ib_umad" : "mlx5_ib",
	     .observed = text_printf(
		     ctx, "the NVSwitches are managed through InfiniBand, and %s not loaded",
		     mlx5   ? "ib_umad is"
		     : umad ? "mlx5_ib is"
			    : "mlx5_ib and ib_umad are"),
	     .expected = "mlx5_ib and ib_umad loaded before nvidia-fabricmanager starts",
	     .remedy =
		     "Load both modules, name them in /etc/modules-load.d, and start nvidia-fabricmanager again.",
	     .command =
		     "modprobe -a mlx5_ib ib_umad\n"
		     "printf 'mlx5_ib\\nib_umad\\n' | sudo tee /etc/modules-load.d/nvswitch.conf\n"
		     "systemctl restart nvidia-fabricmanager",
	     .evidence = { "modules.loaded" });
	return true;
}

static void check_running(struct rule_context *ctx, const struct service *s, const char *device)
{
	const char *active = "services.units[" FABRIC_MANAGER "].active";
	const char *enabled = "services.units[" FABRIC_MANAGER "].enabled";

	if (str_is(s->load, "not-found"))
		PASS(ctx, .observed = "it runs in a container", .evidence = { active, device });
	else if (str_is(s->enabled, "disabled") || str_is(s->enabled, "masked"))
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed = text_printf(
				ctx, "it runs, but is %s: it does not start at the next boot",
				s->enabled.value),
			.expected = "nvidia-fabricmanager enabled",
			.evidence = { enabled, active });
	else
		PASS(ctx, .evidence = { active, device });
}

/* Without an NVSwitch it ends with NV_WARN_NOTHING_TO_DO, and nothing is missing. */
static void check_needless(struct rule_context *ctx)
{
	const struct service *s = node_service(ctx->node, FABRIC_MANAGER);
	const char *bdf = NULL;

	if (skip_without_gpu(ctx) || skip_in_container(ctx))
		return;
	if (find_switches(ctx->node, &bdf) != SWITCHES_NONE) {
		NOT_APPLICABLE(ctx, .observed = "a node with NVSwitches",
			       .evidence = { "pci.devices" });
		return;
	}
	if (!was_read(ctx->node->services.units) || (s && is_unknown(s->enabled))) {
		UNKNOWN(ctx, .evidence = { "services.units" });
		return;
	}
	if (!s || !str_is(s->enabled, "enabled")) {
		PASS(ctx, .evidence = { "services.units", "pci.devices" });
		return;
	}
	NOTE(ctx,
	     .observed = "it is enabled, and this node has no NVSwitch: it ends with an error "
			 "(NV_WARN_NOTHING_TO_DO), and no GPU needs it",
	     .evidence = { "services.units[" FABRIC_MANAGER "].enabled", "pci.devices" });
}

static void check_down(struct rule_context *ctx)
{
	const struct services_facts *services = &ctx->node->services;
	const struct service *s = node_service(ctx->node, FABRIC_MANAGER);
	enum switches switches;
	const char *bdf = NULL, *device;

	if (skip_without_switches(ctx, &switches, &bdf))
		return;
	device = fact_path(ctx->arena, "pci.devices", bdf, "device_id");
	if (switches == SWITCHES_YES && lacks_umad(ctx))
		return;
	if (s && (str_is(s->active, "active") || str_is(s->active, "reloading")))
		check_running(ctx, s, device);
	else if (node_is(ctx->node, KIND_CONTAINER))
		UNKNOWN(ctx, .observed = "a container cannot see its host's services",
			.evidence = { "services.units", "os.container" });
	else if (!was_read(services->units) || (s && is_unknown(s->active)))
		UNKNOWN(ctx, .evidence = { "services.units" });
	else if (switches == SWITCHES_MAYBE)
		UNKNOWN(ctx,
			.observed =
				"it does not run; it is needed only if the NVSwitches belong to this "
				"machine, not to its host or its guests",
			.evidence = { "os.hypervisor", device });
	else if (s && str_is(s->active, "activating"))
		FAIL_AS(ctx, SEVERITY_WARN, .observed = "nvidia-fabricmanager is starting",
			.expected = "nvidia-fabricmanager active",
			.evidence = { "services.units[" FABRIC_MANAGER "].active", device });
	else
		fail_down(ctx, s, device);
}

/* ---- is it the driver's? ---- */

/* Returns the item with a version if there is one, else any. */
static const struct software_item *find_program(const struct node *node)
{
	const struct software_item *found = node_software(node, "fabricmanager");

	for_each(item, &node->software.items)
		if (!found && str_is(item->name, "fabricmanager"))
			found = item;
	return found;
}

/* Where the module on disk has fabric manager's version, the driver was upgraded, and the old one is still loaded. */
static void fail_version(struct rule_context *ctx, const struct software_item *found,
			 const char *fact)
{
	const struct node *node = ctx->node;
	const struct module_file *file = is_known(node->os.kernel)
						 ? driver_file(node, node->os.kernel.value)
						 : NULL;
	bool upgraded = file && is_known(file->version) &&
			version_compare(file->version.value, found->version.value) == 0;

	FAIL(ctx,
	     .observed = text_printf(ctx, "fabric manager %s, driver %s%s", found->version.value,
				     node->driver.version.value,
				     upgraded ? "; the driver on disk has fabric manager's version"
					      : ""),
	     .expected = "the driver's version",
	     .remedy =
		     upgraded
			     ? "Reboot: the driver was upgraded, and the old one is still loaded."
			     : text_printf(
				       ctx,
				       "Install nvidia-fabricmanager %s. Pin it and the driver package together, so that "
				       "neither is upgraded alone. Then restart fabric manager while no process uses the GPUs.",
				       node->driver.version.value),
	     .command = upgraded ? NULL : "sudo systemctl restart nvidia-fabricmanager",
	     .activation = upgraded ? ACTIVATION_REBOOT : ACTIVATION_RESTART,
	     .action = upgraded ? ACTION_REBOOT : ACTION_DERIVED, .ends_jobs = true,
	     .evidence = {
		     fact, "driver.version",
		     upgraded ? fact_path(ctx->arena, "modules.files", file->path.value, "version")
			      : NULL });
}

static void check_version(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct software_item *found = find_program(node);
	enum switches switches;
	const char *bdf = NULL, *fact;

	if (skip_without_switches(ctx, &switches, &bdf) || skip_without_driver(ctx))
		return;
	if (!found || !is_known(found->version)) {
		if (found)
			UNKNOWN(ctx, .observed = "the version of nv-fabricmanager is not known",
				.evidence = { software_version_fact(ctx->arena, found) });
		else if (is_known(node->os.container) || !was_read(node->software.items))
			UNKNOWN(ctx, .evidence = { "software.items" });
		else
			NOT_APPLICABLE(ctx, .observed = "fabric manager is not installed",
				       .evidence = { "software.items" });
		return;
	}
	fact = software_version_fact(ctx->arena, found);
	if (version_compare(found->version.value, node->driver.version.value) == 0)
		PASS(ctx, .evidence = { fact, "driver.version" });
	else
		fail_version(ctx, found, fact);
}

/* ---- did it work? ---- */

/* "SXid (PCI:0000:08:00.0): 20034, Fatal, Link 28 LTSSM Fault Up": the others say Non-fatal. */
static bool is_fatal(const struct log_line *line)
{
	return str_starts(line->pattern, "sxid-") &&
	       (strstr(line->first.value, ", Fatal") || strstr(line->last.value, ", Fatal"));
}

static bool check_fatal_sxids(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	for_each(line, &ctx->node->log.lines) {
		const char *text = line->last.value;

		if (!is_fatal(line))
			continue;
		if (!strstr(text, ", Fatal"))
			text = line->first.value;
		FAIL(ctx, .subject = line->pattern.value, .observed = text,
		     .expected = "no fatal error of an NVSwitch",
		     .remedy =
			     "Reset all GPUs and NVSwitches while no job runs, or reboot. If the error returns, "
			     "have the board replaced.",
		     .command = shell_reset_gpus(ctx->arena, ctx->node),
		     .evidence = {
			     fact_path(ctx->arena, "log.lines", line->pattern.value, "last"),
			     fact_path(ctx->arena, "log.lines", line->pattern.value, "count") });
	}
	return ctx->findings->count > before;
}

static void check_fabric_state(struct rule_context *ctx)
{
	static const char *const patterns[] = { "fabric-out-of-sync", "fabric-not-ready" };
	enum switches switches;
	const char *bdf = NULL;
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct log_line *line = node_log(ctx->node, patterns[i]);

		if (!line)
			continue;
		found = true;
		FAIL(ctx, .subject = patterns[i], .observed = line->last.value,
		     .expected = "an NVLink fabric in the state that the driver knows",
		     .command = shell_reset_gpus(ctx->arena, ctx->node),
		     .evidence = { fact_path(ctx->arena, "log.lines", patterns[i], "last"),
				   fact_path(ctx->arena, "log.lines", patterns[i], "count"),
				   "services.units[" FABRIC_MANAGER "].active" });
	}
	found |= check_fatal_sxids(ctx);
	if (!found && !skip_without_switches(ctx, &switches, &bdf))
		pass_if_log_whole(ctx);
}

/* ---- was it started again under GPUs in use? ---- */

/* Daemons of one boot start within seconds; a package's upgrade starts them all again within minutes. */
#define TOGETHER_MS (UINT64_C(10) * 60 * 1000)

/* "2 h 46 min" */
static const char *format_duration(struct rule_context *ctx, uint64_t ms)
{
	uint64_t minutes = ms / 60000;

	return minutes < 60 ? text_printf(ctx, "%" PRIu64 " min", minutes)
			    : text_printf(ctx, "%" PRIu64 " h %" PRIu64 " min", minutes / 60,
					  minutes % 60);
}

static void check_restarted(struct rule_context *ctx)
{
	static const char started[] = "services.units[" FABRIC_MANAGER "].started_ms",
			  held[] = "services.gpu_held_since_ms";
	const struct service *s = node_service(ctx->node, FABRIC_MANAGER);
	struct fact_u64 since = ctx->node->services.gpu_held_since_ms;
	enum switches switches;
	const char *bdf = NULL;

	if (skip_without_switches(ctx, &switches, &bdf))
		return;
	if (!was_read(ctx->node->services.units))
		UNKNOWN(ctx, .evidence = { "services.units" });
	else if (s && is_unknown(s->active))
		UNKNOWN(ctx, .evidence = { "services.units[" FABRIC_MANAGER "].active" });
	else if (!s || !str_is(s->active, "active"))
		NOT_APPLICABLE(ctx, .observed = "fabric manager does not run",
			       .evidence = { "services.units" });
	else if (!is_known(s->started_ms))
		UNKNOWN(ctx, .evidence = { started });
	else if (s->started_ms.value < TOGETHER_MS)
		PASS(ctx, .observed = "started with the system", .evidence = { started });
	else if (is_unknown(since))
		UNKNOWN(ctx, .evidence = { held, started });
	else if (is_absent(since) || s->started_ms.value < since.value + TOGETHER_MS)
		PASS(ctx, .evidence = { started, held });
	else
		FAIL(ctx,
		     .observed = text_printf(
			     ctx,
			     "fabric manager was started %s after the boot; a process that still has GPUs "
			     "open began %s before that",
			     format_duration(ctx, s->started_ms.value),
			     format_duration(ctx, s->started_ms.value - since.value)),
		     .expected = "fabric manager started before any process opens a GPU",
		     .command = shell_reset_gpus(ctx->arena, ctx->node),
		     .evidence = { started, held });
}

#define FM_GUIDE "NVIDIA Fabric Manager User Guide "

static const struct rule services_rules[] = {
	{
		.id = "services/fabricmanager-restarted",
		.title = "NVLS multicast fails: fabric manager was restarted under GPUs in use",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_restarted,
		.impact =
			"NCCL fails on more than two GPUs: \"nvls.cc: Cuda failure 'invalid argument'\" "
			"or CUDA error 401.",
		.remedy =
			"End all programs that use the GPUs. Stop fabric manager, reset all GPUs and start fabric manager "
			"again; or reboot. Until then set NCCL_NVLS_ENABLE=0 in jobs.",
		.action = ACTION_RESET_GPU,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"When nv-fabricmanager was started, and when the oldest process that has a GPU "
			"open (/proc/PID/stat and fd); in a copy without those, nvidia-persistenced.",
		.why = "The GPUs register with the fabric once. A fabric manager that is started again makes a new fabric. "
		       "GPUs that were in use meanwhile keep the old state until they are reset. nvidia-persistenced may run "
		       "during such a reset, which is not visible here: start it again afterwards. Processes that were "
		       "started within ten minutes of it count as started with it.",
		.check =
			"ps -o lstart,comm -C nv-fabricmanager,nvidia-persiste; fuser -v /dev/nvidia0",
		.sources = "github.com/NVIDIA/nccl: issues 976 (2023-08-29) and 1488 (2024-10-21)\n"
			   "github.com/NVIDIA/nvshmem issue 40\n" FM_GUIDE
			   "2.3 (March 2025): Initializing NVSwitch and NVLink",
	},
	{
		.id = "services/fabricmanager-down",
		.title =
			"CUDA does not start: fabric manager does not run on a node with NVSwitches",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_down,
		.needs_running = true,
		.impact = "CUDA does not start: error 802, system not yet initialized.",
		.remedy =
			"Install nvidia-fabricmanager in the version of the nvidia kernel module (on HGX B200 and B300 also nvlsm), then "
			"enable and start it. If it fails, its journal says why.",
		.command =
			"sudo systemctl enable --now nvidia-fabricmanager\njournalctl -b -u nvidia-fabricmanager",
		.fix = { "start-service", { "nvidia-fabricmanager.service" } },
		.activation = ACTIVATION_NOW,
		.follows = { "driver/loaded", "services/fabricmanager-version-mismatch" },
		.reads =
			"NVSwitches among the PCI functions (10de, class 0680); GPUs of boards whose NVSwitches are not "
			"such functions; the service nvidia-fabricmanager: unit, program, needed libraries, nvlsm, how its "
			"last run ended, the last lines of the journal and of /var/log/fabricmanager.log.",
		.why = "The GPUs of such a board reach each other only over NVSwitches, which fabric manager has to "
		       "program. Boards without NVSwitches, PCIe cards and NVLink bridges need none; there it exits with "
		       "NV_WARN_NOTHING_TO_DO. In a container it is not visible. In a virtual machine it runs where the "
		       "switches are. B200 and B300 are recognized by their PCI id.",
		.check = "lspci -d 10de::0680; systemctl status nvidia-fabricmanager",
		.sources = FM_GUIDE "2.3 (March 2025): NVSwitch-Based Systems\n"
				    "github.com/NVIDIA/NVSentinel: issue 883 (2026-02)\n"
				    "github.com/leptonai/gpud pull 1151\n"
				    "github.com/NVIDIA/gpu-operator issue 610",
	},
	{
		.id = "services/fabricmanager-needless",
		.title = "Fabric manager fails at each boot: this node has no NVSwitch",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.evaluate = check_needless,
		.impact =
			"None for the GPUs. A failed service hides others, and can fail a node's health check.",
		.remedy = "Disable it: systemctl disable --now nvidia-fabricmanager.",
		.activation = ACTIVATION_NOW,
		.reads =
			"NVSwitches among the PCI functions, and whether nvidia-fabricmanager is enabled.",
		.why = "Only boards with NVSwitches need fabric manager. PCIe cards, NVLink bridges and virtual machines "
		       "without the switches do not.",
		.check = "lspci -d 10de::0680; systemctl status nvidia-fabricmanager",
		.sources = FM_GUIDE
		"2.3 (March 2025): NVSwitch-Based Systems\n"
		"open-gpu-kernel-modules 595.45.04: src/common/sdk/nvidia/inc/nvstatuscodes.h\n"
		"github.com/data-infra/cube-studio issue 29",
	},
	{
		.id = "services/fabricmanager-version-mismatch",
		.title = "CUDA does not start: fabric manager and driver have different versions",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_version,
		.impact = "Fabric manager refuses to start, and CUDA fails with error 802.",
		.remedy =
			"Install nvidia-fabricmanager in exactly the driver's version, and hold both packages against "
			"separate upgrades. After an upgrade of the driver, reboot.",
		.activation = ACTIVATION_REBOOT,
		.reads = "The version of nv-fabricmanager, from its package or the program "
			 "itself, and the version of the loaded driver.",
		.why = "Fabric manager compares its version with the driver's when it starts, to the last number. After an "
		       "upgrade of the driver without a reboot the old driver is still loaded.",
		.check = "nv-fabricmanager --version; cat /sys/module/nvidia/version",
		.sources = FM_GUIDE "2.3 (March 2025): Other NVIDIA Software Packages\n"
				    "github.com/NVIDIA/gpu-driver-container issue 735\n"
				    "github.com/NVIDIA/nvtrust issue 55",
	},
	{
		.id = "services/fabric-state-bad",
		.title = "NVLink multicast fails: the driver reports an error of the NVLink fabric",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_fabric_state,
		.impact =
			"Multicast (NVLS) and fabric memory fail with CUDA error 401, NCCL with "
			"an unhandled CUDA error. After a fatal error of a switch all traffic through it fails.",
		.remedy =
			"End all programs that use the GPUs. Stop fabric manager, reset all GPUs and start fabric manager "
			"again; or reboot. Until then set NCCL_NVLS_ENABLE=0 and NVSHMEM_DISABLE_NVLS=1 in jobs. "
			"Keep needrestart and unattended upgrades from restarting fabric manager.",
		.action = ACTION_RESET_GPU,
		.activation = ACTIVATION_REBOOT,
		.follows = { "services/fabricmanager-restarted" },
		.reads = "\"NVLink fabric state cached by the driver is out of sync\", errors of "
			 "a fabric that is not ready, and fatal errors of NVSwitches (SXid) in "
			 "the kernel log.",
		.why = "The driver registers with the fabric once. A fabric manager that is restarted under running GPUs "
		       "makes a new fabric. The line stays in the log after the reset that repaired it.",
		.check = "dmesg | grep -E 'FABRIC|SXid'; nvidia-smi -q | grep -A3 Fabric",
		.sources =
			"github.com/NVIDIA/nvshmem issue 40\n"
			"open-gpu-kernel-modules 595.45.04: "
			"src/nvidia/src/kernel/mem_mgr/mem_multicast_fabric.c, "
			"src/common/sdk/nvidia/inc/nvstatuscodes.h (NV_ERR_FABRIC_STATE_OUT_OF_SYNC)\n" FM_GUIDE
			"2.3 (March 2025): NVSwitch SXid Errors",
	},
};

RULE_TABLE(services);
