"""Functions as C++ under the names of the first generator: its six cases, and what its options add."""

import pytest
from pypto import DataType, codegen, ir
from pypto.ir.builder import IRBuilder
from pypto.ir.op import block, tensor, tile

SPAN = ir.Span.unknown()
F32, I32, INDEX = DataType.FP32, DataType.INT32, DataType.INDEX


def placed(shape, address, number=0):
    memref = ir.MemRef(ir.MemorySpace.Vec, ir.ConstInt(address, INDEX, SPAN), shape[0] * shape[1] * 4, number)
    return ir.TileType(shape, F32, memref)


def add_three(addresses=(0, 0x10000), shape=(128, 128)):
    """A tensor plus a scalar."""
    ib = IRBuilder()
    with ib.function("test_tadds_simple") as f:
        x, y = (f.param(name, ir.TensorType(list(shape), F32)) for name in ("input", "output"))
        a = ib.let("tile_a", block.load(x, 0, 0, *shape), placed(list(shape), addresses[0]))
        b = ib.let("tile_b", block.adds(a, 3.0), placed(list(shape), addresses[1], 1))
        ib.return_stmt([ib.let("out", block.store(b, 0, 0, *shape, y))])
    return f.get_result()


def test_construction():
    for name in ("CodeGenerator", "CceCodegen", "CCECodegen"):
        assert getattr(codegen, name)() is not None


def test_a_tensor_plus_a_scalar():
    text = codegen.CceCodegen().Generate(add_three())
    for line in (
        "__aicore__ __attribute__((always_inline)) void runTestTaddsSimple(__gm__ int64_t* args)",
        "__gm__ float* input = reinterpret_cast<__gm__ float*>(args[0]);",
        "using inputShapeDim5 = Shape<1, 1, 1, 128, 128>;",
        "using tile_aType = Tile<TileType::Vec, float, 128, 128, BLayout::RowMajor, -1, -1>;",
        "tile_aType tile_a(128, 128);",
        "TASSIGN(tile_a, 0x0);",
        "TASSIGN(tile_b, 0x10000);",
        "TLOAD(tile_a, inputGlobal);",
        "TADDS(tile_b, tile_a, 3.0f);",
        "TSTORE(outputGlobal, tile_b);",
    ):
        assert line in text, text


def looped(depth):
    ib = IRBuilder()
    with ib.function("test_loop") as f:
        x, y = (f.param(name, ir.TensorType([128, 64], F32)) for name in ("input", "output"))
        with ib.for_loop("i", 0, 4, 1) as outer:
            row = ir.Mul(outer.loop_var, 32, INDEX, SPAN)
            if depth == 1:
                t = ib.let("tile_t", block.load(x, row, 0, 32, 64), placed([32, 64], 0))
                ib.eval_stmt(block.store(t, row, 0, 32, 64, y))
            else:
                with ib.for_loop("j", 0, 2, 1) as inner:
                    col = ir.Mul(inner.loop_var, 32, INDEX, SPAN)
                    t = ib.let("tile_t", block.load(x, row, col, 32, 32), placed([32, 32], 0))
                    ib.eval_stmt(block.store(t, row, col, 32, 32, y))
    return f.get_result()


def test_one_loop():
    text = codegen.CceCodegen().Generate(looped(1))
    body = [line.strip() for line in text.split("// Function body\n")[1].splitlines()]
    assert body == [
        "for (int64_t i = 0; i < 4; i += 1) {",
        "TASSIGN(inputGlobal, input + (i * 32) * 64 + 0);",
        "TLOAD(tile_t, inputGlobal);",
        "TASSIGN(outputGlobal, output + (i * 32) * 64 + 0);",
        "TSTORE(outputGlobal, tile_t);",
        "}",
        "}",
    ]


def test_two_nested_loops():
    text = codegen.CceCodegen().Generate(looped(2))
    assert "    for (int64_t i = 0; i < 4; i += 1) {\n        for (int64_t j = 0; j < 2; j += 1) {\n" in text
    assert "TASSIGN(inputGlobal, input + (i * 32) * 64 + (j * 32));" in text


