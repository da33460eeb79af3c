"""The rows B1 to B18 of CodeGenerator's checklist (docs/pypto-rows.md), one test or more each; B2 and B3 are C++
classes, tested in unittests/PyPTO/CodegenTest.cpp."""

import re

import pytest
from pypto import DataType, codegen, ir
from pypto.ir.op import block, system
from row_kernels import (
    F32,
    I32,
    SPAN,
    cpp,
    function_body,
    kernel,
    memref,
    product,
    tile_in,
)


def scale_rows(ib, p, s):
    t = ib.let("t", block.load(p, [0, 0], [32, 32]), tile_in(memref(0, 0x1A00)))
    ib.eval_stmt(block.store(ib.let("u", block.muls(t, s)), [32, 0], [32, 32], p))


def scaling():
    return kernel(scale_rows, "scale_rows", p=ir.TensorType([64, 32], F32), s=ir.ScalarType(F32))


def test_B01_one_function_to_a_string_in_three_phases():
    function = kernel(product)
    before = ir.serialize(function)
    text = cpp(function)
    assert isinstance(text, str) and ir.serialize(function) == before
    phases = ["// Unpack arguments", "// Tile type definitions", "// Function body", "\n}\n"]
    places = [text.index(phase) for phase in phases]
    assert places == sorted(places) and text.endswith("\n}\n")


def test_B04_element_types():
    names = {
        "FP32": "float",
        "FP16": "half",
        "BF16": "bfloat16",
        "INT32": "int32_t",
        "INT64": "int64_t",
        "BOOL": "bool",
    }
    for name, text in names.items():
        assert codegen.TypeConverter().ConvertDataType(getattr(DataType, name)) == text
    assert "__gm__ half* x = " in cpp(kernel(lambda ib, x: None, x=ir.TensorType([8, 32], DataType.FP16)))


def test_B05_memory_spaces():
    converter = codegen.TypeConverter()
    assert converter.ConvertMemorySpace(ir.MemorySpace.DDR) == "__gm__"
    for space in ("UB", "L0A", "L0B", "L0C"):
        assert converter.ConvertMemorySpace(getattr(ir.MemorySpace, space)) == ""


def test_B06_five_extents():
    assert codegen.TypeConverter().GenerateShapeType([64, 32]) == "Shape<1, 1, 1, 64, 32>"
    assert "using aShapeDim5 = Shape<1, 1, 1, 32, 32>;" in cpp(kernel(product))


def test_B07_five_strides_padded_by_one():
    assert codegen.TypeConverter().GenerateStrideType([64, 32]) == "Stride<1, 1, 1, 32, 1>"
    assert "using aStrideDim5 = Stride<1, 1, 1, 32, 1>;" in cpp(kernel(product))


def test_B08_signature():
    head = "__aicore__ __attribute__((always_inline)) void runScaleRows(__gm__ int64_t* args)\n{\n"
    assert head in cpp(scaling())


def test_B09_arguments():
    text = cpp(scaling())
    assert "    // Unpack arguments\n    __gm__ float* p = reinterpret_cast<__gm__ float*>(args[0]);\n" in text
    assert "    s_conv.u64 = args[1];\n    float s = s_conv.val;\n" in text
    assert "int32_t i = static_cast<int32_t>(args[0]);" in cpp(kernel(lambda ib, i: None, i=ir.ScalarType(I32)))
    output = ir.Var("output", ir.TensorType([32, 32], F32), SPAN)

    def body(ib, x):
        ib.eval_stmt(block.store(ib.let("t", block.load(x, [0, 0], [32, 32])), [0, 0], [32, 32], output))

    text = cpp(kernel(body, x=ir.TensorType([32, 32], F32)))
    assert "__gm__ float* output = reinterpret_cast<__gm__ float*>(args[1]);" in text


def test_B10_global_tensors():
    text = cpp(kernel(product))
    assert "    // Global tensor declarations\n    using aShapeDim5 = " in text
    assert (
        "    using aGlobalType = GlobalTensor<float, aShapeDim5, aStrideDim5>;\n    aGlobalType aGlobal(a);\n" in text
    )


def test_B11_tiles_of_assignments():
    text = cpp(scaling())
    assert (
        "    // Tile type definitions and allocations\n"
        "    using tType = Tile<TileType::Vec, float, 32, 32, BLayout::RowMajor, -1, -1>;\n"
        "    tType t(32, 32);\n"
        "    TASSIGN(t, 0x1a00);\n"
    ) in text


def test_B12_addresses_in_lower_case_hex_or_none():
    assert "TASSIGN(t, 0x1a00);" in cpp(scaling())
    text = cpp(kernel(product))
    assert "tile_aType tile_a(32, 32);" in text and "TASSIGN(tile_a" not in text
    text = cpp(kernel(product), plan=True)
    assert "TASSIGN(tile_a, 0x0);" in text and "TASSIGN(tile_b, 0x1000);" in text


