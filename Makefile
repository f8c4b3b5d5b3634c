# SPDX-License-Identifier: GPL-2.0-or-later
#
#   make                       build/nvnodecheck
#   make install DESTDIR= PREFIX=/usr/local
#   make uninstall DESTDIR= PREFIX=/usr/local
#   make dist                  build/nvnodecheck-VERSION.tar.gz of what is committed, the same each time
#   make format                formats src/ and tests/ with clang-format 14; make check compares them
#   make pictures              docs/topology.svg and docs/page.png, which README.md shows; needs chromium
#   make clean                 removes what is built; distclean also the roots and sources that were downloaded
#   make help                  prints this list, the tests (tests/tests.mk) and the packages (packaging/packages.mk)
#
# V=1 shows the commands. SANITIZE=1 builds with ASan and UBSan into build-sanitize/; B=DIR builds into another folder.
# CC, CFLAGS, CPPFLAGS, LDFLAGS, LDLIBS and PKG_CONFIG are the caller's; HARDENING= leaves out what distributions build
# with. What was built with other ones is built anew.
#
# For another machine: CC and PKG_CONFIG are those of that machine. What runs while it is built is made with BUILD_CC,
# BUILD_CFLAGS and BUILD_LDFLAGS, and needs the headers that BUILD_PKG_CONFIG finds.

CC ?= cc
PREFIX ?= /usr/local
DESTDIR ?=
SBINDIR ?= $(PREFIX)/sbin
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/nvnodecheck
BASHDIR ?= $(DATADIR)/bash-completion/completions
ZSHDIR ?= $(DATADIR)/zsh/site-functions
FISHDIR ?= $(DATADIR)/fish/vendor_completions.d
# systemd.unit(5) names this folder for /usr and for /usr/local.
UNITDIR ?= $(PREFIX)/lib/systemd/system
# Where nodes have the program, for what is installed of contrib/.
INSTALLED ?= $(SBINDIR)/nvnodecheck
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

# All libraries are opened when they are first used (src/base/library.h), so only their headers are asked for.
HEADERS := json-c inih zlib libpci libkmod libibverbs libsystemd libarchive libgcrypt libselinux yaml-0.1

WARNINGS := -Wall -Wextra -Wshadow -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes \
	    -Wold-style-definition -Wvla -Wformat=2 -Wundef -Wpointer-arith -Wconversion -Wno-sign-conversion \
	    -Wno-missing-field-initializers

# -fno-strict-aliasing: fact_list_add() and the descriptions of facts write a list of any type through one struct, which
# C does not allow.
# -fms-extensions: a struct can be a member without a name of another (struct failure in src/evaluate/rule.h), of which
# clang warns by default. Linux is built with it since 6.19.
LANGUAGE := -std=gnu17 -fms-extensions -fno-strict-aliasing -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	    $(if $(findstring clang,$(shell $(CC) --version)),-Wno-microsoft-anon-tag)

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

ALL_CFLAGS := $(LANGUAGE) $(WARNINGS) -Isrc -I$(B) $(shell $(PKG_CONFIG) --cflags $(HEADERS)) \
	      $(HARDENING_CFLAGS) $(SANITIZE_FLAGS) $(CFLAGS) $(CPPFLAGS)
ALL_LDFLAGS := $(HARDENING_LDFLAGS) $(SANITIZE_FLAGS) $(CFLAGS) $(LDFLAGS)
ALL_LDLIBS := $(LDLIBS)

# For programs that run while this one is built for another machine.
BUILD_CC ?= cc
BUILD_CFLAGS ?= -O0
BUILD_LDFLAGS ?=
BUILD_PKG_CONFIG ?= $(PKG_CONFIG)

