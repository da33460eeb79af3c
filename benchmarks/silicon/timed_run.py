"""What the kernels beside silicon share: the tools, and a timed run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def tool(name: str, *arguments) -> str:
    """What a tool of the build prints; its errors end the program."""
    path = HERE.parents[1] / "build" / "bin" / name
    result = subprocess.run([path if path.exists() else name, *map(str, arguments)], text=True, capture_output=True)
    if result.returncode:
        sys.exit(result.stdout + result.stderr)
    return result.stdout


def fill_in(file: str, folder: Path, **constants) -> None:
    """Writes the kernel `file` of this directory to `folder` with other values of its named constants."""
    text = (HERE / file).read_text()
    for name, value in constants.items():
        text, count = re.subn(rf"%{name} = arith.constant \d+", f"%{name} = arith.constant {value}", text)
        if not count:
            sys.exit(f"{file}: there is no constant %{name}")
    (folder / file).write_text(text)


def run(folder: Path, file: str, kernel: str, blocks: int, inputs: dict, outputs: dict, mode: str = "timing", flags=()):
    """Compiles `folder`/`file` and runs its kernel on named arrays. Returns the outputs, the microseconds, and the
    percentage of them that each engine is busy (in other modes than timing neither). `outputs` maps names to the text
    of their types, 4x8xf32."""
    tool("pto-compile", folder / file, *flags, "--blocks", blocks, "-o", folder / "kernel.pmodel")
    arguments = []
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--arg", folder / f"{name}.npy"]
    for name, kind in outputs.items():
        arguments += ["--out", f"{folder / name}.npy:{kind}"]
    printed = tool("pto-run", folder / "kernel.pmodel", "--kernel", kernel, *arguments, "--mode", mode)
    results = [np.load(folder / f"{name}.npy") for name in outputs]
    if mode != "timing":
        return results, None, None
    cycles, microseconds = map(float, re.search(r"([\d.]+) cycles, ([\d.e+]+) us", printed).groups())
    busy = re.findall(r"^  (\w+ \w+): busy (\d+)", printed, re.M)
    return results, microseconds, {engine: 100 * float(count) / cycles for engine, count in busy}
