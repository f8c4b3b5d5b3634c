/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * complete.h - completes a command line from the tables of cli.h: the one source of the three files in completions/.
 *
 *     nvnodecheck __complete WORD...
 *
 * WORDs are those after the program's name up to the cursor; the last one, perhaps empty, is to be
 * completed. Each line of the answer is a whole word, or a word, a tab and what it means. A line
 * ":files" or ":folders" asks the shell to offer those itself. bash cuts --format=json into three
 * words; that is understood, and the answer is then the part after the "=".
 */
#ifndef COMPLETE_H
#define COMPLETE_H

#include "base/exit-status.h"

#define COMPLETE_COMMAND "__complete"

enum exit_status complete(int count, char **words);

#endif
