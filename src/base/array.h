/* SPDX-License-Identifier: GPL-2.0-or-later */
/* array.h - the number of items of an array. A pointer has none: gcc and clang then warn (-Wsizeof-pointer-div). */
#ifndef ARRAY_H
#define ARRAY_H

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
