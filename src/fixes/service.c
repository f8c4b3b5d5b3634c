/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service.c - services of the driver enabled and started. */
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "fixes/fix.h"
#include "query/gpus.h"
#include "query/node-find.h"

#define FABRIC_MANAGER "nvidia-fabricmanager.service"

/* Fabric manager exits at once if the driver has another version. */
static bool check_fabric_manager(struct fixing *f)
{
	const struct software_item *item = node_software(f->node, "fabricmanager");
	const struct fact_str *driver = &f->node->driver.version;

	if (!item || !is_known(item->version) || !is_known(*driver))
		return true;
	if (starts_with(item->version.value, driver->value))
		return true;
	return fix_refuse(
		f,
		"fabric manager %s does not fit driver %s; install the package of the driver's "
		"version",
		item->version.value, driver->value);
}

/* These manage NVSwitches behind ConnectX functions. */
static bool load_way_to_switches(struct fixing *f, bool *loads)
{
	static const char *const modules[] = { "mlx5_ib", "ib_umad" };

	if (!gpu_nvswitch_is_nic(&f->node->pci) || !was_read(f->node->modules.loaded))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		if (node_module(f->node, modules[i]))
			continue;
		if (!fix_load_now(f, modules[i]) || !fix_load_at_boot(f, modules[i]))
			return false;
		*loads = true;
	}
	return true;
}

/* RESTART: it runs, and must search again for modules loaded since its start. */
static void enable_and_start(struct fixing *f, const struct service *service, bool restart)
{
	const char *unit = service->unit.value;
	bool enable = !str_is(service->enabled, "enabled") && !str_is(service->enabled, "static");
	bool start = !str_is(service->active, "active");

	if (restart)
		fix_step(f, PLAN_UNIT_STOP, unit, NULL);
	if (enable)
		fix_step(f, PLAN_UNIT_ENABLE, unit, NULL);
	if (start || restart)
		fix_step(f, PLAN_UNIT_START, unit, NULL);
	if (enable)
		fix_does(f, ACTIVATION_NOW, "start %s at every boot", unit);
	if (restart)
		fix_does(f, ACTIVATION_NOW,
			 "restart %s, which looks for NVSwitches only when it starts", unit);
	else if (start)
		fix_does(f, ACTIVATION_NOW, "start %s", unit);
}

static void start(struct fixing *f, const char *unit)
{
	const struct service *service = node_service(f->node, unit);
	bool manager = strcmp(unit, FABRIC_MANAGER) == 0, loads = false;

	if (!service || str_is(service->load, "not-found") || !is_known(service->load)) {
		fix_refuse(f, "the unit file of %s, which is in its package, is missing", unit);
		return;
	}
	if (str_is(service->load, "masked") || str_is(service->enabled, "masked")) {
		fix_refuse(f,
			   "%s is masked; unmask it by hand if it should run: systemctl unmask %s",
			   unit, shell_name(unit, "UNIT"));
		return;
	}
	if (manager && !load_way_to_switches(f, &loads))
		return;
	if (str_is(service->active, "failed") && !loads) {
		fix_refuse(f, "%s was started and failed; for the reason, run journalctl -u %s",
			   unit, shell_name(unit, "UNIT"));
		return;
	}
	if (manager && !check_fabric_manager(f))
		return;
	enable_and_start(f, service, loads && str_is(service->active, "active"));
}

/* Argument: the unit. */
static void service_plan(struct fixing *f)
{
	start(f, fix_arg(f, 0));
}

const struct fix fix_start_service = {
	.name = "start-service",
	.takes_time = true,
	.title = "A service of the driver enabled and started, in the driver's version",
	.plan = service_plan,
};
