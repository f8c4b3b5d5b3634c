/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/gate.h"

#include "judge/ends.h"

bool gate_no_gpu(struct judge *j)
{
	if (!is_told(j->node->pci.devices))
		UNKNOWN(j, .evidence = { "pci.devices" });
	else if (!j->ends->gpus.count)
		NOT_APPLICABLE(j, .observed = "no NVIDIA GPU on the PCI bus",
			       .evidence = { "pci.devices" });
	else
		return false;
	return true;
}

bool gate_no_driver(struct judge *j)
{
	if (known_is(j->node->driver.loaded, false))
		NOT_APPLICABLE(j, .observed = "the NVIDIA driver is not loaded",
			       .evidence = { "driver.loaded" });
	else if (!is_known(j->node->driver.version))
		UNKNOWN(j, .evidence = { "driver.version" });
	else
		return false;
	return true;
}

bool gate_no_params(struct judge *j)
{
	if (known_is(j->node->driver.loaded, false))
		NOT_APPLICABLE(j, .observed = "the NVIDIA driver is not loaded",
			       .evidence = { "driver.loaded" });
	else if (!is_known(j->node->driver.params))
		UNKNOWN(j, .evidence = { "driver.params" });
	else
		return false;
	return true;
}

bool gate_no_rdma_device(struct judge *j)
{
	if (!is_told(j->node->rdma.devices))
		UNKNOWN(j, .evidence = { "rdma.devices" });
	else if (j->node->rdma.devices.count == 0)
		NOT_APPLICABLE(j, .observed = "no RDMA device", .evidence = { "rdma.devices" });
	else
		return false;
	return true;
}

bool gate_no_rdma(struct judge *j)
{
	if (known_is(j->node->driver.loaded, false))
		NOT_APPLICABLE(j, .observed = "the NVIDIA driver is not loaded",
			       .evidence = { "driver.loaded" });
	else
		return gate_no_rdma_device(j);
	return true;
}

bool gate_no_modules(struct judge *j)
{
	if (is_told(j->node->modules.loaded))
		return false;
	UNKNOWN(j, .evidence = { "modules.loaded" });
	return true;
}

bool gate_no_modprobe(struct judge *j)
{
	if (is_known(j->node->modprobe.options))
		return false;
	UNKNOWN(j, .evidence = { "modprobe.options" });
	return true;
}

bool gate_modprobe_unread(struct judge *j)
{
	if (known_is(j->node->modprobe.complete, true))
		return false;
	UNKNOWN(j, .evidence = { "modprobe.complete" });
	return true;
}

bool gate_no_software(struct judge *j)
{
	if (known_is(j->node->software.complete, true))
		return false;
	UNKNOWN(j, .evidence = { is_told(j->node->software.items) ? "software.complete"
								  : "software.items" });
	return true;
}

bool gate_no_log(struct judge *j)
{
	const struct log_facts *log = &j->node->log;

	if (!is_told(log->lines))
		UNKNOWN(j, .evidence = { "log.lines" });
	else if (!known_is(log->complete, true))
		UNKNOWN(j, .observed = "the kernel log does not reach back to the boot",
			.evidence = { "log.complete" });
	else
		return false;
	return true;
}

bool gate_vm(struct judge *j, const char *what)
{
	if (!node_is_vm(j->node))
		return false;
	UNKNOWN(j, .observed = say(j, "a virtual machine (%s): %s", j->node->os.hypervisor.value, what),
		.remedy = "look at the host that runs this machine",
		.evidence = { "os.hypervisor" });
	return true;
}

void gate_log_clean(struct judge *j)
{
	if (!is_told(j->node->log.lines))
		UNKNOWN(j, .evidence = { "log.lines" });
	else if (!known_is(j->node->log.complete, true))
		UNKNOWN(j, .observed = "the kernel log does not reach back to the boot",
			.evidence = { "log.complete" });
	else
		PASS(j, .evidence = { "log.lines" });
}
