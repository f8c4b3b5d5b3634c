# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tests. Read by the Makefile.
#
#   make check                 the tests that take minutes; TESTS='FILE...' runs only these
#   make check-long            the tests with all that they repeat, fuzz targets, sanitizers over everything; an hour
#   make check-package         the tests that a package runs while it is built
#   make check-sanitize        nodes, cases and bad input with ASan and UBSan
#   make check-sanitize-quick  the same without the cases, which check-sanitize has
#   make check-generators      fixes with the real generators of initramfs images, as root
#   make check-texts           that no text of a rule decides anything: a build with all of them replaced
#   make check-vm              scenarios on a real kernel in virtual machines
#   make check-reboot          repairs, a reboot, undo, another reboot, as root
#   make check-cycle           the same, also through GRUB, systemd and dracut: some minutes more
#   make check-loads           modules of a real kernel, some of them damaged: the dry run against the kernel
#   make check-power           a repair and its undo whose disk loses its power at 200 moments, as root: some minutes
#   make check-units           the units of the Debian package in a machine that systemd boots
#   make check-integration     contrib/ with Slurm, Prometheus, NHC, Kubernetes, Ansible, systemd, a browser
#   make check-mutants         whether the tests can fail: 300 changes of src/ in one program, one on at a time; half an hour
#   make check-oracles         what is parsed against the programs that own the formats: a minute of each
#   make check-image           an image of Debian with NVIDIA's packages, evaluated before it boots, as root
#   make check-faults          every read and every allocation of some runs goes wrong once; takes an hour
#   make check-valgrind        memcheck over the commands that read
#   make bench                 how long it takes, as ratios; NHC_SOURCE=DIR compares LBNL NHC too
#   make check-fuzz            every fuzz target, FUZZ_SECONDS=30 each

.PHONY: check check-package check-long check-sanitize check-sanitize-quick check-texts check-generators check-vm \
	check-loads check-mutants check-oracles check-reboot check-cycle check-power check-units check-integration \
	check-image check-faults check-valgrind bench check-fuzz build-fuzz unit

# PYTHON with pytest and, for the schemas, jsonschema. NVNODECHECK_UPDATE=1 writes the golden files.
PYTHON ?= /usr/bin/python3

# Unit tests: one program for each file, with what it needs of everything but main.c.
UNITS := $(patsubst tests/unit/test-%.c,$(B)/tests/unit-%,$(wildcard tests/unit/test-*.c))
$(B)/tests/unit-%: tests/unit/test-%.c $(B)/tests/all.a $(B)/flags
	@echo "  CC      $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(shell $(PKG_CONFIG) --cflags cmocka) -MMD -MP -MF $@.d \
		$(ALL_LDFLAGS) -o $@ $< $(B)/tests/all.a $(ALL_LDLIBS) $(shell $(PKG_CONFIG) --libs cmocka)
$(B)/tests/all.a: $(filter-out $(B)/main.o,$(OBJECTS))
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
unit: $(UNITS) $(B)/tests/txn-driver $(B)/tests/generator-standin

# Carries out plans that a test wrote down: tests/test_txn.py, tests/test_generators.py.
$(B)/tests/txn-driver: tests/programs/txn-driver.c $(B)/tests/all.a
	@echo "  CC      $@"
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(B)/tests/all.a \
		$(ALL_LDLIBS)

# Says which modules would be loaded: tests/vm/loads.py.
$(B)/tests/modprobe-dry-run: tests/programs/modprobe-dry-run.c $(B)/tests/all.a
	@echo "  CC      $@"
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(B)/tests/all.a \
		$(ALL_LDLIBS)

# Runs in roots that have no libraries. Where there is no static C library, what needs it is skipped.
$(B)/tests/generator-standin: tests/programs/generator-standin.c
	@echo "  CC      $@"
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE $(WARNINGS) -O2 -static -o $@ $< || echo "  (skipped)"

check: all unit
	$(Q)$(PYTHON) tests/check $(B) $(TESTS)

# What a package runs while it is built. The rest of the suite needs root or much time.
check-package: all unit
	$(Q)$(PYTHON) tests/check $(B) tests/test_nodes.py tests/test_cases.py tests/test_cli.py

