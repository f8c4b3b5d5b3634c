/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg-interface.h - messages of the kernel that begin with the name of a network interface. In a user namespace any user
 * makes interfaces, and gives them names. */
#ifndef PARSE_KMSG_INTERFACE_H
#define PARSE_KMSG_INTERFACE_H

#include "base/span.h"

bool kmsg_is_of_interface(struct span message);

#endif
