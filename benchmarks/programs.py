"""How long PyPTO programs take before and beside their computation, each beside its goal.

    PYTHONPATH=build/python .venv/bin/python benchmarks/programs.py [--checkout DIR [--python EXE]] [--only WORD]

The import, a first program from the start of its process to its result, a second call (our part: without what the
simulator takes for the file alone) and its memory, and a function of 10,000 statements. With a checkout of the public
repository also its programs, which need torch (that of EXE): its import is taken off the first one. Short times are the
least of several; valid on an idle machine. Ends
with 1 where a goal is missed that known_misses.toml does not list.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from goals import Goals
from pto_mlir import pypto

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(pypto.__file__).resolve().parent.parent

HELLO = """
import numpy as np
import pypto.language as pl
from pypto.runtime import RunConfig

@pl.jit
def tile_add(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        tile_a = pl.load(a, [0, 0], [128, 128])
        tile_b = pl.load(b, [0, 0], [128, 128])
        pl.store(pl.add(tile_a, tile_b), [0, 0], c)
    return c

def call(config=RunConfig()):
    tile_add(A, B, C, config=config)

A, B, C = (np.full((128, 128), value, np.float32) for value in (2, 3, 0))
"""
FIRST = "call()\nassert (C == 5).all()\n"
IMPORT = "import time; begin = time.perf_counter(); import pypto; print(time.perf_counter() - begin)"

# The call beside a session of the same file; then whether calls leave memory behind, once they went round the rings of
# tasks, whose pages count from their first use on.
SECOND = """
import json, resource, tempfile, time
from pto_mlir.runtime import InferenceSession

def least(work):
    times = []
    for _ in range(300):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)

call()
compiled = next(iter(tile_add._cache.values()))
with tempfile.NamedTemporaryFile(suffix=".pmodel") as file:
    file.write(compiled.pmodel)
    file.flush()
    session = InferenceSession(file.name)
feed = {i.name: A for i in session.get_inputs()}
alone, whole = least(lambda: session.run(None, feed)), least(call)
for _ in range(40000):
    call()
held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(20000):
    call()
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
print(json.dumps({"whole": whole, "alone": alone, "grown": grown}))
"""

# Compiled and run once before, so that the libraries are loaded.
STATEMENTS = """
import importlib.util, sys, time
import numpy as np
from pypto.runtime import RunConfig

