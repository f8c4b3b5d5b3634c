/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-facts.c - answers that were recorded as facts: how each string of them is kept, by its struct and member. A
 * string that is not in the list gets a stand-in. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "facts/facts-references.h"
#include "parse/conf-keys.h"
#include "parse/service-words.h"
#include "parse/setpci.h"
#include "query/bootargs.h"
#include "redact/keep-private.h"

static void keep_word(struct keeping *k, struct span text)
{
	keep_as_it_is(k, text);
}

static void keep_text_with_names(struct keeping *k, struct span text)
{
	keep_free_text(k, text);
}

static void keep_line_of_modprobe(struct keeping *k, struct span text)
{
	keep_modprobe(k, text);
}

static void keep_parameter(struct keeping *k, struct span text)
{
	(keep_is_parameter(text) ? keep_free_text : keep_instead)(k, text);
}

/* A path, or else a name that the program has words for. */
static void keep_path_or_word(struct keeping *k, struct span text)
{
	size_t blank = span_find(text, ' ');

	if (text.n && text.p[0] == '/') {
		keep_path(k, text);
		return;
	}
	/* Words after it are kept as arguments of a program. */
	keep_as_it_is(k, (struct span){ text.p, blank });
	if (blank == text.n)
		return;
	putc(' ', k->out);
	keep_instead(k, (struct span){ text.p + blank + 1, text.n - blank - 1 });
}

/* Of a finding: it can be an argument of the kernel. */
static void keep_subject(struct keeping *k, struct span text)
{
	if (bootargs_begins_as_ours(text) && span_find(text, '=') < text.n)
		keep_argument(k, text, text);
	else if (text.n && text.p[0] == '/')
		keep_path(k, text);
	else
		keep_unit_name(k, text);
}

/* log/xid */
static void keep_rule(struct keeping *k, struct span text)
{
	bool plain = span_find(text, '/') < text.n;

	for (size_t i = 0; i < text.n; i++)
		plain &= islower((unsigned char)text.p[i]) || isdigit((unsigned char)text.p[i]) ||
			 strchr("/-", text.p[i]);
	(plain ? keep_as_it_is : keep_instead)(k, text);
}

/* Names by the kernel or a distribution: of a device, an interface, a package, a module, or a variable. */
static bool is_known_name(struct span name)
{
	static const char *const names[] = {
		"[0-9a-f][0-9a-f][0-9a-f][0-9a-f]:[0-9a-f][0-9a-f]:[0-9a-f][0-9a-f].[0-7]",
		"mlx[45]_*",
		"efa_[0-9]*",
		"rocep[0-9]*",
		"ib[0-9ps]*",
		"en[ops][0-9]*",
		"eth[0-9]*",
		"NVreg_*",
		"nvidia*.so*",
		"lib*.so*",
		"kernel",
		"functions",
		"pids.max",
		"memory.max",
		NULL
	};

	for (size_t i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && !strchr("_-.:", name.p[i]))
			return false;
	return name.n < 64 && keep_has(names, name);
}

/* A finding quotes text that has a stand-in elsewhere: lines of modprobe.d, values, words of a log. Only text from the
 * kernel's log can be kept as such a line is. All other acknowledgements are valid on the node only. */
static bool put_acknowledged(struct keeping *k, const char *field, struct json_object *object,
			     struct span text)
{
	const char *rule = json_string(object, "rule");
	/* log/access-refused says in its own words who was refused access to what. */
	bool log = rule && span_starts(span_of(rule), "log/") &&
		   strcmp(rule, "log/access-refused") != 0;

	if (strcmp(field, "subject") == 0 && !is_known_name(text)) {
		keep_subject(k, text);
		return true;
	}
	if (strcmp(field, "observed") != 0 || log)
		return false;
	keep_instead(k, text);
	return true;
}

/* ld.so.preload may have anything between blanks; a word that no library is called may be a password. */
static void keep_library(struct keeping *k, struct span text)
{
	if (text.n && text.p[0] == '/')
		keep_path(k, text);
	else if (memmem(text.p, text.n, ".so", strlen(".so")))
		keep_as_it_is(k, text);
	else
		keep_instead(k, text);
}

