/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.c - labels for the parts of a node: "GPU3 (0000:3c:00.0)", "mlx5_4 port 1". */
#include "query/names.h"

#include <inttypes.h>
#include <stdlib.h>

#include "query/node-find.h"
#include "query/pci-device.h"
#include "query/topology.h"

/* ---- GPUs ---- */

/* A label is looked up for every subject: of a tree with thousands of GPUs the later ones have no number. */
static const struct gpu *driver_gpu(const struct node *node, const char *bdf)
{
	for_each(g, &node->gpu.devices)
		if (g - node->gpu.devices.items == TOPOLOGY_ENDS_MAX)
			break;
		else if (str_is(g->bdf, bdf))
			return g;
	return NULL;
}

static struct fact_u64 minor_of(const struct node *node, const struct pci_device *device)
{
	const struct gpu *gpu = driver_gpu(node, device->bdf.value);

	return gpu ? gpu->minor : (struct fact_u64){ 0 };
}

enum gpu_numbering gpu_numbering(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (topology_is_gpu(d) && is_known(minor_of(node, d)))
			return GPU_NUMBERS_DRIVER;
	return GPU_NUMBERS_PCI;
}

/* Counts the GPUs before BDF that have no number from the driver. Returns false if BDF is no GPU. */
static bool count_before(const struct node *node, const char *bdf, size_t *count)
{
	size_t ends = 0;

	*count = 0;
	for_each(d, &node->pci.devices) {
		if (!topology_is_gpu(d))
			continue;
		if (ends++ == TOPOLOGY_ENDS_MAX)
			return false;
		if (str_is(d->bdf, bdf))
			return true;
		*count += !is_known(minor_of(node, d));
	}
	return false;
}

bool gpu_number(const struct node *node, const char *bdf, uint64_t *number)
{
	const struct gpu *gpu = driver_gpu(node, bdf);
	size_t before;

	if (!count_before(node, bdf, &before))
		return false;
	if (gpu && is_known(gpu->minor)) {
		*number = gpu->minor.value;
		return true;
	}
	*number = before;
	return gpu_numbering(node) == GPU_NUMBERS_PCI;
}

const char *gpu_label(const struct node *node, const char *bdf, struct arena *arena)
{
	uint64_t number;
	size_t before;

	if (!count_before(node, bdf, &before))
		return NULL;
	if (gpu_number(node, bdf, &number))
		return arena_printf(arena, "GPU%" PRIu64, number);
	return before < 26 ? arena_printf(arena, "GPU%c", 'a' + (int)before)
			   : arena_printf(arena, "GPUx%zu", before);
}

const char *gpu_uuid(const struct node *node, const char *bdf)
{
	const struct gpu *gpu = driver_gpu(node, bdf);

	return gpu && is_known(gpu->uuid) ? gpu->uuid.value : NULL;
}

/* ---- other parts ---- */

static const char *rdma_of(const struct node *node, const char *bdf)
{
	for_each(d, &node->rdma.devices)
		if (is_known(d->name) && str_is(d->bdf, bdf))
			return d->name.value;
	return NULL;
}

/* A device without a name of its own has its kind's. */
static const char *kind_find(const struct node *node, const struct pci_device *device)
{
	static const char *const ports[] = {
		[PCI_ENDPOINT] = "PCI device",	[PCI_ROOT_PORT] = "root port",
		[PCI_UPSTREAM_PORT] = "switch", [PCI_DOWNSTREAM_PORT] = "switch port",
		[PCI_BRIDGE] = "bridge",	[PCI_ROOT_COMPLEX] = "PCI device",
	};

	if (pci_is_nvswitch(device))
		return "NVSwitch";
	if (topology_is_nic(node, device))
		return "NIC";
	return is_known(device->port) ? ports[device->port.value] : "PCI device";
}

/* A letter in place of a number would need the drawing that explains it. */
static const char *gpu_name(const struct node *node, const char *bdf, bool *address,
			    struct arena *arena)
{
	const char *label = gpu_label(node, bdf, arena);
	uint64_t number;

	*address = !label || gpu_number(node, bdf, &number);
	return *address ? label : arena_printf(arena, "GPU %s", bdf);
}

