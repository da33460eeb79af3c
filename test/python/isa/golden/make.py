"""Writes answers.npz: the results of pto-isa's CPU simulator on probe.cpp.

    python make.py PTO_ISA_CHECKOUT

Needs clang++-19. The answers come from commit 3186c381 of the public pto-isa repository.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "u16": np.uint16,
    "i32": np.int32,
    "u32": np.uint32,
}


def main() -> int:
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "include/pto/pto-inst.hpp").exists():
        print("usage: python make.py PTO_ISA_CHECKOUT", file=sys.stderr)
        return 2
    here = Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "probe"
        forced = [flag for header in ("cstdint", "cmath", "vector", "algorithm") for flag in ("-include", header)]
        subprocess.run(
            [
                "clang++-19",
                "-std=c++20",
                "-O1",
                "-w",
                "-mllvm",
                "-hints-allow-reordering=false",
                "-D__CPU_SIM",
                "-DPTO_CPU_MAX_THREADS=1",
                *forced,
                f"-I{sys.argv[1]}/include",
                str(here / "probe.cpp"),
                "-o",
                str(program),
                "-lpthread",
                "-ldl",
            ],
            check=True,
        )
        lines = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines()
    answers = {}
    for line in lines:
        name, kind, rows, cols, digits = line.split()
        answers[f"{name}/{kind}"] = np.frombuffer(bytes.fromhex(digits), TYPES[kind]).reshape(int(rows), int(cols))
    np.savez_compressed(here / "answers.npz", **answers)
    print(len(answers), "answers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