def assign(name, value):
    return ir.AssignStmt(ir.Var(name, ir.ScalarType(I32), SPAN), ir.ConstInt(value, I32, SPAN), SPAN)


def test_an_if_without_else():
    branch = ir.IfStmt(ir.ConstBool(True, SPAN), assign("x", 5), None, [], SPAN)
    text = codegen.CceCodegen().Generate(ir.Function("test_if", [], [], branch, SPAN))
    assert "    if (true) {\n        auto x = 5;\n    }\n" in text


def test_an_if_with_else():
    a, b = (ir.Var(name, ir.ScalarType(I32), SPAN) for name in "ab")
    branch = ir.IfStmt(ir.Lt(a, b, DataType.BOOL, SPAN), assign("x", 5), assign("y", 7), [], SPAN)
    text = codegen.CceCodegen().Generate(ir.Function("test_if_else", [a, b], [], branch, SPAN))
    assert "    if ((a < b)) {\n        auto x = 5;\n    } else {\n        auto y = 7;\n    }\n" in text


def test_files_of_a_program():
    files = codegen.CCECodegen().generate(ir.Program([add_three()], "P"))
    assert list(files) == ["kernels/aiv/test_tadds_simple.cpp"]
    host = ir.Function("main", [], [], ir.SeqStmts([], SPAN), SPAN, ir.FunctionType.Orchestration)
    with pytest.raises(ValueError, match="main launches no kernel"):
        codegen.CCECodegen().generate(ir.Program([host], "P"))


def test_options():
    kernel = looped(1)
    plain = codegen.CodeGenerator().Generate(kernel)
    assert "PTO_PROFILE_BEGIN" not in plain and "TPRINT" not in plain and "#pragma unroll" not in plain
    timed = codegen.CodeGenerator(profiling=True).Generate(kernel)
    assert "#define PTO_PROFILE_BEGIN(site)" in timed
    lines = [line.strip() for line in timed.split("// Function body\n")[1].splitlines()]
    place = lines.index("TLOAD(tile_t, inputGlobal);")
    assert lines[place - 2] == "PTO_PROFILE_BEGIN(0);" and lines[place + 1] == 'PTO_PROFILE_END(0, "TLOAD");'
    assert "TLOAD(tile_t, inputGlobal);\n        TPRINT(tile_t);" in codegen.CodeGenerator(debug_prints=True).Generate(
        kernel
    )
    assert "    #pragma unroll\n    for (" in codegen.CodeGenerator(hints=True).Generate(kernel)
    assert f"// {__file__.rsplit('/', 1)[1]}:" in codegen.CodeGenerator(places=True).Generate(kernel)
    assert "__global__ AICORE void test_loop(__gm__ float* input" in codegen.CodeGenerator(today=True).Generate(kernel)
    with pytest.raises(TypeError, match="CodeGenerator has no option fast"):
        codegen.CodeGenerator(fast=True)


def test_constants_are_folded_on_demand():
    ib = IRBuilder()
    with ib.function("k") as f:
        x = f.param("x", ir.TensorType([64, 32], F32))
        row = ib.let("row", ir.Mul(ir.ConstInt(4, INDEX, SPAN), 8, INDEX, SPAN))
        ib.let("unused", ir.Add(row, 1, INDEX, SPAN))
        t = ib.let("t", tile.load(x, [row, 0], [32, 32]))
        ib.eval_stmt(tile.store(t, [row, 0], x))
    kernel = f.get_result()
    assert "auto row = (((int64_t)4) * 8);" in codegen.CodeGenerator().Generate(kernel)
    folded = codegen.CodeGenerator(optimise=True).Generate(kernel)
    assert "x + 32 * 32 + 0" in folded and "unused" not in folded and "auto row" not in folded


def test_what_has_no_cpp_is_refused_with_its_line():
    ib = IRBuilder()
    with ib.function("k") as f:
        x = f.param("x", ir.TensorType([64, 32], F32))
        ib.let("y", tensor.gather(x, kvalue=1.0, cmp_mode="near", out_cols=8))
    with pytest.raises(ValueError, match=r"test_pypto_cpp.py:\d+:\d+: cmp_mode is eq or gt, not near"):
        codegen.CodeGenerator().Generate(f.get_result())
