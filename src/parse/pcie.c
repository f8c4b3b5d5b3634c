/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pcie.c - single registers of PCI configuration space, and their text in sysfs. */
#include "parse/pcie.h"

#include <ctype.h>

#include "base/array.h"
#include "parse/field.h"

/* Cuts N lower-case hexadecimal digits off REST. */
static bool take_hex(struct span *rest, size_t n, uint64_t *value)
{
	if (rest->n < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)rest->p[i]) || isupper((unsigned char)rest->p[i]))
			return false;
	if (span_u64((struct span){ rest->p, n }, 16, value))
		return false;
	*rest = (struct span){ rest->p + n, rest->n - n };
	return true;
}

static bool take(struct span *rest, char c)
{
	if (!rest->n || rest->p[0] != c)
		return false;
	*rest = (struct span){ rest->p + 1, rest->n - 1 };
	return true;
}

/* A domain has four digits, or as many more as it needs (VMD: 10000). */
static bool take_domain(struct span *rest, uint64_t *domain)
{
	size_t n = span_find(*rest, ':');

	return n >= 4 && n <= 8 && (n == 4 || rest->p[0] != '0') && take_hex(rest, n, domain) &&
	       *domain <= INT32_MAX && take(rest, ':');
}

bool pci_address_parse(struct span name, struct pci_address *address)
{
	uint64_t domain, bus, device, function;

	if (!take_domain(&name, &domain) || !take_hex(&name, 2, &bus) || !take(&name, ':') ||
	    !take_hex(&name, 2, &device) || device > 31 || !take(&name, '.') ||
	    !take_hex(&name, 1, &function) || function > 7 || name.n)
		return false;
	*address = (struct pci_address){ (uint32_t)domain, (uint8_t)bus, (uint8_t)device,
					 (uint8_t)function };
	return true;
}

/* pci0000:00 */
static bool is_root(struct span part)
{
	uint64_t domain, bus;

	return take(&part, 'p') && take(&part, 'c') && take(&part, 'i') &&
	       take_domain(&part, &domain) && take_hex(&part, 2, &bus) && !part.n;
}

bool pci_place_parse(struct span path, struct pci_place *place)
{
	struct pci_address address;
	struct span part;

	*place = (struct pci_place){ 0 };
	while (span_cut(&path, '/', &part)) {
		if (is_root(part)) {
			*place = (struct pci_place){ .root = part };
		} else if (place->root.n) {
			/* Below a host bridge there are functions only. */
			if (!pci_address_parse(part, &address))
				return false;
			place->parent = place->self;
			place->self = part;
		}
	}
	return place->self.n != 0;
}

struct pci_bar_register pci_bar_register(uint32_t value)
{
	struct pci_bar_register bar = { .exists = value != 0 && value != UINT32_MAX };

	if (!bar.exists)
		return bar;
	bar.io = value & 0x1;
	bar.wide = !bar.io && (value & 0x6) == 0x4;
	bar.prefetchable = !bar.io && (value & 0x8);
	return bar;
}

bool pci_prefetch_window(uint32_t base_limit, uint32_t base_upper, uint32_t limit_upper,
			 uint64_t *start, uint64_t *size)
{
	unsigned int type = base_limit & 0xf;
	bool wide = type == 0x1;
	uint64_t base = (uint64_t)(base_limit & 0xfff0) << 16;
	uint64_t limit = (uint64_t)(base_limit >> 16 & 0xfff0) << 16 | 0xfffff;

	if (type > 0x1 || type != (base_limit >> 16 & 0xf))
		return false;
	if (wide) {
		base |= (uint64_t)base_upper << 32;
		limit |= (uint64_t)limit_upper << 32;
	}
	/* Registers that read zero, because the bridge has no such window or it was never set, would mean a window at
	 * address 0, where no device can be. */
	if (base == 0 || limit < base)
		base = 0;
	*start = base;
	*size = base ? limit - base + 1 : 0;
	return true;
}

/* "10DE:2335" */
static bool parse_id(struct span text, const char *name, uint16_t *vendor, uint16_t *device)
{
	struct span id, first;
	uint64_t a, b;

	if (!field_find(text, '=', name, &id) || !span_cut(&id, ':', &first) ||
	    span_u64(first, 16, &a) || span_u64(id, 16, &b) || a > UINT16_MAX || b > UINT16_MAX)
		return false;
	*vendor = (uint16_t)a;
	*device = (uint16_t)b;
	return true;
}

bool pci_uevent_parse(struct span text, struct pci_uevent *uevent)
{
	struct span class;
	uint64_t value;

	*uevent = (struct pci_uevent){ 0 };
	if (!field_find(text, '=', "PCI_CLASS", &class) || span_u64(class, 16, &value) ||
	    value > PCI_CLASS_MAX)
		return false;
	uevent->class = (uint32_t)value;
	if (!field_find(text, '=', "DRIVER", &uevent->driver))
		uevent->driver = (struct span){ 0 };
	return parse_id(text, "PCI_ID", &uevent->vendor, &uevent->device) &&
	       parse_id(text, "PCI_SUBSYS_ID", &uevent->subsystem_vendor,
			&uevent->subsystem_device);
}

uint64_t pcie_speed_mts(unsigned int code)
{
	static const uint32_t speeds[] = { 0, 2500, 5000, 8000, 16000, 32000, 64000, 128000 };

	return code < ARRAY_SIZE(speeds) ? speeds[code] : 0;
}

uint64_t pcie_speed_text(struct span text)
{
	struct span number, unit, fraction = { 0 };
	uint64_t whole, tenths = 0;
	size_t dot;

	if (!span_word(&text, &number) || !span_word(&text, &unit) || !span_is(unit, "GT/s"))
		return 0;
	dot = span_find(number, '.');
	if (dot < number.n)
		fraction = (struct span){ number.p + dot + 1, number.n - dot - 1 };
	number.n = dot;
	if (span_u64(number, 10, &whole) || whole > 1000 || fraction.n > 1 ||
	    (fraction.n && span_u64(fraction, 10, &tenths)))
		return 0;
	return whole * 1000 + tenths * 100;
}

uint64_t pcie_payload_bytes(unsigned int code)
{
	return code <= 5 ? UINT64_C(128) << code : 0;
}

/* Bit N of a size mask means 2^N MiB. */
static uint64_t rebar_bytes(unsigned int exponent)
{
	return UINT64_C(1) << (exponent + 20);
}

bool pcie_rebar_parse(uint32_t capability, uint32_t control, struct pcie_rebar *rebar)
{
	/* 1 MiB to 128 TiB are in the capability register, 256 TiB to 8 EiB in the control one. */
	uint64_t sizes = capability >> 4 | (uint64_t)(control >> 16) << 28;
	unsigned int exponent = control >> 8 & 0x3f, count = control >> 5 & 0x7;

	if ((control & 0x7) > 5 || exponent > 43)
		return false;
	*rebar = (struct pcie_rebar){
		.index = control & 0x7,
		.count = count <= 6 ? count : 0,
		.size = rebar_bytes(exponent),
		.size_max = rebar_bytes(exponent),
	};
	for (unsigned int i = 0; i <= 43; i++)
		if (sizes & UINT64_C(1) << i)
			rebar->size_max = rebar_bytes(i);
	return true;
}