/* Names of container engines, Slurm and LXC themselves, not of a site. */
static const char *const reference_words[] = { "nvidia",
					       "nvidia-*",
					       "nvidia.*",
					       "runc",
					       "crun",
					       "kata",
					       "io.containerd.*",
					       "cri",
					       "cdi",
					       "csv",
					       "legacy",
					       "compute",
					       "utility",
					       "graphics",
					       "video",
					       "display",
					       "ngx",
					       "compat32",
					       "gpu",
					       "gres/gpu",
					       "native.cgroupdriver",
					       "nvml",
					       "rsmi",
					       "oneapi",
					       "off",
					       "full",
					       "systemd",
					       "cgroupfs",
					       "cgroup",
					       "task/*",
					       "select/*",
					       "EXCLUSIVE",
					       "ALL",
					       "NONE",
					       "MEMLOCK",
					       "STACK",
					       "NOFILE",
					       "c",
					       "rwm",
					       "rw",
					       "r",
					       "required",
					       "optional",
					       "*.toml",
					       "[0-9].[0-9].[0-9]",
					       "gpu[0-9]*",
					       "mlx5_*",
					       "hca",
					       "shifter",
					       "affinity",
					       "GPU-*",
					       "MIG-*",
					       "xml-*",
					       "unlimited",
					       "infinity",
					       NULL };

/* Keeps the words of a value in the configuration of container engines, Slurm and LXC that are theirs, and numbers. */
static void keep_value_of_reference(struct keeping *k, struct span text)
{
	if (text.n && text.p[0] == '@') {
		putc('@', k->out);
		text = (struct span){ text.p + 1, text.n - 1 };
	}
	if (text.n && text.p[0] == '/') {
		keep_path_value(k, text);
		return;
	}
	while (text.n) {
		size_t n = 0;

		while (n < text.n && !strchr(" \t,;=:", text.p[n]))
			n++;
		if (n) {
			struct span word = { text.p, n };

			(keep_is_short_number(word) || keep_has(reference_words, word)
				 ? keep_free_text
				 : keep_instead)(k, word);
		}
		if (n < text.n)
			putc(text.p[n++], k->out);
		text = (struct span){ text.p + n, text.n - n };
	}
}

/* "SystemdCgroup of NAME", "runtimes.NAME" */
static void keep_role(struct keeping *k, struct span text)
{
	static const char runtimes[] = "runtimes.";
	size_t n = span_starts(text, ENGINE_SYSTEMD) ? strlen(ENGINE_SYSTEMD)
		   : span_starts(text, runtimes)     ? strlen(runtimes)
						     : text.n;

	keep_as_it_is(k, (struct span){ text.p, n });
	keep_value_of_reference(k, (struct span){ text.p + n, text.n - n });
}

/* A key that no program knows may be a password on the wrong line. */
static void keep_conf_key(struct keeping *k, struct span text)
{
	struct conf_key buffer;
	bool known = false;

	for (int format = 0; format < CONF_FORMATS; format++)
		known |= conf_key_elsewhere((enum conf_format)format, text, &buffer) != NULL;
	(known ? keep_as_it_is : keep_instead)(k, text);
}

static void keep_conf_section(struct keeping *k, struct span text)
{
	for (int format = 0; format < CONF_FORMATS; format++) {
		const char *section = conf_section((enum conf_format)format, text);

		if (section) {
			keep_as_it_is(k, text);
			return;
		}
	}
	keep_conf_key(k, text);
}

