"""Kernels of models as PyPTO programs that are compiled again: do they compute the same bits?

    compare_raised.py [--quantize F32,F16] NET.mlir..

Each NET is a top .mlir that model_transform wrote; quickstart.sh leaves the direction classifier's in .cache/cls. It is
deployed for a3 with --emit-pto, and each kernel goes .pto -> pto-compile -> .py -> pto-compile. Both kernels run on the
same random arguments. Prints how many are raised, compile again and give the same bits, and why the others do not;
exits 1 when bits differ.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pto_mlir
from pto_mlir import pypto

pypto.enable()

import pypto.language as pl  # noqa: E402
from pto_mlir.runtime import Kernel  # noqa: E402
from pypto.ir.compiled_program import compile_to  # noqa: E402

COMPILE = Path(pto_mlir.__file__).resolve().parents[2] / "bin" / "pto-compile"
STEPS = ("not raised", "not compiled again", "other bits", "same bits")


def arguments_of(program):
    """Random arguments of its only function."""
    (function,) = program.functions.values()
    rng = np.random.default_rng(0)
    types = {"fp32": np.float32, "fp16": np.float16, "int32": np.int32}
    for param in function.params:
        shape = [extent.value for extent in param.type.shape]
        yield (rng.standard_normal(shape) * 2).astype(types[str(param.type.dtype)])


def compared(source, folder, processor="a3"):
    """(one of STEPS, the reason) for the kernel of a .pto. RuntimeError where the kernel itself is refused."""
    text, first, back = folder / "k.py", folder / "first.pmodel", folder / "back.pmodel"
    done = subprocess.run([COMPILE, source, "-o", text], capture_output=True, text=True)
    if done.returncode != 0:
        return STEPS[0], done.stderr.strip()
    program = pl.loads_program(text)
    try:
        compile_to(program, back, processor)
    except Exception as error:  # whatever class the compiler's error has
        return STEPS[1], str(error)
    done = subprocess.run([COMPILE, source, "-o", first], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    results = []
    for each in (first, back):
        results.append(list(arguments_of(program)))
        Kernel(each).run(*results[-1])
    equal = all(np.array_equal(a.view(np.uint8), b.view(np.uint8)) for a, b in zip(*results, strict=True))
    written = any(not np.array_equal(a, b) for a, b in zip(arguments_of(program), results[0], strict=True))
    return (STEPS[3], "") if equal and written else (STEPS[2], "nothing is written" if equal else "bits differ")


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("nets", nargs="+", type=Path, metavar="NET.mlir")
    p.add_argument("--quantize", default="F32,F16")
    args = p.parse_args()
    counts, reasons = Counter(), Counter()
    for net in args.nets:
        for quantize in args.quantize.split(","):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                deploy = [sys.executable, "-m", "pto_mlir.tools.model_deploy", "--mlir", net, "--quantize", quantize]
                deploy += ["--processor", "a3", "--emit-pto", folder, "--emit-pto-for", "pto-compile"]
                subprocess.run([*deploy, "--model", folder / "m.pmodel"], check=True, capture_output=True)
                for source in sorted(folder.glob("*.pto")):
                    step, reason = compared(source, folder)
                    counts[step] += 1
                    if reason:
                        both = all(f"pto.section.{core}" in source.read_text() for core in ("cube", "vector"))
                        short = re.sub(r"\d+", "N", reason.rsplit(": ", 1)[-1])
                        reasons[step, "both kinds of cores" if both else short] += 1
    print(", ".join(f"{step}: {counts[step]}" for step in STEPS), f"of {sum(counts.values())} kernels")
    for (step, reason), count in reasons.most_common():
        print(f"{count:4}  {step}: {reason}")
    return 1 if counts[STEPS[2]] else 0


if __name__ == "__main__":
    sys.exit(main())
