/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-mps.c - whether the job's CUDA programs get the MPS control daemon that they want, and no other one (rule
 * services/mps). */
#include <inttypes.h>
#include <string.h>

#include "evaluate/skip.h"
#include "query/node-find.h"

#define VARIABLE "CUDA_MPS_PIPE_DIRECTORY"
#define FACT_VARIABLE "env.variables[" VARIABLE "].value"
#define DEFAULT_FOLDER "/tmp/nvidia-mps"

/* NULL: the job takes the default. /dev/null is the usual word for "none". */
static const char *wanted_folder(const struct node *node)
{
	const char *folder = node_env(node, VARIABLE);

	return folder && *folder ? folder : NULL;
}

static bool wants_none(const char *folder)
{
	return folder && starts_with(folder, "/dev/null");
}

/* The daemon in the job's folder. One in another mount namespace has another folder of that name. */
static const struct mps_daemon *jobs_daemon(const struct node *node)
{
	for_each(d, &node->mps.daemons)
		if (known_is(d->is_jobs, true) && known_is(d->elsewhere, false))
			return d;
	return NULL;
}

/* A daemon whose folder is not known. */
static const struct mps_daemon *unread_daemon(const struct node *node)
{
	for_each(d, &node->mps.daemons)
		if (!is_known(d->is_jobs) && !known_is(d->elsewhere, true))
			return d;
	return NULL;
}

static const char *daemon_fact(struct rule_context *ctx, const struct mps_daemon *d,
			       const char *member)
{
	return fact_item_path(ctx->arena, "mps.daemons", (size_t)(d - ctx->node->mps.daemons.items),
			      member);
}

/* A daemon of root starts a server for each user in turn; one of another user serves that user alone. */
static bool serves_others_only(const struct node *node, const struct mps_daemon *d)
{
	uint64_t uid = d->uid.value;

	return is_known(d->uid) && uid && is_known(node->env.uid) && node->env.uid.value != uid &&
	       !known_is(node->env.login_uid, uid);
}

static void fail_no_daemon(struct rule_context *ctx, const char *folder)
{
	FAIL(ctx,
	     .observed = text_printf(
		     ctx, VARIABLE " is %s, where no MPS control daemon has its pipe%s", folder,
		     ctx->node->mps.daemons.count ? "; one runs with another folder" : ""),
	     .expected = "the folder of an MPS control daemon that runs",
	     .evidence = { "mps.has_control", FACT_VARIABLE });
}

static void fail_other_user(struct rule_context *ctx, const struct mps_daemon *d)
{
	FAIL(ctx,
	     .observed = text_printf(ctx,
				     "process %" PRIu64 ", an MPS control daemon of user %" PRIu64
				     ", has the folder of the job of user %" PRIu64,
				     d->pid.value, d->uid.value, ctx->node->env.uid.value),
	     .expected = "a daemon of root or of the job's user, or a folder of its own",
	     .impact =
		     "CUDA programs of all other users fail or wait: the daemon serves its own user alone.",
	     .remedy =
		     "Set CUDA_MPS_PIPE_DIRECTORY in the job to a folder of its own. Or have the daemon's user stop it "
		     "(echo quit | nvidia-cuda-mps-control) and start it with such a folder.",
	     .evidence = { daemon_fact(ctx, d, "uid"), daemon_fact(ctx, d, "is_jobs") });
}

static void note_everyone(struct rule_context *ctx, const struct mps_daemon *d)
{
	const bool containers = is_known(ctx->node->containers.toolkit);

	NOTE(ctx,
	     .observed = text_printf(
		     ctx,
		     "process %" PRIu64
		     " is an MPS control daemon with the default folder " DEFAULT_FOLDER
		     ": every CUDA program is its client%s",
		     d->pid.value,
		     containers ? ", those in containers too, into which the toolkit mounts it"
				: ""),
	     .remedy =
		     "If only some jobs want MPS, give the daemon and these jobs a CUDA_MPS_PIPE_DIRECTORY of their own.",
	     .evidence = { daemon_fact(ctx, d, "is_default") });
}

