/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd.h - the commands. Each is one file, cmd-NAME.c: it opens the source (source.h), calls the engine and prints. */
#ifndef CMD_H
#define CMD_H

#include "cli/cli.h"

enum exit_status cmd_doctor(const struct options *options);
enum exit_status cmd_preflight(const struct options *options);
enum exit_status cmd_diff(const struct options *options);
enum exit_status cmd_explain(const struct options *options);
enum exit_status cmd_rules(const struct options *options);
enum exit_status cmd_facts(const struct options *options);
enum exit_status cmd_topo(const struct options *options);
enum exit_status cmd_expect(const struct options *options);
enum exit_status cmd_capture(const struct options *options);
enum exit_status cmd_fix(const struct options *options);
enum exit_status cmd_prove(const struct options *options);
enum exit_status cmd_undo(const struct options *options);
enum exit_status cmd_ack(const struct options *options);
enum exit_status cmd_why(const struct options *options);

/* Runs doctor on many files (doctor-fleet.c). */
enum exit_status doctor_fleet(const struct options *options);

/* Prints that there is no rule ID, and a similar id. Returns EXIT_USAGE. */
enum exit_status refuse_rule(const char *id);

#endif
