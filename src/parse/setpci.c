/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setpci.c - words of a command of setpci(8). */
#include "parse/setpci.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

#define DIGITS_MAX 8  /* of a value or mask */
#define ADDRESS_MAX 4 /* digits of a register's address and offset: below 0x1000 */
#define SELECTED_MAX \
	5 /* digits of a domain, bus, slot, vendor or device: domains of VMD have five */

/* dumpregs of setpci */
static const char *const registers[] = {
	"VENDOR_ID",
	"DEVICE_ID",
	"COMMAND",
	"STATUS",
	"REVISION",
	"CLASS_PROG",
	"CLASS_DEVICE",
	"CACHE_LINE_SIZE",
	"LATENCY_TIMER",
	"HEADER_TYPE",
	"BIST",
	"BASE_ADDRESS_0",
	"BASE_ADDRESS_1",
	"BASE_ADDRESS_2",
	"BASE_ADDRESS_3",
	"BASE_ADDRESS_4",
	"BASE_ADDRESS_5",
	"CARDBUS_CIS",
	"SUBSYSTEM_VENDOR_ID",
	"SUBSYSTEM_ID",
	"ROM_ADDRESS",
	"CAPABILITIES",
	"INTERRUPT_LINE",
	"INTERRUPT_PIN",
	"MIN_GNT",
	"MAX_LAT",
	"PRIMARY_BUS",
	"SECONDARY_BUS",
	"SUBORDINATE_BUS",
	"SEC_LATENCY_TIMER",
	"IO_BASE",
	"IO_LIMIT",
	"SEC_STATUS",
	"MEMORY_BASE",
	"MEMORY_LIMIT",
	"PREF_MEMORY_BASE",
	"PREF_MEMORY_LIMIT",
	"PREF_BASE_UPPER32",
	"PREF_LIMIT_UPPER32",
	"IO_BASE_UPPER16",
	"IO_LIMIT_UPPER16",
	"BRIDGE_ROM_ADDRESS",
	"BRIDGE_CONTROL",
	"CB_CARDBUS_BASE",
	"CB_CAPABILITIES",
	"CB_SEC_STATUS",
	"CB_BUS_NUMBER",
	"CB_CARDBUS_NUMBER",
	"CB_SUBORDINATE_BUS",
	"CB_CARDBUS_LATENCY",
	"CB_MEMORY_BASE_0",
	"CB_MEMORY_LIMIT_0",
	"CB_MEMORY_BASE_1",
	"CB_MEMORY_LIMIT_1",
	"CB_IO_BASE_0",
	"CB_IO_BASE_0_HI",
	"CB_IO_LIMIT_0",
	"CB_IO_LIMIT_0_HI",
	"CB_IO_BASE_1",
	"CB_IO_BASE_1_HI",
	"CB_IO_LIMIT_1",
	"CB_IO_LIMIT_1_HI",
	"CB_SUBSYSTEM_VENDOR_ID",
	"CB_SUBSYSTEM_ID",
	"CB_LEGACY_MODE_BASE",
	"CAP_PM",
	"CAP_AGP",
	"CAP_VPD",
	"CAP_SLOTID",
	"CAP_MSI",
	"CAP_CHSWP",
	"CAP_PCIX",
	"CAP_HT",
	"CAP_VNDR",
	"CAP_DBG",
	"CAP_CCRC",
	"CAP_HOTPLUG",
	"CAP_SSVID",
	"CAP_AGP3",
	"CAP_SECURE",
	"CAP_EXP",
	"CAP_MSIX",
	"CAP_SATA",
	"CAP_AF",
	"CAP_EA",
	"ECAP_AER",
	"ECAP_VC",
	"ECAP_DSN",
	"ECAP_PB",
	"ECAP_RCLINK",
	"ECAP_RCILINK",
	"ECAP_RCEC",
	"ECAP_MFVC",
	"ECAP_VC2",
	"ECAP_RBCB",
	"ECAP_VNDR",
	"ECAP_ACS",
	"ECAP_ARI",
	"ECAP_ATS",
	"ECAP_SRIOV",
	"ECAP_MRIOV",
	"ECAP_MCAST",
	"ECAP_PRI",
	"ECAP_REBAR",
	"ECAP_DPA",
	"ECAP_TPH",
	"ECAP_LTR",
	"ECAP_SECPCI",
	"ECAP_PMUX",
	"ECAP_PASID",
	"ECAP_LNR",
	"ECAP_DPC",
	"ECAP_L1PM",
	"ECAP_PTM",
	"ECAP_M_PCIE",
	"ECAP_FRS",
	"ECAP_RTR",
	"ECAP_DVSEC",
	"ECAP_VF_REBAR",
	"ECAP_DLNK",
	"ECAP_16GT",
	"ECAP_LMR",
	"ECAP_HIER_ID",
	"ECAP_NPEM",
	"ECAP_32GT",
	"ECAP_IDE",
	"ECAP_64GT",
	"ECAP_FL",
};

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

