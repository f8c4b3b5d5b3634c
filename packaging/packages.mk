# SPDX-License-Identifier: GPL-2.0-or-later
#
# Packages, made of what is committed, as make dist has it. Read by the Makefile.
#
#   make deb            build/deb/nvnodecheck_VERSION-1_ARCH.deb, with dpkg-buildpackage and lintian
#   make rpm            build/rpm/RPMS/ARCH/nvnodecheck-VERSION-1.ARCH.rpm, with rpmbuild and rpmlint
#   make portable       build/nvnodecheck-VERSION-ARCH.tar.gz: one program that needs the C library alone;
#                       PCIUTILS=DIR KMOD=DIR are sources of theirs
#   make check-packages the packages installed, upgraded, removed and purged, as root
#   make check-oldest   built and tested with the oldest libraries that it supports, as root
#   make check-debian13, check-sid
#                       built, tested and packaged in roots of these, with gcc and clang, as root;
#                       TESTS='$(DISTRIBUTION_TESTS)' runs these alone instead of all
#   make check-arm64    built for arm64, the nodes looked at under qemu, as root

.PHONY: deb rpm portable check-packages check-oldest check-debian13 check-sid check-arm64

# DEB_BUILD_OPTIONS=nocheck leaves the tests out.
DEB_TREE := build/deb/nvnodecheck-$(VERSION)
deb: dist
	rm -rf build/deb
	mkdir -p build/deb
	cp build/nvnodecheck-$(VERSION).tar.gz build/deb/nvnodecheck_$(VERSION).orig.tar.gz
	tar -C build/deb -xf build/nvnodecheck-$(VERSION).tar.gz
	cp -r $(DEB_TREE)/packaging/debian $(DEB_TREE)/debian
	cd $(DEB_TREE) && env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage --no-sign
	lintian --fail-on error,warning build/deb/*.changes
	@ls build/deb/*.deb

# Debian's rpm knows no names of packages. What it would do after the installation wants another shell
# than Debian's, and leaves symbols in the program.
RPMBUILD_OPTIONS ?= $(if $(wildcard /etc/debian_version),--nodeps \
	--define '__os_install_post %{__strip} %{buildroot}%{_sbindir}/nvnodecheck')
rpm: dist
	rm -rf build/rpm
	rpmbuild -bb --quiet $(RPMBUILD_OPTIONS) --define "_topdir $(CURDIR)/build/rpm" \
		--define "_sourcedir $(CURDIR)/build" packaging/nvnodecheck.spec
	rpmlint --strict --config packaging/rpmlint.toml packaging/nvnodecheck.spec build/rpm/RPMS
	@ls build/rpm/RPMS/*/*.rpm

portable:
	$(Q)packaging/make-portable $(VERSION) $(PCIUTILS) $(KMOD)

# Roots made with debootstrap are kept in build-roots.
check-packages: all
	$(Q)$(PYTHON) -m pytest -q tests/packaging/check_*.py
check-oldest:
	$(Q)tests/packaging/check-oldest

# The tests whose result the distribution can change: its compiler, libraries, kmod, Python, generators, pages.
DISTRIBUTION_TESTS := $(patsubst %,tests/test_%.py,build cli completions format generators image initramfs \
	layout dynamic_loader libraries manual modules nodes valgrind)
check-debian13:
	$(Q)tests/packaging/check-debian trixie $(TESTS)
check-sid:
	$(Q)tests/packaging/check-debian sid $(TESTS)
check-arm64:
	$(Q)tests/packaging/check-arm64
