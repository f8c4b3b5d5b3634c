# SPDX-License-Identifier: GPL-2.0-or-later
"""A redacted capture has nothing of what people wrote and of what tells one machine from another, and the same
findings come of it."""
import base64
import fnmatch
import json
import os
import re
import subprocess

import pytest

from lib import node, program, textform

HOST = "zeus-a17"
DOMAIN = "lab.acme.example"
OWN = ("d1", "e2", "f3")  # the half of an address that is not its maker's
MACHINE_ID = "77aa88bb99cc00dd11ee22ff33445566"
UUID = "deadbeef-1234-4abc-9def-0123456789ab"


def capture(directory, *options):
    made = program.run("capture", "--root", directory, "-o", "-", *options)
    assert made.status == 0, str(made)
    return made.raw


def shown(raw):
    """All that stands in a capture, with what is hidden in base64 and in UTF-16."""
    parts = [raw]
    for line in raw.splitlines():
        record = json.loads(line)
        if "base64" in record:
            data = base64.b64decode(record["base64"])
            parts += [data, data[4:].decode("utf-16-le", "replace").encode()]
        parts.append(json.dumps(record, ensure_ascii=False).encode())
    return b"\n".join(parts).decode("utf-8", "replace")


def known(subject):
    """What people named has another name in a capture."""
    if subject and subject.startswith("/etc/security/limits.d/"):
        return os.path.dirname(subject)
    ours = [secret for _, _, text in PLANTS for secret in secrets(text)] + ["redacted"]
    return None if subject and any(word in subject for word in ours) else subject


def evaluated(*options):
    findings = program.run("doctor", "--json", *options).json()["findings"]
    return [(f["rule"], f["verdict"], f["severity"], known(f["subject"])) for f in findings]


# ---- secrets ----