static void check_daemon(struct rule_context *ctx, const char *folder)
{
	const struct mps_daemon *d = jobs_daemon(ctx->node), *unread = unread_daemon(ctx->node);

	if (d && serves_others_only(ctx->node, d))
		fail_other_user(ctx, d);
	else if (d && !is_known(d->uid))
		UNKNOWN(ctx, .evidence = { daemon_fact(ctx, d, "uid") });
	else if (d && known_is(d->is_default, true))
		note_everyone(ctx, d);
	else if (!d && unread)
		UNKNOWN(ctx, .evidence = { daemon_fact(ctx, unread, "is_jobs") });
	/* Of a daemon in another container, or of one that has died. */
	else if (!d && folder)
		UNKNOWN(ctx,
			.observed =
				"its folder has a control pipe, and no daemon that is visible here",
			.evidence = { "mps.has_control" });
	else if (d || ctx->node->mps.daemons.count)
		PASS(ctx, .evidence = { "mps.daemons" });
	else
		NOT_APPLICABLE(ctx,
			       .observed = "no MPS control daemon runs, and the job asks for none",
			       .evidence = { "mps.daemons" });
}

static void check_mps(struct rule_context *ctx)
{
	const char *folder = wanted_folder(ctx->node);

	if (skip_without_gpu(ctx) || skip_without_variables(ctx))
		return;
	if (!was_read(ctx->node->mps.daemons))
		UNKNOWN(ctx, .evidence = { "mps.daemons" });
	else if (wants_none(folder))
		NOT_APPLICABLE(ctx, .observed = "the job switches MPS off",
			       .evidence = { FACT_VARIABLE });
	else if (folder && !is_known(ctx->node->mps.has_control))
		UNKNOWN(ctx, .evidence = { "mps.has_control" });
	else if (folder && known_is(ctx->node->mps.has_control, false))
		fail_no_daemon(ctx, folder);
	else
		check_daemon(ctx, folder);
}

static const struct rule services_mps_rules[] = {
	{
		.id = "services/mps",
		.title = "The job does not get the MPS daemon that it expects",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_mps,
		.needs_running = true,
		.impact =
			"CUDA programs run without MPS: their kernels take turns on the GPU. In the compute mode "
			"exclusive-process all but the first fail.",
		.remedy =
			"Start the daemon with the job's CUDA_MPS_PIPE_DIRECTORY (nvidia-cuda-mps-control -d), or take the variable "
			"out of the job.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"Processes nvidia-cuda-mps-control: their user and CUDA_MPS_PIPE_DIRECTORY; the same variable of the job, "
			"and whether that folder has a control pipe.",
		.why = "A CUDA program that finds a control pipe becomes a client of MPS, and runs without MPS if it finds none. "
		       "Unless the daemon was started with -multiuser-server, one user at a time has a server: programs of "
		       "another user wait until its clients end. A fatal error of one client ends all clients on its GPU. "
		       "A daemon in another mount namespace does not count.",
		.check =
			"pgrep -af nvidia-cuda-mps; ls -l /tmp/nvidia-mps; echo get_server_list | nvidia-cuda-mps-control",
		.sources =
			"nvidia-cuda-mps-control(1) of driver 570.195.03\n"
			"CUDA Multi-Process Service r550: Limitations, GPU Compute Modes, Application "
			"Considerations, Environment Variables\n"
			"CUDA Multi-Process Service (2026): Troubleshooting Guide, MPS Server Not Accepting New Client Requests\n"
			"nvidia-container-toolkit 33c7b05: internal/discover/ipc.go\n"
			"github.com/aws/amazon-ecs-ami pull 771",
	},
};

RULE_TABLE(services_mps);
