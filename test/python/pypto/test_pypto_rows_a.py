"""The rows A1 to A21 of PTOCodegen's checklist (docs/pypto-rows.md), one test or more each."""

import re

import pytest
from pypto import DataType, ir
from pypto.ir.op import block, tile
from row_kernels import (
    F32,
    I32,
    INDEX,
    PART,
    ROOT,
    SPAN,
    TILE,
    VIEW,
    kernel,
    lines,
    memref,
    product,
    seed,
    tile_in,
    today,
)


def test_A01_module_of_one_function_per_kernel():
    text = seed(kernel(product, "first"), kernel(product, "second"))
    assert text.startswith("module {\n  func.func @first(") and text.endswith("}\n")
    assert re.findall(r"func\.func @(\w+)\(", text) == ["first", "second"]
    cube = today(kernel(lambda ib, *_: None, kind=ir.FunctionType.AIC))
    assert "attributes {pto.kernel_kind = #pto.kernel_kind<cube>}" in cube


def test_A02_constants_views_allocations_operations():
    text = seed(kernel(product))
    names = ["arith.constant", "pto.make_tensor_view", "pto.alloc_tile", "pto.partition_view", "return"]
    firsts = [text.index(name) for name in names]
    assert firsts == sorted(firsts)
    assert text.rindex("arith.constant") < firsts[1] and text.rindex("pto.make_tensor_view") < firsts[2]
    assert text.rindex("pto.alloc_tile") < firsts[3]


def test_A03_parameters():
    def body(ib, x, s):
        t = ib.let("t", block.load(x, [0, 0], [32, 32]))
        ib.eval_stmt(block.store(ib.let("u", block.muls(t, s)), [0, 0], [32, 32], x))

    text = seed(kernel(body, x=ir.TensorType([32, 32], F32), s=ir.ScalarType(F32)))
    assert "func.func @kernel(%arg0: !pto.ptr<f32>, %arg1: f32) {" in text
    with pytest.raises(ValueError, match="parameter t of kernel kernel must be a tensor or a scalar"):
        seed(kernel(lambda ib, t: None, t=ir.TileType([32, 32], F32)))
    rows = ir.Var("M", ir.ScalarType(INDEX), SPAN)
    text = seed(kernel(lambda ib, x, n: None, x=ir.TensorType([rows, 32], F32), n=ir.ScalarType(I32)))
    assert "(%arg0: !pto.ptr<f32>, %arg1: i32, %arg2: index)" in text, "today: one index per symbol, last"


def test_A04_each_constant_once_at_the_top():
    def body(ib, a, b, c):
        t = ib.let("t", block.load(a, [0, 0], [32, 32]))
        u = ib.let("u", block.adds(t, 2.5))
        ib.eval_stmt(block.store(ib.let("v", block.muls(u, 2.5)), [0, 0], [32, 32], c))

    text = seed(kernel(body))
    assert text.count("%c32 = arith.constant 32 : index") == 1 and text.count("arith.constant 32 ") == 1
    assert text.count("%cst = arith.constant 2.500000e+00 : f32") == 1 and text.count("2.5000") == 1


def test_A05_a_view_of_every_tensor_parameter():
    def body(ib, a, b, c):
        ib.eval_stmt(block.store(ib.let("t", block.load(a, [0, 0], [32, 32])), [0, 0], [32, 32], a))

    text = seed(kernel(body))
    for number in range(3):  # b and c too
        view = f"pto.make_tensor_view %arg{number}, shape = [%c32, %c32] strides = [%c32, %c1] : {VIEW}"
        assert text.count(view) == 1
    assert "shape = [%c32_index, %c32_index], strides = [" in today(kernel(body))


def test_A06_row_major_strides():
    text = seed(kernel(lambda ib, x: None, x=ir.TensorType([4, 32, 64], F32)))
    assert "shape = [%c4, %c32, %c64] strides = [%c2048, %c64, %c1]" in text
    column = today(kernel(lambda ib, x: None, x=ir.TensorType([64, 1], F32)))
    assert "{layout = #pto.layout<dn>}" in column


