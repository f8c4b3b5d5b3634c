# SPDX-License-Identifier: GPL-2.0-or-later
"""What the driver of a healthy board answers through NVML, as facts."""

LINKS = 18


def gpu(bdf, index, bdfs):
    """One GPU of eight with NVSwitches; all is well."""
    return {
        "bdf": bdf, "index": index, "minor": index, "uuid": "GPU-00000000-0000-0000-0000-%012d" % index,
        "memory": {"total_bytes": 80 << 30, "used_bytes": 0, "reserved_bytes": 1 << 30,
                   "bar1_total_bytes": 128 << 30, "bar1_used_bytes": 1 << 20},
        "ecc": {"enabled": True, "pending": True, "corrected_volatile": 0, "uncorrected_volatile": 0,
                "corrected_aggregate": 0, "uncorrected_aggregate": 0, "retirement_pending": None,
                "pages_corrected": None, "pages_uncorrected": None, "sram_threshold_exceeded": False,
                "unrepairable": False, "channel_repair_pending": False, "tpc_repair_pending": False},
        "rows": {"correctable": 0, "uncorrectable": 0, "pending": False, "failed": False, "banks_max": 2560,
                 "banks_high": 0, "banks_partial": 0, "banks_low": 0, "banks_none": 0},
        "links": [{"link": n, "active": True, "version": 6, "remote": "0000:e%d:00.0" % (n % 4),
                   "remote_is": "switch", "mb_per_s": 26562, "replays": 0, "recoveries": 0, "crc_errors": 0,
                   "low_power": False}
                  for n in range(LINKS)],
        "fabric": {"state": "completed", "error": None, "clique": 0,
                   "cluster_uuid": "00000000-0000-0000-0000-000000000000", "health_mask": "0xaa"},
        "clocks": {"reasons": "0x1", "temperature_c": 30, "slowdown_c": 90, "shutdown_c": 95, "margin_c": 55,
                   "power_limit_mw": 700000, "power_default_mw": 700000, "power_enforced_mw": 700000},
        "pcie": {"replays": 0, "generation": 5, "generation_max": 5, "width": 16, "width_max": 16},
        "compute_mode": "default", "mig": False, "mig_pending": False, "mig_devices": None,
        "persistence": True, "display_active": False, "accounting": False, "numa_affinity": "%d" % (index // 4),
        "numa_node": None,
        "virtualization": "none", "gsp_firmware": "1.2.3", "recovery": "none",
        "peers": [{"bdf": other, "read": "ok", "write": "ok", "nvlink": "ok", "atomics": "ok", "pcie": "ok",
                   "level": "node", "links": LINKS}
                  for other in bdfs if other != bdf],
    }


def healthy(document):
    """The part of a document's facts that its GPUs would add to it."""
    bdfs = [g["bdf"] for g in document["gpu"]["devices"]]
    return {"refused": None, "library": "/usr/lib/libnvidia-ml.so.1",
            "library_version": document["driver"]["version"],
            "cc": {"enabled": False, "dev_tools": False, "environment": "unavailable", "multi_gpu": "none"},
            "gpus": [gpu(bdf, index, bdfs) for index, bdf in enumerate(bdfs)], "failures": []}


def without(facts, members):
    """FACTS in which the driver did not answer what MEMBERS of its GPUs come from."""
    for one in facts["gpus"]:
        for member in members:
            part, _, name = member.rpartition(".")
            del (one[part] if part else one)[name]
    return facts
