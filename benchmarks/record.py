"""How a benchmark writes its figures as JSON: beside them the command, the tree and the machine that made them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def tree() -> str:
    """The commit that is checked out; `-dirty` behind it when files differ. Empty outside a git checkout."""
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def machine() -> str:
    """Cores, architecture and the widest SIMD of this machine."""
    cpuinfo = Path("/proc/cpuinfo")
    flags = cpuinfo.read_text().split() if cpuinfo.is_file() else []
    simd = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "")
    return f"a {os.cpu_count()}-core {platform.machine()} machine" + (f" ({simd})" if simd else "")


def write(file: Path, command: str, rows: list[dict], summary: dict | None = None) -> None:
    """Writes one run; `command` is what a reader types to make it again."""
    run = {"command": command, "tree": tree(), "machine": machine(), "summary": summary or {}, "rows": rows}
    file.write_text(json.dumps(run, indent=1) + "\n")
