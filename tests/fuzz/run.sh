#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh NAME [SECONDS] - builds the fuzz target NAME.c with clang and runs it over its corpus.
# What it finds new is kept in build/fuzz/NAME, not in the seeds.
set -e
name=$1 seconds=${2:-30}
cd "$(dirname "$0")/../.."
mkdir -p "build/fuzz/$name"
more=
[ "$name" = image ] && more="$(ls src/image*.c src/decompress*.c) src/library.c"
[ "$name" = json ] && more="$(ls src/json*.c src/fact-*.c) src/facts.c $(pkg-config --libs json-c)"
# pointer-overflow: an empty list has no items, and C17 does not like NULL + 0.
clang -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -fno-strict-aliasing -g -O1 -Isrc \
	$(pkg-config --cflags json-c libarchive) \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	-fno-sanitize=pointer-overflow \
	"tests/fuzz/$name.c" src/parse/*.c src/fact.c src/arena.c $more -o "build/fuzz/$name.bin"
exec "build/fuzz/$name.bin" -max_total_time="$seconds" -timeout=10 -max_len="${MAX_LEN:-4096}" \
	-artifact_prefix="build/fuzz/$name-" "build/fuzz/$name" "tests/fuzz/corpus/$name"
