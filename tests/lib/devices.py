# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of PCI functions that a node's pci block names. Ids are those of pci.ids and of NVIDIA's
list of supported GPUs; BAR layouts, link widths and firmware numbers are those of public lspci and
ibv_devinfo listings.
"""
K, M, G = 1 << 10, 1 << 20, 1 << 30


def port(ids, kind, link, acs=0x1f, revision=0, driver="pcieport", subsystem="0000:0000", **more):
    return dict(ids=ids, subsystem=subsystem, kind=0x060400, revision=revision, port=kind,
                link=link, acs_cap=acs, driver=driver, mps_max=512, **more)


def gpu(ids, subsystem, model, bars, link, vbios, rebar=None, kind=0x030200, **more):
    return dict(ids=ids, subsystem=subsystem, kind=kind, revision=0xa1, bars=bars, link=link,
                rebar=rebar or {}, driver="nvidia", mps_max=256, mrrs=4096 if kind == 0x030200
                else 512, ro=True, gpu=dict(model=model, vbios=vbios), **more)


def nic(ids, hca, firmware, board, link, kind=0x020700, bar=32 * M, **more):
    return dict(ids=ids, subsystem="15b3:0041", kind=kind, revision=0, bars={0: (bar, "64p")},
                rom=M, link=link, driver="mlx5_core", mps_max=512, mrrs=4096, ro=True, serial=True,
                nic=dict(hca=hca, firmware=firmware, board=board), **more)


# The whole-memory BAR of Hopper and later is BAR 2: BAR 0 is 64 bits wide. Before, BAR 1 is it.
def hopper_bars(size):
    return {0: (16 * M, "64p"), 2: (size, "64p"), 4: (32 * M, "64p")}


def older_bars(size):
    return {0: (16 * M, "32"), 1: (size, "64p"), 3: (32 * M, "64p")}


def desktop_bars(size):
    return {5: (128, "io"), **older_bars(size)}


VF = (16, 0, 2, 1, 0x101e)	# SR-IOV: total, used, first offset, stride, device id

MODELS = {
    # ---- root ports and switches ----
    "spr-port": port("8086:352a", "root", "gen5x16", subsystem="8086:0000", revision=0x30),
    "icx-port": port("8086:347a", "root", "gen4x16", subsystem="8086:0000", revision=0x06),
    # Broadwell: the kernel's quirk about relaxed ordering names it (drivers/pci/quirks.c).
    "bdx-port": port("8086:6f08", "root", "gen3x16", subsystem="8086:0000", revision=0x01),
    "skx-port": port("8086:2030", "root", "gen3x16", subsystem="8086:0000", revision=0x04),
    "adl-port": port("8086:460d", "root", "gen5x16", subsystem="1043:8694", revision=0x05),
    "adl-pch-port": port("8086:7ab8", "root", "gen3x4", subsystem="1043:8694", revision=0x11),
    "milan-port": port("1022:1483", "root", "gen4x16", acs=0x5f, subsystem="1022:1453"),
    "genoa-port": port("1022:14ab", "root", "gen5x16", acs=0x5f, subsystem="1022:1453"),
    "grace-port": port("10de:22b2", "root", "gen5x16", acs=0x5f, subsystem="10de:0000"),
    "grace-gpu-port": port("10de:22b8", "root", "gen5x16", acs=0x5f, subsystem="10de:0000"),
    "qemu-port": port("1b36:000c", "root", "gen4x16", acs=0x5f, subsystem="1b36:0000"),
    "pex890-up": port("1000:c030", "up", "gen5x16", acs=0, revision=0xb0, subsystem="1000:0144"),
    "pex890-down": port("1000:c030", "down", "gen5x16", acs=0x47f, revision=0xb0,
                        subsystem="1000:0144"),
    "pex880-up": port("1000:c010", "up", "gen4x16", acs=0, revision=0xb0, subsystem="1000:a096"),
    "pex880-down": port("1000:c010", "down", "gen4x16", acs=0x47f, revision=0xb0,
                        subsystem="1000:a096"),
    "pex9797-up": port("10b5:9797", "up", "gen3x16", acs=0, revision=0xaa, subsystem="10b5:9797"),
    "pex9797-down": port("10b5:9797", "down", "gen3x16", acs=0x5f, revision=0xaa,
                         subsystem="10b5:9797"),
    "plx8749-up": port("10b5:8749", "up", "gen3x16", acs=0, revision=0xca, subsystem="10b5:8749"),
    "plx8749-down": port("10b5:8749", "down", "gen3x16", acs=0x5f, revision=0xca,
                         subsystem="10b5:8749"),
    "hsw-port": port("8086:2f02", "root", "gen3x16", subsystem="8086:0000", revision=0x02),
    "bdw-port": port("8086:6f02", "root", "gen3x16", subsystem="8086:0000", revision=0x01),
    "am5-port": port("1022:14db", "root", "gen5x16", acs=0x5f, subsystem="1022:1453"),
    "cx8-up": port("15b3:197c", "up", "gen6x16", acs=0, subsystem="15b3:0004"),
    "cx8-down": port("15b3:197c", "down", "gen6x16", acs=0x5f, subsystem="15b3:0004"),
    "ast-bridge": dict(ids="1a03:1150", subsystem="1a03:1150", kind=0x060400, revision=0x06,
                       port="bridge", link="gen2x1", driver=None, acs_cap=0),
    "spr-host": dict(ids="8086:09a2", subsystem="8086:0000", kind=0x088000, revision=0x20,
                     port="conventional", driver=None),
    "milan-host": dict(ids="1022:1480", subsystem="1022:1480", kind=0x060000, revision=0,
                       port="conventional", driver=None),
    "qemu-host": dict(ids="8086:29c0", subsystem="1af4:1100", kind=0x060000, revision=0,
                      port="conventional", driver=None),

    # ---- GPUs and what belongs to them ----
    "v100-sxm2": gpu("10de:1db5", "10de:1249", "Tesla V100-SXM2-32GB", older_bars(32 * G),
                     "gen3x16", "88.00.48.00.02"),
    "a100-sxm": gpu("10de:20b2", "10de:1463", "NVIDIA A100-SXM4-80GB", older_bars(128 * G),
                    "gen4x16", "92.00.45.00.06", {1: (64 * M, 128 * G)}),
    "h100-sxm": gpu("10de:2330", "10de:16c1", "NVIDIA H100 80GB HBM3", hopper_bars(128 * G),
                    "gen5x16", "96.00.89.00.01", {2: (64 * M, 128 * G)}, serial=True),
    "h20": gpu("10de:2329", "10de:198b", "NVIDIA H20", hopper_bars(128 * G),
               "gen5x16", "96.00.99.00.0D", {2: (64 * M, 128 * G)}, serial=True),
    "h200": gpu("10de:2335", "10de:18be", "NVIDIA H200", hopper_bars(256 * G),
                "gen5x16", "96.00.A5.00.01", {2: (64 * M, 256 * G)}, serial=True),
    "b200": gpu("10de:2901", "10de:1999", "NVIDIA B200", hopper_bars(256 * G),
                "gen5x16", "97.00.88.00.0F", {2: (64 * M, 256 * G)}, serial=True),
    "gh200": gpu("10de:2342", "10de:16eb", "NVIDIA GH200 480GB", hopper_bars(128 * G),
                 "gen5x16", "96.00.68.00.04", {2: (64 * M, 128 * G)}, serial=True, ats=True),
    "rtx4090": gpu("10de:2684", "1458:40bf", "NVIDIA GeForce RTX 4090", desktop_bars(32 * G),
                   "gen4x16", "95.02.3C.40.46", {1: (64 * M, 32 * G)}, kind=0x030000, rom=512 * K,
                   multifunction=True),
    "rtx3070": gpu("10de:2484", "1462:3909", "NVIDIA GeForce RTX 3070", desktop_bars(256 * M),
                   "gen4x16", "94.04.3A.40.B0", {1: (64 * M, 8 * G)}, kind=0x030000, rom=512 * K,
                   multifunction=True),
    "rtx4070-laptop": gpu("10de:2860", "1043:12af", "NVIDIA GeForce RTX 4070 Laptop GPU",
                          desktop_bars(8 * G), "gen4x8", "95.06.1D.00.6C", {1: (64 * M, 8 * G)},
                          kind=0x030000, rom=512 * K, multifunction=True),
    "gtx1080ti": gpu("10de:1b06", "1458:3752", "NVIDIA GeForce GTX 1080 Ti", desktop_bars(256 * M),
                     "gen3x16", "86.02.39.40.63", kind=0x030000, rom=512 * K),
    "gtx1050ti": gpu("10de:1c82", "1458:3764", "NVIDIA GeForce GTX 1050 Ti", desktop_bars(256 * M),
                     "gen3x16", "86.07.39.40.11", kind=0x030000, rom=512 * K),
    "titan-v": gpu("10de:1d81", "10de:1218", "TITAN V", desktop_bars(256 * M), "gen3x16",
                   "88.00.36.00.01", kind=0x030000, rom=512 * K),
    "rtx3090": gpu("10de:2204", "1462:3881", "NVIDIA GeForce RTX 3090", desktop_bars(32 * G),
                   "gen4x16", "94.02.42.40.B7", {1: (64 * M, 32 * G)}, kind=0x030000, rom=512 * K,
                   multifunction=True),
    "rtx4060ti": gpu("10de:2805", "1462:5174", "NVIDIA GeForce RTX 4060 Ti", desktop_bars(16 * G),
                     "gen4x8", "95.06.31.00.5B", {1: (64 * M, 16 * G)}, kind=0x030000, rom=512 * K),
    "rtx5070ti": gpu("10de:2c05", "1462:5310", "NVIDIA GeForce RTX 5070 Ti", desktop_bars(16 * G),
                     "gen5x16", "98.03.55.00.9E", {1: (64 * M, 16 * G)}, kind=0x030000, rom=512 * K),
    "rtx5090": gpu("10de:2b85", "1043:8a0d", "NVIDIA GeForce RTX 5090", desktop_bars(32 * G),
                   "gen5x16", "98.02.2E.40.B3", {1: (64 * M, 32 * G)}, kind=0x030000, rom=512 * K,
                   multifunction=True),
    "rtx6000ada": gpu("10de:26b1", "10de:16a1", "NVIDIA RTX 6000 Ada Generation",
                      desktop_bars(64 * G), "gen4x16", "95.02.3E.00.03", {1: (64 * M, 64 * G)},
                      kind=0x030000, rom=512 * K),
    "rtxpro6000": gpu("10de:2bb4", "10de:204c", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation "
                      "Edition", desktop_bars(128 * G), "gen5x16", "98.02.6A.00.05",
                      {1: (64 * M, 128 * G)}, kind=0x030000, rom=512 * K),
    "t4": gpu("10de:1eb8", "10de:12a2", "Tesla T4", older_bars(256 * M), "gen3x16",
              "90.04.84.00.02"),
    "p4": gpu("10de:1bb3", "10de:11d8", "Tesla P4", older_bars(256 * M), "gen3x16",
              "86.04.55.00.01"),
    "m40": gpu("10de:17fd", "10de:1171", "Tesla M40", older_bars(16 * G), "gen3x16",
               "84.00.56.00.03"),
    "l4": gpu("10de:27b8", "10de:16ca", "NVIDIA L4", older_bars(32 * G), "gen4x16",
              "95.04.65.00.02", {1: (64 * M, 32 * G)}),
    "a40": gpu("10de:2235", "10de:145a", "NVIDIA A40", older_bars(64 * G), "gen4x16",
               "94.02.5C.00.03", {1: (64 * M, 64 * G)}),
    "a100-pcie": gpu("10de:20f1", "10de:145f", "NVIDIA A100-PCIE-40GB", older_bars(64 * G),
                     "gen4x16", "92.00.25.00.08", {1: (64 * M, 64 * G)}),
    "a800-pcie": gpu("10de:20f5", "10de:1799", "NVIDIA A800 80GB PCIe", older_bars(128 * G),
                     "gen4x16", "92.00.A4.00.09", {1: (64 * M, 128 * G)}),
    "h100-pcie": gpu("10de:2331", "10de:1626", "NVIDIA H100 PCIe", hopper_bars(128 * G),
                     "gen5x16", "96.00.30.00.01", {2: (64 * M, 128 * G)}, serial=True),
    "h800": gpu("10de:2324", "10de:17a6", "NVIDIA H800", hopper_bars(128 * G),
                "gen5x16", "96.00.89.00.06", {2: (64 * M, 128 * G)}, serial=True),
    "gb200": gpu("10de:2941", "10de:2046", "NVIDIA GB200", hopper_bars(256 * G),
                 "gen6x16", "97.00.82.00.18", {2: (64 * M, 256 * G)}, serial=True, ats=True),
    "gb300": gpu("10de:31c2", "10de:21f1", "NVIDIA GB300", hopper_bars(512 * G),
                 "gen6x16", "97.10.2A.00.01", {2: (64 * M, 512 * G)}, serial=True, ats=True),
    "gb10": gpu("10de:2e12", "10de:0000", "NVIDIA GB10", {0: (64 * M, "64p")}, "gen5x16",
                "9A.0B.15.00.00", kind=0x030000),
    "ad102-audio": dict(ids="10de:22ba", subsystem="1458:40bf", kind=0x040300, revision=0xa1,
                        bars={0: (16 * K, "32")}, link="gen4x16", driver="snd_hda_intel"),
    "ga104-audio": dict(ids="10de:228b", subsystem="1462:3909", kind=0x040300, revision=0xa1,
                        bars={0: (16 * K, "32")}, link="gen4x16", driver="snd_hda_intel"),
    "nvswitch3": dict(ids="10de:22a3", subsystem="10de:1796", kind=0x068000, revision=0xa1,
                      bars={0: (32 * M, "64")}, link="gen4x2", driver="nvidia-nvswitch",
                      mps_max=256),

    # ---- network ----
    "cx7-ib": nic("15b3:1021", "MT4129", "28.39.1002", "MT_0000000838", "gen5x16", sriov=VF),
    "cx7-eth": nic("15b3:1021", "MT4129", "28.39.1002", "MT_0000000834", "gen5x16",
                   kind=0x020000, sriov=VF),
    "cx6dx-eth": nic("15b3:101d", "MT4125", "22.39.1002", "MT_0000000359", "gen4x16",
                     kind=0x020000, multifunction=True),
    "cx6-ib": nic("15b3:101b", "MT4123", "20.39.1002", "MT_0000000223", "gen4x16"),
    "cx5-ib": nic("15b3:1017", "MT4119", "16.35.3502", "MT_0000000010", "gen3x16"),
    "cx8-ib": nic("15b3:1023", "MT4131", "40.44.1036", "NVD0000000046", "gen6x16", ats=True),
    # The function through which a ConnectX-8 reaches a GPU's segment (Data Direct).
    "cx8-dma": dict(ids="15b3:2100", subsystem="15b3:0061", kind=0x080100, revision=0,
                    bars={0: (32 * M, "64p")}, link="gen6x16", driver="mlx5_core", mps_max=512,
                    mrrs=4096, ro=True, ats=True),
    "cx7-vf": nic("15b3:101e", "MT4126", "28.39.1002", "MT_0000000838", "gen5x16", bar=M),
    # The management function of an HGX B200 NVSwitch: known by its vital product data.
    "nvswitch4-lpf": nic("15b3:1021", "MT4129", "35.2014.1676", "NVD0000000053", "gen5x2",
                         vpd=(("VA", "MLX:MN=MLNX:CSKU=V2:UUID=V3:PCI=V0:MODL=N3:SMDL=SW_MNG"),)),
    "cx3-ib": dict(ids="15b3:1003", subsystem="15b3:0050", kind=0x028000, revision=0,
                   bars={0: (M, "64"), 2: (32 * M, "64p")}, link="gen3x8", driver="mlx4_core",
                   nic=dict(hca="MT4099", firmware="2.42.5000", board="MT_1090120019")),
    "cx4-ib": nic("15b3:1013", "MT4115", "12.28.2006", "MT_2180110032", "gen3x16"),
    "cx6dx-ib": nic("15b3:101d", "MT4125", "22.38.1900", "MT_0000000436", "gen4x16",
                    kind=0x020000),
    "vic": dict(ids="1137:0043", subsystem="1137:0085", kind=0x020000, revision=0xa2,
                bars={0: (32 * K, "64"), 2: (8 * K, "64")}, link="gen2x16", driver="enic",
                nic=dict(hca="VIC1225", firmware="2.0(3d)", board="79")),
    "efa": dict(ids="1d0f:efa2", subsystem="1d0f:efa2", kind=0x020000, revision=0,
                bars={0: (16 * K, "32"), 2: (M, "64p")}, link="gen4x16", driver="efa",
                nic=dict(hca="", firmware="0.0.0.0", board="")),
    "bcm57608": dict(ids="14e4:1760", subsystem="14e4:9130", kind=0x020000, revision=0x11,
                     bars={0: (64 * K, "64p"), 2: (M, "64p"), 4: (32 * K, "64p")}, link="gen5x16",
                     driver="bnxt_en", mps_max=512, mrrs=4096, ro=True, serial=True,
                     nic=dict(hca="BCM57608", firmware="231.2.63.0", board="")),
    "e810-c": dict(ids="8086:1592", subsystem="8086:0002", kind=0x020000, revision=0x02,
                   bars={0: (32 * M, "64p"), 3: (64 * K, "64p")}, link="gen4x16", driver="ice",
                   mps_max=512, mrrs=4096, ro=True, serial=True,
                   nic=dict(hca="", firmware="1.71", board="")),
    "igb": dict(ids="8086:1521", subsystem="15d9:1521", kind=0x020000, revision=0x01,
                bars={0: (512 * K, "32"), 3: (16 * K, "32")}, link="gen2x4", driver="igb"),
    "erdma": dict(ids="1ded:107f", subsystem="1ded:107f", kind=0x020000, revision=0,
                  bars={0: (64 * K, "64p")}, link="gen4x8", driver="erdma",
                  nic=dict(hca="", firmware="0.2.0", board="")),
    "virtio-net": dict(ids="1af4:1041", subsystem="1af4:1100", kind=0x020000, revision=0x01,
                       bars={1: (4 * K, "32"), 4: (16 * K, "64p")}, port="conventional",
                       driver="virtio-pci"),

    # ---- others ----
    "nvme": dict(ids="144d:a80a", subsystem="144d:aa8b", kind=0x010802, revision=0,
                 bars={0: (16 * K, "64")}, link="gen4x4", driver="nvme"),
    "ast-vga": dict(ids="1a03:2000", subsystem="1a03:2000", kind=0x030000, revision=0x52,
                    bars={0: (64 * M, "32"), 1: (256 * K, "32"), 2: (128, "io")},
                    port="conventional", driver="ast", boot_vga=True),
    "intel-igpu": dict(ids="8086:46a6", subsystem="1043:12af", kind=0x030000, revision=0x0c,
                       bars={0: (16 * M, "64"), 2: (256 * M, "64p"), 4: (64, "io")}, port="rc",
                       driver="i915", boot_vga=True),
}