# What they are of: the file, and its text, where «marks» stand round what nobody else may see. "..." is what was
# there before.
PLANTS = [
    ("a password of GRUB's, hashed", "/boot/grub/grub.cfg",
     '...set superusers="«alice»"\npassword_pbkdf2 alice «grub.pbkdf2.sha512.10000.DEADC0DE99»\n'),
    ("a password of GRUB's, plain", "/boot/grub/grub.cfg", "...password alice «xyzzy-plain»\n"),
    ("a comment in grub.cfg", "/boot/grub/grub.cfg", "...# ticket «OPS-4711» of bob\n"),
    ("a word of ld.so.preload", "/etc/ld.so.preload", "libsite.so auth=«pre-l0ad-k3y»\n"),
    ("a variable of grub.cfg", "/boot/grub/grub.cfg", '...set vault="«v4ult-k3y»"\n'),
    ("an option of a command of GRUB's", "/boot/grub/grub.cfg", "...insmod http\nnet_dhcp --key=«dhcpk3y» «eth-lab»\n"),
    ("the title of an entry", "/boot/grub/grub.cfg",
     "...menuentry 'Linux for «Initech GmbH»' { linux /boot/vmlinuz-6.6.6 ro }\n"),
    ("a command line in grub.cfg", "/boot/grub/grub.cfg",
     "...menuentry 'Linux' { linux /boot/vmlinuz-6.6.6 ro luks.key=«k3yf1le» rd.neednet=1 }\n"),
    ("a file that grub.cfg reads", "/boot/grub/grub.cfg", "...source $prefix/user.cfg\n"),
    ("a password of RHEL's GRUB", "/boot/grub/user.cfg", "GRUB2_PASSWORD=«grub.pbkdf2.sha512.1.CAFE»\n"),
    ("a variable that GRUB keeps", "/boot/grub/grubenv",
     "# GRUB Environment Block\nsaved_entry=0\nkernelopts=root=/dev/sda ro «proxy=http://u:pw9»\n" + 900 * "#"),
    ("a password for GRUB's settings", "/etc/default/grub",
     '...GRUB_CMDLINE_LINUX="quiet rescue_pw=«r3scue»"\nGRUB_DISTRIBUTOR="«Initech»"\n'),
    ("a comment for GRUB's settings", "/etc/default/grub", "...# «ask Carol, ext. 4242»\n"),
    ("a password on the command line", "/proc/cmdline", "... password=«hunter2»\n"),
    ("a proxy on the command line", "/proc/cmdline", "... inst.proxy=«http://carol:s3same@proxy»:3128\n"),
    ("what is for init", "/proc/cmdline", "... -- «initsecret» token «Bearer-77»\n"),
    ("an installer's answers", "/proc/cmdline", "... inst.ks=«https://dave:kspw@ks»/node.ks\n"),
    ("a UUID before a colon", "/proc/cmdline", "... cryptdevice=UUID=«8c0c5b1e-1111-4222-8333-abcdef012345»:root\n"),
    ("the partition that is resumed from", "/proc/cmdline", "... resume=PARTUUID=«77aa88bb-03»\n"),
    ("the address of the network boot", "/proc/cmdline", "... BOOTIF=01-0c-42-a1-«d4-e5-f6»\n"),
    ("the name of an interface by its address", "/proc/cmdline", "... ifname=eno9:0c:42:a1:«d7:e8:f9» rd.znet=«ccw-9»\n"),
    ("addresses and names of the network", "/proc/cmdline", "... ip=10.9.8.7::10.9.8.1:255.0.0.0:«gw-internal»:eno1:off\n"),
    ("an iSCSI initiator", "/proc/cmdline", "... rd.iscsi.initiator=«iqn.2024-01.corp:zx81»\n"),
    ("a variable of a unit", "/usr/lib/systemd/system/slurmd.service", '...Environment="API_TOKEN=«tok-e11»"\n'),
    ("a program of a unit", "/usr/lib/systemd/system/slurmd.service", "...ExecStartPre=/bin/sh -c 'login «-p pw12»'\n"),
    ("a comment of a unit", "/usr/lib/systemd/system/slurmd.service", "...# «rotated by erin»\n"),
    ("a credential of a unit", "/usr/lib/systemd/system/slurmd.service", "...SetCredential=db:«dbpw13»\n"),
    ("a proxy's password", "/etc/systemd/system/containerd.service.d/proxy.conf",
     "[Service]\nEnvironment=HTTPS_PROXY=http://«frank:pr0xypw»@proxy:3128\n[X-«Acmetool»]\nLimitNOFILE=1\n"),
    ("a continued variable of a unit", "/etc/systemd/system/containerd.service.d/more.conf",
     "[Service]\nEnvironment=A=1 \\\n LimitNOFILE=«fake99»\nLimitNOFILE=4096\n"),
    ("systemd's own settings", "/etc/systemd/system.conf", "[Manager]\nDefaultEnvironment=KEY=«dfl-env»\nDefaultLimitNOFILE=9:9\n"),
    ("a comment of modprobe.d", "/etc/modprobe.d/zz-tuning.conf", "...# «token ghp_0123456789»\n"),
    ("an install line", "/etc/modprobe.d/zz-tuning.conf",
     "...install nouveau /usr/bin/curl -H 'X-Token: «abc987»' https://«cmdb»/ ; /bin/false\n"),
    ("an option of a module", "/etc/modprobe.d/zz-tuning.conf", "...options nvidia NVreg_X=1 «3mbedded»\n"),
    ("a string for a module", "/etc/modprobe.d/zz-tuning.conf", '...options wifi_mod psk="«wpa-pass»" ccode=7\n'),
    ("a line of modprobe.d that is wrong", "/etc/modprobe.d/zz-tuning.conf", "...passwd «wr0ng-line»\n"),
    ("a comment of modules-load.d", "/etc/modules-load.d/nvidia-peermem.conf", "...# «see wiki/peermem»\n"),
    ("a user who has limits", "/etc/security/limits.d/rdma.conf", "...«grace» hard memlock 1024\n@«hpc-team» - nofile 77\n"),
    ("a comment about limits", "/etc/security/limits.conf", "...# «for the Heidelberg project»\n"),
    ("other hosts", "/etc/hosts", "...10.4.5.6 «backup-9.corp»  «bk9» # «rack 12»\n"),
    ("the domain", "/etc/resolv.conf", "search %s\n" % DOMAIN),
    ("a comment of nsswitch.conf", "/etc/nsswitch.conf", "...# «ldap://dir.corp»\npasswd: files «sss-corp»\n"),
    ("the kernel module's builder", "/proc/driver/nvidia/version",
     "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.90.07  Release Build  («heidi»@«build-7.corp»)  Fri\n"
     "GCC version:  gcc version 11.4.0\nBuilt in /home/«heidi»/src\n"),
    ("a server that is mounted", "/proc/self/mountinfo",
     "...30 1 0:40 / /mnt/«proj-x» rw - nfs4 «filer-3.corp»:/vol/«x1-exports» rw,addr=10.7.7.7\n"
     "31 1 0:41 / /home/«ivan» rw - cifs //«cifs-1»/ivan rw,username=«ivan-ad»,password=«cifs-pw»\n"),
    ("a variable of the caller", "/proc/self/environ",
     "NCCL_TOPO_FILE=/home/«judy»/topo.xml,«t0popw»\0NVSHMEM_LAUNCHER=«mpi-lab»\0"
     "MC_GID_INDEX=«gid-pw»\0MC_SERVERS_S3=https://«AKIAX:wJal»@minio\0NCCL_NET=«nccl:pw»\0"
     "NCCL_NET_URLS=redis://«:r3dis»@meta\0NCCL_IB_HCA=mlx5_0,«mallory:s3c»\0UCX_TLS=rc,«u@h»\0"
     "LD_LIBRARY_PATH=/home/«judy»/lib:/usr/lib:relative-«judys-dir»\0PATH=/usr/bin:/home/«judy»/bin\0HOME=/root\0"),
    ("NCCL's own file", "/etc/nccl.conf", "NCCL_NET_PLUGIN=/home/«mallory»/net.so\nNCCL_FOO=«foo-pw»\n"),
    ("the kernel's log: a program", "/var/log/dmesg",
     "...[    9.000000] NVRM: Xid (PCI:0000:bb:00): 31, pid=4242, name=«train_gpt9», Ch 00000008\n"),
    ("the kernel's log: a board", "/var/log/dmesg",
     "...[    9.400000] NVRM: Xid (PCI:0000:1b:00): 79, GPU Board Serial Number: «1324920017777»\n"),
    ("the kernel's log: a program whose name has blanks and commas", "/var/log/dmesg",
     "...[    9.100000] NVRM: Xid (PCI:0000:5e:00): 13, pid=4243, name=«etl run, q3», Ch 00000009\n"),
    ("the kernel's log: a program after a blank", "/var/log/dmesg",
     "...[    9.200000] NVRM: Xid (PCI:0000:3b:00): 43, pid=4244, name= «etl5 q9»\n"),
    ("the kernel's log: a program of another driver version", "/var/log/dmesg",
     "...[    9.500000] NVRM: API mismatch: the client '«capi: q3»' (pid 4242)\n"
     "[    9.500000] NVRM: has the version 1, but this kernel module has\n"),
    ("the kernel's log: a program and types of memory", "/var/log/dmesg",
     "...[    9.600000] x86/PAT: «pat etl, 7»:4242 conflicting memory types 0-1 write-combining<->uncached-minus\n"),
    ("the kernel's log: a program and a file of verbs", "/var/log/dmesg",
     "...[    9.700000] ib_uverbs: error: process 4242 («verb(etl) 8») changed security contexts after opening file descriptor\n"),
    ("the kernel's log: a program and a peer", "/var/log/dmesg",
     "...[    9.800000] nvidia 0000:1b:00.0: «peer etl9»: fail, attempted private mapping\n"),
    ("the kernel's log: a program whose name has bytes that are no letters", "/var/log/dmesg",
     "...[    9.900000] NVRM: Xid (PCI:0000:9a:00): 45, pid=4243, name=\\x0a\\x0b\\x0c\\x0a«esc etl», Ch 00000009\n"),
    ("the kernel's log: what AppArmor refused", "/var/log/dmesg",
     "...[    9.910000] audit: type=1400 audit(1735777211.402:15): apparmor=\"DENIED\" operation=\"open\" class=\"file\" "
     "profile=\"«missile-prod»\" name=\"/home/«olivia»/«missile»/nvidia.bin\" pid=77 comm=\"«msl_train»\" requested_mask=\"rw\" "
     "denied_mask=\"rw\" fsuid=«20471299» ouid=0\n"),
    ("what SELinux refused", "/var/log/audit/audit.log",
     "type=AVC msg=audit(4102444800.402:1584): avc:  denied  { module_load } for  pid=4 comm=\"insmod\" "
     "path=\"/home/«quentin-smith»/«proj-orion»/nvidia.ko\" dev=\"«vg9-quentin»\" ino=«20471300» "
     "scontext=«orion_u»:system_r:container_t:s0:«c812,c1007» tcontext=u:o:user_home_t:s0 tclass=system permissive=0\n"
     "type=AVC msg=audit(4102444800.402:1585): avc:  denied  { open } for  pid=4 comm=\"«orion_train»\" path=\"/dev/nvidia0\" "
     "scontext=u:r:«orion_prod_t»:s0 tcontext=u:o:xserver_misc_device_t:s0 tclass=chr_file\n"
     "type=AVC msg=audit(4102444800.402:1586): avc:  denied  { read } for  pid=4 comm=\"a\" name=\"rdma_«quentin-2»\" "
     "scontext=u:r:«orion_container_t»:s0 tcontext=u:o:«orion_data_t»:s0 tclass=file\n"
     "type=AVC msg=audit(4102444800.402:1587): avc:  denied  { read } for  pid=4 comm=«6F72696F6E207472» name=\"nvidia «blank q»\" "
     "scontext=u:r:x_t:s0 tclass=file\n"
     "type=AVC msg=audit(4102444800.402:1588): avc:  denied  { module_load } for  pid=4 comm=\"insmod\" "
     "path=\"/home/q/nvidia_«orion-mod».ko.zst\" scontext=u:r:container_t:s0 tclass=system «trailing-orion»\n"),
    ("the kernel's log: arguments that it does not know", "/var/log/dmesg",
     '...[    0.010000] Unknown kernel command line parameters "BOOT_IMAGE=/boot/vmlinuz-6.8 splash vault=«unkn0wn-pw» '
     '«bare-s3cret» iommus=«pt-s3cret» -- «1nit-word»", will be passed to user space.\n'),
    ("the kernel's log: arguments that it cannot read", "/var/log/dmesg",
     "...[    0.020000] Malformed early option '«early-s3cret»'\n"),
    ("the kernel's log: a value that a module refuses", "/var/log/dmesg",
     "...[    8.000000] nvidia: `«val-s3cret x»' invalid for parameter `NVreg_Mobile'\n"),
    ("a misspelt argument", "/proc/cmdline", "... iommus=«pt-s3cret»\n"),
    ("a password of overlayroot", "/proc/cmdline", "... overlayroot=crypt:dev=/dev/vdb,pass=«0verlay-pw»,timeout=20\n"),
    ("a password of overlayroot, in a menu", "/boot/grub/grub.cfg",
     "...menuentry 'Linux' { linux /boot/vmlinuz-6.6.7 ro overlayroot=crypt:dev=/dev/vdb,pass=«0verlay-pw2» }\n"),
    ("a kernel that was fetched", "/proc/cmdline",
     "... BOOT_IMAGE=http://«carol:s3same9»@«boot-7.corp»/«t0ken-77»/vmlinuz-6.8?sig=«s1g»\n"),
    ("an initrd that was fetched", "/proc/cmdline", "... initrd=https://«initrd-u:pw5»@«ks-2.corp»/initrd.img initrd=/initrd?key=«qk3y»\n"),
    ("a server in grub.cfg", "/boot/grub/grub.cfg",
     "...menuentry 'Linux' { linux (http,«dave:pw17@srv-3»)/«pxe:t0k»/vmlinuz-6.6.8 ro\ninitrd http://«dave:pw18@srv-4»/initrd.img }\n"),
    ("a volume in grub.cfg", "/boot/grub/grub.cfg", "...menuentry 'Linux' { linux (lvm/«vg_dora-root»)/boot/vmlinuz-6.6.9 ro }\n"),
    ("users of an entry", "/boot/grub/grub.cfg",
     "...menuentry 'Linux' --users «ursula,victor» { linux /vmlinuz-6.6.10 ro }\nmenuentry 'Linux' --users=«wendy,xenia» { linux /vmlinuz-6.6.11 ro }\n"),
    ("what stands behind a limit", "/etc/systemd/system/containerd.service.d/zz.conf",
     "[Service]\nLimitNOFILE=1024 «l1mitpw»\nLimitMEMLOCK=infinity «l2mitpw»\n"),
    ("what stands behind a driver's path", "/etc/modprobe.d/zz-tuning.conf",
     '...options nvidia NVreg_TemporaryFilePath="/var/tmp «p4thpw»" NVreg_RegistryDwords="A=1;Key=«r4gpw» «r5gpw»"\n'),
    ("options of Docker", "/etc/docker/daemon.json",
     '{"exec-opts": ["native.cgroupdriver=systemd", "«acme.key»=«3xecpw»"]}\n'),
    ("the log of a build: a path", "/var/lib/dkms/gdrdrv/2.4/build/make.log",
     "DKMS (dkms-3.0.11) make.log for gdrdrv-2.4 for kernel %s (x86_64)\n"
     "  The kernel was built by: gcc (Ubuntu 12.3.0 «rupert»@«forge-9.corp») 12.3.0\n"
     "/home/«sybil»/src/gdrdrv/gdrdrv.c:12:3: error: too few arguments to function 'f' («trudy»'s patch)\n"),
    ("what the driver has of a string", "/proc/driver/nvidia/params",
     '...RegistryDwords: "Live=«l1ve-pw»"\nTemporaryFilePath: "/home/«peggy»/tmp"\n'),
    ("what a module has of a string", "/sys/module/nvidia_uvm/parameters/uvm_peer_copy", "«sysfs-pw»\n"),
    ("the kernel's log: a parameter that is none", "/var/log/dmesg",
     "...[    8.100000] nvidia: unknown parameter '«s3cret-word»' ignored\n"),
    ("the kernel's log: an option that is none", "/var/log/dmesg",
     "...[    0.030000] PCI: Unknown option `«0pti0n-w0rd»'\n"),
    ("a job's control group", "/proc/self/cgroup",
     "0::/kubepods.slice/kubepods-pod«8d1c_77»/cri-containerd-«0123456789abcdef0123»/«payroll-job»\n"),
    ("what a process is called", "/proc/self/comm", "«train-gpt»\n"),
    ("what software is called", "/sys/class/infiniband/mlx5_3/node_type", "4: RNIC\n"),
    ("what an adapter was called", "/sys/class/infiniband/mlx5_3/node_desc", "«rack9-u12» HCA-1\n"),
    # Numbers: what they are, only the name beside them says.
    ("a PIN on the command line", "/proc/cmdline", "... kvm.password=«8471625» acpi_key=«ab12cd3» iommu_pin=«0x5ec2e71»\n"),
    ("a number without a sign of one", "/proc/cmdline", "... panic=«deadbeef12ab» console=ttyS0,«c0ffee99aa»\n"),
    ("a PIN for a module", "/etc/modprobe.d/zz-tuning.conf",
     "...options nvidia «unlockpin»=«8471626» auth_token=«0x5ec2e72» NVreg_RegistryDwords=\"AccessKey=«0x5ec2e73»;RMToken=«8471627»\"\n"
     "options mlx5_core psk=«ab12cd34»\n"),
    ("a serial number of the driver's parameter", "/etc/modprobe.d/zz-tuning.conf",
     "...options nvidia NVreg_TCEBypassMode=«1324920017778» NVreg_BoardSerial=«84716381» NVreg_UsrLicence=«0x5ec2e75»\n"),
    ("a URL in the middle of a path", "/etc/modprobe.d/zz-tuning.conf",
     "...options nvidia NVreg_TemporaryFilePath=/usr/lib/https://«carol:s3same7»@«boot-8.corp»/«t0ken-78»\n"
     "options nvidia NVreg_GpuFirmwarePath=/sys/«dave:s3same8@boot-9»/x\n"),
    ("numbers of a mount", "/proc/self/mountinfo",
     "...32 1 0:42 / /mnt/y rw - cifs //srv/y rw,username=«20471234»,password=«8471628»,vers=3.0,sec=«ab12cd35»\n"),
    ("numbers of the caller", "/proc/self/environ",
     "...NCCL_PIN=«8471629»\0UCX_OTP=«0x5ec2e74»\0NVSHMEM_PSK=«ab12cd36»\0NCCL_SIGNATURE=«ab12cd37»\0"),
    ("numbers of NCCL's file", "/etc/nccl.conf", "...NCCL_UNLOCK_PIN=«8471631»\n"),
    ("a number in grub.cfg", "/boot/grub/grub.cfg", "...set vaultpin=«8471632»\nset password=«ab12cd38»\n"),
    ("a number for GRUB's settings", "/etc/default/grub", '...GRUB_PIN="«8471633»"\nGRUB_PASSWORD=«ab12cd39»\n'),
    ("who reads", "/proc/self/status", "...Uid:\t«20471236»\t20471236\t20471236\t20471236\n"),
    ("the session of who reads", "/proc/self/cgroup",
     "...0::/user.slice/user-«20471237».slice/user@«20471238».service/session-7.scope\n"),
    ("who logged in", "/proc/self/loginuid", "«20471239»\n"),
    ("the owner of a namespace", "/proc/self/uid_map", "         0   «20471240»          1\n"),
    ("a user who is a number", "/etc/security/limits.d/rdma.conf", "...«20471235» hard memlock 1024\n"),
    ("a number of a unit", "/usr/lib/systemd/system/slurmd.service", "...Environment=PIN=«8471634»\n"),
    ("a number of Docker", "/etc/docker/daemon.json",
     '{"exec-opts": ["native.cgroupdriver=systemd", "«acme.key»=«3xecpw»", "acme.pin=«8471635»"]}\n'),
    ("a number in the kernel's log", "/var/log/dmesg",
     "...[    9.300000] nvidia: `«8471636»' invalid for parameter `unlock_pin'\n"),
    ("what stands behind the fabric's mode", "/usr/share/nvidia/nvswitch/fabricmanager.cfg",
     "FABRIC_MODE=0 «m0de-pw»\nDATABASE_PATH=/srv/«fab-db»\n"),
    ("what stands behind the firewall's switch", "/etc/ufw/ufw.conf", "ENABLED=yes «ufw-pw»\nLOGLEVEL=«ufw-level»\n"),
    ("what a module has of a number", "/sys/module/nvidia_uvm/parameters/uvm_unlock_key", "«8471637»\n"),
    ("a line beside OFED's version", "/usr/bin/ofed_info",
     "#!/bin/sh\nrepo=https://«deploy:0fedpw»@«repo»/MLNX_OFED_LINUX-24.10-1.1.4.0\nkey=OFED-«0fedk3y»\n"),
    ("what stands beside CUDA's version", "/usr/local/cuda-12.3/version.json",
     '{"cuda":{"name":"CUDA «4cme»","version":"12.4.20240301"},"token":"«cuda-t0ken»"}\n'),
    ("a version of CUDA with a word", "/usr/local/cuda-12.1/version.json", '{"cuda":{"version":"12-«cudapw»"}}\n'),
    ("a line beside NVSHMEM's version", "/usr/local/nvshmem/include/non_abi/nvshmem_version.h",
     "/* «for erin» */\n#define NVSHMEM_VENDOR_MAJOR_VERSION 3 /* «hdr-pw» */\n#define NVSHMEM_VENDOR_MINOR_VERSION 2\n"
     "#define NVSHMEM_VENDOR_PATCH_VERSION 5\n#define NVSHMEM_VENDOR_«PIN 8471639»\n"),
    ("a word in the place of DOCA's version", "/opt/mellanox/doca/applications/VERSION", "«5d0capw»\n"),
    ("what was expected, and why", "/etc/nvnodecheck.conf",
     "# «contract 99»\n[rule driver/loaded]\nseverity = off\nreason = «trent wants it so»\n"
     "[expect]\nmount./data/«missiles» = nfs4 rw from=«filer-3.corp»:/vol/*\n"),
]