/* Sorted by the struct. */
static const struct {
	const char *desc, *field;
	void (*keep)(struct keeping *k, struct span text);
} kept[] = {
	{ "acknowledgement", "boot_id", keep_word },
	/* Lines of the log: redacted in the same way as the texts that they are compared with. */
	{ "acknowledgement", "observed", keep_log },
	{ "acknowledgement", "rule", keep_rule },
	{ "acknowledgement", "subject", keep_word },
	{ "boot_entry", "cmdline", keep_arguments },
	{ "boot_entry", "file", keep_path },
	{ "boot_entry", "id", keep_entry_name },
	{ "boot_entry", "initrd", keep_path },
	{ "boot_entry", "kernel", keep_word },
	{ "boot_entry", "title", keep_os_release },
	{ "cdi_spec", "cdi_version", keep_word },
	{ "cdi_spec", "driver_version", keep_word },
	{ "cdi_spec", "path", keep_path },
	{ "conf_fault", "file", keep_path },
	{ "conf_fault", "gone", keep_word },
	{ "conf_fault", "key", keep_conf_key },
	{ "conf_fault", "section", keep_conf_section },
	{ "conf_fault", "since", keep_word },
	{ "conf_fault", "value", keep_value_of_reference },
	{ "conf_fault", "wanted", keep_word },
	{ "containers_facts", "docker_desktop", keep_path },
	{ "containers_facts", "rootless", keep_path },
	{ "containers_facts", "toolkit", keep_path },
	{ "dkms_facts", "headers", keep_word },
	{ "dkms_package", "built", keep_word },
	{ "dkms_package", "compiler", keep_build_line },
	{ "dkms_package", "error", keep_build_line },
	{ "dkms_package", "failed_kernel", keep_word },
	{ "dkms_package", "name", keep_word },
	{ "dkms_package", "path", keep_path },
	{ "dkms_package", "version", keep_word },
	{ "engine_config", "path", keep_path },
	{ "engine_message", "file", keep_path_or_word },
	{ "engine_message", "program", keep_word },
	{ "engine_message", "time", keep_word },
	{ "env_facts", "nccl", keep_path },
	{ "env_facts", "nccl_topology", keep_path },
	{ "env_setting", "file", keep_path },
	{ "env_setting", "name", keep_word },
	{ "env_variable", "name", keep_word },
	{ "gres_record", "file", keep_path },
	{ "gres_record", "repeated", keep_path },
	{ "gres_record", "type", keep_word },
	{ "initramfs_image", "compressors", keep_word },
	{ "initramfs_image", "generator", keep_word },
	{ "initramfs_image", "kernel", keep_word },
	{ "initramfs_image", "path", keep_path },
	{ "initramfs_image", "problem", keep_word },
	{ "initramfs_module", "name", keep_word },
	{ "initramfs_module", "path", keep_path },
	{ "initramfs_module", "version", keep_word },
	{ "kernel_option", "name", keep_word },
	{ "kernel_option", "value", keep_word },
	{ "kernel_tree", "release", keep_word },
	{ "libraries_facts", "verbs", keep_path },
	{ "library_copies", "name", keep_word },
	{ "library_copy", "path", keep_path },
	{ "library_copy", "version", keep_word },
	{ "limit_setting", "file", keep_path },
	{ "limit_setting", "item", keep_word },
	{ "limit_setting", "kind", keep_word },
	{ "limit_setting", "scope", keep_who },
	{ "limit_setting", "value", keep_word },
	{ "load_module", "license", keep_word },
	{ "load_module", "missing", keep_word },
	{ "load_module", "name", keep_word },
	{ "load_module", "needs", keep_word },
	{ "load_module", "path", keep_path },
	{ "load_module", "signer", keep_text_with_names },
	{ "load_module", "vermagic", keep_word },
	{ "load_obstacle", "from", keep_word },
	{ "load_obstacle", "symbol", keep_word },
	{ "loads_facts", "kernel", keep_word },
	{ "loads_facts", "signer", keep_text_with_names },
	{ "loads_facts", "symbols", keep_path },
	{ "loads_facts", "vermagic", keep_word },
	{ "log_denial", "action", keep_kernel_words },
	{ "log_denial", "class", keep_kernel_words },
	{ "log_denial", "domain", keep_type },
	{ "log_denial", "label", keep_type },
	{ "log_denial", "record", keep_log },
	{ "log_denial", "program", keep_program_name },
	{ "log_denial", "target", keep_refused_file },
	{ "log_facts", "source", keep_path },
	{ "log_failure", "details", keep_log },
	{ "log_failure", "device", keep_word },
	{ "log_failure", "last", keep_log },
	{ "log_failure", "module", keep_word },
	{ "log_failure", "subject", keep_word },
	{ "log_line", "first", keep_log },
	{ "log_line", "last", keep_log },
	{ "log_line", "pattern", keep_word },
	{ "log_message", "driver", keep_word },
	{ "log_message", "text", keep_log },
	{ "log_subject", "first", keep_log },
	{ "log_subject", "last", keep_log },
	{ "log_subject", "name", keep_word },
	{ "missing_version", "library", keep_path },
	{ "missing_version", "needed_by", keep_path },
	{ "missing_version", "version", keep_word },
	{ "modprobe_assignment", "file", keep_path },
	{ "modprobe_assignment", "module", keep_word },
	{ "modprobe_assignment", "param", keep_parameter },
	{ "modprobe_bad_line", "file", keep_path },
	{ "modprobe_bad_line", "text", keep_line_of_modprobe },
	{ "modprobe_bad_line", "why", keep_word },
	{ "modprobe_command", "file", keep_path },
	{ "modprobe_command", "module", keep_word },
	{ "modprobe_command", "text", keep_command },
	{ "modprobe_file", "lost", keep_line_of_modprobe },
	{ "modprobe_file", "masked_by", keep_path },
	{ "modprobe_file", "path", keep_path },
	{ "modprobe_options", "file", keep_path },
	{ "modprobe_options", "module", keep_word },
	{ "modprobe_options", "text", keep_options },
	{ "module", "name", keep_word },
	{ "module_file", "depends", keep_word },
	{ "module_file", "description", keep_text_with_names },
	{ "module_file", "file_name", keep_word },
	{ "module_file", "kernel", keep_word },
	{ "module_file", "license", keep_word },
	{ "module_file", "name", keep_word },
	{ "module_file", "parameter_types", keep_word },
	{ "module_file", "parameters", keep_word },
	{ "module_file", "path", keep_path },
	{ "module_file", "signer", keep_text_with_names },
	{ "module_file", "srcversion", keep_word },
	{ "module_file", "vermagic", keep_word },
	{ "module_file", "version", keep_word },
	{ "module_symbol", "name", keep_word },
	{ "mount_point", "options", keep_mount_options },
	{ "mount_point", "point", keep_path },
	{ "mount_point", "source", keep_mount_source },
	{ "mount_point", "type", keep_word },
	{ "net_interface", "addresses", keep_word },
	{ "net_interface", "bdf", keep_word },
	{ "net_interface", "driver", keep_word },
	{ "net_interface", "name", keep_word },
	{ "net_interface", "state", keep_word },
	{ "nvml_facts", "library", keep_path },
	{ "nvml_facts", "library_version", keep_word },
	{ "nvml_facts", "refused", keep_word },
	{ "nvml_failure", "error", keep_word },
	{ "nvml_failure", "function", keep_word },
	{ "nvml_failure", "gpu", keep_word },
	{ "nvml_fabric", "cluster_uuid", keep_text_with_names },
	{ "nvml_fabric", "error", keep_word },
	{ "nvml_gpu", "bdf", keep_word },
	{ "nvml_gpu", "gsp_firmware", keep_word },
	{ "nvml_gpu", "numa_affinity", keep_word },
	{ "nvml_gpu", "serial", keep_instead },
	{ "nvml_gpu", "uuid", keep_text_with_names },
	{ "nvml_link", "remote", keep_word },
	{ "nvml_mig_device", "uuid", keep_text_with_names },
	{ "nvml_peer", "bdf", keep_word },
	{ "os_facts", "container", keep_command_name },
	{ "opened_library", "elsewhere", keep_path },
	{ "opened_library", "missing_libraries", keep_path_or_word },
	{ "opened_library", "path", keep_path },
	{ "opened_library", "use", keep_word },
	{ "opened_library", "variable", keep_word },
	{ "pci_device", "bdf", keep_word },
	{ "pci_device", "driver", keep_word },
	{ "pci_device", "parent", keep_word },
	{ "pci_device", "physical_function", keep_word },
	{ "pci_device", "power_state", keep_word },
	{ "pci_device", "root", keep_word },
	{ "pci_device", "runtime_status", keep_word },
	{ "pci_device", "sub_model", keep_word },
	{ "preloaded_library", "file", keep_path },
	{ "preloaded_library", "name", keep_library },
	{ "process_limits", "name", keep_command_name },
	{ "process_limits", "unit", keep_unit_name },
	{ "rdma_device", "name", keep_word },
	{ "rdma_device", "node_guid", keep_word },
	{ "rdma_device", "image_guid", keep_word },
	{ "rdma_gid", "gid", keep_word },
	{ "rdma_gid", "netdev", keep_word },
	{ "rdma_gid", "type", keep_word },
	{ "rdma_limit", "device", keep_word },
	{ "reference", "claim", keep_word },
	{ "reference", "file", keep_path },
	{ "reference", "found", keep_path_or_word },
	{ "reference", "name", keep_path_or_word },
	{ "reference", "role", keep_role },
	{ "reference_file", "path", keep_path },
	{ "repair", "rule", keep_word },
	{ "repair", "subject", keep_path },
	{ "repair", "what", keep_text_with_names },
	{ "repair_file", "path", keep_path },
	{ "service", "active", keep_word },
	{ "service", "enabled", keep_word },
	{ "service", "load", keep_word },
	{ "service", "missing_libraries", keep_path_or_word },
	{ "service", "program", keep_path },
	{ "service", "result", keep_word },
	{ "service", "unit", keep_unit_name },
	{ "service_line", "file", keep_path_or_word },
	{ "services_facts", "driver_container", keep_word },
	{ "software_facts", "libcuda", keep_path },
	{ "software_facts", "libcuda_version", keep_word },
	{ "software_facts", "libnvidia_ml", keep_path },
	{ "software_facts", "programs", keep_path },
	{ "skipped_file", "ending", keep_word },
	{ "skipped_file", "path", keep_path },
	{ "skipped_file", "reader", keep_word },
	{ "software_item", "name", keep_word },
	{ "software_item", "path", keep_path },
	{ "software_item", "version", keep_word },
	{ "software_package", "name", keep_word },
	{ "software_package", "state", keep_word },
	{ "software_package", "version", keep_word },
	{ "transaction", "boot_id", keep_word },
	{ "transaction", "id", keep_word },
	{ "transaction", "kernels", keep_word },
	{ "ucx_copy", "path", keep_path },
	{ "unread_provider", "name", keep_word },
	{ "unread_provider", "path", keep_path },
	{ "verbs_provider_file", "name", keep_word },
	{ "verbs_provider_file", "path", keep_path },
};

