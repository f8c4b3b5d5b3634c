/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-cuda.c - installed CUDA releases and the architecture of the GPUs (rule software/cuda-other-gpu). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/pci-device.h"

/*
 * The releases that compile for an architecture, and whose libraries have kernels for it. Ada is not here: it runs what
 * was compiled for Ampere, whose major number is the same.
 */
static const struct {
	const char *architecture;
	unsigned int first_major, first_minor; /* 0: any */
	unsigned int last_major;	       /* 0: none is the last */
} supported[] = {
	{ "Maxwell", 0, 0, 12 }, { "Pascal", 0, 0, 12 },    { "Volta", 0, 0, 12 },
	{ "Hopper", 11, 8, 0 },	 { "Blackwell", 12, 8, 0 },
};

struct release {
	unsigned int major, minor;
};

/* "12.4.127", "12.8" */
static bool read_release(const struct software_item *item, struct release *release)
{
	struct span rest, major, minor;
	uint64_t a, b;

	if ((!str_is(item->name, "cuda") && !str_is(item->name, "libcudart")) ||
	    !is_known(item->version))
		return false;
	rest = span_of(item->version.value);
	if (!span_cut(&rest, '.', &major) || !span_cut(&rest, '.', &minor) ||
	    span_u64(major, 10, &a) || span_u64(minor, 10, &b) || a > 99 || b > 99)
		return false;
	*release = (struct release){ (unsigned int)a, (unsigned int)b };
	return true;
}

static bool fits(const struct gpu_model *model, const struct release *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(supported); i++) {
		if (strcmp(supported[i].architecture, model->architecture) != 0)
			continue;
		if (r->major < supported[i].first_major ||
		    (r->major == supported[i].first_major && r->minor < supported[i].first_minor))
			return false;
		return !supported[i].last_major || r->major <= supported[i].last_major;
	}
	return true;
}

/* A wheel is of one Python, whose libraries all come from wheels; a toolkit can be one of several. */
static bool is_wheel(const struct software_item *item)
{
	return strstr(item->path.value, ".dist-info") != NULL;
}

struct search {
	const struct software_item *wheel;   /* that does not fit */
	const struct software_item *toolkit; /* the same of what is no wheel */
	const struct gpu_model *model;	     /* that it does not fit */
	size_t releases;
	bool other_fits;		    /* some toolkit fits all GPUs */
	bool unknown;			    /* a GPU is not in the table */
	const struct software_item *unread; /* with an unknown release */
};

static void look_at(const struct node *node, const struct software_item *item, struct search *s)
{
	const struct gpu_model *against = NULL;
	struct release release;

	if (!read_release(item, &release)) {
		if (str_is(item->name, "cuda") || str_is(item->name, "libcudart"))
			s->unread = item;
		return;
	}
	s->releases++;
	for_each(d, &node->pci.devices) {
		const struct gpu_model *model = pci_is_gpu(d) ? gpu_model(d) : NULL;

		s->unknown |= pci_is_gpu(d) && !model;
		if (model && !fits(model, &release))
			against = model;
	}
	if (!against) {
		s->other_fits |= !is_wheel(item);
		return;
	}
	if (is_wheel(item) && !s->wheel) {
		s->wheel = item;
		s->model = against;
	} else if (!is_wheel(item) && !s->toolkit) {
		s->toolkit = item;
		s->model = s->wheel ? s->model : against;
	}
}

static void fail_release(struct rule_context *ctx, const struct software_item *item,
			 const struct gpu_model *model)
{
	FAIL(ctx, .subject = item->path.value,
	     .observed = text_printf(ctx, "CUDA %s has no code for %s (%s)", item->version.value,
				     model->architecture, model->name),
	     .expected = "a release that supports the GPU",
	     .impact =
		     is_wheel(item)
			     ? "Programs of this Python, such as PyTorch, fail on the GPU: \"no kernel image is available "
			       "for execution on the device\"."
			     : NULL,
	     .evidence = { software_version_fact(ctx->arena, item), "pci.devices" });
}

static void check_cuda(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	struct search s = { 0 };

	if (skip_without_gpu(ctx) || skip_unless_software_whole(ctx))
		return;
	for_each(item, &node->software.items)
		look_at(node, item, &s);
	if (s.wheel)
		fail_release(ctx, s.wheel, s.model);
	else if (s.toolkit && !s.other_fits)
		fail_release(ctx, s.toolkit, s.model);
	else if (s.unknown && s.releases)
		UNKNOWN(ctx, .severity = SEVERITY_INFO, .graded = true,
			.observed = "a GPU is not in the table of models",
			.evidence = { "pci.devices" });
	/* One toolkit that fits is enough. */
	else if (s.unread && !s.other_fits)
		UNKNOWN(ctx, .severity = SEVERITY_INFO, .graded = true,
			.subject = s.unread->path.value, .observed = "its release is not known",
			.evidence = { software_version_fact(ctx->arena, s.unread) });
	else if (s.releases)
		PASS(ctx, .evidence = { "software.items", "pci.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = "no CUDA toolkit or runtime whose release is known",
			       .evidence = { "software.items" });
}

static const struct rule software_cuda_rules[] = {
	{
		.id = "software/cuda-other-gpu",
		.title = "CUDA programs fail: the installed CUDA release does not support this GPU",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_cuda,
		.impact =
			"nvcc ends with \"Unsupported gpu architecture\". Programs built with this release have no kernels for the "
			"GPU, unless they carry PTX, and its libraries have none.",
		.remedy =
			"Install a CUDA release that supports the GPU: 12.8 or later for Blackwell, 11.8 or later for Hopper, 12.9 or "
			"earlier for Maxwell, Pascal and Volta. For PyTorch install the wheels of such a release (cu128).",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads =
			"The releases of CUDA toolkits and of libcudart, wheels of the system's Python included; the GPUs' models.",
		.why = "Compiled code runs only on GPUs of the same major compute capability, and not on those with "
		       "an earlier minor one. An older toolkit beside one that "
		       "supports the GPU does no harm; a wheel does, because its Python uses no other.",
		.check =
			"nvcc --list-gpu-code; python3 -c 'import torch; print(torch.version.cuda, torch.cuda.get_arch_list())'",
		.sources =
			"Blackwell Compatibility Guide 13.1: Application Compatibility, Building Applications\n"
			"CUDA Toolkit 13.0: Release Notes, Deprecated Architectures, as github.com/pytorch/pytorch issue 157517 quotes "
			"them\n"
			"github.com/pytorch/pytorch issue 167244, github.com/k2-fsa/k2 commit 99f59794 (Hopper)",
	},
};

RULE_TABLE(software_cuda);
