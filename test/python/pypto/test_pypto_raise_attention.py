"""Attention kernels of models as PyPTO programs: both kinds of core, rings of slots, valid extents of each turn."""

import sys

import onnx
import pytest
from conftest import ROOT
from onnx import TensorProto, helper
from pto_mlir import compiler

sys.path.insert(0, str(ROOT / "scripts"))
from compare_raised import compared, emitted  # noqa: E402


@pytest.mark.parametrize("joined", (False, True), ids=("heads apart", "heads in rows"))
@pytest.mark.parametrize(
    ("causal", "rows", "keys", "width", "mode", "processor"),
    ((0, 37, 197, 64, "F16", "a3"), (1, 300, 300, 64, "F16", "a5"), (0, 40, 300, 128, "F32", "a3")),
    ids=("one tile of keys", "causal", "several tiles of keys"),
)
def test_the_same_bits(causal, rows, keys, width, mode, processor, joined, tmp_path):
    shapes = {"Q": [1, 2, rows, width], "K": [1, 2, keys, width], "V": [1, 2, keys, width]}
    heads = {}
    if joined:  # keys are columns of a part of a matrix
        shapes = {name: [1, shape[2], 2 * width] for name, shape in shapes.items()}
        heads = {"q_num_heads": 2, "kv_num_heads": 2}
    graph = helper.make_graph(
        [helper.make_node("Attention", ["Q", "K", "V"], ["Y"], is_causal=causal, **heads)],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()],
        [helper.make_tensor_value_info("Y", TensorProto.FLOAT, shapes["Q"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    onnx.save(model, str(tmp_path / "m.onnx"))
    compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")
    (tmp_path / "pto").mkdir()
    sources = emitted(tmp_path / "m.mlir", mode, processor, tmp_path / "pto")
    assert any("pto.section.cube" in source.read_text() for source in sources)
    for source in sources:
        assert compared(source, tmp_path, processor) == ("same bits", "")