@pytest.mark.parametrize("denial, verdict, word", [
    ('{ module_load } for  pid=4 comm="insmod" path="/home/quentin/nvidia-fs.ko" scontext=u:r:container_t:s0 tclass=system',
     "fail", "nvidia-fs is not loaded"),
    ('{ read } for  pid=4 comm="nv-fabricmanage" name="x" scontext=u:r:a_t:s0 tcontext=u:o:b_t:s0 tclass=file', "fail",
     "nv-fabricmanage"),
    ('{ open } for  pid=4 comm="orion" path="/dev/nvidia0" scontext=u:r:orion_container_t:s0 tcontext=u:o:x_t:s0 tclass=chr_file',
     "fail", "container"),
    ('{ open } for  pid=4 comm="orion" path="/dev/nvidia0" scontext=u:r:orion_t:s0 tcontext=u:o:x_t:s0 tclass=chr_file',
     "note", "/dev/nvidia0"),
])
def test_refusals_keep_what_the_rule_asks_for(denial, verdict, word, stages, tmp_path):
    tree = node.copy_of(node.tree_of("rhel9-proprietary-dracut"))
    for path in list(tree.entries):
        if re.fullmatch(r"/proc/\d+/comm", path) and "fabricmanage" in tree.text(path):
            tree.remove(os.path.dirname(path))
    modules = tree.text("/proc/modules")
    tree.file("/proc/modules", "".join(line for line in modules.splitlines(True) if not line.startswith("nvidia")))
    tree.file("/sys/fs/selinux/enforce", "1")
    tree.file("/sys/fs/selinux/booleans/container_use_devices", "0 0")
    tree.file("/var/log/audit/audit.log", "type=AVC msg=audit(4102444800.402:1): avc:  denied  %s permissive=0\n" % denial)
    stage, file = stages("refusals"), tmp_path / "node.capture"
    stage.put(tree)
    file.write_bytes(capture(stage.directory))

    def of(*source):
        found = program.run("doctor", "--json", *source).json()["findings"]
        return [f for f in found if f["rule"] == "log/access-refused"]
    (before,), (after,) = of("--root", stage.directory), of("--from", file)
    assert (before["verdict"], before["subject"]) == (after["verdict"], after["subject"])
    assert after["verdict"] == verdict and word in after["observed"], after
    assert "quentin" not in shown(file.read_bytes()) and "orion" not in shown(file.read_bytes())
    if verdict == "fail" and os.geteuid() == 0:
        made = program.run("ack", before["rule"], "--root", stage.directory, "--until", "30d", "--reason", "seen")
        assert made.status == 0, str(made)
        text = shown(capture(stage.directory))
        assert "acknowledged" in text and "quentin" not in text and "orion" not in text


