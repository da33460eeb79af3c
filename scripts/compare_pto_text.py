"""Kernels of models, printed as .pto and compiled again: are the commands the same bytes?

    compare_pto_text.py [--quantize F16] [--num_core 4] [--for pto-compile] NET.mlir..

Each NET is a top .mlir that model_transform wrote; those of the zoo are in the work folder of `python -m regression`
(default: regression in the cache). It is deployed with --emit-pto, each file goes through pto-compile, and the command
streams of each kernel are compared with the model's. Prints how many are equal and, for the others, why; exits 1 when
one differs without a known reason.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pto_mlir

BIN = Path(pto_mlir.__file__).resolve().parents[2] / "bin"
READERS = ("assembler", "pto-compile")


class Comparison(NamedTuple):
    equal: list[str]
    explained: dict[str, str]  # kernel -> why its text says something else
    unexplained: dict[str, str]  # kernel -> what differs


def run(*arguments) -> str:
    result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip())
    return result.stdout


def streams(model: Path) -> dict[str, dict[tuple, bytes]]:
    """Kernel -> (kind of core, engine) -> command bytes."""
    meta = json.loads(run(BIN / "pmodel_tool", "--print", model))
    data = model.read_bytes()[meta["commands"]["begin"] :]
    kernels = {}
    for kernel in meta["kernels"]:
        kernels[kernel["name"]] = {
            (s["core_kind"], s["pipe"]): data[s["words"]["begin"] :][: s["words"]["size"]] for s in kernel["streams"]
        }
    return kernels


def compare(mlir: Path, folder: Path, quantize="F32", num_core=1, reader="assembler") -> Comparison:
    """Deploys, prints, compiles again, compares. `folder` gets the files."""
    texts = folder / "pto"
    texts.mkdir(parents=True, exist_ok=True)
    model = folder / "model.pmodel"
    options = ["--quantize", quantize, "--num_core", num_core, "--emit-pto", texts, "--emit-pto-for", reader]
    said = run(BIN / "model_deploy", "--mlir", mlir, "--model", model, *options)
    left = dict(re.findall(r"not as \.pto: ([^:\s]+): (.*)", said))
    rewritten = dict(re.findall(r"in other ops than the model runs: ([^:\s]+): (.*)", said))
    result = Comparison([], {}, {})
    for name, expected in streams(model).items():
        file = texts / f"{name}.pto"
        if not file.exists():
            (result.explained if name in left else result.unexplained)[name] = left.get(name, "no text")
            continue
        compiled = folder / f"{name}.pmodel"
        try:
            run(BIN / "pto-compile", file, "--blocks", num_core, "-o", compiled)
        except RuntimeError as problem:
            result.unexplained[name] = str(problem)
            continue
        got = streams(compiled)[name]
        if got == expected:
            result.equal.append(name)
        elif name in rewritten:
            result.explained[name] = rewritten[name]
        else:
            sizes = [{"/".join(map(str, key)): len(value) for key, value in one.items()} for one in (expected, got)]
            result.unexplained[name] = f"bytes per stream {sizes[0]} in the model, {sizes[1]} from the text"
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", nargs="+", type=Path, metavar="NET.mlir")
    parser.add_argument("--quantize", default="F32", choices=["F32", "F16", "BF16"])
    parser.add_argument("--num_core", type=int, default=1)
    parser.add_argument("--for", dest="reader", choices=READERS, default="assembler")
    args = parser.parse_args()
    failed = False
    for net in args.nets:
        with tempfile.TemporaryDirectory() as folder:
            result = compare(net, Path(folder), args.quantize, args.num_core, args.reader)
        total = len(result.equal) + len(result.explained) + len(result.unexplained)
        print(
            f"{net.name}: {len(result.equal)} of {total} kernels are equal, {len(result.explained)} explained, "
            f"{len(result.unexplained)} not"
        )
        for title, lines in (("explained", result.explained), ("DIFFERENT", result.unexplained)):
            for name, reason in lines.items():
                print(f"  {title}: {name}: {reason}")
        failed |= bool(result.unexplained)
    return int(failed)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as problem:
        sys.exit(f"compare_pto_text.py: error: {problem}")