/* The reader takes only what setpci reads (parse/setpci.h). Only the names of variables are chosen by people. */
static void put_setpci(struct keeping *k, struct span text)
{
	while (text.n) {
		size_t n = setpci_variable(text);
		bool is_shell = n && text.p[0] == '$';

		n = n ? n : 1;
		keep_as_it_is(k, (struct span){ text.p, is_shell ? 1 : n });
		text = (struct span){ text.p + n, text.n - n };
	}
}

/* "numa_node=1": files of PCI functions in sysfs. */
static void put_attribute(struct keeping *k, struct span text)
{
	static const char *const names[] = {
		"broken_parity_status",
		"d3cold_allowed",
		"driver_override",
		"enable",
		"msi_bus",
		"numa_node",
		"remove",
		"rescan",
		"reset",
		"reset_method",
		"sriov_numvfs",
		NULL,
	};
	static const char *const values[] = { "bus",	"disabled", "enabled",	"flr",
					      "nvidia", "pm",	    "vfio-pci", NULL };
	size_t n = span_find(text, '=');
	struct span name = { text.p, n }, value = { text.p + n + 1, text.n - n - 1 };

	if (n == text.n || !keep_has(names, name)) {
		keep_instead(k, text);
		return;
	}
	keep_as_it_is(k, (struct span){ text.p, n + 1 });
	(keep_is_plain(value) || keep_has(values, value) ? keep_as_it_is : keep_instead)(k, value);
}

