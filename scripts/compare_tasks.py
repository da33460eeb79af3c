"""Tasks of both kinds of core as C++, compiled against the public CPU simulator and run by their orchestration.

    compare_tasks.py --pto-isa DIR [--only NAME] [--write]

DIR is a checkout of the public pto-isa repository. The output tree of each program of task_programs.py is written; its
orchestration runs on the task runtime, once with the kernels of the tree's .pto on our simulator, once with those of
kernels/aic and kernels/aiv, a thread for the cube core and one for each vector core of a block. Both are compared with
numpy. --write keeps the table as docs/task-verdicts.md. Exits 1 when something differs.
"""

import argparse
import ctypes
import re
import sys
import tempfile
from pathlib import Path

import cpu_simulator
import numpy as np
import task_programs
from pto_mlir.config import include_dir
from pypto.backend import output_tree
from pypto.runtime.orchestration import OrchestrationTree, read_config

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/task-verdicts.md"
PROCESSORS = ("a3", "a5")
TOLERANCE = 1e-4
CORES = (("aic", "__DAV_CUBE__"), ("aiv", "__DAV_VEC__"))
# Blocks share the queues of a task here, so they run one after another.
RUN = r"""
#include <pto/pto-inst.hpp>
#include <thread>
#include <vector>
extern "C" void aic_entry(int64_t *args);
extern "C" void aiv_entry(int64_t *args);
extern "C" void run_task(int64_t *args, uint32_t block, uint32_t vectorCores) {
  auto run = [&](void (*entry)(int64_t *), uint32_t core, uint32_t cores) {
    pto::cpu_sim::set_execution_context(block, core, cores);
    entry(args);
  };
  std::vector<std::thread> cores;
  cores.emplace_back(run, aic_entry, 0, 1);
  for (uint32_t core = 0; core < vectorCores; ++core)
    cores.emplace_back(run, aiv_entry, core, vectorCores);
  for (std::thread &core : cores)
    core.join();
}
"""


class Failed(Exception):
    """A step that gave no result, with its first error."""


def compiled(isa: Path, folder: Path, group: str, sources: dict) -> ctypes.CDLL:
    """A task's kernels as one library: `sources` by kind of core."""
    parts = []
    for core, macro in CORES:
        part = folder / f"{group}.{core}.o"
        options = [
            "-c",
            "-fPIC",
            f"-D{macro}",
            f"-Dkernel_entry={core}_entry",
            f"-I{include_dir() / 'pto_orchestration'}",
        ]
        if problem := cpu_simulator.build(isa, folder / sources[core], part, *options):
            raise Failed(problem.split("error:")[-1].strip())
        parts.append(str(part))
    (folder / "run.cpp").write_text(RUN)
    library = folder / f"{group}.so"
    if problem := cpu_simulator.build(isa, folder / "run.cpp", library, "-shared", "-fPIC", *parts):
        raise Failed(problem.split("error:")[-1].strip())
    return ctypes.CDLL(str(library))


class CompiledTask:
    """In the place of a kernel of OrchestrationTree."""

    def __init__(self, name, library, vector_cores):
        self.name, self._run, self._vector_cores = name, library.run_task, vector_cores

    def run_words(self, words, blocks):
        for block in range(blocks):
            self._run(words, ctypes.c_uint32(block), ctypes.c_uint32(self._vector_cores))


def simulated(isa: Path, folder: Path, processor: str) -> dict:
    """Name -> task, for each group of a tree."""
    groups, tasks = {}, {}
    for row in read_config(folder)["KERNELS"]:
        groups.setdefault(row["group"], {})[row["core_type"]] = row["source"]
    for name, sources in groups.items():
        # Whole tiles of a5 are for the first vector core alone, but the simulator waits for all that there are.
        whole = not re.search(r"split = [1-9]", (folder / f"ptoas/{name}.pto").read_text())
        library = compiled(isa, folder, name, sources)
        tasks[name] = CompiledTask(name, library, 1 if whole and processor == "a5" else 2)
    return tasks


def verdict(name: str, folder: Path, processor: str, tasks=None) -> str:
    arguments = task_programs.arguments_of(name)
    OrchestrationTree(folder, processor, tasks)(*arguments)
    wanted = task_programs.expected(name)
    return f"within {float((np.abs(arguments[-1] - wanted) / (1 + np.abs(wanted))).max()):.0e}"


def cells(name: str, processor: str, isa: Path) -> list[str]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files, left_out = output_tree.tree_files(task_programs.PROGRAMS[name][0], True, processor)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        if left_out:
            return [next(iter(left_out.values()))] * 2
        try:
            return [
                verdict(name, folder, processor),
                verdict(name, folder, processor, simulated(isa, folder, processor)),
            ]
        except Failed as error:
            return [verdict(name, folder, processor), str(error)]


def agrees(cell: str) -> bool:
    return cell.startswith("within ") and float(cell.split()[1]) <= TOLERANCE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--pto-isa", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines, unknown = [], 0
    for name in (name for name in task_programs.PROGRAMS if arguments.only in name):
        for processor in PROCESSORS:
            row = cells(name, processor, arguments.pto_isa)
            unknown += not all(map(agrees, row))
            lines.append(f"| `{name}` | {processor} | {' | '.join(row)} |")
            print(lines[-1], flush=True)
    if arguments.write:
        PAGE.write_text(HEAD + "\n".join(lines) + "\n")
    return int(unknown > 0)


HEAD = """# Tasks of both kinds of core before the public simulator

Written by `scripts/compare_tasks.py --pto-isa DIR --write`: the programs of `scripts/task_programs.py` as
[output trees](pypto.md#the-output-tree), run by their orchestration with the kernels of the `.pto` on our simulator,
and with those of `kernels/aic` and `kernels/aiv`, compiled against the CPU simulator of the public ISA library (commit
3186c381), whose queues (`TPipe`) join a thread for each core. The largest difference to numpy's float64.

| program | processor | our simulator | C++ on the public one |
|---|---|---|---|
"""

if __name__ == "__main__":
    sys.exit(main())