# CI runs the shorter part of these. The time limit of a test is ten times the usual one.
check-long check-sanitize check-faults check-valgrind check-generators: export NVNODECHECK_TEST_LIMIT ?= 3000
check-long: export NVNODECHECK_LONG := 1
check-long: all unit
	$(Q)$(PYTHON) tests/check $(B)
	$(Q)$(MAKE) check-sanitize check-fuzz FUZZ_SECONDS=60
SANITIZED ?= tests/test_nodes.py tests/test_cases.py tests/test_incidents.py tests/test_holes.py tests/test_bad_input.py
check-sanitize:
	$(Q)$(MAKE) SANITIZE=1 B=build-sanitize all unit
	$(Q)$(PYTHON) tests/check build-sanitize $(SANITIZED)
# The build of the fuzz targets has both sanitizers too; without the cases it is a matter of a minute.
check-sanitize-quick: build-fuzz
	$(Q)$(PYTHON) tests/check build-fuzz $(filter-out %/test_cases.py,$(SANITIZED))

check-texts: all
	$(Q)$(MAKE) B=build-texts CFLAGS='-O0' CPPFLAGS='$(CPPFLAGS) -DTEXTS_REPLACED' build-texts/nvnodecheck
	$(Q)NVNODECHECK=$(CURDIR)/$(B)/nvnodecheck NVNODECHECK_REPLACED=$(CURDIR)/build-texts/nvnodecheck \
		$(PYTHON) tests/check $(B) tests/test_texts.py

# make check has a sample of the first.
check-faults: all
	$(Q)NVNODECHECK_FAULTS=1 $(PYTHON) tests/check $(B) tests/test_faults.py
check-valgrind: all
	$(Q)NVNODECHECK_VALGRIND=1 $(PYTHON) tests/check $(B) tests/test_valgrind.py

# Root only: Debian roots made with debootstrap are kept in build/generators. Takes some minutes.
check-generators: all $(B)/tests/txn-driver
	$(Q)NVNODECHECK_GENERATORS=1 $(PYTHON) tests/check $(B) tests/test_generators.py

# tests/vm/packages names what it takes. The guest is made once and kept in build/vm.
check-vm: $(B)/nvnodecheck
	$(Q)$(PYTHON) tests/vm/run.py --program $(B)/nvnodecheck

# MUTANTS='--count 1000 --seed 2 --only src/rules/'
check-mutants:
	$(Q)$(PYTHON) tests/mutants/mutants $(MUTANTS)

# What is read against the programs that own the formats. An hour of each: ORACLE_SECONDS=3600.
# ORACLE_COUNT=200 takes the same inputs each time. ORACLES='modprobe grub' are these alone.
ORACLE_SECONDS ?= 60
ORACLE_SEED ?= 1
check-oracles: all
	$(Q)tests/oracles/get-material $(CURDIR)/build-sources $(ORACLES)
	$(Q)NVNODECHECK=$(CURDIR)/$(B)/nvnodecheck $(PYTHON) tests/oracles/run.py --seconds $(ORACLE_SECONDS) \
		--seed $(ORACLE_SEED) $(ORACLE_COUNT:%=--count %) $(ORACLES)

# What doctor says of modules against what the kernel does with them. LOADS='--count 4000 --seed 1'
check-loads: $(B)/nvnodecheck $(B)/tests/modprobe-dry-run
	$(Q)$(PYTHON) tests/vm/loads.py --program $(B)/nvnodecheck --driver $(B)/tests/modprobe-dry-run $(LOADS)

# As root: Debian roots made with debootstrap are kept in build/vm.
check-reboot: $(B)/nvnodecheck
	$(Q)$(PYTHON) tests/vm/cycle.py --program $(B)/nvnodecheck
check-cycle: $(B)/nvnodecheck
	$(Q)$(PYTHON) tests/vm/cycle.py --program $(B)/nvnodecheck --all
# Disks are mounted through loop devices. POWER='--count 1000 --seed 1'
check-power: $(B)/nvnodecheck
	$(Q)$(PYTHON) tests/vm/power.py --program $(B)/nvnodecheck $(POWER)