/* A port with one GPU or NIC below it is that one's. */
static const char *end_below(const struct node *node, const char *bdf, struct arena *arena)
{
	const char *found = NULL;

	for_each(d, &node->pci.devices) {
		const char *name;
		bool address;

		if (!str_is(d->parent, bdf))
			continue;
		name = gpu_name(node, d->bdf.value, &address, arena);
		if (!name)
			name = rdma_of(node, d->bdf.value);
		if (!name || found)
			return NULL;
		found = name;
	}
	return found;
}

/* " above GPU0-GPU3" of a bridge; "" without a GPU below it. */
static const char *above_gpus(const struct node *node, const char *bdf, struct arena *arena)
{
	const char *labels[TOPOLOGY_ENDS_MAX];
	size_t count = 0, ends = 0;

	for_each(d, &node->pci.devices) {
		const struct pci_device *above[PATH_PORTS_MAX];
		size_t n;

		if (!topology_is_gpu(d))
			continue;
		if (ends++ == TOPOLOGY_ENDS_MAX)
			break;
		n = topology_above(node, d, above);
		for (size_t i = 0; i < n; i++) {
			bool address;

			if (str_is(above[i]->bdf, bdf))
				labels[count++] = gpu_name(node, d->bdf.value, &address, arena);
		}
	}
	return count ? arena_printf(arena, " above %s", labels_join(labels, count, 2, arena)) : "";
}

/* The name of the device at BDF; ADDRESS: it is not said otherwise where that is. */
static const char *device_label(const struct node *node, const char *bdf, bool *address,
				struct arena *arena)
{
	const struct pci_device *device = node_pci(node, bdf);
	const char *name = gpu_name(node, bdf, address, arena);

	if (!name)
		name = rdma_of(node, bdf);
	if (name || !device)
		return name;
	name = end_below(node, bdf, arena);
	if (name)
		return arena_printf(arena, "PCIe port of %s", name);
	*address = false;
	return arena_printf(arena, "%s %s%s", kind_find(node, device), bdf,
			    above_gpus(node, bdf, arena));
}

/* "mlx5_4/1": the port of a device that there is. */
static const char *port_label(const struct node *node, const char *subject, struct arena *arena)
{
	const char *slash = strrchr(subject, '/');

	for_each(d, &node->rdma.devices)
		if (slash && slash[1] && is_known(d->name) &&
		    strlen(d->name.value) == (size_t)(slash - subject) &&
		    strncmp(d->name.value, subject, (size_t)(slash - subject)) == 0)
			return arena_printf(arena, "%s port %s", d->name.value, slash + 1);
	return NULL;
}

/* A process whose limits its jobs get. */
static const char *process_label(const struct node *node, const char *subject, struct arena *arena)
{
	bool any = str_is(node->limits.self.name, subject);

	for_each(p, &node->limits.launchers)
		any |= str_is(p->name, subject);
	return any ? arena_printf(arena, "process %s", subject) : NULL;
}

/* The file and the line of a fact. */
static const char *place_label(const struct node *node, const char *subject, struct arena *arena)
{
	struct fact_ref ref;

	if (!strchr(subject, '[') || fact_find(&node_desc, node, subject, arena, &ref) ||
	    !ref.source)
		return NULL;
	return ref.line ? arena_printf(arena, "%s:%" PRIu64, ref.source, ref.line) : ref.source;
}

/* Returns the label of one word. */
static const char *label_of(const struct node *node, const char *subject, bool *address,
			    struct arena *arena)
{
	const char *label = device_label(node, subject, address, arena);

	if (label)
		return label;
	*address = false;
	label = port_label(node, subject, arena);
	if (!label)
		label = process_label(node, subject, arena);
	return label ? label : place_label(node, subject, arena);
}

/* "0000:19:00.0 to 0000:3b:00.0": returns SUBJECT with the name of the GPU in place of an address that it begins
 * with. */
static const char *with_first(const struct node *node, const char *subject, bool with_address,
			      struct arena *arena)
{
	size_t n = strcspn(subject, " ");
	const char *bdf = arena_strndup(arena, subject, n), *label;

	label = strchr(bdf, ':') ? gpu_label(node, bdf, arena) : NULL;
	if (!label)
		return subject;
	return with_address ? arena_printf(arena, "%s (%s)%s", label, bdf, subject + n)
			    : arena_printf(arena, "%s%s", label, subject + n);
}

/* "nic-rate mlx5_4/1": of an expectation the final word names the part. */
static const char *name(const struct node *node, const char *subject, bool with_address,
			struct arena *arena)
{
	const char *blank = strrchr(subject, ' '), *word = blank ? blank + 1 : subject, *label;
	bool address;

