"""Types and instruction names as pto-isa writes them, under the names of their description; stored programs."""

import pytest
from pypto import DataType, ir
from pypto.pypto_core import codegen


@pytest.fixture
def converter():
    return codegen.TypeConverter()


@pytest.mark.parametrize(
    "dtype, text",
    [
        (DataType.FP32, "float"),
        (DataType.FP16, "half"),
        (DataType.INT32, "int32_t"),
        (DataType.INT64, "int64_t"),
        (DataType.BOOL, "bool"),
        (DataType.BF16, "bfloat16"),
    ],
)
def test_element_types(converter, dtype, text):
    assert converter.ConvertDataType(dtype) == text == dtype.to_c_type_string()


@pytest.mark.parametrize(
    "shape, extents, strides",
    [
        ([128, 64], "Shape<1, 1, 1, 128, 64>", "Stride<1, 1, 1, 64, 1>"),
        ([256], "Shape<1, 1, 1, 1, 256>", "Stride<1, 1, 1, 1, 1>"),
        ([16, 128, 64], "Shape<1, 1, 16, 128, 64>", "Stride<1, 1, 8192, 64, 1>"),
    ],
)
def test_shapes_and_strides(converter, shape, extents, strides):
    assert converter.GenerateShapeType(shape) == extents
    assert converter.GenerateStrideType(shape) == strides


@pytest.mark.parametrize("pipe", ["MTE1", "MTE2", "MTE3", "M", "V", "S", "FIX", "ALL"])
def test_pipes(converter, pipe):
    assert converter.ConvertPipeType(getattr(ir.PipeType, pipe)) == f"PIPE_{pipe}"


@pytest.mark.parametrize("event", [0, 1, 7])
def test_events(converter, event):
    assert converter.ConvertEventId(event) == f"EVENT_ID{event}"


@pytest.mark.parametrize("event", [-1, 8])
def test_events_out_of_range(converter, event):
    with pytest.raises(ValueError, match=rf"Event ID must be in range \[0, 7\], got {event}"):
        converter.ConvertEventId(event)


def test_memory_spaces(converter):
    assert converter.ConvertMemorySpace(ir.MemorySpace.DDR) == "__gm__"
    assert converter.ConvertMemorySpace(ir.MemorySpace.UB) == ""


def test_instructions():
    mapper = codegen.ISAMapper()
    assert mapper.GetMapping("block.mul") == "TMUL" and mapper.GetMapping("system.bar_m") == "pipe_barrier"
    assert mapper.GetMapping("block.sum", {"axis": 0}) == "TCOLSUM" and mapper.GetMapping("pl.nothing") is None
    with pytest.raises(ValueError, match="needs a constant axis"):
        mapper.GetMapping("block.sum")


def test_stored_programs_come_back():
    x = ir.Var("x", ir.ScalarType(DataType.INDEX), ir.Span("k.py", 1, 1))
    function = ir.Function("f", [x], [], ir.ReturnStmt([ir.Add(x, 1, DataType.INDEX)]), ir.Span("k.py", 1, 1))
    stored = ir.serialize(ir.Program([function], "P"))
    back = ir.deserialize(stored)
    assert isinstance(stored, bytes) and ir.serialize(back) == stored
    assert back.functions["f"].params[0].span.filename == "k.py"
    with pytest.raises(ValueError, match="not a stored PyPTO program"):
        ir.deserialize(b"import os")
    with pytest.raises(ValueError, match="ends early"):
        ir.deserialize(stored[:-1])


def test_variables_are_bound_before_they_are_read():
    x = ir.Var("x", ir.ScalarType(DataType.INDEX), ir.Span.unknown())
    with pytest.raises(ValueError, match="f: x is read before it is bound"):
        ir.verify(ir.Function("f", [], [], ir.ReturnStmt([x]), ir.Span.unknown()))