def secrets(text):
    return re.findall("«(.*?)»", text)


def plant(tree):
    for _, path, text in PLANTS:
        whole = text.replace("«", "").replace("»", "")
        if "make.log" in path:
            whole %= tree.text("/proc/sys/kernel/osrelease").strip()
        if whole.startswith("..."):
            before = tree.text(path) or ""
            if path == "/proc/cmdline":
                before = before.rstrip("\n")
            whole = before + whole[3:]
        tree.file(path, whole)


@pytest.fixture(scope="module")
def planted(stages):
    tree = node.tree_of("broken-everything")
    plant(tree)
    stage = stages("planted")
    stage.put(tree)
    return stage.directory


def test_secrets_of_many_kinds(planted):
    assert len(PLANTS) >= 30
    before, after = shown(capture(planted, "--no-redact")), shown(capture(planted))
    wrong = []
    for kind, path, text in PLANTS:
        for secret in secrets(text):
            if secret not in before and path not in NOT_KEPT:
                wrong.append("%s: %s was not read" % (kind, secret))
            if secret.lower() in after.lower():
                wrong.append("%s: %s" % (kind, secret))
    assert not wrong, "\n".join(wrong)


# Of programs that have nothing to do with GPUs, or secret by their name.
UNREAD = {"MC_HOST_s3": "https://AKIAEXAMPLE:wJalrX@minio.corp", "MC_REDIS_PASS": "p4ss-x", "NCCL_PW": "p4ss-y",
          "UCX_ApiKey": "p4ss-z", "NVSHMEM_CRED": "p4ss-v", "NCCL_NET_Password2": "p4ss-w"}


def test_variables_that_are_secret_are_not_read(stages):
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    tree.file("/proc/self/environ", "".join("%s=%s\0" % v for v in UNREAD.items()) + "NCCL_DEBUG=INFO\0")
    stage = stages("unread")
    stage.put(tree)
    text = shown(capture(stage.directory, "--no-redact"))
    assert "NCCL_DEBUG" in text
    assert not [v for v in UNREAD.values() if v in text]


