"""`--test_input` and `--input`: images or an .npz, to arrays for a model's inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .. import npz
from ..errors import UserError
from ..preprocess import IMAGE_SUFFIXES, Preprocess


def load_inputs(text: str, inputs: list[tuple[str, list[int], str]], preprocess: Preprocess) -> dict[str, np.ndarray]:
    """Arrays for `inputs` (name, shape, numpy type name) from an .npz, or from one image per input (a comma list)."""
    paths = [Path(part) for part in text.split(",") if part]
    if not paths:
        raise UserError("--test_input: expects a file")
    if len(paths) == 1 and paths[0].suffix.lower() not in IMAGE_SUFFIXES:
        data = npz.load(paths[0])
    else:
        if len(paths) != len(inputs):
            raise UserError(f"--test_input: {len(paths)} images for {len(inputs)} inputs")
        data = {name: preprocess.load(path, shape) for path, (name, shape, _) in zip(paths, inputs)}
    feed = {}
    for name, shape, dtype in inputs:
        if name not in data:
            have = ", ".join(f"{k} {list(v.shape)}" for k, v in data.items()) or "nothing"
            raise UserError(f"{text}: input {name!r} {shape} is missing; the file has {have}")
        value = data[name]
        if list(value.shape) != shape:
            raise UserError(f"{text}: input {name!r} has shape {list(value.shape)}, the model expects {shape}")
        if value.dtype.kind != np.dtype(dtype).kind and not (value.dtype.kind in "iu" and np.dtype(dtype).kind in "iu"):
            raise UserError(f"{text}: input {name!r} has type {value.dtype}, the model expects {dtype}")
        feed[name] = np.asarray(value.astype(dtype, copy=False), order="C")
    return feed
