"""Runs whole kernels through the public tools and through ours, and saves the results of the public ones.

    python make.py PTOAS PTO_ISA_CHECKOUT BUILD [KERNEL.pto ...]

PTOAS is the public assembler's program, PTO_ISA_CHECKOUT the public pto-isa repository (whose CPU simulator runs what
the assembler writes), BUILD our build directory. Each kernel (as `model_deploy --emit-pto` writes it; default: those
beside this file) goes .pto -> PTOAS -> C++ -> CPU simulator, and .pto -> pto-compile -> pto-run; both get the inputs of
__init__.py. Prints the largest difference per kernel, exits 1 when one is too large. Without KERNEL arguments the
simulator's answers are written to answers.npz, a sample of each output. Needs clang++-19.

The answers come from commits a56b18c3 of the assembler and 3186c381 of pto-isa.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
import cpu_simulator

import golden_kernels as kernels


def simulate(ptoas, isa, path, inputs, output):
    """The output buffer as computed by the public tools."""
    kernel = kernels.Kernel(path)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        subprocess.run(
            [ptoas, "--enable-insert-sync", str(path), "-o", str(folder / "kernel.cpp")],
            check=True,
            capture_output=True,
        )
        # Of a bias tile the assembler takes the address as a number, which it is on the chip; in the simulator it is a
        # pointer.
        source = re.sub(
            r"(uint64_t v\d+) = (v\d+\.data\(\));",
            r"\1 = reinterpret_cast<uint64_t>(\2);",
            (folder / "kernel.cpp").read_text(),
        )
        (folder / "kernel.cpp").write_text(source)
        names = []
        for i, values in enumerate([*inputs, output]):
            names.append(folder / f"{i}.bin")
            values.tofile(names[-1])
        types = {"f32": "float", "f16": "half", "i32": "int32_t", "i8": "int8_t"}
        arguments = ", ".join(
            f"reinterpret_cast<{types[kind]} *>(data[{i}].data())" for i, kind in enumerate(kernel.pointers)
        )
        main = '#include "kernel.cpp"\n' + cpu_simulator.main_of(f"{kernel.name}({arguments});")
        (folder / "main.cpp").write_text(main)
        side = "-D__DAV_VEC__" if kernel.vector else "-D__DAV_CUBE__"
        if problem := cpu_simulator.build(isa, folder / "main.cpp", folder / "main", side):
            raise SystemExit(f"{path}: {problem}")
        cores = "2" if kernel.vector else "1"
        subprocess.run([str(folder / "main"), kernel.name, cores, *map(str, names)], check=True)
        return np.fromfile(names[-1], output.dtype)


def main() -> int:
    if len(sys.argv) < 4:
        print("usage: python make.py PTOAS PTO_ISA_CHECKOUT BUILD [KERNEL.pto ...]", file=sys.stderr)
        return 2
    ptoas, isa, build = sys.argv[1:4]
    given = [Path(p) for p in sys.argv[4:]]
    answers, wrong = {}, 0
    for path in given or kernels.paths():
        kernel = kernels.Kernel(path)
        inputs, output = kernel.buffers()
        theirs, ours = simulate(ptoas, isa, path, inputs, output), kernel.ours(Path(build), inputs, output)
        difference = kernels.difference(ours, theirs)
        wrong += difference > kernel.tolerance
        print(f"{path.stem:40s} {difference:.2e}{'' if difference <= kernel.tolerance else '  TOO LARGE'}", flush=True)
        answers[path.stem] = kernels.sample(theirs)
    if not given and not wrong:
        np.savez_compressed(kernels.FOLDER / "answers.npz", **answers)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