	if (blank)
		subject = with_first(node, subject, with_address, arena);
	blank = strrchr(subject, ' ');
	label = label_of(node, word, &address, arena);
	if (!label)
		return subject;
	if (with_address && address)
		label = arena_printf(arena, "%s (%s)", label, word);
	return blank ? arena_printf(arena, "%.*s %s", (int)(blank - subject), subject, label)
		     : label;
}

/* "NCCL 2.28.9 (nccl-arm-weak-cas-hang)" without the id, which tells two subjects of one rule apart. */
static const char *without_id(const char *text, struct arena *arena)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	const char *mark = strstr(text, " (");

	if (!mark || strcmp(mark + 2 + strspn(mark + 2, letters), ")") != 0)
		return text;
	return arena_strndup(arena, text, (size_t)(mark - text));
}

const char *subject_label(const struct node *node, const char *subject, struct arena *arena)
{
	return subject ? without_id(name(node, subject, false, arena), arena) : "";
}

const char *subject_name(const struct node *node, const char *subject, struct arena *arena)
{
	return subject ? name(node, subject, true, arena) : "";
}

/* ---- lists ---- */

/* HEAD, a number, and a TAIL that is " port 1" or nothing. */
struct numbered {
	const char *label;
	size_t head;
	uint64_t number;
	const char *tail; /* NULL: there is no number */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct numbered take_apart(const char *label)
{
	struct numbered n = { .label = label };
	const char *tail = strstr(label, " port "), *digits;

	/* "mlx5_4 port 1", and no "PCIe port of GPU3". */
	if (tail && !is_digit(tail[strlen(" port ")]))
		tail = NULL;

	tail = tail ? tail : label + strlen(label);
	for (digits = tail; digits > label && is_digit(digits[-1]);)
		digits--;
	if (digits == tail || tail - digits > 6 || (*digits == '0' && tail - digits > 1) ||
	    strcspn(label, "/:.") < (size_t)(digits - label))
		return n;
	n.head = (size_t)(digits - label);
	n.number = strtoul(digits, NULL, 10);
	n.tail = tail;
	return n;
}

static bool is_next(const struct numbered *a, const struct numbered *b)
{
	return a->tail && b->tail && b->number == a->number + 1 && a->head == b->head &&
	       strncmp(a->label, b->label, a->head) == 0 && strcmp(a->tail, b->tail) == 0;
}

static const char *range(const struct numbered *from, const struct numbered *to, const char *pair,
			 struct arena *arena)
{
	size_t word = from->head;

	if (from->number == to->number)
		return from->label;
	while (word && from->label[word - 1] != ' ')
		word--;
	/* A pair is no range: "GPU0-GPU1" looks like a link. */
	if (to->number == from->number + 1)
		return arena_printf(arena, "%s%s%s", from->label, pair, to->label + word);
	return arena_printf(arena, "%.*s-%s", (int)(from->tail - from->label), from->label,
			    to->label + word);
}

/* Bytes of the words before the name: "PCIe port of " of "PCIe port of GPU3". */
static size_t words_before(const struct numbered *n)
{
	size_t word = n->tail ? n->head : 0;

	while (word && n->label[word - 1] != ' ')
		word--;
	return word;
}

static int compare_labels(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

const char *labels_join(const char **labels, size_t count, size_t most, struct arena *arena)
{
	struct arena_text text = { .arena = arena };
	const char *before = "";
	size_t parts = 0, left = 0;

	qsort(labels, count, sizeof(*labels), compare_labels);
	for (size_t i = 0; i < count; i++) {
		struct numbered from = take_apart(labels[i]), to = from, next;
		size_t begin = i;

		while (i + 1 < count && (next = take_apart(labels[i + 1]), is_next(&to, &next))) {
			to = next;
			i++;
		}
		if (parts++ < most) {
			size_t words = words_before(&from);
			/* Words that the part before has are not repeated. */
			bool same = words && strncmp(before, from.label, words) == 0;

			arena_add(&text, "%s%s", text.n ? ", " : "",
				  range(&from, &to, begin == 0 && i + 1 == count ? " and " : ", ",
					arena) +
					  (same ? words : 0));
			before = from.label;
		} else {
			left += i - begin + 1;
		}
	}
	if (left)
		arena_add(&text, " and %zu more", left);
	return arena_added(&text);
}