# Of the package that make deb made.
check-units: $(B)/nvnodecheck
	$(Q)$(PYTHON) tests/vm/units.py --program $(B)/nvnodecheck build/deb/nvnodecheck_*.deb

# Each with the engine itself, where it is installed (tests/integration/conftest.py). ./bootstrap
# check-integration fetches the sources of those that Debian does not package.
check-integration: export NHC_SOURCE ?= $(wildcard $(CURDIR)/build-sources/nhc)
check-integration: export NPD_SOURCE ?= $(wildcard $(CURDIR)/build-sources/node-problem-detector)
check-integration: export KUBERNETES_SOURCE ?= $(wildcard $(CURDIR)/build-sources/kubernetes)
check-integration: export GRAFANA_SCHEMA ?= $(wildcard $(CURDIR)/build-sources/grafana-schema)
check-integration: export NFD_SOURCE ?= $(wildcard $(CURDIR)/build-sources/node-feature-discovery)
check-integration: all
	$(Q)NVNODECHECK=$(CURDIR)/$(B)/nvnodecheck $(PYTHON) -m pytest -q -rs \
		$(filter-out %/check_image.py,$(wildcard tests/integration/check_*.py))

# The image is made once, in ten minutes.
check-image: export NVNODECHECK_IMAGE ?= $(CURDIR)/build/image
check-image: all
	$(Q)NVNODECHECK=$(CURDIR)/$(B)/nvnodecheck $(PYTHON) -m pytest -q -rs tests/integration/check_image.py

bench: all
	$(Q)NVNODECHECK=$(CURDIR)/$(B)/nvnodecheck $(PYTHON) tests/bench/bench.py

# Needs clang. The program's objects are built once, with coverage for libFuzzer, and each target is
# linked with what it needs of them. Seeds are in tests/fuzz/corpus, words in tests/fuzz/dict.
# pointer-overflow: an empty list has no items, and C17 does not like NULL + 0. The program is built as
# well, so that clang has seen every file.
FUZZ_SECONDS ?= 30
FUZZ_CFLAGS ?= -O1 -g
# __SANITIZE_ADDRESS__ is gcc's word, which clang has not before 22: src has longer times and no limits of memory then.
FUZZ_FLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
	      -fno-sanitize=pointer-overflow -D__SANITIZE_ADDRESS__
# tests/fuzz/evaluate.c changes their facts.
FUZZ_NODES := rtx4090-p2p grace-gh200-cx8 vm-h200-passthrough debian-nvidia-current
FUZZERS ?= $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
check-fuzz: build-fuzz
	$(Q)tests/fuzz/check build-fuzz/fuzz $(FUZZ_SECONDS) $(FUZZERS)
build-fuzz: FORCE
	$(Q)$(MAKE) B=build-fuzz CC=clang CFLAGS='$(FUZZ_CFLAGS)' SANITIZE_FLAGS='$(FUZZ_FLAGS)' \
		build-fuzz/nvnodecheck unit $(FUZZERS:%=build-fuzz/fuzz/%) \
		$(FUZZ_NODES:%=build-fuzz/facts/%.json)
$(B)/facts/%.json: tests/nodes/%.node $(B)/nvnodecheck
	@mkdir -p $(@D)
	$(Q)rm -rf $(@D)/$*.tree && tests/mktree $* $(@D)/$*.tree
	$(Q)$(B)/nvnodecheck facts --root $(@D)/$*.tree -o $@
	$(Q)rm -r $(@D)/$*.tree
$(B)/fuzz/%: tests/fuzz/%.c tests/fuzz/fuzz.h $(B)/tests/all.a
	@echo "  CC      $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -fsanitize=fuzzer $(ALL_LDFLAGS) -o $@ $< $(B)/tests/all.a \
		$(ALL_LDLIBS) $(shell $(PKG_CONFIG) --libs json-c)

-include $(UNITS:=.d) $(B)/tests/txn-driver.d $(B)/tests/modprobe-dry-run.d $(wildcard $(B)/fuzz/*.d)
