"""Runs clang-tidy over the translation units of build/compile_commands.json and prints each finding once.

The units are the build's own, with its unity files and precompiled header: eight sources of a library cost one parse.
A source that several targets compile (fuzzers, sanitizers, the simulator's levels) is read once. A header is read with
the sources that include it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
BORDER = (
    "Support",
    "ISA",
    "Cost",
    "ByteCode",
    "PModel",
    "HostOps",
    "TaskRuntime",
    "Runtime",
    "RuntimeTools",
    "CModel",
    "Encoder",
    "PyPTO",
)
BELOW = (*(f"lib/{name}/" for name in BORDER), "tools/")
TRACKED = ("lib/", "tools/", "python/", "unittests/", "benchmarks/")
PART = re.compile(r'#include "(.+)"')  # of a unity file
FINDING = re.compile(r"^/.*: (?:warning|error): .*\[.+\]$")
NOISE = re.compile(r"^(\d+ warnings?( and \d+ errors?)?|\d+ errors?) generated\.$|^Suppressed |^\d+ warnings? treated")


def sources(unit: Path) -> list[str]:
    """What a unit is made of, relative to the repository; empty for generated and foreign sources."""
    parts = [unit]
    if unit.parent.name == "Unity":
        parts = [Path(part) for part in PART.findall(unit.read_text())]
    inside = [part.relative_to(ROOT).as_posix() for part in parts if part.is_relative_to(ROOT)]
    return [part for part in inside if part.startswith(TRACKED)]


def all_units() -> dict[Path, list[str]]:
    """Each unit with its sources, without units whose sources are all part of earlier ones."""
    units: dict[Path, list[str]] = {}
    seen: set[str] = set()
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    for unit in dict.fromkeys(Path(command["file"]) for command in commands):
        parts = sources(unit)
        if set(parts) - seen:
            units[unit] = parts
            seen.update(parts)
    return units


def tidy(unit: Path, only: list[str]) -> tuple[int, str]:
    """Exit code and output of one clang-tidy; of `only` these sources of the unit when there are some."""
    command = ["clang-tidy-19", "--quiet", "-p", str(BUILD), f"--config-file={ROOT}/.clang-tidy"]
    if only:
        command.append("--line-filter=" + json.dumps([{"name": f"/{name}"} for name in only]))
    done = subprocess.run([*command, str(unit)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def findings(output: str) -> list[str]:
    """The output as blocks, each one finding with its notes and source lines."""
    blocks: list[str] = []
    for line in output.splitlines():
        if NOISE.match(line):
            continue
        if FINDING.match(line) or not blocks:
            blocks.append("")
        blocks[-1] += line.removeprefix(f"{ROOT}/") + "\n"
    return blocks


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/check_tidy.sh", description=__doc__)
    parser.add_argument("--below-border", action="store_true", help="only the libraries below the border, and tools")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("files", nargs="*", help="only these sources; those that no target compiles are passed over")
    args = parser.parse_args()
    wanted = {Path(name).resolve().relative_to(ROOT).as_posix() for name in args.files}
    work = []
    for unit, parts in all_units().items():
        below = any(part.startswith(BELOW) for part in parts)
        only = sorted(wanted & set(parts))
        if (below or not args.below_border) and (only or not wanted):
            work.append((unit, only))
    if not work and not wanted:
        sys.exit("error: build/compile_commands.json names no source of this repository")
    printed: set[str] = set()
    failed = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for (unit, _), (code, output) in zip(work, pool.map(lambda item: tidy(*item), work)):
            fresh = [block for block in findings(output) if block not in printed]
            if code:
                failed += 1
                printed.update(fresh)
                print("".join(fresh) or f"{unit.relative_to(ROOT)}: as above", flush=True)
    print(f"clang-tidy: {len(work)} translation units, {failed} with findings, {len(printed)} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
