"""Kernels as C++ in both styles, compiled against the public CPU simulator, beside our simulator.

    compare_cpp.py --pto-isa DIR [--build DIR] [--only TEXT] [--write]

DIR is a checkout of the public pto-isa repository. Each kernel of cpp_kernels.py goes .pto -> pto-compile -> C++ ->
clang++-19 with the simulator's headers, and .pto -> pto-compile -> pto-run. Every buffer of a kernel, filled with the
same numbers, is compared afterwards. Prints a line per kernel; --write keeps them as docs/cpp-verdicts.md. Exits 1 when
a kernel differs and cpp_kernels.KNOWN has no reason for it.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cpp_kernels
import cpu_simulator
import numpy as np
from cpp_kernels import ROOT, Kernel

PAGE = ROOT / "docs/cpp-verdicts.md"
STYLES = ("today", "seed")
NUMPY = {"f32": "float32", "f16": "float16", "index": "int64", "i1": "bool"}
CPP = {"f32": "float", "f16": "half", "index": "int64_t", "bf16": "bfloat16_t"}


class Failed(Exception):
    """A step that gave no result, with its first error."""


def run(*command) -> None:
    environment = os.environ | {"PTO_CPU_SIM_NUM_CORES": "1"}  # blocks of a launch
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment, timeout=300)
    if result.returncode != 0:
        lines = (result.stderr + result.stdout).splitlines() or [f"exit status {result.returncode}"]
        line = next((line for line in lines if "error" in line or "Constraint" in line), lines[0])
        raise Failed(re.sub(r"\S*/", "", line))


def scalar_type(kind: str, names: dict) -> str:
    if kind in names:
        return names[kind]
    return (
        ("u" if kind.startswith("u") else "")
        + f"int{kind.removeprefix('u').removeprefix('i')}"
        + ("_t" if names is CPP else "")
    )


def buffers(kernel: Kernel) -> list[np.ndarray]:
    """Numbers between 0.1 and 2 of both signs; integers from 1 to 31, which are places and shifts too."""
    rng = np.random.default_rng(sum(map(ord, kernel.name)))
    made = []
    for argument in kernel.arguments:
        if not argument.endswith("*"):
            continue
        kind = np.dtype(scalar_type(argument[:-1], NUMPY))
        if kind.kind == "f":
            made.append((rng.uniform(0.1, 2, kernel.elements) * rng.choice([-1, 1], kernel.elements)).astype(kind))
        else:
            made.append(rng.integers(1, 32, kernel.elements).astype(kind))
    return made


def ours(build: Path, model: Path, kernel: Kernel, folder: Path) -> list[np.ndarray]:
    arguments, given = [], iter(enumerate(buffers(kernel)))
    for argument in kernel.arguments:
        if argument.endswith("*"):
            k, values = next(given)
            np.save(folder / f"{k}.npy", values)
            arguments += ["--inout", folder / f"{k}.npy"]
        else:
            arguments += ["--arg", argument.split("=")[1]]
    run(build / "bin/pto-run", model, "--kernel", kernel.name, *arguments)
    return [np.load(folder / f"{k}.npy") for k in range(len(buffers(kernel)))]


def call(kernel: Kernel, style: str) -> str:
    """The C++ that calls a kernel on `data`."""
    place, words, direct = 0, [], []
    for argument in kernel.arguments:
        if argument.endswith("*"):
            direct.append(f"reinterpret_cast<{scalar_type(argument[:-1], CPP)} *>(data[{place}].data())")
            words.append(f"reinterpret_cast<int64_t>(data[{place}].data())")
            place += 1
        else:
            kind, value = argument.split("=")
            direct.append(f"{scalar_type(kind, CPP)}({value})")
            bits = np.float32(value).view(np.uint32) if kind == "f32" else value
            words.append(f"int64_t({bits})")
    if style == "today":
        return f'if (kernel == "{kernel.name}") {kernel.name}({", ".join(direct)});\n    else '
    name = "run" + "".join(word[0].upper() + word[1:] for word in kernel.name.split("_") if word)
    return f'if (kernel == "{kernel.name}") {{ int64_t args[] = {{{", ".join(words)}}}; {name}(args); }}\n    else '


def compiled(isa: Path, source: Path, kernels: list[Kernel], style: str) -> Path:
    main = source.with_name(f"main-{style}.cpp")
    calls = "".join(call(kernel, style) for kernel in kernels)
    main.write_text(f'#include "{source}"\n' + cpu_simulator.main_of(calls + "std::abort();"))
    program = source.with_suffix(".exe")
    run(*cpu_simulator.command(isa, main, program))
    return program


def theirs(program: Path, kernel: Kernel, folder: Path) -> list[np.ndarray]:
    given = buffers(kernel)
    for k, values in enumerate(given):
        values.tofile(folder / f"{k}.bin")
    run(program, kernel.name, kernel.vector_cores, *(folder / f"{k}.bin" for k in range(len(given))))
    return [np.fromfile(folder / f"{k}.bin", values.dtype) for k, values in enumerate(given)]


def verdict(kernel: Kernel, mine: list[np.ndarray], other: list[np.ndarray]) -> tuple[bool, str]:
    """Whether they agree as far as they must, and in words."""
    if all(a.tobytes() == b.tobytes() for a, b in zip(mine, other, strict=True)):
        return True, "same bits"
    worst = 0.0
    for a, b in zip(mine, other, strict=True):
        a, b = a.astype(np.float64), b.astype(np.float64)
        if (np.isnan(a) != np.isnan(b)).any():
            return False, "NaN in other places"
        with np.errstate(invalid="ignore"):
            worst = max(worst, float(np.nan_to_num(np.abs(a - b) / (1 + np.abs(b)), posinf=9e9).max()))
    return worst <= kernel.tolerance, f"within {worst:.0e}"


def compare(group: list[Kernel], text: Path, isa: Path, build: Path, folder: Path) -> dict[str, dict[str, tuple]]:
    """Kernel -> style -> whether they agree, and in words."""
    model = folder / "k.pmodel"
    level = ["--level", "3"] if re.search(r"^ *%.*alloc_tile addr", text.read_text(), re.M) else []
    run(build / "bin/pto-compile", text, "-o", model, *level)
    results = {kernel.name: {} for kernel in group}
    for style in STYLES:
        source = folder / f"{style}.cpp"
        try:
            run(build / "bin/pto-compile", text, "-o", source, "--cpp-style", style, *level)
            program = compiled(isa, source, group, style)
        except Failed as error:
            for kernel in group:
                results[kernel.name][style] = (False, str(error)[-200:])
            continue
        for kernel in group:
            try:
                results[kernel.name][style] = verdict(
                    kernel, ours(build, model, kernel, folder), theirs(program, kernel, folder)
                )
            except Failed as error:
                results[kernel.name][style] = (False, str(error)[-200:])
    return results


def groups(folder: Path):
    """Texts with their kernels: those of the tree, and the kernels of one op, some in each text."""
    for path in cpp_kernels.FILES:
        if (ROOT / path).exists():
            yield path, ROOT / path, cpp_kernels.kernels_of(path)
    for begin in range(0, len(cpp_kernels.OPS), 12):
        text, kernels = cpp_kernels.one_op_module(cpp_kernels.OPS[begin : begin + 12])
        path = folder / f"ops{begin}.pto"
        path.write_text(text)
        yield "one op", path, kernels


def page(rows: list[tuple], commit: str) -> str:
    """The verdicts as a page: a row per kernel."""
    lines = [
        "# Kernels as C++",
        "",
        "Written by `scripts/compare_cpp.py --pto-isa DIR --write`: kernels as [C++](cpp.md) in both styles, compiled",
        f"against the CPU simulator of the public ISA library (commit {commit}), beside our simulator on the same",
        "numbers. Every buffer is compared; a difference is relative to 1 plus the magnitude.",
        "",
        f"{len(rows)} kernels. What differs beyond its tolerance has a reason.",
        "",
        "| text | kernel | `today` | `seed` | reason |",
        "|---|---|---|---|---|",
    ]
    for file, name, *verdicts, reason in rows:
        shown = " | ".join(words if agrees or reason else f"**{words}**" for agrees, words in verdicts)
        lines.append(f"| {'one op' if file == 'one op' else f'`{file}`'} | `{name}` | {shown} | {reason} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pto-isa", type=Path, required=True)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--only", default="", help="kernels or files whose name contains this")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    commit = subprocess.check_output(
        ["git", "-C", options.pto_isa, "rev-parse", "--short=8", "HEAD"], text=True
    ).strip()
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        for k, (file, text, kernels) in enumerate(groups(Path(scratch))):
            if options.only not in file and not any(options.only in kernel.name for kernel in kernels):
                continue
            folder = Path(scratch) / str(k)
            folder.mkdir()
            try:
                results = compare(kernels, text, options.pto_isa, options.build, folder)
            except Failed as error:
                results = {kernel.name: dict.fromkeys(STYLES, (False, str(error)[-200:])) for kernel in kernels}
            for kernel in kernels:
                both = [results[kernel.name][style] for style in STYLES]
                agree = all(agrees for agrees, _ in both)
                reason = "" if agree else cpp_kernels.KNOWN.get((file, kernel.name), "")
                wrong += not agree and not reason
                rows.append((file, kernel.name, *both, reason))
                shown = "  ".join(f"{s}: {words}" for s, (_, words) in zip(STYLES, both, strict=True))
                mark = "" if agree else f"  KNOWN: {reason}" if reason else "  WRONG"
                print(f"{Path(file).name:22s} {kernel.name:26s} {shown}{mark}", flush=True)
    print(f"{len(rows) - wrong} of {len(rows)} kernels agree or differ for a known reason")
    if options.write:
        PAGE.write_text(page(rows, commit))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
