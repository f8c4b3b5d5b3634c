/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration space of a GPU and of the bridge above it, with whatever lists of capabilities, and the
 * BARs that the kernel names: through libpci, and by preflight's own reader. Whatever both know they
 * say alike. */
#include "tree.h"

#include "facts/facts.h"
#include "parse/pcie.h"
#include "probes/pci/pci-brief.h"
#include "probes/pci/pci-config.h"

#define BRIDGE "0000:00:01.0"
#define GPU "0000:01:00.0"
#define BASE "/sys/devices/pci0000:00/" BRIDGE
#define RESOURCES 7 /* six BARs and the ROM */

static void make_function(const char *folder, const char *bdf, const char *class, const char *id)
{
	static const char *const names[] = { "class", "vendor", "device", "irq" };
	const char *values[] = { class, "0x10de\n", id, "0\n" };
	char path[256], uevent[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		tree_put(path, values[i], strlen(values[i]));
	}
	snprintf(path, sizeof(path), "%s/uevent", folder);
	snprintf(uevent, sizeof(uevent), "PCI_CLASS=%sPCI_ID=10DE:%.4s\nPCI_SUBSYS_ID=0000:0000\n",
		 class + 2, id + 2);
	tree_put(path, uevent, strlen(uevent));
	snprintf(path, sizeof(path), PCI_DEVICES "/%s", bdf);
	snprintf(uevent, sizeof(uevent), "../../..%s", folder + 4);
	tree_link(path, uevent);
}

static void make_tree(void)
{
	make_function(BASE, BRIDGE, "0x060400\n", "0x1234\n");
	make_function(BASE "/" GPU, GPU, "0x030200\n", "0x2335\n");
	tree_put("/proc/cmdline", "\n", 1);
}

/* "0xSTART 0xEND 0xFLAGS" seven times: what libpci would end the process for is not written. */
static void put_resource(const char *path, struct span *bytes)
{
	char text[RESOURCES * 64];
	uint64_t numbers[3];
	size_t n = 0;

	for (int i = 0; i < RESOURCES; i++) {
		for (int k = 0; k < 3; k++) {
			numbers[k] = fuzz_byte(bytes);
			numbers[k] <<= numbers[k] % 60;
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n, "0x%016llx 0x%016llx 0x%016llx\n",
				      (unsigned long long)numbers[0],
				      (unsigned long long)numbers[1],
				      (unsigned long long)numbers[2]);
	}
	tree_put(path, text, n);
}

static void check_device(const struct pci_device *d)
{
	assert(!is_known(d->config_bytes) || d->config_bytes.value <= 4096);
	assert(d->bars.count <= 6 && d->rebar.count <= 6);
	for_each(bar, &d->bars)
		assert(bar->index.value < 6);
	for_each(rebar, &d->rebar)
		assert(rebar->index.value < 6 && rebar->size_bytes.value >= 1u << 20);
	if (is_known(d->mps_bytes))
		assert(d->mps_bytes.value >= 128 && d->mps_bytes.value <= 4096);
}

static void check_alike(const struct pci_device *a, const struct pci_device *b)
{
	assert(!was_read(a->acs) || !was_read(b->acs) || a->acs.state == b->acs.state);
	if (is_known(a->acs) && is_known(b->acs))
		assert(a->acs.control.value == b->acs.control.value);
	assert(!is_known(a->port) || !is_known(b->port) || a->port.value == b->port.value);
	assert(!is_known(a->answers) || !is_known(b->answers) ||
	       a->answers.value == b->answers.value);
}

static void look(struct arena *arena)
{
	static const char *const bdfs[] = { BRIDGE, GPU };
	static const uint64_t classes[] = { 0x060400, 0x030200 };
	struct node *brief = arena_alloc(arena, sizeof(*brief));
	struct pci_facts found = { 0 }, answer = { 0 };
	struct host *host = tree_open();
	struct probe_context ctx = {
		.host = host, .arena = arena, .node = brief, .preflight = true
	};

	for (int i = 0; i < 2; i++) {
		struct pci_device *d = LIST_ADD(arena, &found.devices);

		d->bdf = fact_str(arena, bdfs[i]);
		d->class_id = fact_u64(classes[i]);
		d->vendor_id = fact_u64(0x10de);
	}
	assert(pci_config_ask(host, &answer, arena, &found) == 0 && answer.devices.count == 2);
	pci_read_briefly(&ctx);
	assert(brief->pci.devices.count == 2);
	for (uint32_t i = 0; i < 2; i++) {
		check_device(&answer.devices.items[i]);
		check_device(&brief->pci.devices.items[i]);
		check_alike(&answer.devices.items[i], &brief->pci.devices.items[i]);
	}
	host_close(host);
}

static void read_words(struct span text)
{
	struct pci_address address;
	struct pci_place place;
	struct pcie_rebar rebar;
	struct pci_uevent uevent;
	uint32_t words[2] = { 0 };
	uint64_t start, size;

	if (text.n >= sizeof(words))
		memcpy(words, text.p, sizeof(words));
	if (pcie_rebar_parse(words[0], words[1], &rebar))
		assert(rebar.index < 6);
	if (pci_prefetch_window(words[0], words[1], words[1], &start, &size))
		assert(size || !start);
	if (pci_address_parse(text, &address))
		assert(address.device < 32 && address.function < 8);
	if (pci_place_parse(text, &place))
		check_inside(text, place.self);
	(void)pcie_speed_text(text);
	if (pci_uevent_parse(text, &uevent)) {
		assert(uevent.class <= PCI_CLASS_MAX);
		if (uevent.driver.n)
			check_inside(text, uevent.driver);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = fuzz_span(data, size);
	size_t half;

	read_words(rest);
	if (tree_begin())
		make_tree();
	put_resource(BASE "/resource", &rest);
	put_resource(BASE "/" GPU "/resource", &rest);
	half = rest.n / 2;
	tree_put(BASE "/config", rest.p, half);
	tree_put(BASE "/" GPU "/config", rest.p + half, rest.n - half);
	look(fuzz_arena());
	return 0;
}