static void put_register(struct keeping *k, const char *field, const char *role, struct span text)
{
	if (strcmp(field, "role") == 0 || !role || strcmp(field, "claim") == 0 ||
	    strcmp(role, REGISTERS_UDEV) != 0)
		put_setpci(k, text);
	else
		put_attribute(k, text);
}

/* User names are private; of the lines of services only those that are known are kept. */
static bool put_private(struct keeping *k, const char *desc, const char *field,
			struct json_object *object, struct span text)
{
	const char *kind = json_string(object, "kind");

	if (strcmp(desc, "acknowledgement") == 0)
		return put_acknowledged(k, field, object, text);
	if ((strcmp(desc, "service_line") == 0 || strcmp(desc, "engine_message") == 0) &&
	    strcmp(field, "text") == 0) {
		keep_service_line(k, text);
		return true;
	}
	/* Arguments of the kernel; of pci= the text after it. */
	if (strcmp(desc, "log_failure") == 0 && strcmp(field, "details") == 0 && kind &&
	    span_starts(span_of(kind), "kernel-")) {
		if (!json_string(object, "module"))
			keep_argument(k, text, text);
		else
			(keep_is_option_word(text) ? keep_free_text : keep_instead)(k, text);
		return true;
	}
	/* The names of parameters that a module does not have, and the values that it refuses. */
	if (strcmp(desc, "log_failure") == 0 && strcmp(field, "details") == 0 && kind &&
	    strstr(kind, "parameter")) {
		keep_parameter(k, text);
		return true;
	}
	if (strcmp(desc, "reference") == 0 && kind && strcmp(field, "file") != 0 &&
	    strcmp(field, "role") != 0 &&
	    (strcmp(kind, "value") == 0 || strcmp(kind, "runtime") == 0 ||
	     strcmp(kind, "setting") == 0)) {
		(strcmp(kind, "setting") == 0 && strcmp(field, "name") == 0
			 ? keep_as_it_is
			 : keep_value_of_reference)(k, text);
		return true;
	}
	if (strcmp(desc, "reference") == 0 && kind && strcmp(kind, "register") == 0 &&
	    strcmp(field, "file") != 0) {
		put_register(k, field, json_string(object, "role"), text);
		return true;
	}
	if (strcmp(desc, "reference") != 0 || !kind || strcmp(kind, "user") != 0 ||
	    (strcmp(field, "name") != 0 && strcmp(field, "found") != 0))
		return false;
	keep_who(k, text);
	return true;
}

