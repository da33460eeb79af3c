"""Small kernels and their texts, for the tests of the generators' checklists."""

from pathlib import Path

from pypto import DataType, codegen, ir
from pypto.ir.builder import IRBuilder
from pypto.ir.op import block

ROOT = Path(__file__).resolve().parents[3]
SPAN = ir.Span.unknown()
F32, I32, INDEX = DataType.FP32, DataType.INT32, DataType.INDEX
TILE = (
    "!pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=32, v_row=32, v_col=32, blayout=row_major, "
    "slayout=none_box, fractal=512, pad=0>"
)
VIEW = "!pto.tensor_view<?x?xf32>"
PART = "!pto.partition_tensor_view<32x32xf32>"


def kernel(body, name="kernel", kind=None, **params):
    """The function that `body(builder, *parameters)` builds; by default of three 32 x 32 tensors."""
    params = params or {name: ir.TensorType([32, 32], F32) for name in "abc"}
    ib = IRBuilder()
    with ib.function(name, type=kind or ir.FunctionType.Opaque) as f:
        body(ib, *(f.param(name, type) for name, type in params.items()))
    return f.get_result()


def seed(*functions):
    return codegen.PTOCodegen().generate(ir.Program(list(functions), "P"))


def today(*functions):
    return codegen.PTOCodegen().generate(ir.Program(list(functions), "P"), style="today")


def cpp(function, **options):
    return codegen.CodeGenerator(**options).Generate(function)


def product(ib, a, b, c):
    tile_a = ib.let("tile_a", block.load(a, [0, 0], [32, 32]))
    tile_b = ib.let("tile_b", block.load(b, [0, 0], [32, 32]))
    tile_c = ib.let("tile_c", block.mul(tile_a, tile_b))
    ib.eval_stmt(block.store(tile_c, [0, 0], [32, 32], c))


def memref(number, address=None, size=4096):
    return ir.MemRef(ir.MemorySpace.Vec, None if address is None else ir.ConstInt(address, INDEX, SPAN), size, number)


def tile_in(buffer, shape=(32, 32)):
    return ir.TileType(list(shape), F32, buffer)


def lines(text):
    return [line.strip() for line in text.splitlines()]


def function_body(text):
    return lines(text.split("// Function body\n")[1])
