"""Operations that Python calls with values of the IR, functions under @pl.inline, handles, launches."""

import pypto.language as pl
import pytest
from pypto import DataType, ir
from pypto.language.op import unified_ops
from pypto.language.parser.diagnostics import InvalidOperationError, ParserTypeError, UnsupportedFeatureError

SCALE = 3.0


def value(kind, name, type_):
    return kind(expr=ir.Var(name, type_))


def tensor(name, shape, dtype=DataType.FP32):
    return value(pl.Tensor, name, ir.TensorType(shape, dtype))


def test_operations_give_calls_of_values():
    a, t = tensor("a", [64, 32]), value(pl.Tile, "t", ir.TileType([64, 32], DataType.FP32))
    made = pl.add(a, 2.0)
    assert isinstance(made, pl.Tensor) and made.unwrap().op.name == "tensor.adds"
    ir.assert_structural_equal(made.unwrap(), pl.tensor.add(a, 2.0).unwrap())
    assert isinstance(pl.exp(t), pl.Tile) and pl.exp(t).unwrap().op.name == "tile.exp"
    assert [each.value for each in pl.tile.load(a, [0, 0], [16, 32]).unwrap().type.shape] == [16, 32]
    assert unified_ops.exp is pl.exp and pl.tile.exp is pl.tile.exp
    with pytest.raises(TypeError, match="pl.exp: expected Tensor or Tile operands, not str"):
        pl.exp("a")
    with pytest.raises(TypeError, match="cannot mix Tensor and Tile"):
        pl.add(a, t)
    with pytest.raises(RuntimeError, match="only for kernels"):
        pl.cond(True)


def test_operators_by_name_on_scalars():
    n = value(pl.Scalar, "n", ir.ScalarType(DataType.INT32))
    made = pl.add(n, 1)
    assert isinstance(made, pl.Scalar) and isinstance(made.unwrap(), ir.Add)
    assert isinstance(pl.div(n, 2).unwrap(), ir.FloatDiv) and pl.mul(6, 7).unwrap().value == 42

    @pl.function
    def f(n: pl.Scalar[pl.INT32], m: pl.Scalar[pl.INT32]) -> pl.Scalar[pl.INT32]:
        return pl.sub(pl.mul(n, m), 1)

    @pl.function
    def g(n: pl.Scalar[pl.INT32], m: pl.Scalar[pl.INT32]) -> pl.Scalar[pl.INT32]:
        return n * m - 1

    ir.assert_structural_equal(f, g)


@pl.inline
def scaled(x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
    wide: pl.Tensor[[64], pl.FP32] = pl.mul(x, SCALE)
    return wide


@pl.inline
def endless(x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
    return endless(x)


def test_inline_functions_stand_for_their_statements():
    @pl.program
    class Called:
        @pl.function
        def main(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
            y: pl.Tensor[[64], pl.FP32] = scaled(scaled(x))
            return y

    @pl.program
    class Written:
        @pl.function
        def main(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
            a: pl.Tensor[[64], pl.FP32] = pl.mul(x, 3.0)
            b: pl.Tensor[[64], pl.FP32] = pl.mul(a, 3.0)
            y: pl.Tensor[[64], pl.FP32] = b
            return y

    ir.assert_structural_equal(Called, Written)
    with pytest.raises(ParserTypeError, match="scaled expects 1 argument, got 2"):

        @pl.function
        def two(x: pl.Tensor[[64], pl.FP32]):
            return scaled(x, x)

    with pytest.raises(UnsupportedFeatureError, match="endless calls itself"):

        @pl.function
        def loops(x: pl.Tensor[[64], pl.FP32]):
            return endless(x)


def test_handles_are_types():
    @pl.function
    def f(event: pl.AsyncEvent, session: pl.AsyncSessionType, context: pl.PrefetchAsyncContext):
        pass

    kinds = (ir.AsyncEventType, ir.AsyncSessionType, ir.PrefetchAsyncContextType)
    assert tuple(type(each.type) for each in f.params) == kinds
    ir.assert_structural_equal(pl.parse(str(f)), f)
    ir.assert_structural_equal(ir.deserialize(ir.serialize(f)), f)


def test_launches_are_checked():
    call, kind = ir.GlobalVar("k"), ir.TupleType([ir.ScalarType(DataType.TASK_ID)])
    span = ir.Span.unknown()
    made = ir.Submit(call, [], [], {}, None, kind, span, core_num=4, sync_start=True)
    assert made.core_num.value == 4 and made.sync_start and list(made.deps) == []
    assert not ir.structural_equal(made, ir.Submit(call, [], [], {}, None, kind, span, core_num=8, sync_start=True))
    with pytest.raises(ValueError, match="sync_start needs core_num"):
        ir.Submit(call, [], [], {}, None, kind, span, sync_start=True)
    with pytest.raises(TypeError, match="core_num must be an integer"):
        ir.Submit(call, [], [], {}, None, kind, span, core_num=ir.ConstFloat(4.0, DataType.FP32))


@pytest.mark.parametrize(("written", "named"), [("0", "zero"), ("0.0", "zero"), ("float('-inf')", "min")])
def test_numbers_name_paddings(written, named):
    def parsed(pad):
        body = f"    t = pl.load(x, [0, 0], [16, 32])\n    pl.store(pl.fillpad(t, pad_value={pad}), [0, 0], y)\n"
        head = "x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]"
        return pl.parse(f"@pl.function\ndef f({head}):\n{body}")

    ir.assert_structural_equal(parsed(written), parsed(f"pl.PadValue.{named}"))
    with pytest.raises(InvalidOperationError, match="fillpad pad_value is a pl.PadValue"):
        parsed("7")
