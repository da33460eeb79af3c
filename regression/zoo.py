"""The models of the zoo: their description files, how they get into the cache, and what is fed to them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tomllib
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.preprocess import Preprocess

FOLDER = Path(__file__).resolve().parent
DESCRIPTIONS = FOLDER / "models"
MODES = ("F32", "F16", "BF16")
DEFAULT_PROCESSOR = next(iter(compiler.processors()))
SENTENCE_KINDS = ("tokens", "segments", "mask")
KINDS = ("line", "page", "photo", "normal", "uniform", "waveform", "integers", "value", *SENTENCE_KINDS)
DEBIAN_PYTHON = "/usr/bin/python3"
MISSING_PACKAGE = 3  # exit code of a maker whose packages are not installed


class Unavailable(Exception):
    """A model that cannot be made here; the text says why and what would help. Counts as skipped."""


@dataclass
class Input:
    """One input: `kind` is line, page or photo (pictures), normal or uniform (seeded noise, from 0 to 1), waveform
    (sound), integers (seeded, int64, from 0 to below `most`), tokens, segments, mask (sentences), or value (an integer
    that is compiled in)."""

    name: str
    shape: list[int]
    kind: str
    most: int = 2
    value: int = 0


@dataclass
class Tolerance:
    """Bounds of one mode: least cosine of every named tensor and of the outputs, greatest absolute error of the
    outputs."""

    tensors: float
    outputs: float
    max_error: float


@dataclass
class Model:
    """One description file."""

    name: str
    title: str
    source: str
    licence: str
    maker: list[
        str
    ]  # script under regression/makers (or a path beside the description) and its arguments; the target is appended
    file: str
    inputs: list[Input]
    tolerance: dict[str, Tolerance]
    python: str = "own"  # own | debian
    preprocess: Preprocess = field(default_factory=Preprocess)
    modes: list[str] = field(default_factory=lambda: list(MODES))
    float64: str = "graph"  # graph | torch
    metric: str = ""
    notes: str = ""
    options: list[str] = field(default_factory=list)  # more of model_transform's
    path: Path = DESCRIPTIONS

    @property
    def shapes(self) -> str:
        return "[" + ",".join("[" + ",".join(map(str, i.shape)) + "]" for i in self.inputs if i.kind != "value") + "]"

    @property
    def transform_options(self) -> list[str]:
        """What model_transform is called with: shapes, values that are compiled in, the description's own."""
        values = [f"--input_values={i.name}={i.value}" for i in self.inputs if i.kind == "value"]
        return ["--input_shapes", self.shapes, *values, *self.options]


def stem(name: str, spec: dict) -> str:
    """How the files of a model in one mode, on one processor and so many cores begin; the default processor goes
    without saying."""
    processor = spec.get("processor") or DEFAULT_PROCESSOR
    return "_".join([name, *([processor] if processor != DEFAULT_PROCESSOR else []), spec["mode"], str(spec["cores"])])


def cache_folder() -> Path:
    """Where models are kept: $PTO_MLIR_CACHE, else ~/.cache/pto-mlir."""
    return Path(os.environ.get("PTO_MLIR_CACHE") or Path.home() / ".cache" / "pto-mlir")


def read(path: Path) -> Model:
    """Reads a description; what is missing, unknown or of the wrong type is one clear line."""
    try:
        data = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {error}") from None
    try:
        inputs = [Input(**i) for i in data.pop("inputs")]
        tolerance = {mode: Tolerance(**t) for mode, t in data.pop("tolerance").items()}
        preprocess = Preprocess(**data.pop("preprocess", {}))
        model = Model(name=path.stem, inputs=inputs, tolerance=tolerance, preprocess=preprocess, path=path, **data)
    except KeyError as error:
        raise UserError(f"{path}: {error} is missing") from None
    except (TypeError, AttributeError) as error:
        raise UserError(f"{path}: {str(error).replace('__init__()', 'the description')}") from None
    for i in inputs:
        scalar = i.kind == "value" and i.shape == []
        if (
            not isinstance(i.shape, list)
            or not (i.shape or scalar)
            or any(type(d) is not int or d < 1 for d in i.shape)
        ):
            raise UserError(f"{path}: input {i.name!r}: shape must be a list of positive integers, got {i.shape!r}")
        if i.kind not in KINDS:
            raise UserError(f"{path}: input {i.name!r}: kind must be one of {', '.join(KINDS)}, got {i.kind!r}")
    if not all(isinstance(m, str) for m in model.maker) or not model.maker:
        raise UserError(f"{path}: maker must list a script and its arguments as strings")
    wrong = [m for m in model.modes if m not in MODES or m not in tolerance]
    if wrong:
        raise UserError(f"{path}: mode {wrong[0]!r} is none of {', '.join(MODES)}, or has no tolerance")
    return model


def read_all(names: list[str], folder: Path = DESCRIPTIONS) -> list[Model]:
    """The named models in the given order, or all of a folder in alphabetic order."""
    known = sorted(p.stem for p in folder.glob("*.toml"))
    unknown = [n for n in names if n not in known]
    if unknown:
        raise UserError(f"--models: no model {', '.join(map(repr, unknown))}; there are {', '.join(known) or 'none'}")
    if not known:
        raise UserError(f"{folder}: no descriptions (*.toml)")
    return [read(folder / f"{name}.toml") for name in names or known]


def make(model: Model, cache: Path) -> Path:
    """The .onnx of a model in the cache, made when it is not there. Unavailable when a tool is missing, UserError when
    it fails."""
    target = cache / "zoo" / model.file
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = model.path.parent / model.maker[0]
    script = beside if beside.is_file() else FOLDER / "makers" / model.maker[0]
    python = sys.executable if model.python == "own" else DEBIAN_PYTHON
    env = {k: v for k, v in os.environ.items() if model.python == "own" or not k.startswith("PYTHON")}
    try:
        done = subprocess.run(
            [python, str(script), *model.maker[1:], str(target)], capture_output=True, text=True, env=env
        )
    except FileNotFoundError:
        raise Unavailable(f"{python} is missing; the model is made by Debian's Python") from None
    if done.returncode == MISSING_PACKAGE:
        raise Unavailable(done.stderr.strip().removeprefix("error: "))
    if done.returncode != 0 or not target.is_file():
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise UserError(f"{model.name}: {script.name}: {lines[-1]}")
    return target


def feed(model: Model, cache: Path, seed: int = 0) -> dict[str, np.ndarray]:
    """Inputs of a model by name: pictures and sentences as they are used, or seeded noise. Other seeds give other
    ones."""
    from . import samples

    rng = np.random.default_rng(seed)
    batch: dict[str, np.ndarray] = {}
    for i in model.inputs:
        if i.kind in ("line", "page", "photo"):
            shape = i.shape if len(i.shape) > 3 else [1, *i.shape]
            batch[i.name] = samples.picture(model, i.kind, shape, seed).reshape(i.shape)
        elif i.kind == "normal":
            batch[i.name] = rng.standard_normal(i.shape).astype(np.float32)
        elif i.kind == "uniform":
            batch[i.name] = rng.random(i.shape, np.float32)
        elif i.kind == "waveform":
            batch[i.name] = samples.waveform(i.shape, seed)
        elif i.kind == "integers":
            batch[i.name] = rng.integers(0, i.most, i.shape)
        elif i.kind == "value":
            batch[i.name] = np.full(i.shape, i.value, np.int64)
        else:
            batch[i.name] = samples.sentences(cache / "zoo", i.shape, seed)[i.kind]
    return batch