SOURCES := $(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c))
OBJECTS := $(SOURCES:src/%.c=$(B)/%.o)
# What the build makes of the sources and of data/, for the sources to include.
REGISTRIES := probes rules fixes provers
TABLES := $(patsubst data/%.tsv,%,$(wildcard data/*.tsv))
LISTS := $(patsubst %,$(B)/%.inc,$(REGISTRIES) $(TABLES) known-bad-summary nvshmem-variables deepep-variables \
	   report-style report-script)

.PHONY: all help pictures format install uninstall dist clean distclean FORCE
.DELETE_ON_ERROR:

all: $(B)/nvnodecheck $(B)/nvnodecheck-rules.7 $(B)/nvnodecheck-facts.5

$(B)/nvnodecheck: $(OBJECTS) $(B)/flags
	@echo "  LD      $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(OBJECTS) $(ALL_LDLIBS)

# $@.new becomes $@ if it differs, so that what is unchanged keeps its time.
keep_if_same = cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# What everything is built with.
$(B)/flags: FORCE
	@missing=$$(for name in $(HEADERS); do $(PKG_CONFIG) --exists $$name || echo $$name; done); \
		[ -z "$$missing" ] || { echo "missing:" $$missing"; run ./bootstrap" >&2; exit 1; }
	@mkdir -p $(@D)
	@printf '%s\n' '$(shell $(CC) --version | head -n 1)' '$(subst ','\'',$(CC) $(ALL_CFLAGS))' \
		'$(subst ','\'',$(ALL_LDFLAGS) $(ALL_LDLIBS))' > $@.new
	@$(keep_if_same)

# The program knows its rules best. Where it is compiled for another machine, its rules and what prints them are
# compiled for this one too, without the libraries, of which the page needs none.
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
PAGE_COMMAND = $(BUILD_CC) $(LANGUAGE) -Isrc -I$(B) $(shell $(BUILD_PKG_CONFIG) --cflags json-c inih) \
	       -ffunction-sections -fdata-sections $(BUILD_CFLAGS) -Wl,--gc-sections $(BUILD_LDFLAGS)
$(B)/rules-page: $(PAGE_SOURCES) $(wildcard src/*/*.h) $(LISTS) $(B)/build-flags
	@echo "  BUILDCC $@"
	$(Q)$(PAGE_COMMAND) -o $@ $(PAGE_SOURCES)
$(B)/build-flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(PAGE_COMMAND))' > $@.new
	@$(keep_if_same)

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
# sources, are the only registry.
define write_list
@mkdir -p $(@D)
@sed -n 's/^$(1)/$(2)/p' $(3) | LC_ALL=C sort > $@.new
@$(keep_if_same)
endef