/* Keeps a value together with the name beside it, which gives the meaning of the value. */
static bool put_with_name(struct keeping *k, const char *desc, const char *field,
			  struct json_object *object, struct span text)
{
	bool assignment = strcmp(desc, "modprobe_assignment") == 0;
	const char *name = json_string(object, assignment ? "param" : "name");

	if (strcmp(field, "value") != 0 ||
	    (!assignment && strcmp(desc, "env_variable") != 0 && strcmp(desc, "env_setting") != 0))
		return false;
	if (assignment)
		keep_assigned(k, span_of(name ? name : ""), text);
	else
		keep_variable(k, span_trim(span_of(name ? name : "")), text);
	return true;
}

struct place {
	struct keeping *k;
	const struct desc *desc;
	const struct field *field;
	struct json_object *object; /* as it was */
};

static void put_string(const struct place *p, struct span text)
{
	if (put_with_name(p->k, p->desc->name, p->field->name, p->object, text) ||
	    put_private(p->k, p->desc->name, p->field->name, p->object, text))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (strcmp(kept[i].desc, p->desc->name) == 0 &&
		    strcmp(kept[i].field, p->field->name) == 0) {
			kept[i].keep(p->k, text);
			return;
		}
	keep_instead(p->k, text);
}

static struct json_object *string_of(const struct place *p, struct json_object *value)
{
	_cleanup_free_ char *made = NULL;
	size_t n;
	FILE *out = p->k->out;

	if (!json_object_is_type(value, json_type_string))
		return json_object_get(value);
	p->k->out = memory_need(open_memstream(&made, &n));
	put_string(p, span_of(json_object_get_string(value)));
	memory_need(fclose(p->k->out) == 0 ? made : NULL);
	p->k->out = out;
	return json_text(made, n);
}

static bool is_user(const char *field)
{
	return span_ends(span_of(field), "uid") && !span_ends(span_of(field), "uuid");
}

static struct json_object *number_of(const struct place *p, struct json_object *value)
{
	char digits[24], made[24] = "";
	FILE *out = p->k->out;

	if (!is_user(p->field->name) || !json_object_is_type(value, json_type_int))
		return json_object_get(value);
	p->k->out = memory_need(fmemopen(made, sizeof(made), "w"));
	snprintf(digits, sizeof(digits), "%" PRIu64, json_object_get_uint64(value));
	keep_user_number(p->k, span_of(digits));
	fclose(p->k->out);
	p->k->out = out;
	return json_object_new_uint64(strtoull(made, NULL, 10));
}

static struct json_object *value_of(const struct place *p, struct json_object *value)
{
	struct json_object *array;

	if (!value)
		return NULL;
	if (p->field->type == FIELD_STR)
		return string_of(p, value);
	if (p->field->type == FIELD_U64)
		return number_of(p, value);
	if (p->field->type == FIELD_STRUCT)
		return keep_facts(p->k, p->field->sub, value);
	if (p->field->type != FIELD_STRS && p->field->type != FIELD_LIST)
		return json_object_get(value);
	array = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(value); i++) {
		struct json_object *item = json_object_array_get_idx(value, i);

		json_object_array_add(array, p->field->type == FIELD_STRS
						     ? string_of(p, item)
						     : keep_facts(p->k, p->field->sub, item));
	}
	return array;
}

struct json_object *keep_facts(struct keeping *k, const struct desc *desc,
			       struct json_object *answer)
{
	struct json_object *made = json_object_new_object();
	struct place p = { .k = k, .desc = desc, .object = answer };

	for (size_t i = 0; i < desc->count; i++) {
		struct json_object *value;

		p.field = &desc->fields[i];
		if (json_object_object_get_ex(answer, p.field->name, &value))
			json_put(made, p.field->name, value_of(&p, value));
	}
	return made;
}
