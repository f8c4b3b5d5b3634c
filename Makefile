# SPDX-License-Identifier: GPL-2.0-or-later
#
#   make                       build/nvnodecheck
#   make check                 the tests, without what takes long; TESTS='FILE...' runs these alone
#   make check-long            the tests with all that they repeat, fuzz targets, sanitizers over everything; an hour
#   make check-package         the tests that a package runs while it is built
#   make format                src/ and tests/ as clang-format 14 has them, which make check looks at
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
#   make pictures              docs/topology.svg and docs/page.png, which README.md shows; needs chromium
#   make bench                 how long it takes, as ratios; NHC_SOURCE=DIR compares LBNL NHC too
#   make check-fuzz            every fuzz target, FUZZ_SECONDS=30 each
#   make install DESTDIR= PREFIX=/usr/local
#   make uninstall DESTDIR= PREFIX=/usr/local
#   make dist                  build/nvnodecheck-VERSION.tar.gz of what is committed, the same each time
#   make deb, rpm, portable, check-packages, check-oldest, check-arm64: packaging/packages.mk
#   make clean                 removes what is built; distclean also the roots and sources that were downloaded
#   make help                  prints this list
#
# V=1 shows the commands. SANITIZE=1 builds with ASan and UBSan into build-sanitize/. CC, CFLAGS, CPPFLAGS and
# LDFLAGS are the caller's; HARDENING= leaves out what distributions build with. What was built with other
# ones is built anew.

CC ?= cc
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/sbin
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/nvnodecheck
BASHDIR ?= $(DATADIR)/bash-completion/completions
ZSHDIR ?= $(DATADIR)/zsh/site-functions
FISHDIR ?= $(DATADIR)/fish/vendor_completions.d
# Where nodes have the program, for what is installed of contrib/.
INSTALLED ?= $(BINDIR)/nvnodecheck
PKG_CONFIG ?= pkg-config
V ?= 0

ifeq ($(SANITIZE),1)
  B ?= build-sanitize
  CFLAGS ?= -O1 -g
  SANITIZE_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
else
  B ?= build
  CFLAGS ?= -O2 -g
endif

Q := $(if $(filter 1,$(V)),,@)

# Linked: what every run needs. Heavier libraries are opened when a probe first uses them, so only
# their headers are asked for here.
LIBS := json-c inih
HEADERS := zlib libpci libkmod libibverbs libsystemd libarchive libgcrypt libselinux yaml-0.1

WARNINGS := -Wall -Wextra -Wshadow -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes \
	    -Wold-style-definition -Wvla -Wformat=2 -Wundef -Wpointer-arith -Wconversion -Wno-sign-conversion \
	    -Wno-missing-field-initializers

# What distributions build with, as far as the compiler accepts it for its machine. FORTIFY_SOURCE needs
# optimization, and a distribution may set its own level.
HARDENING ?= $(if $(SANITIZE_FLAGS),,yes)
accepted = $(shell $(CC) -Werror $(1) -x c -c /dev/null -o /dev/null 2>/dev/null && echo '$(1)')
ifneq ($(HARDENING),)
  HARDENING_CFLAGS := -fPIE $(foreach flag,-fstack-protector-strong -fstack-clash-protection -fcf-protection \
		      -mbranch-protection=standard,$(call accepted,$(flag)))
  ifeq ($(findstring _FORTIFY_SOURCE,$(CFLAGS) $(CPPFLAGS)),)
    HARDENING_CFLAGS += $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  endif
  HARDENING_LDFLAGS := -pie -Wl,-z,relro,-z,now
endif

ALL_CFLAGS := -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -fno-strict-aliasing \
	      $(WARNINGS) -Isrc -I$(B) $(shell $(PKG_CONFIG) --cflags $(LIBS) $(HEADERS)) \
	      $(HARDENING_CFLAGS) $(SANITIZE_FLAGS) $(CFLAGS) $(CPPFLAGS)
ALL_LDFLAGS := $(HARDENING_LDFLAGS) $(SANITIZE_FLAGS) $(CFLAGS) $(LDFLAGS)
ALL_LDLIBS := $(shell $(PKG_CONFIG) --libs $(LIBS)) $(LDLIBS)