def test_A07_one_question_mark_per_dimension():
    for rank in range(1, 6):
        text = seed(kernel(lambda ib, x: None, x=ir.TensorType([2] * rank, F32)))
        assert f"!pto.tensor_view<{'?x' * rank}f32>" in text


def shared(ib, a, b, c):
    first, second = memref(0), memref(1)
    t = ib.let("t", block.load(a, [0, 0], [32, 32]), tile_in(first))
    u = ib.let("u", block.mul(t, t), tile_in(second))
    v = ib.let("v", block.add(u, u), tile_in(first))
    ib.eval_stmt(block.store(v, [0, 0], [32, 32], c))


def test_A08_one_allocation_per_memref():
    assert seed(kernel(shared)).count("= pto.alloc_tile : ") == 2
    assert seed(kernel(product)).count("= pto.alloc_tile : ") == 3, "one per variable without a MemRef"


def test_A09_the_tile_type_in_full():
    assert f"%0 = pto.alloc_tile : {TILE}\n" in seed(kernel(product))


def with_view(view, shape=(32, 32)):
    def body(ib, a, b, c):
        t = ib.let("t", block.load(a, [0, 0], [32, 32]), ir.TileType(list(shape), F32, None, view))
        ib.eval_stmt(block.store(t, [0, 0], [32, 32], c))

    return kernel(body)


def test_A10_defaults_without_a_view():
    assert "blayout=row_major, slayout=none_box, fractal=512, pad=0>" in seed(with_view(None))


@pytest.mark.parametrize("layout", ["none_box", "row_major", "col_major"])
def test_A11_layouts(layout):
    view = ir.TileView(blayout=getattr(ir.TileLayout, layout), slayout=getattr(ir.TileLayout, layout))
    text = seed(with_view(view))
    assert f"blayout={layout}, slayout={layout}, fractal=512, pad=0>" in text
    assert "blayout=none_box" not in today(with_view(ir.TileView(blayout=ir.TileLayout.none_box)))


@pytest.mark.parametrize("pad, number", [("null", 0), ("zero", 1), ("max", 2), ("min", 3)])
def test_A11_pads(pad, number):
    assert f"fractal=512, pad={number}>" in seed(with_view(ir.TileView(pad=getattr(ir.PadValue, pad))))


SEED_TYPES = {
    "FP32": "f32",
    "FP16": "f16",
    "BF16": "bf16",
    "INT32": "i32",
    "INT64": "i64",
    "INT8": "i8",
    "UINT8": "ui8",
}


@pytest.mark.parametrize("name, text", SEED_TYPES.items())
def test_A12_element_types(name, text):
    dtype = getattr(DataType, name)
    made = seed(kernel(lambda ib, x: None, x=ir.TensorType([8, 32], dtype)))
    assert dtype.to_mlir_string() == text
    assert f"!pto.ptr<{text}>" in made and f"!pto.tensor_view<?x?x{text}>" in made


@pytest.mark.parametrize("space", ["Vec", "Mat", "Left", "Right", "Acc"])
def test_A13_memory_spaces(space):
    def body(ib, a, b, c):
        ib.let("t", tile.create([32, 32], F32, target_memory=getattr(ir.MemorySpace, space)))

    assert f"!pto.tile_buf<loc={space.lower()}, " in seed(kernel(body))


def test_A14_load_is_a_partition_and_tload():
    text = lines(seed(kernel(product)))
    place = text.index(f"%6 = pto.partition_view %3, offsets = [%c0, %c0], sizes = [%c32, %c32] : {VIEW} -> {PART}")
    assert text[place + 1] == f"pto.tload ins(%6 : {PART}) outs(%0 : {TILE})"