@pytest.mark.skipif(os.geteuid() != 0, reason="the file of acknowledgements is root's")
def test_acknowledged_findings_quote_nothing(stages, tmp_path):
    """A finding says what a file has: so does what 'ack' writes down."""
    tree = node.tree_of("broken-everything")
    plant(tree)
    stage = stages("acknowledged")
    stage.put(tree)
    report = program.run("doctor", "--root", stage.directory, "--json").json()
    failed = [f for f in report["findings"] if f["verdict"] == "fail"]
    list_of = [{"rule": f["rule"], "subject": f["subject"], "observed": f["observed"], "reason": "seen", "time_s": 1,
                "boot_id": None, "until": "time", "until_s": 4102444800} for f in failed]
    made = program.run("ack", failed[0]["rule"], "--root", stage.directory, "--until", "30d", "--reason", "seen")
    assert made.status == 0, str(made)
    file = os.path.join(stage.directory, "var/lib/nvnodecheck/acknowledged.json")
    with open(file, encoding="utf-8") as f:
        whole = json.load(f)
    whole["findings"] = list_of
    with open(file, "w", encoding="utf-8") as f:
        json.dump(whole, f)
    acknowledged = [f for f in program.run("doctor", "--root", stage.directory, "--json").json()["findings"]
                    if f.get("acknowledged")]
    assert len(acknowledged) > 50
    assert any(secret in f["observed"] for _, _, text in PLANTS for secret in secrets(text) for f in acknowledged)
    after = shown(capture(stage.directory)).lower()
    wrong = ["%s: %s" % (kind, secret) for kind, _, text in PLANTS for secret in secrets(text)
             if secret.lower() in after]
    assert not wrong, "\n".join(wrong)
    (tmp_path / "node.capture").write_bytes(capture(stage.directory))
    assert evaluated("--from", tmp_path / "node.capture") == evaluated("--root", stage.directory)
    # nvnodecheck(8) and SECURITY.md say which.
    there = program.run("doctor", "--from", tmp_path / "node.capture", "--json").json()["findings"]
    kept = {f["rule"] for f in there if f.get("acknowledged")}
    assert kept and all(rule.startswith("log/") for rule in kept), kept


# Read for the names alone, or as facts that have other lines of it.
NOT_KEPT = ("/etc/resolv.conf",)


def test_findings_with_secrets(planted, tmp_path):
    """What is replaced leads to the same answers; a table of mounts that nobody could read does not."""
    (tmp_path / "node.capture").write_bytes(capture(planted))
    assert evaluated("--from", tmp_path / "node.capture") == evaluated("--root", planted)


# ---- what identifies the machine ----

def named(host=HOST):
    """A node whose name, addresses and ids stand wherever they may."""
    mac, eui = "0c:42:a1:%s:%s:%s" % OWN, "0e42:a1ff:fe%s:%s%s" % OWN
    own = host.split(".")[0]
    tree = node.tree_of("rhel9-proprietary-dracut", [textform.Statement("test", 1, "hostname " + own)])
    tree.file("/etc/hosts", "127.0.0.1 localhost\n10.1.2.3 %s.%s %s\n" % (own, DOMAIN, own))
    tree.file("/etc/resolv.conf", "domain %s\n" % DOMAIN)
    tree.file("/proc/sys/kernel/hostname", host + "\n")
    for i, spelling in enumerate((own.upper(), own.replace("-", "_"), own + "." + DOMAIN, "x-" + own.title())):
        tree.file("/etc/modprobe.d/%d-%s.conf" % (i, spelling), "options nvidia NVreg_A%d=1\n" % i)
        tree.file("/etc/security/limits.d/%s.conf" % spelling, "* soft memlock %d\n" % i)
    tree.link("/etc/modprobe.d/linked.conf", "/srv/%s/modprobe.conf" % own)
    tree.file("/srv/%s/modprobe.conf" % own, "options nvidia NVreg_L=1\n")
    text = tree.text("/proc/cmdline").rstrip("\n")
    tree.file("/proc/cmdline", text + " crashkernel=%s nvme_core.hostid=%s rd.md.uuid=%s:%s\n" % (
        own, UUID, UUID, UUID.replace("-", ":")))
    entry = "/boot/loader/entries/%s-5.14.0-1.el9.conf" % MACHINE_ID
    tree.file(entry, "title Linux on %s\nversion 5.14.0-1.el9\nlinux /vmlinuz-5.14.0-1.el9\n"
              "options root=UUID=%s ro netdev=%s\nmachine-id %s\n" % (own, UUID, mac, MACHINE_ID))
    tree.file("/sys/firmware/efi/efivars/LoaderEntryDefault-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f",
              b"\6\0\0\0" + (MACHINE_ID + "-" + own + "\0").encode("utf-16-le"))
    tree.file("/sys/firmware/efi/efivars/LoaderInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f",
              b"\6\0\0\0" + ("GRUB 2.12 " + own + "\0").encode("utf-16-le"))
    tree.file("/proc/net/if_inet6", "fe80000000000000%s 02 40 20 80 enx%s\n" % (
        eui.replace(":", ""), mac.replace(":", "")))
    device = "/sys/class/infiniband/mlx5_0"
    tree.file(device + "/node_guid", "0c42:a103:00%s:%s%s\n" % OWN)
    tree.file(device + "/sys_image_guid", "0c42:a103:00%s:%s%s\n" % OWN)
    tree.file(device + "/ports/1/gids/0", "fe80:0000:0000:0000:" + eui + "\n")
    tree.file(device + "/ports/1/gids/1", "fe80:0000:0000:0000:0c42:a103:00%s:%s%s\n" % OWN)
    tree.file("/var/log/dmesg", (tree.text("/var/log/dmesg") or "") +
              "[    9.5] NVRM: Xid (PCI:0000:1b:00): 79, %s GPU-%s fallen off the bus on %s\n" % (mac, UUID, own))
    tree.file("/proc/driver/nvidia/gpus/0000:1b:00.0/information",
              "Model: \t\t NVIDIA A100\nGPU UUID: \t GPU-%s\n" % UUID)
    return tree


def identifying(own):
    """Patterns of all that must not stand in a capture."""
    joined = "[-_.:]?"
    yield "its name", re.sub("[-_.]", "[-_.]", re.escape(own).replace(r"\-", "-"))
    yield "its domain", re.escape(DOMAIN)
    yield "its owner's half of an address", joined.join(OWN)
    yield "its machine's id", MACHINE_ID
    yield "a UUID", joined.join(re.findall("..", UUID.replace("-", "")))


def test_no_spelling_of_the_machine(stages, tmp_path):
    stage = stages("named")
    stage.put(named())
    before, after = (shown(capture(stage.directory, *o)) for o in (["--no-redact"], []))
    for what, pattern in identifying(HOST):
        assert re.search(pattern, before, re.I), what
        found = re.search(".{60}" + pattern + ".{20}", after, re.I | re.S)
        assert not found, "%s: %s" % (what, found[0])
    (tmp_path / "node.capture").write_bytes(capture(stage.directory))
    assert evaluated("--from", tmp_path / "node.capture") == evaluated("--root", stage.directory)
    facts = program.run("facts", "--from", tmp_path / "node.capture").json()
    device = facts["rdma"]["devices"][0]
    assert device["ports"][0]["gids"][1]["gid"][20:] == device["node_guid"]


