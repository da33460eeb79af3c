"""Models beyond protobuf's 2 GiB: weights inside the .onnx (which onnx itself cannot write) and in external data."""

import os
import struct

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from pto_mlir import compiler

ROWS, COLUMNS = 600, 1 << 20  # of f32: 2.34 GiB
LAST = 7.25


def varint(value: int) -> bytes:
    data = b""
    while value > 127:
        data += bytes([value & 127 | 128])
        value >>= 7
    return data + bytes([value])


def field(number: int, length: int) -> bytes:
    return varint(number << 3 | 2) + varint(length)


def model(weight: TensorProto) -> onnx.ModelProto:
    """y = x + the last four elements of the weight, so that the far end of the data must be read."""
    ends = helper.make_tensor("ends", TensorProto.INT64, [2], [ROWS, COLUMNS])
    starts = helper.make_tensor("starts", TensorProto.INT64, [2], [ROWS - 1, COLUMNS - 4])
    nodes = [
        helper.make_node("Slice", ["w", "starts", "ends"], ["tail"]),
        helper.make_node("Add", ["x", "tail"], ["y"]),
    ]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], [starts, ends] + ([weight] if weight else []))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def check(path, tmp_path):
    mlir = tmp_path / "m.mlir"
    compiler.transform(str(path), "m", [], [], str(mlir), "")
    x = np.arange(4, dtype=np.float32).reshape(1, 4)
    assert np.array_equal(compiler.interpret(str(mlir), {"x": x})["y"], x + [[0, 0, 0, LAST]])


@pytest.fixture
def hole(tmp_path):
    """Appends the weight's bytes to a sparse file of which only the last element is written."""

    def write(file):
        file.seek(ROWS * COLUMNS * 4 - 4, os.SEEK_CUR)
        file.write(struct.pack("<f", LAST))

    return write


def test_external_data(tmp_path, hole):
    with open(tmp_path / "w.bin", "wb") as file:
        hole(file)
    weight = TensorProto(
        name="w", data_type=TensorProto.FLOAT, dims=[ROWS, COLUMNS], data_location=TensorProto.EXTERNAL
    )
    weight.external_data.add(key="location", value="w.bin")
    path = tmp_path / "m.onnx"
    path.write_bytes(model(weight).SerializeToString())
    check(path, tmp_path)


def test_weights_inside(tmp_path, hole):
    head = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[ROWS, COLUMNS]).SerializeToString()
    raw = field(9, ROWS * COLUMNS * 4)
    tensor = field(5, len(head) + len(raw) + ROWS * COLUMNS * 4)
    whole = model(None)
    graph = whole.graph.SerializeToString()
    whole.ClearField("graph")
    path = tmp_path / "m.onnx"
    with open(path, "wb") as file:
        size = len(graph) + len(tensor) + len(head) + len(raw) + ROWS * COLUMNS * 4
        file.write(whole.SerializeToString() + field(7, size) + graph + tensor + head + raw)
        hole(file)
    assert path.stat().st_size > 2**31
    check(path, tmp_path)
