/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpuinfo.c - the first processor of /proc/cpuinfo (Linux: arch/x86/kernel/cpu/proc.c, arch/arm64/kernel/cpuinfo.c,
 * arch/loongarch/kernel/proc.c, arch/riscv/kernel/cpu.c; of POWER and s390 the dumps in util-linux 2.38,
 * tests/ts/lscpu).
 */
#include "parse/cpuinfo.h"

#include "base/array.h"
#include "parse/field.h"

struct name {
	const char *number;
	const char *name;
};

/* Designers and parts of Arm processors that servers have: arch/arm64/include/asm/cputype.h. */
static const struct name arm_designers[] = { { "0x41", "ARM" },	    { "0x43", "Cavium" },
					     { "0x46", "Fujitsu" }, { "0x48", "HiSilicon" },
					     { "0x4e", "NVIDIA" },  { "0xc0", "Ampere" } };
static const struct name arm_parts[] = { { "0xd0c", "Neoverse-N1" }, { "0xd40", "Neoverse-V1" },
					 { "0xd49", "Neoverse-N2" }, { "0xd4f", "Neoverse-V2" },
					 { "0xd84", "Neoverse-V3" }, { "0xd8e", "Neoverse-N3" } };

/* The name of NUMBER, or the number itself. */
static struct span name_of(struct span number, const struct name *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (span_is(number, names[i].number))
			return span_of(names[i].name);
	return number;
}

static bool has_word(struct span text, const char *wanted)
{
	struct span word;

	while (span_word(&text, &word))
		if (span_is(word, wanted))
			return true;
	return false;
}

static void parse_x86(struct span text, struct cpuinfo *info)
{
	struct span flags;

	field_find(text, ':', "model name", &info->model);
	field_find(text, ':', "cpu family", &info->family);
	field_find(text, ':', "model", &info->number);
	/* A line that the end of the text cuts off can lack its last words. */
	if (!field_find(text, ':', "flags", &flags) || flags.p + flags.n == text.p + text.n)
		return;
	info->has_flags = true;
	info->hypervisor = has_word(flags, "hypervisor");
	info->ibt = has_word(flags, "ibt");
	if (has_word(flags, "lm"))
		info->machine = "x86_64";
}

static void parse_arm(struct span text, struct span designer, struct cpuinfo *info)
{
	struct span architecture, part;

	info->vendor = name_of(designer, arm_designers, ARRAY_SIZE(arm_designers));
	if (field_find(text, ':', "CPU part", &part))
		info->model = span_is(designer, "0x41")
				      ? name_of(part, arm_parts, ARRAY_SIZE(arm_parts))
				      : part;
	if (field_find(text, ':', "CPU architecture", &architecture) && span_is(architecture, "8"))
		info->machine = "aarch64";
}

/* LoongArch, RISC-V, POWER; false for another. */
static bool parse_other(struct span text, struct cpuinfo *info)
{
	struct span isa, revision;

	if (field_find(text, ':', "ISA", &isa)) {
		info->machine = has_word(isa, "loongarch64") ? "loongarch64" : NULL;
		field_find(text, ':', "Model Name", &info->model);
	} else if (field_find(text, ':', "isa", &isa)) {
		info->machine = span_starts(isa, "rv64")   ? "riscv64"
				: span_starts(isa, "rv32") ? "riscv32"
							   : NULL;
		field_find(text, ':', "uarch", &info->model);
	} else if (field_find(text, ':', "cpu", &info->model) &&
		   field_find(text, ':', "revision", &revision) && span_search(revision, "(pvr ")) {
		info->power = true;
		info->model.n = span_find(info->model, ',');
	} else {
		return false;
	}
	return true;
}

bool cpuinfo_parse(struct span text, struct cpuinfo *info)
{
	struct span designer;

	*info = (struct cpuinfo){ 0 };
	if (field_find(text, ':', "vendor_id", &info->vendor)) {
		if (span_is(info->vendor, "IBM/S390"))
			info->machine = "s390x";
		else
			parse_x86(text, info);
	} else if (field_find(text, ':', "CPU implementer", &designer)) {
		parse_arm(text, designer, info);
	} else {
		return parse_other(text, info);
	}
	return true;
}
