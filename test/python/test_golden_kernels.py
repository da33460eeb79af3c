"""Kernels written by model_deploy --emit-pto, against the results of the public assembler and CPU simulator (golden_kernels/make.py)."""

from pathlib import Path

import golden_kernels as kernels
import numpy as np
import pto_mlir
import pytest

BUILD = Path(pto_mlir.__file__).resolve().parents[2]
ANSWERS = np.load(kernels.FOLDER / "answers.npz")


def test_every_kernel_has_an_answer():
    assert {path.stem for path in kernels.paths()} == set(ANSWERS.files) and len(ANSWERS.files) >= 10


@pytest.mark.parametrize("path", kernels.paths(), ids=lambda path: path.stem)
def test_kernel_computes_what_the_public_tools_do(path):
    kernel = kernels.Kernel(path)
    inputs, output = kernel.buffers()
    assert (
        kernels.difference(kernels.sample(kernel.ours(BUILD, inputs, output)), ANSWERS[path.stem]) <= kernel.tolerance
    )
