/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own-files.h - the files that fix writes: one drop-in for each mechanism. None is named nvidia.conf, which masks the
 * vendor's file on RHEL and is a link of the alternatives system on Debian. */
#ifndef OWN_FILES_H
#define OWN_FILES_H

#define OWN_MODPROBE "/etc/modprobe.d/zz-nvnodecheck.conf"
#define OWN_MODULES_LOAD "/etc/modules-load.d/nvnodecheck.conf"
#define OWN_GRUB "/etc/default/grub.d/zz-nvnodecheck.cfg"
#define OWN_DRACUT "/etc/dracut.conf.d/zz-nvnodecheck.conf"
#define OWN_SYSCTL "/etc/sysctl.d/zz-nvnodecheck.conf"
#define OWN_LIMITS "/etc/security/limits.d/zz-nvnodecheck.conf"
#define OWN_DROP_IN "/etc/systemd/system/%s.d/zz-nvnodecheck.conf"

/* The folder with one folder for each transaction (txn.h), and the format's name in their records. */
#define OWN_TRANSACTIONS "/var/lib/nvnodecheck/fix"
#define OWN_RECORD_FORMAT "nvnodecheck-transaction"

/* Findings that an administrator has seen (nvnodecheck ack). */
#define OWN_STATE "/var/lib/nvnodecheck"
#define OWN_ACKNOWLEDGED OWN_STATE "/acknowledged.json"
#define OWN_ACKNOWLEDGED_BYTES_MAX \
	(1u << 20) /* a larger file, or one with more findings, is not read */
#define OWN_ACKNOWLEDGED_MAX 1000
#define OWN_ACKNOWLEDGED_FORMAT "nvnodecheck-acknowledged"

#endif
