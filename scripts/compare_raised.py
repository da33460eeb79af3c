"""Kernels of models as PyPTO programs that are compiled again: do they compute the same bits?

    compare_raised.py [--quantize F32,F16] [--processors a3,a5] NET.mlir..

Each NET is a top .mlir that model_transform wrote; quickstart.sh leaves the direction classifier's in .cache/cls. It is
deployed with --emit-pto, and each kernel goes .pto -> pto-compile -> .py -> pto-compile. Both kernels run on the same
random arguments. Prints how many are raised, compile again and give the same bits, how many of them have both kinds of
cores, and why the others do not; exits 1 when bits differ.
"""

import argparse
import itertools
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
from pypto.ir.compiled_program import compile_to, main_of  # noqa: E402

COMPILE = Path(pto_mlir.__file__).resolve().parents[2] / "bin" / "pto-compile"
STEPS = ("not raised", "not compiled again", "other bits", "same bits")


def arguments_of(program):
    """Random arguments of its only kernel, or group."""
    function = main_of(program)
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


def emitted(net, quantize, processor, folder):
    """The kernels of a network as .pto."""
    deploy = [sys.executable, "-m", "pto_mlir.tools.model_deploy", "--mlir", net, "--quantize", quantize]
    deploy += ["--processor", processor, "--emit-pto", folder, "--emit-pto-for", "pto-compile"]
    subprocess.run([*deploy, "--model", folder / "m.pmodel"], check=True, capture_output=True)
    return sorted(folder.rglob("*.pto"))  # a network of several nets has a folder for each


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("nets", nargs="+", type=Path, metavar="NET.mlir")
    p.add_argument("--quantize", default="F32,F16")
    p.add_argument("--processors", default="a3,a5")
    args = p.parse_args()
    counts, mixed, reasons = Counter(), Counter(), Counter()
    for net, quantize, processor in itertools.product(args.nets, args.quantize.split(","), args.processors.split(",")):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for source in emitted(net, quantize, processor, folder):
                step, reason = compared(source, folder, processor)
                counts[step] += 1
                if all(f"pto.section.{core}" in source.read_text() for core in ("cube", "vector")):
                    mixed[step] += 1
                if reason:
                    without_place = re.sub(r"^.*:\d+:\d+: | \([^ ]*:\d+:\d+\)$", "", reason)
                    reasons[step, re.sub(r"\d+", "N", without_place)] += 1
    for kind, each in (("kernels", counts), ("of both kinds of cores", mixed)):
        print(", ".join(f"{step}: {each[step]}" for step in STEPS), f"of {sum(each.values())} {kind}")
    for (step, reason), count in reasons.most_common():
        print(f"{count:4}  {step}: {reason}")
    return 1 if counts[STEPS[2]] else 0


if __name__ == "__main__":
    sys.exit(main())