def test_B13_names():
    text = cpp(kernel(product))
    assert "__gm__ float* a = " in text and "aGlobalType aGlobal(a);" in text and "TLOAD(tile_a, aGlobal);" in text
    odd = kernel(lambda ib, x: ib.let("2d.tile", block.load(x, [0, 0], [32, 32])), x=ir.TensorType([32, 32], F32))
    assert re.search(r"TLOAD\(\w*2d_tile, xGlobal\);", cpp(odd))


def test_B14_statements_in_order():
    assert function_body(cpp(kernel(product))) == [
        "TLOAD(tile_a, aGlobal);",
        "TLOAD(tile_b, bGlobal);",
        "TMUL(tile_c, tile_a, tile_b);",
        "TSTORE(cGlobal, tile_c);",
        "}",
    ]


def test_B15_load_of_a_window():
    body = function_body(cpp(scaling()))
    assert body[:2] == ["TASSIGN(pGlobal, p + 0 * 32 + 0);", "TLOAD(t, pGlobal);"]
    assert "TASSIGN(aGlobal" not in cpp(kernel(product)), "not of a window that is the whole tensor"


def test_B16_store_and_its_result():
    def body(ib, x, y):
        t = ib.let("t", block.load(x, [0, 0], [32, 32]))
        out = ib.let("out", block.store(t, [0, 0], [32, 32], y))
        ib.let("again", block.store(t, [32, 0], [32, 32], out))

    text = cpp(kernel(body, x=ir.TensorType([32, 32], F32), y=ir.TensorType([64, 32], F32)))
    assert function_body(text)[1:5] == [
        "TASSIGN(yGlobal, y + 0 * 32 + 0);",
        "TSTORE(yGlobal, t);",
        "TASSIGN(yGlobal, y + 32 * 32 + 0);",
        "TSTORE(yGlobal, t);",
    ]


@pytest.mark.parametrize(
    "make, call",
    [
        (lambda t: block.add(t, t), "TADD(u, t, t);"),
        (lambda t: block.sub(t, t), "TSUB(u, t, t);"),
        (lambda t: block.mul(t, t), "TMUL(u, t, t);"),
        (lambda t: block.div(t, t), "TDIV(u, t, t);"),
        (lambda t: block.adds(t, 2.0), "TADDS(u, t, 2.0f);"),
        (lambda t: block.subs(t, 2.0), "TSUBS(u, t, 2.0f);"),
        (lambda t: block.muls(t, 2.0), "TMULS(u, t, 2.0f);"),
        (lambda t: block.divs(t, 2.0), "TDIVS(u, t, 2.0f);"),
        (lambda t: block.sqrt(t), "TSQRT(u, t);"),
        (lambda t: block.sum(t, axis=0), "TCOLSUM(u, t"),
        (lambda t: block.sum(t, axis=1), "TROWSUM(u, t, "),
    ],
)
def test_B17_operations(make, call):
    def body(ib, a, b, c):
        ib.let("u", make(ib.let("t", block.load(a, [0, 0], [32, 32]))))

    assert any(line.startswith(call) for line in function_body(cpp(kernel(body))))
    mapper = codegen.ISAMapper()
    assert mapper.GetMapping("block.add") == "TADD" and mapper.GetMapping("block.sum", {"axis": 1}) == "TROWSUM"
    with pytest.raises(ValueError, match="needs a constant axis, 0 or 1"):
        mapper.GetMapping("block.sum")


def test_B18_flags_and_barriers_of_the_program():
    pipe = ir.PipeType

    def body(ib, a, b, c):
        t = ib.let("t", block.load(a, [0, 0], [32, 32]))
        ib.eval_stmt(system.sync_src(set_pipe=pipe.MTE2, wait_pipe=pipe.V, event_id=0))
        ib.eval_stmt(system.sync_dst(set_pipe=pipe.MTE2, wait_pipe=pipe.V, event_id=0))
        ib.let("u", block.sqrt(t))
        for make in (system.bar_v, system.bar_m, system.bar_all):
            ib.eval_stmt(make())

    assert function_body(cpp(kernel(body))) == [
        "TLOAD(t, aGlobal);",
        "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);",
        "wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);",
        "TSQRT(u, t);",
        "pipe_barrier(PIPE_V);",
        "pipe_barrier(PIPE_M);",
        "pipe_barrier(PIPE_ALL);",
        "}",
    ]
    assert "flag" not in cpp(kernel(product)) and "barrier" not in cpp(kernel(product)), "nothing is inferred"
    with pytest.raises(ValueError, match=r"Event ID must be in range \[0, 7\], got 8"):
        codegen.TypeConverter().ConvertEventId(8)
