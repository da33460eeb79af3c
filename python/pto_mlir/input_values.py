"""Inputs of a model whose values are known when it is compiled: `--input_values sr=16000`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from .errors import UserError


def parse(texts: Sequence[str]) -> dict[str, np.ndarray]:
    """Each of `texts` is NAME=NUMBER or NAME=[..] with lists in lists as in JSON."""
    values: dict[str, np.ndarray] = {}
    for text in texts:
        name, equals, numbers = text.rpartition("=")
        try:
            value = np.array(json.loads(numbers))
        except (ValueError, RecursionError):  # no JSON, lists of unequal lengths
            value = np.array("")
        if not equals or not name or name in values or value.dtype.kind not in "biuf":
            raise UserError(f"--input_values: expects NAME=NUMBER or NAME=[NUMBER, ..], each name once, got {text!r}")
        values[name] = value
    return values


def typed(model_def: str | Path, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The values in the types that the model gives its inputs; an error where one is not a value of its type."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import helper

    try:
        graph = onnx.load(str(model_def), load_external_data=False).graph
    except (DecodeError, OSError):
        return dict(values)  # the importer says what is wrong with the file
    result = dict(values)
    for info in graph.input:
        if info.name in values and info.type.tensor_type.elem_type:
            kind, value = helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type), values[info.name]
            with np.errstate(all="ignore"):
                result[info.name] = value.astype(kind)
            if kind.kind in "biu" and not np.array_equal(result[info.name], value):
                raise UserError(f"--input_values: input {info.name!r} has type {kind}, {value.tolist()} has not")
    return result


def serialized(model_def: str | Path, values: Mapping[str, np.ndarray]) -> dict[str, bytes]:
    """Each value as a TensorProto, as the importer takes it."""
    from onnx import numpy_helper

    return {
        name: numpy_helper.from_array(value, name).SerializeToString()
        for name, value in typed(model_def, values).items()
    }