/* Cuts what is before the first C off S. S is empty where it has none. */
static struct span before(struct span *s, char c)
{
	size_t n = span_find(*s, c);
	struct span part = { s->p, n };

	*s = from(*s, n < s->n ? n + 1 : n);
	return part;
}

size_t setpci_variable(struct span text)
{
	size_t n = 1;

	if (text.n < 2)
		return 0;
	if (text.p[0] == '%')
		return isalpha((unsigned char)text.p[1]) ? 2 : 0;
	if (text.p[0] != '$')
		return 0;
	while (n < text.n && (isalnum((unsigned char)text.p[n]) || text.p[n] == '_'))
		n++;
	return n > 1 ? n : 0;
}

static bool is_variable(struct span s)
{
	return s.n && setpci_variable(s) == s.n;
}

static bool is_hex(struct span s, size_t most)
{
	if (s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X'))
		s = from(s, 2);
	for (size_t i = 0; i < s.n; i++)
		if (!isxdigit((unsigned char)s.p[i]))
			return false;
	return s.n && s.n <= most;
}

static bool is_number(struct span s, size_t most)
{
	return is_variable(s) || is_hex(s, most);
}

/* ---- registers ---- */

static bool is_name(struct span s)
{
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		if (strlen(registers[i]) == s.n && strncasecmp(registers[i], s.p, s.n) == 0)
			return true;
	return false;
}

/* CAP10, ECAP0001 */
static bool is_capability(struct span s)
{
	if (s.n > 4 && strncasecmp(s.p, "ECAP", 4) == 0)
		return is_number(from(s, 4), ADDRESS_MAX);
	return s.n > 3 && strncasecmp(s.p, "CAP", 3) == 0 && is_number(from(s, 3), ADDRESS_MAX);
}

/* CAP_EXP+30.w@1 */
static bool is_register(struct span s)
{
	struct span base = before(&s, '@'), name, offset, width;

	if (s.n && !is_number(s, ADDRESS_MAX))
		return false;
	name = before(&base, '.');
	width = base;
	if (width.n && (width.n > 1 || !strchr("bwlBWL", width.p[0])))
		return false;
	offset = name;
	name = before(&offset, '+');
	if (offset.n && !is_number(offset, ADDRESS_MAX))
		return false;
	return is_number(name, ADDRESS_MAX) || is_name(name) || is_capability(name);
}

/* 20:20,0x0 */
static bool has_values(struct span s)
{
	struct span value, number;

	while (span_cut(&s, ',', &value))
		while (span_cut(&value, ':', &number))
			if (!is_number(number, DIGITS_MAX))
				return false;
	return true;
}

static bool is_write(struct span word)
{
	struct span values = word, name = before(&values, '=');

	return values.n && is_register(name) && has_values(values);
}

/* ---- options ---- */

bool setpci_is_selection(struct span word)
{
	struct span part, number;

	if (word.n && word.p[0] == '=')
		word = from(word, 1);
	if (is_variable(word))
		return true;
	/* A number alone would be a slot; one as long can be anything. */
	if (span_find(word, ':') == word.n && span_find(word, '.') == word.n)
		return false;
	while (span_cut(&word, ':', &part))
		while (span_cut(&part, '.', &number))
			if (number.n && !span_is(number, "*") && !is_number(number, SELECTED_MAX))
				return false;
	return true;
}

static enum setpci_word option(struct span letters)
{
	static const char methods[] = "AOHF";
	char first = letters.n ? letters.p[0] : 0;

	if (first == 's' || first == 'd')
		return letters.n == 1			       ? SETPCI_FILTER
		       : setpci_is_selection(from(letters, 1)) ? SETPCI_FLAGS
							       : SETPCI_OTHER;
	if (first && strchr(methods, first))
		return letters.n == 1 ? SETPCI_METHOD : SETPCI_OTHER;
	for (size_t i = 0; i < letters.n; i++)
		if (!letters.p[i] || !strchr("vfDrG", letters.p[i]))
			return SETPCI_OTHER;
	return letters.n ? SETPCI_FLAGS : SETPCI_OTHER;
}

enum setpci_word setpci_word(struct span word)
{
	if (word.n && word.p[0] == '-')
		return option(from(word, 1));
	if (is_variable(word))
		return SETPCI_VARIABLE;
	return is_write(word) ? SETPCI_WRITE : SETPCI_OTHER;
}