def seconds(count, folder):
    file = f"{folder}/many{count}.py"
    with open(file, "w") as out:
        out.write("import pypto.language as pl\\n@pl.jit\\n")
        out.write("def many(a: pl.Tensor[[32, 32], pl.FP32], b: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):\\n")
        out.write("    with pl.at(level=pl.Level.CORE_GROUP):\\n        t = pl.load(a, [0, 0], [32, 32])\\n")
        for i in range(count):
            out.write(f"        t = pl.{'mul' if i % 2 else 'add'}(t, {0.5 + i % 7 * 0.125})\\n")
        out.write("        b = pl.store(t, [0, 0], b)\\n    return b\\n")
    spec = importlib.util.spec_from_file_location(f"many{count}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    a, b = np.ones((32, 32), np.float32), np.zeros((32, 32), np.float32)
    begin = time.perf_counter()
    module.many(a, b, config=RunConfig())
    return time.perf_counter() - begin

seconds(1, sys.argv[1])
print(seconds(5000, sys.argv[1]), seconds(10000, sys.argv[1]))
"""

# With the public repository: `run` and the methods of @pl.jit functions are timed by themselves.
PUBLIC = """
import importlib.util, json, runpy, sys, time
from pathlib import Path
root, what = Path(sys.argv[1]), sys.argv[2]

def module_of(file):
    spec = importlib.util.spec_from_file_location(Path(file).stem, root / file)
    made = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made

def least(work, times=3):
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return min(taken)

from pypto import ir
from pypto.runtime import RunConfig

if what == "llama":
    module = module_of("examples/models/08_llama_mini.py")
    print(least(lambda: ir.CompiledProgram(module.build_llama_mini_program(), RunConfig())))
elif what == "qwen":
    from pypto.jit import function
    lower, taken = function.JITFunction.lower, []
    def timed(self, *args, **keywords):
        begin = time.perf_counter()
        made = lower(self, *args, **keywords)
        taken.append(time.perf_counter() - begin)
        return made
    function.JITFunction.lower = timed
    runpy.run_module("examples.models.qwen3_jit.qwen3_decode", run_name="__main__")
    print(taken[0])
elif what == "paged":
    import pypto.runtime
    run, compile_, taken, compiled = pypto.runtime.run, ir.CompiledProgram.__init__, [], []
    def timed_run(*args, **keywords):
        begin = time.perf_counter()
        result = run(*args, **keywords)
        taken.append(time.perf_counter() - begin)
        return result
    def timed_compile(*args, **keywords):
        begin = time.perf_counter()
        compile_(*args, **keywords)
        compiled.append(time.perf_counter() - begin)
    pypto.runtime.run, ir.CompiledProgram.__init__ = timed_run, timed_compile
    from regression.pypto import index_as_newer_torch
    index_as_newer_torch()
    sys.argv[1:] = []
    runpy.run_path(str(root / "examples/models/04_paged_attention.py"), run_name="__main__")
    print(compiled[0], taken[0])
"""


def process(code: str, *arguments: str, python: str = sys.executable, path: tuple[str, ...] = ()) -> tuple[float, str]:
    """Seconds of a process that runs the code, and its last line. SystemExit where it fails."""
    paths = [str(PACKAGE), pypto.PATH, *path]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"  # programs are read from their file
        file.write_text(code)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYPTO_PROG_BUILD_DIR": folder}
        begin = time.perf_counter()
        done = subprocess.run(
            [python, str(file), *arguments], cwd=folder, env=environment, capture_output=True, text=True
        )
        seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip() or f"exit code {done.returncode}")
    return seconds, (done.stdout.strip().splitlines() or [""])[-1]


class Rows:
    def __init__(self, only: str):
        self.goals, self.only = Goals("programs"), only
        print("| what | measured | goal | |\n|---|---|---|---|")

    def wants(self, name: str) -> bool:
        return self.only in name

    def add(self, name: str, value: float, goal: float, unit: str) -> None:
        verdict = self.goals.verdict(name, value, goal)
        print(f"| {name} | {value:.4g} {unit} | {goal:g} {unit} | {verdict} |", flush=True)


def own_programs(rows: Rows) -> None:
    if rows.wants("import pypto"):
        rows.add("import pypto", min(float(process(IMPORT)[1]) for _ in range(7)), 0.15, "s")
    if rows.wants("hello world"):
        rows.add(
            "hello world, from the start of the process", min(process(HELLO + FIRST)[0] for _ in range(7)), 0.6, "s"
        )
    if rows.wants("second call, memory"):
        measured = json.loads(process(HELLO + SECOND)[1])
        ours = 1e3 * (measured["whole"] - measured["alone"])
        rows.add("second call, beside the simulator's time", ours, 1.0, "ms")
        rows.add("second call, memory that 20,000 leave", measured["grown"], 64, "KiB")
    if rows.wants("10,000 statements"):
        with tempfile.TemporaryDirectory() as folder:
            found = [[float(each) for each in process(STATEMENTS, folder)[1].split()] for _ in range(3)]
        half, whole = (min(column) for column in zip(*found, strict=True))
        rows.add("10,000 statements", whole, 3.0, "s")
        rows.add("10,000 statements, times 5,000", whole / half, 2.3, "")


def public_programs(rows: Rows, checkout: Path, python: str) -> None:
    def run(what: str, code: str = PUBLIC) -> tuple[float, str]:
        return process(code, str(checkout), what, python=python, path=(str(checkout), str(ROOT)))

    if rows.wants("public hello world"):
        file = checkout / "examples/beginner/01_hello_world.py"
        code = f"import runpy\nrunpy.run_path({str(file)!r}, run_name='__main__')"
        whole, torch = (min(run("", each)[0] for _ in range(5)) for each in (code, "import torch"))
        rows.add("public hello world, beside the import of torch", whole - torch, 0.6, "s")
    if rows.wants("llama_mini compiled"):
        rows.add("llama_mini compiled", float(run("llama")[1]), 0.5, "s")
    if rows.wants("qwen3_jit lowered"):
        rows.add("qwen3_jit lowered", float(run("qwen")[1]), 4.0, "s")
    if rows.wants("models/04 compiled and run"):
        compiled, whole = map(float, run("paged")[1].split())
        rows.add("models/04 (paged attention, 64 requests) compiled", compiled, 1.5, "s")
        rows.add("models/04 compiled and run", whole, 30.0, "s")
    for name, minutes, options in (
        ("all example mains, their references included", 4.0, ["--group", "examples"]),
        ("runtime/ops, two jobs", 8.0, ["--group", "st", "--only", "runtime/ops"]),
    ):
        if rows.wants(name):
            command = ["-m", "regression.pypto", "--checkout", str(checkout), "--python", python, "--jobs", "2"]
            begin = time.perf_counter()
            # Its exit code tells of programs that fail; here only the time counts.
            subprocess.run([sys.executable, *command, *options], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
            rows.add(name, (time.perf_counter() - begin) / 60, minutes, "min")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=Path, help="of the public repository")
    parser.add_argument("--python", default="python3", help="an interpreter that has torch")
    parser.add_argument("--only", default="", help="rows with this word")
    args = parser.parse_args()
    rows = Rows(args.only)
    own_programs(rows)
    if args.checkout:
        public_programs(rows, args.checkout.resolve(), args.python)
    return rows.goals.close()


if __name__ == "__main__":
    sys.exit(main())