def test_an_entry_that_is_fetched(stages, tmp_path):
    """Of a URL the kernel's name stays; the file is the same one wherever it stands."""
    tree = node.copy_of(node.tree_of("rhel9-proprietary-dracut"))
    entry = "title Linux\nversion 5.14.0-9.el9\nlinux http://erinys:pw19@srv-5/t0k3n-8/vmlinuz-5.14.0-9.el9\n" \
            "initrd /initramfs-5.14.0-9.el9.img;par4m-7 $tuned_initrd\noptions ro\n"
    tree.file("/boot/loader/entries/%s-5.14.0-9.el9.conf" % MACHINE_ID, entry)
    stage, file = stages("fetched"), tmp_path / "node.capture"
    stage.put(tree)
    assert "pw19" in shown(capture(stage.directory, "--no-redact"))
    raw = capture(stage.directory)
    for secret in ("erinys", "pw19", "srv-5", "t0k3n", "par4m"):
        assert secret not in shown(raw), secret
    assert "vmlinuz-5.14.0-9.el9" in shown(raw)
    file.write_bytes(raw)
    assert evaluated("--from", file) == evaluated("--root", stage.directory)


def test_only_registers_stay_of_a_script(stages, tmp_path):
    """Of a line with the word setpci every word with "=" was kept, then every word of capitals and every option."""
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    tree.file("/usr/local/bin/tune", "#!/bin/sh\nsetpci -v -s 0000:19:00.0 CAP_EXP+8.w=5000:f000 COMMAND=$CMDpw1 # erinys\n"
              'echo "setpci done, pw=hunter2 token=deadbeefcafe99 for erinys x=1"\n'
              "setpci -s 0:0 PIN=31337 PASSWORD_X=12345678 ECAP_ACS+0x6.w=0\nsetpci -pS3CRET1 -s 31338 31339 BIST=0\n"
              "setpci $S3CRET2 -d 10de: -A erinys -OS3CRET3 CAP_PM+4.w@S3CRET4=0 command=0x07:$S3CRET5\n")
    tree.file("/etc/udev/rules.d/70-x.rules", "".join(
        'ATTR{vendor}=="0x15b3", ATTR{%s}="%s"\n' % pair for pair in (
            ("S3CRETattr", "S3CRETvalue"), ("numa_node", "1"), ("driver_override", "S3CRETdriver"), ("pin", "31340"))))
    stage, file = stages("script"), tmp_path / "node.capture"
    stage.put(tree)
    file.write_bytes(capture(stage.directory))
    found = [f for f in program.run("doctor", "--json", "--from", file).json()["findings"] if f["rule"] == "pci/changed-by-file"]
    told = " ".join(f["observed"] for f in found)
    for kept in ("setpci -v -s 0000:19:00.0 CAP_EXP+8.w=5000:f000 COMMAND=$", "setpci -s 0:0 ECAP_ACS+0x6.w=0", "setpci BIST=0",
                 "setpci $ -d 10de: command=0x07:$", "numa_node=1", "driver_override=redacted"):
        assert kept in told, kept + told
    assert evaluated("--from", file) == evaluated("--root", stage.directory)
    for secret in ("hunter2", "deadbeef", "erinys", "3133", "PASSWORD", "12345678", "S3CRET", "CMDpw1"):
        assert secret not in shown(file.read_bytes()), secret


SERVICE_LINES = [
    ("containerd", "containerd: config item «https://user:hunter2@fm.example/x» has an invalid value"),
    ("docker", "dockerd: password «hunter2» has an invalid value"),
    ("containerd", "containerd: failed to load TOML from /etc/containerd/config.toml: (12, 15): was expecting token =, but got "
     '"«hunter2»" instead'),
    ("containerd", 'time="2026" level=fatal msg="failed to load TOML: failed to load TOML from /etc/x.toml: \\"«pw-of-x»\\": not a key"'),
    ("docker", "unable to configure the Docker daemon with file /etc/docker/daemon.json: the following directives don't match any "
     "configuration option: \"«acme-t0ken»\" or '«s3 cret»' token=«ab12cd34»"),
    ("docker", "specified default runtime '«acme-runtime»' does not exist, and \"«other»\""),
    ("slurmd", "fatal: can't stat gres.conf file /dev/nvidia8: No such file or directory"),
]


@pytest.mark.parametrize("service, line", SERVICE_LINES)
def test_what_a_service_quotes(service, line, stages, tmp_path):
    """It can be a part of a configuration; the words that rules know stay."""
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    for path in list(tree.entries):
        if re.fullmatch(r"/proc/\d+/comm", path) and tree.text(path).strip() in ("slurmd", "dockerd", "containerd"):
            tree.remove(os.path.dirname(path))
    tree.file("/usr/lib/systemd/system/docker.service", "[Service]\nExecStart=/usr/bin/dockerd\n[Install]\nWantedBy=multi-user.target\n")
    tree.link("/etc/systemd/system/multi-user.target.wants/docker.service", "/usr/lib/systemd/system/docker.service")
    for program_of in ("/usr/sbin/slurmd", "/usr/bin/dockerd", "/usr/bin/containerd"):
        tree.file(program_of, "", 0o755)
    ident = {"docker": "dockerd"}.get(service, service)
    tree.file("/var/log/syslog", "Mar  3 22:54:22 h %s[4102]: %s\nMar  3 22:54:22 h systemd[1]: %s.service: Failed with result "
              "'exit-code'.\n" % (ident, line.replace("«", "").replace("»", ""), service))
    stage, file = stages("service-lines"), tmp_path / "node.capture"
    stage.put(tree)
    before = shown(capture(stage.directory, "--no-redact"))
    raw = capture(stage.directory)
    assert all(secret in before for secret in secrets(line)) and "exit-code" in before, before[:200]
    assert not [secret for secret in secrets(line) if secret in shown(raw)], shown(raw)
    assert "/dev/nvidia8" in shown(raw) or service != "slurmd"
    file.write_bytes(raw)
    assert evaluated("--from", file) == evaluated("--root", stage.directory)
    down = [f for f in program.run("doctor", "--from", file, "--json").json()["findings"] if f["rule"] == "services/daemon-down"]
    assert [f for f in down if f["verdict"] == "fail" and f["subject"] == service + ".service"], down


@pytest.mark.parametrize("mark", ["/run/systemd/container", "/run/host/container-manager"])
def test_a_container_is_still_one(mark, stages, tmp_path):
    """Its manager writes its own name into a file: podman, docker."""
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    tree.file(mark, "docker\n")
    stage, file = stages("container"), tmp_path / "node.capture"
    stage.put(tree)
    file.write_bytes(capture(stage.directory))
    assert program.run("facts", "--from", file, "os.container").json() == "docker"
    assert evaluated("--from", file) == evaluated("--root", stage.directory)


@pytest.mark.parametrize("host", ["name", "names", "read", "gpu", "nvidia", "node1", "etc", "modprobe", "grub2", "root",
                                  "saved_entry", "linux", "localhost", "a", "mlx5_0", "text", "redacted",
                                  "units", "services", "log"])