SOURCES := $(sort $(wildcard src/*.c src/*/*.c))
OBJECTS := $(SOURCES:src/%.c=$(B)/%.o)
# What the build makes of the sources and of data/, for the sources to include.
REGISTRIES := probes rules fixes provers
TABLES := $(patsubst data/%.tsv,%,$(wildcard data/*.tsv))
LISTS := $(patsubst %,$(B)/%.inc,$(REGISTRIES) $(TABLES) known-bad-summary nvshmem-variables deepep-variables \
	   report-style report-script)

# Unit tests: one program for each file, with what it needs of everything but main.c.
UNITS := $(patsubst tests/unit/test-%.c,$(B)/tests/unit-%,$(wildcard tests/unit/test-*.c))

.PHONY: all help pictures check check-package check-long format check-sanitize check-sanitize-quick check-texts check-generators \
	check-vm check-loads check-mutants check-oracles check-reboot check-cycle check-power check-units \
	check-integration check-image check-faults check-valgrind bench check-fuzz build-fuzz unit install uninstall \
	dist clean distclean FORCE
.DELETE_ON_ERROR:

all: $(B)/nvnodecheck $(B)/nvnodecheck-rules.7 $(B)/nvnodecheck-facts.5

$(B)/nvnodecheck: $(OBJECTS) $(B)/flags
	@echo "  LD      $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(OBJECTS) $(ALL_LDLIBS)

# Touched only when it changes.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(shell $(CC) --version | head -n 1)' '$(subst ','\'',$(CC) $(ALL_CFLAGS))' \
		'$(subst ','\'',$(ALL_LDFLAGS) $(ALL_LDLIBS))' > $@.new
	@cmp -s $@.new $@ 2>/dev/null && rm $@.new || mv $@.new $@

# The program knows its rules best. Where it is compiled for another machine, its rules and what prints them are
# compiled for this one too, without the libraries, of which the page needs none.
BUILD_CC ?= cc
machine = $(firstword $(subst -, ,$(shell $(1) -dumpmachine)))
ifeq ($(call machine,$(CC)),$(call machine,$(BUILD_CC)))
  PAGE_WRITER := $(B)/nvnodecheck rules --format man
else
  PAGE_WRITER := $(B)/rules-page
endif
$(B)/nvnodecheck-rules.7: $(firstword $(PAGE_WRITER))
	@echo "  MAN     $@"
	$(Q)$(PAGE_WRITER) > $@.new && mv $@.new $@
PAGE_SOURCES := man/rules-page.c src/render/rules-man.c src/render/rules.c \
		$(wildcard $(foreach folder,rules evaluate query facts parse base,src/$(folder)/*.c))
$(B)/rules-page: $(PAGE_SOURCES) $(wildcard src/*/*.h) | $(LISTS)
	@echo "  HOSTCC  $@"
	$(Q)$(BUILD_CC) -std=gnu17 -D_GNU_SOURCE -Isrc -I$(B) $(shell $(PKG_CONFIG) --cflags $(LIBS)) \
		-ffunction-sections -fdata-sections -Wl,--gc-sections -o $@ $(PAGE_SOURCES)

# The headers of the data model, then its descriptions, then the frame of the page.
FACTS_PAGE := $(sort $(wildcard src/facts/facts*.h)) src/facts/proof.h src/facts/own-files.h \
	      $(sort $(wildcard src/facts/facts*.c)) src/facts/proof.c man/nvnodecheck-facts.5.in
$(B)/nvnodecheck-facts.5: man/facts.awk Makefile $(FACTS_PAGE)
	@echo "  MAN     $@"
	@mkdir -p $(@D)
	$(Q)awk -f man/facts.awk $(FACTS_PAGE) > $@.new && mv $@.new $@

$(B)/%.o: src/%.c $(B)/flags | $(LISTS)
	@echo "  CC      $@"
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# A probe, a table of rules, a fix or a prover is registered by what its file defines: these lists, made from the
# sources, are the only registry. They are touched only when they change.
define write_list
@mkdir -p $(@D)
@sed -n 's/^$(1)/$(2)/p' $(3) | LC_ALL=C sort > $@.new
@cmp -s $@.new $@ 2>/dev/null && rm $@.new || mv $@.new $@
endef

$(B)/probes.inc: FORCE
	$(call write_list,const struct probe probe_\([a-z0-9_]*\) = {$$,PROBE(\1),src/probes/*.c)
$(B)/rules.inc: FORCE
	$(call write_list,RULE_TABLE(\([a-z0-9_]*\));$$,RULE_TABLE_ENTRY(\1),src/rules/*.c)
$(B)/fixes.inc: FORCE
	$(call write_list,const struct fix fix_\([a-z0-9_]*\) = {$$,FIX(\1),src/fixes/*.c)
$(B)/provers.inc: FORCE
	$(call write_list,const struct prover prover_\([a-z0-9_]*\) = {$$,PROVER(\1),src/provers/*.c)

# One table of data/ each. What includes a list depends on it by the compiler's own account (-MMD).
$(B)/%.inc: data/%.tsv data/%.awk data/texts.awk
	@mkdir -p $(@D)
	$(Q)awk -v causes=data/causes.txt -f data/texts.awk -f data/$*.awk $< > $@
$(B)/messages.inc $(B)/topics.inc: data/causes.txt
$(B)/known-bad-summary.inc: data/known-bad.tsv data/known-bad.awk data/texts.awk
	@mkdir -p $(@D)
	$(Q)awk -v summary=1 -f data/texts.awk -f data/known-bad.awk $< > $@

$(B)/deepep-variables.inc: data/deepep-variables.txt
	@mkdir -p $(@D)
	$(Q)sed -n 's/^[A-Z].*/"&",/p' $< > $@

$(B)/nvshmem-variables.inc: data/nvshmem-variables.txt
	@mkdir -p $(@D)
	$(Q)sed -n 's/^\([A-Z][A-Z0-9_]*\) *\([0-9.]*\)$$/{ "\1", "\2" },/p' $< > $@

# Style and script of a page, as a string of C.
quote := sed 's/["\\]/\\&/g; s/^\t*//; s/.*/"&\\n"/'
$(B)/report-style.inc: data/report.css
	@mkdir -p $(@D)
	$(Q)$(quote) $< > $@
$(B)/report-script.inc: data/report.js
	@mkdir -p $(@D)
	$(Q)$(quote) $< > $@

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

# PYTHON with pytest and, for the schemas, jsonschema. NVNODECHECK_UPDATE=1 writes the golden files.
PYTHON ?= /usr/bin/python3
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
	$(Q)$(MAKE) SANITIZE=1 all unit
	$(Q)$(PYTHON) tests/check build-sanitize $(SANITIZED)
# The build of the fuzz targets has both sanitizers too; without the cases it is a matter of a minute.
check-sanitize-quick: build-fuzz
	$(Q)$(PYTHON) tests/check build-fuzz $(filter-out %/test_cases.py,$(SANITIZED))

# clang-format 14 where it is installed under either name.
CLANG_FORMAT ?= $(or $(shell command -v clang-format-14),clang-format)
format:
	$(Q)$(CLANG_FORMAT) --version | grep -q ' 14\.' || { echo 'clang-format 14 is not here' >&2; exit 1; }
	$(Q)$(CLANG_FORMAT) -i $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h')

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

# The pictures of README.md, made by the program of nodes that are described in tests/nodes. The page needs chromium.
pictures: all
	$(Q)rm -rf $(B)/pictures && mkdir -p $(B)/pictures
	$(Q)tests/mktree broken-everything $(B)/pictures/broken
	$(Q)$(B)/nvnodecheck topo --format svg --root $(B)/pictures/broken -o docs/topology.svg
	$(Q)tests/mktree h20-roce-deepep $(B)/pictures/node
	$(Q)$(B)/nvnodecheck capture --no-redact --root $(B)/pictures/node -o $(B)/pictures/node.capture
	$(Q)$(B)/nvnodecheck doctor --format html --profile deepep -o $(B)/pictures/page.html \
		$(B)/pictures/node.capture || test $$? = 1
	$(Q)chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
		--window-size=1200,1700 --screenshot=$(CURDIR)/docs/page.png \
		file://$(CURDIR)/$(B)/pictures/page.html 2>$(B)/pictures/chromium.log

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
		$(ALL_LDLIBS)

# contrib/ calls the program by its usual path. An installed file calls it where it is installed; a container has it at the
# usual path.
CONTRIB := $(sort $(patsubst ./%,%,$(shell find contrib -type f ! -path '*/__pycache__/*' ! -name '*~')))
install_contrib = install -D -m $(if $(shell test -x $(1) && echo yes),755,644) $(1) $(DESTDIR)$(DOCDIR)/$(1) \
	$(if $(filter contrib/kubernetes/%,$(1)),,&& sed -i 's|/usr/sbin/nvnodecheck|$(INSTALLED)|g' $(DESTDIR)$(DOCDIR)/$(1))
install: all
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man7 \
		$(DESTDIR)$(MANDIR)/man8 $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) \
		$(DESTDIR)$(FISHDIR) $(DESTDIR)$(DOCDIR) $(DESTDIR)$(DATADIR)/nvnodecheck/nodes
	install -m 755 $(B)/nvnodecheck $(DESTDIR)$(BINDIR)/nvnodecheck
	install -m 644 man/nvnodecheck.8 $(DESTDIR)$(MANDIR)/man8/
	install -m 644 $(B)/nvnodecheck-rules.7 $(DESTDIR)$(MANDIR)/man7/
	install -m 644 man/nvnodecheck.conf.5 $(B)/nvnodecheck-facts.5 $(DESTDIR)$(MANDIR)/man5/
	install -m 644 completions/nvnodecheck.bash $(DESTDIR)$(BASHDIR)/nvnodecheck
	install -m 644 completions/_nvnodecheck $(DESTDIR)$(ZSHDIR)/
	install -m 644 completions/nvnodecheck.fish $(DESTDIR)$(FISHDIR)/
	install -m 644 nvnodecheck.conf.example README.md NEWS SECURITY.md COPYING data/known-bad.tsv \
		$(DESTDIR)$(DOCDIR)/
	@$(foreach file,$(CONTRIB),$(call install_contrib,$(file)) &&) :
	install -m 644 nodes/*.capture $(DESTDIR)$(DATADIR)/nvnodecheck/nodes/

# What install put there; configuration, and what was kept for undo, stay.
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/nvnodecheck $(DESTDIR)$(MANDIR)/man8/nvnodecheck.8 \
		$(DESTDIR)$(MANDIR)/man7/nvnodecheck-rules.7 \
		$(DESTDIR)$(MANDIR)/man5/nvnodecheck.conf.5 \
		$(DESTDIR)$(MANDIR)/man5/nvnodecheck-facts.5 \
		$(DESTDIR)$(BASHDIR)/nvnodecheck $(DESTDIR)$(ZSHDIR)/_nvnodecheck \
		$(DESTDIR)$(FISHDIR)/nvnodecheck.fish
	rm -rf $(DESTDIR)$(DOCDIR) $(DESTDIR)$(DATADIR)/nvnodecheck

# The times in the archive are the commit's, and gzip -n adds none.
VERSION := $(shell sed -n 's/^\#define NVNODECHECK_VERSION "\(.*\)"/\1/p' src/base/version.h)
dist:
	@mkdir -p build
	$(Q)git -c tar.umask=0022 archive --format=tar --prefix=nvnodecheck-$(VERSION)/ HEAD | \
		gzip -9n > build/nvnodecheck-$(VERSION).tar.gz
	@echo build/nvnodecheck-$(VERSION).tar.gz

include packaging/packages.mk

help:
	@sed -n 's/^#   make/make/p' $(firstword $(MAKEFILE_LIST))

KEPT := build/vm build/generators build/image build-sources
clean:
	rm -rf $(filter-out $(KEPT) build,$(wildcard build/* build-*))
distclean:
	rm -rf build build-*

FORCE:

-include $(OBJECTS:.o=.d) $(UNITS:=.d) $(B)/tests/txn-driver.d $(B)/tests/modprobe-dry-run.d $(wildcard $(B)/fuzz/*.d)