$(B)/probes.inc: FORCE
	$(call write_list,const struct probe probe_\([a-z0-9_]*\) = {$$,PROBE(\1),src/probes/*.c src/probes/*/*.c)
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

# clang-format 14 where it is installed under either name.
CLANG_FORMAT ?= $(or $(shell command -v clang-format-14),clang-format)
format:
	$(Q)$(CLANG_FORMAT) --version | grep -q ' 14\.' || { echo 'clang-format 14 is not here' >&2; exit 1; }
	$(Q)$(CLANG_FORMAT) -i $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h')

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

# What install puts where, and uninstall takes away. A path of these cannot have blanks; DESTDIR can.
DOCS := nvnodecheck.conf.example README.md NEWS SECURITY.md COPYING data/known-bad.tsv
CONTRIB := $(sort $(shell find contrib -type f ! -path '*/__pycache__/*' ! -name '*~'))
SYSTEMD_UNITS := $(filter %.service %.timer,$(CONTRIB))
NODES := $(sort $(wildcard nodes/*.capture))
NODESDIR = $(DATADIR)/nvnodecheck/nodes
INSTALLED_FILES = $(SBINDIR)/nvnodecheck $(MANDIR)/man8/nvnodecheck.8 $(MANDIR)/man7/nvnodecheck-rules.7 \
	$(MANDIR)/man5/nvnodecheck.conf.5 $(MANDIR)/man5/nvnodecheck-facts.5 \
	$(BASHDIR)/nvnodecheck $(ZSHDIR)/_nvnodecheck $(FISHDIR)/nvnodecheck.fish \
	$(addprefix $(DOCDIR)/,$(notdir $(DOCS)) $(CONTRIB)) $(addprefix $(UNITDIR)/,$(notdir $(SYSTEMD_UNITS))) \
	$(addprefix $(NODESDIR)/,$(notdir $(NODES)))
# Folders of this program alone.
INSTALLED_FOLDERS = $(DOCDIR) $(patsubst %/,$(DOCDIR)/%,$(sort $(dir $(CONTRIB)))) $(NODESDIR) $(patsubst %/,%,$(dir $(NODESDIR)))

# contrib/ calls the program by its usual path. An installed file calls it where it is installed; a container has it at the
# usual path.
name_program = sed -i 's|/usr/sbin/nvnodecheck|$(INSTALLED)|g'
install: all
	install -d $(foreach folder,$(SBINDIR) $(MANDIR)/man5 $(MANDIR)/man7 $(MANDIR)/man8 $(BASHDIR) $(ZSHDIR) $(FISHDIR) \
		$(UNITDIR) $(INSTALLED_FOLDERS),'$(DESTDIR)$(folder)')
	install -m 755 $(B)/nvnodecheck '$(DESTDIR)$(SBINDIR)/nvnodecheck'
	install -m 644 man/nvnodecheck.8 '$(DESTDIR)$(MANDIR)/man8/'
	install -m 644 $(B)/nvnodecheck-rules.7 '$(DESTDIR)$(MANDIR)/man7/'
	install -m 644 man/nvnodecheck.conf.5 $(B)/nvnodecheck-facts.5 '$(DESTDIR)$(MANDIR)/man5/'
	install -m 644 completions/nvnodecheck.bash '$(DESTDIR)$(BASHDIR)/nvnodecheck'
	install -m 644 completions/_nvnodecheck '$(DESTDIR)$(ZSHDIR)/'
	install -m 644 completions/nvnodecheck.fish '$(DESTDIR)$(FISHDIR)/'
	install -m 644 $(DOCS) '$(DESTDIR)$(DOCDIR)/'
	install -m 644 $(NODES) '$(DESTDIR)$(NODESDIR)/'
	$(Q)set -e; for file in $(CONTRIB); do \
		mode=644; [ ! -x $$file ] || mode=755; \
		install -m $$mode $$file '$(DESTDIR)$(DOCDIR)/'$$file; \
		case $$file in contrib/kubernetes/*) continue;; esac; \
		$(name_program) '$(DESTDIR)$(DOCDIR)/'$$file; \
	done
	$(Q)set -e; for file in $(SYSTEMD_UNITS); do \
		install -m 644 $$file '$(DESTDIR)$(UNITDIR)/'; \
		$(name_program) '$(DESTDIR)$(UNITDIR)/'$${file##*/}; \
	done

# Only what install put there: DOCDIR may be shared. Configuration, and what was kept for undo, stay.
uninstall:
	$(Q)set -e; for file in $(INSTALLED_FILES); do rm -f '$(DESTDIR)'$$file; done
	$(Q)set -e; for folder in $$(printf '%s\n' $(INSTALLED_FOLDERS) | LC_ALL=C sort -r); do \
		[ ! -d '$(DESTDIR)'$$folder ] || rmdir --ignore-fail-on-non-empty '$(DESTDIR)'$$folder; \
	done

# The times in the archive are the commit's, and gzip -n adds none.
VERSION := $(shell sed -n 's/^\#define NVNODECHECK_VERSION "\(.*\)"/\1/p' src/base/version.h)
dist:
	@mkdir -p build
	$(Q)git -c tar.umask=0022 archive --format=tar --prefix=nvnodecheck-$(VERSION)/ HEAD | \
		gzip -9n > build/nvnodecheck-$(VERSION).tar.gz
	@echo build/nvnodecheck-$(VERSION).tar.gz

include tests/tests.mk packaging/packages.mk

help:
	@sed -n 's/^#   make/make/p' Makefile tests/tests.mk packaging/packages.mk

KEPT := build/vm build/generators build/image build-sources
clean:
	rm -rf $(filter-out $(KEPT) build,$(wildcard build/* build-*))
distclean:
	rm -rf build build-*

FORCE:

-include $(OBJECTS:.o=.d)
