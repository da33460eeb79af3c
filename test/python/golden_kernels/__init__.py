"""Whole kernels as written by `model_deploy --emit-pto`: their inputs, and the results of our tools."""

import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
TYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.int8}
SAMPLES = 2048


def paths():
    return sorted(FOLDER.glob("*.pto"))


class Kernel:
    """A .pto of one function that writes its last pointer."""

    def __init__(self, path):
        self.path, text = path, path.read_text()
        self.name, arguments = re.search(r"func\.func @(\w+)\((.*?)\) attributes", text).groups()
        self.pointers = re.findall(r"!pto\.ptr<(\w+)>", arguments)
        self.vector = "kernel_kind<vector>" in text
        # Sums of products have another order, and functions differ in their last bits.
        self.tolerance = 2e-3 if "f16" in self.pointers else 1e-5

    def buffers(self):
        """Inputs of small numbers, and an output of zeros; larger than any of these kernels accesses."""
        rng = np.random.default_rng(sum(map(ord, self.name)))
        sizes = {"f32": 1 << 20, "f16": 1 << 20, "i32": 1 << 16, "i8": 1 << 16}
        make = lambda kind: (
            rng.integers(0, 8, sizes[kind]) if kind[0] == "i" else rng.standard_normal(sizes[kind]) / 4
        ).astype(TYPES[kind])
        return [make(kind) for kind in self.pointers[:-1]], np.zeros(sizes[self.pointers[-1]], TYPES[self.pointers[-1]])

    def ours(self, build, inputs, output):
        with tempfile.TemporaryDirectory() as folder:
            folder, arguments = Path(folder), []
            for i, values in enumerate(inputs):
                np.save(folder / f"{i}.npy", values)
                arguments += ["--arg", str(folder / f"{i}.npy")]
            subprocess.run(
                [build / "bin/pto-compile", self.path, "-o", folder / "k.pmodel"], check=True, capture_output=True
            )
            out = f"{folder / 'o.npy'}:{output.size}x{self.pointers[-1]}"
            subprocess.run(
                [build / "bin/pto-run", folder / "k.pmodel", "--kernel", self.name, *arguments, "--out", out],
                check=True,
                capture_output=True,
            )
            return np.load(folder / "o.npy")


def sample(values):
    """At most SAMPLES elements, evenly spaced over the nonzero range."""
    used = np.flatnonzero(values)
    length = int(used[-1]) + 1 if used.size else 1
    return values[np.linspace(0, length - 1, min(SAMPLES, length)).astype(np.int64)]


def difference(ours, theirs):
    """The largest difference, relative to 1 plus the magnitude."""
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    if (np.isnan(ours) != np.isnan(theirs)).any():
        return float("inf")
    return float(np.nan_to_num(np.abs(ours - theirs) / (1 + np.abs(theirs))).max())