def test_A15_store_is_a_partition_and_tstore():
    text = lines(seed(kernel(product)))
    place = text.index(f"%8 = pto.partition_view %5, offsets = [%c0, %c0], sizes = [%c32, %c32] : {VIEW} -> {PART}")
    assert text[place + 1] == f"pto.tstore ins(%2 : {TILE}) outs(%8 : {PART})"


def test_A16_every_operand_has_its_type():
    assert f"pto.tmul ins(%0 : {TILE}, %1 : {TILE}) outs(%2 : {TILE})" in seed(kernel(product))
    assert re.search(r"pto\.tmul ins\(%\w+, %\w+ : [^)]*, [^)]*\) outs\(", today(kernel(product)))


@pytest.mark.parametrize(
    "make, op",
    [
        (lambda t: block.mul(t, t), "tmul"),
        (lambda t: block.adds(t, 1.0), "tadds"),
        (lambda t: block.add(t, t, t), "taddc"),
    ],
)
def test_A17_operations(make, op):
    def body(ib, a, b, c):
        t = ib.let("t", block.load(a, [0, 0], [32, 32]))
        ib.eval_stmt(block.store(ib.let("u", make(t)), [0, 0], [32, 32], c))

    text = seed(kernel(body))
    assert f"pto.{op} ins(%0 : " in text and "pto.tload ins(" in text and "pto.tstore ins(" in text


def test_A18_numbers_of_results():
    results = re.findall(r"(%\d+) = pto\.(\w+)", seed(kernel(product)))
    assert results == [
        *((f"%{number}", "make_tensor_view") for number in (3, 4, 5)),
        *((f"%{number}", "alloc_tile") for number in (0, 1, 2)),
        *((f"%{number}", "partition_view") for number in (6, 7, 8)),
    ]


def test_A19_results_lie_in_the_memref_of_their_variable():
    text = seed(kernel(shared))
    assert f"pto.tadd ins(%1 : {TILE}, %1 : {TILE}) outs(%0 : {TILE})" in text


def test_A20_variables_are_told_apart_by_identity():
    def body(ib, a, b, c):
        first, second = (ib.let("t", block.load(x, [0, 0], [32, 32])) for x in (a, b))  # one name
        ib.eval_stmt(block.store(ib.let("t", block.sub(second, first)), [0, 0], [32, 32], c))

    assert f"pto.tsub ins(%1 : {TILE}, %0 : {TILE}) outs(%2 : {TILE})" in seed(kernel(body))


SEED_METHODS = [
    "explicit PTOCodegen(const backend::Backend *backend)",
    "std::string Generate(const ir::ProgramPtr &program);",
    "std::string GetCurrentResultTarget() const override;",
    "void Emit(const std::string &line) override;",
    "std::string GetExprAsCode(const ir::ExprPtr &expr) override;",
    "std::string GetTypeString(const DataType &dtype) const override",
    "std::string NewTemp();",
    "std::string GetOrCreateTensorView(const ir::VarPtr &tensor);",
    "std::string GetIndexConstant(int64_t val);",
    'std::string GetOrEmitFloatConstant(double value, const std::string &mlir_type = "f32");',
    "std::string GetTensorViewTypeString(const ir::TensorType *tensor_type) const;",
    "std::string GetTileBufTypeString(const ir::MemRef *memref) const;",
    "std::string GetExprTypeAnnotation(const ir::ExprPtr &expr);",
    "std::string GetCurrentResultTileBufTypeString() const;",
    "std::string DataTypeToMLIRImpl(",
    "std::string MemorySpaceToMLIR(",
    "class PTOCodegen : public CodegenBase {",
]


@pytest.mark.parametrize("declaration", SEED_METHODS)
def test_A21_names_in_the_source(declaration):
    # What they do: unittests/Frontend/CodeGeneratorTest.cpp, PyPTOTest.cpp.
    header = (ROOT / "include/pypto/codegen/pto/pto_codegen.h").read_text()
    assert declaration in header
    assert "class MemRefCollectorVisitor" in (ROOT / "include/pypto/codegen/memref_collector.h").read_text()