def test_a_host_that_is_called_like_a_word(host, stages, tmp_path):
    """Keys, paths and words that are the kernel's stay; the host is not named."""
    stage, file = stages("words"), tmp_path / "node.capture"
    stage.put(named(host))
    file.write_bytes(capture(stage.directory))
    facts = program.run("facts", "--from", file).json()
    assert facts["os"]["hostname"] == ("localhost" if host == "localhost" else "redacted-host")
    assert evaluated("--from", file) == evaluated("--root", stage.directory)
    assert {key for line in file.read_text().splitlines() for key in json.loads(line)} <= {
        "format", "format_version", "tool_version", "redacted", "read", "head", "list", "link", "stat", "query",
        "text", "base64", "errno", "names", "target", "mode", "rdev", "owner", "size", "mtime_s", "answer"}


def test_no_two_captures_have_the_same_stand_ins(stages):
    """Whoever has two cannot tell that they are of one machine, nor try all addresses."""
    stage = stages("named")
    stage.put(named())
    uuids = [re.findall("GPU-[-0-9a-f]{36}", shown(capture(stage.directory))) for _ in range(2)]
    assert uuids[0] and len(uuids[0]) == len(uuids[1]) and not set(uuids[0]) & set(uuids[1])


# ---- what stays ----

def test_settings_stay(stages):
    """A capture is evaluated with the settings of its node."""
    page = open(os.path.join(program.TOP, "man", "nvnodecheck.conf.5"), encoding="utf-8").read()
    keys = {}
    for section in ("check", "limits", "expect"):
        text = re.search(r"\n\.Ss \[%s\](.*?)\n\.S" % section, page, re.S)[1]
        keys[section] = [re.sub(" .*", "/mnt" if key.startswith("mount") else "x.y", key.replace(". Ns Ar", "."))
                         for key in re.findall(r"^\.It Cm (.*)", text, re.M)]
    assert len(keys["expect"]) > 15
    tree = node.copy_of(node.tree_of("no-gpu-server"))
    lines = [line for section in keys for line in ["[%s]" % section] + ["%s = 17" % key for key in keys[section]]]
    tree.file("/etc/nvnodecheck.conf", "\n".join(lines) + "\n")
    stages("settings").put(tree)
    made = program.run("capture", "--root", stages("settings").directory, "-o", "-")
    kept = [json.loads(line).get("text") for line in made.raw.splitlines() if b'"/etc/nvnodecheck.conf"' in line]
    assert kept[0].splitlines() == lines


# Of what is read, what a redacted capture may have nothing of, and why.
LEFT_OUT = {
    "/boot/loader/entries/*": "stands in it under another name: its own begins with the machine's ID",
    "/etc/security/limits.conf": "of most nodes it has only comments",
    "/proc/iomem": "what lies in BARs stays, and of some nodes that is nothing",
    "/usr/share/nvidia/nvswitch/fabricmanager.cfg": "the keys that rules read stay, and of most nodes it has none",
}
# Where they are not there, a lone number is no text of theirs.
FORMED = ["/proc/*/mounts", "/proc/*/status", "/proc/driver/nvidia/gpus/*/information", "/proc/driver/nvidia/params",
          "/proc/driver/nvidia/version",
          "/sys/firmware/efi/efivars/LoaderInfo-*"]


def texts_read(directory, *options):
    """{path: what a capture has of its text; None: it is not there}"""
    records = [json.loads(line) for line in capture(directory, *options).splitlines()]
    return {r["read"]: None if r.get("errno") == "ENOENT" else (r.get("text") or r.get("base64") or "").strip()
            for r in records if "read" in r}


@pytest.mark.parametrize("name", node.names())
def test_of_each_file_that_is_read_something_stays(name, stages):
    """Also of the kernel's files that this node does not have: they get a number."""
    stage, tree = stages("reads"), node.copy_of(node.tree_of(name))
    stage.put(tree)
    for path, text in texts_read(stage.directory, "--no-redact").items():
        if text is None and path.startswith(("/proc/", "/sys/")) and \
                not any(fnmatch.fnmatch(path, pattern) for pattern in FORMED):
            tree.file(path, "17\n")
    stage.put(tree)
    whole, kept = texts_read(stage.directory, "--no-redact"), texts_read(stage.directory)
    assert len(whole) > 100
    assert not [path for path, text in whole.items() if text and not kept.get(path) and
                not any(fnmatch.fnmatch(path, pattern) for pattern in LEFT_OUT)], "add it to kept[] in src/redact/keep.c"


def test_sysctls_stay(stages, tmp_path):
    """Each kernel setting that is read, a redacted capture has."""
    stage = stages("sysctls")
    stage.put(node.tree_of("no-gpu-server"))
    tree = node.copy_of(node.tree_of("no-gpu-server"))
    read = program.run("facts", "os.sysctls", "--root", stage.directory).json()
    for sysctl in read:
        tree.file("/proc/sys/" + sysctl["name"].replace(".", "/"), "17\n")
    stage.put(tree)
    (tmp_path / "node.capture").write_bytes(capture(stage.directory))
    kept = program.run("facts", "os.sysctls", "--from", tmp_path / "node.capture").json()
    assert len(kept) > 10
    assert kept == [{"name": sysctl["name"], "value": "17"} for sysctl in read]


def test_commands_of_grub_stay():
    """What the reader of grub.cfg knows, a redacted grub.cfg has."""
    def listed(file, start, form):
        text = open(os.path.join(program.TOP, "src", file), encoding="utf-8").read()
        return re.findall(form, text[text.index(start):].partition("\n};")[0])
    kept = [name.replace("\\\\", "\\") for name in listed("redact/keep-boot.c", "identifiers[] = {", '\t"(.*)"')]
    for name in listed("parse/grub-commands.c", "commands[] = {", '{ "([^"]*)"') + ["function", "for", "linux"]:
        assert any(re.fullmatch(fnmatch.translate(form.replace("\\[", "[[]")), name) for form in kept), name


# ---- files that the list does not have ----

def test_every_file_that_is_read(planted, stages):
    """A line in each file outside of the kernel's own, whatever its form is."""
    read = [json.loads(line) for line in capture(planted, "--no-redact").splitlines()]
    paths = [r[k] for r in read for k in ("read", "head") if "text" in r and r.get(k, "/proc").startswith(
        ("/etc", "/usr", "/boot", "/run", "/var", "/opt", "/lib"))]
    assert len(paths) > 12
    for form in ("%s", "# %s", "; %s", "%s = %s", "%s: %s", "options %s %s", "export %s='%s'", '"%s": "%s",', "[%s]",
                 "\\%s", "key=%s\\\n %s", "/%s/%s", "set a='%s\n%s'", "`%s`", "$(%s)"):
        tree = node.copy_of(node.tree_of("broken-everything"))
        plant(tree)
        secret = {}
        for i, path in enumerate(paths):
            word = secret[path] = "t0psecret%02dx" % i
            tree.file(path, (tree.text(path) or "") + "\n" + form.replace("%s", word) + "\n")
        stage = stages("every")
        stage.put(tree)
        made = program.run("capture", "--root", stage.directory, "-o", "-")
        after = shown(made.raw)
        wrong = ["%s: %s" % (path, form) for path, word in secret.items() if word in after]
        assert not wrong, "\n".join(wrong)


