"""`--test_input` and `--input`: images or an .npz, to arrays for a model's inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .. import npz
from ..errors import UserError
from ..preprocess import IMAGE_SUFFIXES, Preprocess, open_image


def _paths(text: str) -> tuple[list[Path], bool]:
    """The files of `text`, and whether they are images."""
    paths = [Path(part) for part in text.split(",") if part]
    if not paths:
        raise UserError("--test_input: expects a file")
    return paths, len(paths) != 1 or paths[0].suffix.lower() in IMAGE_SUFFIXES


def check_readable(text: str) -> None:
    """Raises before long work begins what `load_inputs` would raise about files that are missing or of another kind."""
    paths, images = _paths(text)
    for path in paths:
        open_image(path, "RGB") if images else npz.names(path)


def load_inputs(
    text: str, inputs: list[tuple[str, list[int | None], str]], preprocess: Preprocess
) -> dict[str, np.ndarray]:
    """Arrays for `inputs` (name, shape with None for a size that the file says, numpy type name) from an .npz, or from
    one image per input (a comma list)."""
    paths, images = _paths(text)
    if not images:
        data = npz.load(paths[0])
    else:
        if len(paths) != len(inputs):
            raise UserError(f"--test_input: {len(paths)} images for {len(inputs)} inputs")
        data = {
            name: preprocess.load(path, [size or 1 for size in shape]) for path, (name, shape, _) in zip(paths, inputs)
        }
    feed = {}
    for name, shape, dtype in inputs:
        if name not in data:
            have = ", ".join(f"{k} {list(v.shape)}" for k, v in data.items()) or "nothing"
            raise UserError(f"{text}: input {name!r} {shape} is missing; the file has {have}")
        value = data[name]
        if value.ndim != len(shape) or any(want is not None and want != have for want, have in zip(shape, value.shape)):
            raise UserError(
                f"{text}: input {name!r} has shape {list(value.shape)}, the model expects {shape}".replace("None", "?")
            )
        if str(dtype) in ("string", "object"):
            if value.dtype.kind != "U":
                raise UserError(f"{text}: input {name!r} has type {value.dtype}, the model expects strings")
            feed[name] = value
            continue
        if value.dtype.kind != np.dtype(dtype).kind and not (value.dtype.kind in "iu" and np.dtype(dtype).kind in "iu"):
            raise UserError(f"{text}: input {name!r} has type {value.dtype}, the model expects {dtype}")
        feed[name] = np.asarray(_converted(value, np.dtype(dtype), f"{text}: input {name!r}"), order="C")
    return feed


def _converted(value: np.ndarray, kind: np.dtype, what: str) -> np.ndarray:
    """The values in another type of the same kind; an error where one is outside its range."""
    with np.errstate(over="ignore"):
        result = value.astype(kind, copy=False)
    lost = result != value if kind.kind in "iu" else np.isinf(result) & np.isfinite(value)
    if kind.kind in "iuf" and lost.any():
        raise UserError(f"{what} holds {value[lost].flat[0]}, the model's type {kind} does not")
    return result