# ---- what was replaced ----

def test_show_redactions(planted, tmp_path):
    made = program.run("capture", "--root", planted, "-o", tmp_path / "node.capture", "--show-redactions")
    assert made.status == 0 and not made.err, str(made)
    assert (tmp_path / "node.capture").read_bytes().startswith(b'{"format":"nvnodecheck-capture"')
    lines = made.out.splitlines()
    assert len(lines) == len(set(lines)) and all(re.match(r"\S.*: (.* -> .+|.* left out)$", l, re.S) for l in lines)
    for kind, path, text in PLANTS:
        for secret in secrets(text):
            if path.startswith("/etc/mod") and path not in NOT_KEPT:
                assert any(line.startswith(path) and secret in line for line in lines), "%s: %s" % (kind, secret)
    assert "whole file" not in made.out


def test_show_redactions_needs_somewhere(planted, tmp_path):
    for options in (["-o", "-"], ["-o", tmp_path / "x", "--no-redact"]):
        made = program.run("capture", "--root", planted, "--show-redactions", *options)
        assert made.status == 2 and "--show-redactions" in made.err, str(made)


# ---- a user's process ----

def variables_of(pid):
    """What a capture and facts say of the variables of a process, and the gaps."""
    facts = program.run("facts", "--pid", str(pid)).json()
    gaps = [gap["why"] for gap in facts.get("gaps") or [] if gap["path"] == "/proc/%d/environ" % pid]
    return facts["env"].get("variables"), gaps


OVERWRITE = """
import ctypes, sys, time
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
start, end = int(fields[50 - 3]), int(fields[51 - 3])
ctypes.memset(start, 0, end - start)
ctypes.memmove(start, *{title})
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("title", ['(b"", 0)', '(b"worker: env-s3cret", 19)', '(b"NCCL_DEBUG=WARN", 16)'])
def test_variables_that_were_written_over(title):
    """setproctitle() puts its text there: then nobody knows how the process was started."""
    process = subprocess.Popen(["/usr/bin/python3", "-c", OVERWRITE.replace("{title}", title)],
                               env={"NCCL_DEBUG": "INFO", "NCCL_IB_HCA": "mlx5_0"}, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        variables, gaps = variables_of(process.pid)
        assert variables is None and gaps == ["the program has written over its environment"], (variables, gaps)
        assert "env-s3cret" not in program.run("capture", "--pid", str(process.pid), "-o", "-").out
    finally:
        process.kill()
        process.communicate()


def test_variables_of_a_process_that_has_ended():
    """A process that is being started has none for a moment, too: fs/exec.c."""
    process = subprocess.Popen(["true"], env={"NCCL_DEBUG": "INFO"})
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    try:
        variables, gaps = variables_of(process.pid)
        assert variables is None and gaps == ["the process has ended, or is being started"], (variables, gaps)
    finally:
        process.wait()


def test_a_process_without_variables():
    process = subprocess.Popen(["sleep", "60"], env={}, executable="/usr/bin/sleep")
    try:
        assert variables_of(process.pid) == ([], [])
    finally:
        process.kill()
        process.wait()


def test_variables_of_a_process(tmp_path):
    secret = {"NCCL_NET_PLUGIN": "/tmp/env-s3cret1.so", "NCCL_TOPO_FILE": "/home/olivia-p/topo.xml", "HF_TOKEN": "env-s3cret2",
              "NCCL_DEBUG": "INFO", "LD_LIBRARY_PATH": "/home/olivia-p/lib"}
    process = subprocess.Popen(["sleep", "60"], env=secret)
    try:
        made = program.run("capture", "--pid", str(process.pid), "-o", "-")
        kept = program.run("capture", "--pid", str(process.pid), "-o", "-", "--no-redact")
    finally:
        process.kill()
        process.wait()
    assert "env-s3cret1" in kept.out and "olivia" in kept.out
    assert "s3cret" not in made.out and "olivia" not in made.out and '"INFO"' in made.out


def test_names_below_other_homes(stages, tmp_path):
    """ostree and bootc have homes in /var/home. After a product's name its release stays, and no other word."""
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    tree.file("/proc/self/environ", b"LD_LIBRARY_PATH=/var/home/judy-quill/lib:/usr/home/judy-quill/lib:/home/x/nccl-judy-quill/lib:"
                                    b"/home/x/nccl_2.21.5-1+cuda12.4_x86_64/lib:/home/x/deep_ep_project-orion:/var/lib/site"
                                    b":/opt/libnccl-judy.so:/opt/libnccl.so.judy:/opt/libucx_judy.dist-info:/opt/libjudy-rdmav34.so"
                                    b":/opt/nvidia_judy.dist-info:/opt/python3.1judy:/opt/libnccl-net-ofi.so.2"
                                    b":/opt/nvidia_nccl_cu12-2.27.3.dist-info:/run/judy/lib:/run/user/judy:/run/nvidia/driver\0")
    stage = stages("homes")
    stage.put(tree)
    text = shown(capture(stage.directory))
    assert "judy" not in text and "orion" not in text
    assert "nccl_2.21.5-1+cuda12.4_x86_64" in text and "/var/lib/site" in text
    assert "/run/nvidia/driver" in text and "/opt/libnccl-net-ofi.so.2" in text and "/opt/nvidia_nccl_cu12-2.27.3.dist-info" in text


@pytest.mark.parametrize("host, left", [("q77", "q"), ("q777", "q7")])
def test_a_short_host_in_the_name_of_a_file(host, left, stages):
    """Two characters of a name keep its place among other files. Those were all of a short one."""
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    tree.file("/etc/hostname", host + "\n")
    tree.file("/etc/modprobe.d/x-%s.conf" % host, "options nvidia NVreg_EnableMSI=1\n")
    stage = stages("short-hosts")
    stage.put(tree)
    text = shown(capture(stage.directory))
    assert "x-%s.conf" % host not in text and "x-%s-redacted-host.conf" % host not in text
    assert "x-%s-redacted-host.conf" % left in text


def test_names_in_a_large_file_of_hosts(stages):
    """A file that was not read had no names, so that all of them stayed."""
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    tree.file("/etc/hostname", "erinys\n")
    tree.file("/etc/modprobe.d/x-tisiphone.conf", "options nvidia NVreg_EnableMSI=1\n")
    hosts = "".join("10.%d.%d.%d n%d.lab\n" % (i >> 16, i >> 8 & 255, i & 255, i) for i in range(70000))
    tree.file("/etc/hosts", hosts + "10.9.9.9 erinys tisiphone\n")
    stage = stages("many-hosts")
    stage.put(tree)
    assert len(hosts) > 1 << 20 and "tisiphone" not in shown(capture(stage.directory))
    os.truncate(stage.directory + "/etc/hosts", (16 << 20) + 1)
    for bad in ("long", "loop"):
        made = program.run("capture", "--root", stage.directory, "-o", "-")
        assert made.status == 4 and "/etc/hosts" in made.err and made.raw.count(b"\n") == 1, (bad, str(made))
        assert program.run("capture", "--root", stage.directory, "-o", "-", "--no-redact").status == 0
        os.unlink(stage.directory + "/etc/hosts")
        assert program.run("capture", "--root", stage.directory, "-o", "-").status == 0
        os.symlink("hosts", stage.directory + "/etc/hosts")
