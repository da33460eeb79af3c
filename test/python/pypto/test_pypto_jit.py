"""`@pl.jit`: numbers against numpy, the cache, and what wrong calls and programs say."""

import subprocess
import sys

import numpy as np
import pypto.language as pl
import pytest
from pypto import ir
from pypto.backend.pto_backend import PartialCodegenError
from pypto.language.parser.diagnostics import ParserTypeError, UnsupportedFeatureError
from pypto.runtime import RunConfig
from random_numbers import numbers

FACTOR = 3.0


@pl.jit
def scale(src: pl.Tensor, dst: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        h, w = src.shape
        pl.store(pl.mul(pl.load(src, [0, 0], [h, w]), FACTOR), [0, 0], dst)
    return dst


@pl.jit
def hello(a: pl.Tensor[[128, 128], pl.FP32], b: pl.Tensor[[128, 128], pl.FP32], c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="adds"):
        x = pl.load(a, [0, 0], [128, 128])
        y = pl.load(b, [0, 0], [128, 128])
        c = pl.store(pl.add(x, y), [0, 0], c)
    return c


@pl.jit
def power(x: pl.Tensor, y: pl.Out[pl.Tensor], n: pl.Scalar[pl.INT32], s: pl.FP32):
    rows = x.shape[0]
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(0, rows, 16):
            t = pl.load(x, [i, 0], [16, 64])
            if n > 1:
                t = pl.mul(t, s)
            y = pl.store(t, [i, 0], y)
    return y


@pytest.mark.parametrize("platform", ["a2a3sim", "a2a3", "a5sim", "a5"])
def test_hello_world(platform):
    a, b, c = numbers(128, 128), numbers(128, 128, seed=1), np.zeros((128, 128), np.float32)
    assert hello(a, b, c=c, config=RunConfig(platform=platform)) is None
    np.testing.assert_array_equal(c, a + b)


def test_shapes_fill_bare_annotations_and_key_the_cache(monkeypatch):
    scale._cache.clear()
    for shape, dtype in (((64, 32), np.float32), ((16, 64), np.float32), ((64, 32), np.float16)) * 2:
        x, y = numbers(*shape).astype(dtype), np.zeros(shape, dtype)
        scale(x, y)
        np.testing.assert_array_equal(y, x * dtype(3))
    assert len(scale._cache) == 3
    scale(x, y, config=RunConfig(platform="a5sim"))
    assert len(scale._cache) == 4
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    scale(x, y)
    assert len(scale._cache) == 5
    np.testing.assert_array_equal(y, x * np.float16(5))


def test_scalars_fold():
    power._cache.clear()
    x, y = numbers(64, 64), np.zeros((64, 64), np.float32)
    power(x, y, 1, 2.0)
    np.testing.assert_array_equal(y, x)
    power(x, y, 2, s=np.float32(2.5))
    np.testing.assert_array_equal(y, x * np.float32(2.5))
    assert len(power._cache) == 2


def test_a_factory_closes_over_its_sizes():
    def make(rows):
        @pl.jit
        def first(x: pl.Tensor[[rows, 32], pl.FP32], y: pl.Tensor):
            with pl.at(level=pl.Level.CORE_GROUP):
                pl.store(pl.load(x, [0, 0], [rows, 32]), [0, 0], y)

        return first

    for rows in (8, 16):
        x, y = numbers(rows, 32), np.zeros((32, 32), np.float32)
        make(rows)(x, y)
        np.testing.assert_array_equal(y[:rows], x)
        assert not y[rows:].any()  # what is not written keeps its value


@pl.jit
def softmax_in_place(x: pl.InOut[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.load(x, [0, 0], [64, 64])
        e = pl.exp(pl.tile.row_expand_sub(t, pl.tile.row_max(t)))
        pl.store(pl.tile.row_expand_div(e, pl.tile.row_sum(e)), [0, 0], x)


def test_a_tensor_that_is_read_and_written():
    x = numbers(64, 64)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    softmax_in_place(x)
    np.testing.assert_allclose(x, e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)


class Torch:
    """The part of a torch tensor that is read."""

    device, requires_grad, dtype = "cpu", False, "torch.float32"

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def data_ptr(self):
        return self.array.ctypes.data

    def stride(self):
        return tuple(each // self.array.itemsize for each in self.array.strides)


class Exported:
    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


def test_torch_tensors_and_dlpack():
    x, y = numbers(64, 32), np.zeros((64, 32), np.float32)
    scale(Exported(x), Torch(y))
    np.testing.assert_array_equal(y, x * 3)
    with pytest.raises(ValueError, match="argument src: must be contiguous"):
        scale(Torch(numbers(32, 64).T), y)


def test_compile_and_lower():
    scale._cache.clear()
    x, y = numbers(64, 32), np.zeros((64, 32), np.float32)
    assert [f.name for f in _functions(scale.lower(x, y))] == ["scale_incore_0", "scale"]
    assert not scale._cache
    compiled = scale.compile(x, y)
    assert not y.any() and compiled.param_names == ["src", "dst"] and compiled.output_indices == [1]
    compiled(x, y)
    np.testing.assert_array_equal(y, x * 3)
    scale._cache.clear()
    np.testing.assert_array_equal(compiled(x), x * 3)
    assert not scale._cache
    with pytest.raises(ValueError, match="argument src: compiled for"):
        compiled(numbers(8, 32), np.zeros((8, 32), np.float32))
    y[:] = 0
    scale(x, y, config=RunConfig(codegen_only=True))
    assert not y.any()


def _functions(program):
    held = program.functions
    return list(held.values()) if hasattr(held, "values") else list(held)


A, C = numbers(128, 128), np.zeros((128, 128), np.float32)
READ_ONLY = np.zeros((128, 128), np.float32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: hello(A, A), TypeError, "hello: expects 3 arguments, c is missing"),
        (lambda: hello(A, A, C, C), TypeError, "hello: expects 3 arguments (a, b, c), not 4"),
        (lambda: hello(A, A, d=C), TypeError, "hello: has no parameter d; it has a, b, c"),
        (lambda: hello(A, A.astype(np.float16), C), TypeError, "hello: argument b: expects FP32, not FP16"),
        (lambda: hello(A, [1], C), TypeError, "argument b: expects a numpy array, a torch tensor or a number"),
        (lambda: hello(A, 1.0, C), TypeError, "hello: argument b: expects a tensor, not the number 1.0"),
        (lambda: hello(A, A[0], C), ValueError, "hello: argument b: expects 2 axes, [128, 128], not [128]"),
        (lambda: hello(A, A[:64], C), ValueError, "argument b: expects shape [128, 128], not [64, 128]"),
        (lambda: hello(A, A.T, C), ValueError, "hello: argument b: must be contiguous"),
        (lambda: hello(A, A, READ_ONLY), ValueError, "hello: argument c: is an output, but read-only"),
        (lambda: hello(A, C, C), ValueError, "hello: argument c: is an output and shares memory with b"),
        (lambda: scale(A[:0], C[:0]), ValueError, "argument src: the tensor of shape [0, 128] is empty"),
        (lambda: scale(A.astype(np.float64), C), TypeError, "argument src: tensors of type float64"),
        (lambda: power(A, C, 1.5, 1.0), TypeError, "power: argument n: 1.5 is no INT32"),
        (lambda: power(A, C, 1 << 40, 1.0), ValueError, "power: argument n: 1099511627776 does not fit into INT32"),
        (lambda: power(A, C, A, 1.0), TypeError, "power: argument n: expects a number, not a tensor"),
        (lambda: hello(A, A, C, config=3), TypeError, "config: expects a RunConfig, not int"),
    ],
)
def test_wrong_calls_name_the_parameter(call, error, message):
    with pytest.raises(error) as found:
        call()
    assert message in str(found.value) and "\n" not in str(found.value)


@pl.jit.extern
def elsewhere(x: pl.Tensor, y: pl.Out[pl.Tensor]): ...


@pl.jit
def calls(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    elsewhere(x, y)


@pl.jit
def submits(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    y, _ = pl.submit(x, y)


@pl.jit
def no_scope(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    pass


@pytest.mark.parametrize("entry", [calls, submits, no_scope])
def test_what_is_not_supported_names_its_line(entry):
    with pytest.raises(UnsupportedFeatureError) as found:
        entry(numbers(8, 32), np.zeros((8, 32), np.float32))
    assert found.value.span["filename"] == __file__ and found.value.span["line"] > 1 and found.value.hint
    assert not entry._cache


@pl.jit
def unwritten(x: pl.Tensor, y: pl.Out[pl.Tensor], z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.load(x, [0, 0], [8, 32]), [0, 0], y)


@pl.jit
def writes_an_input(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.load(x, [0, 0], [8, 32])
        pl.store(t, [0, 0], y)
        pl.store(t, [0, 0], z)


@pl.jit
def rebinds(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y = pl.mul(x, 2.0)
        y = pl.add(x, 1.0)  # noqa: F841


def test_directions_are_held_to():
    x, y, z = numbers(8, 32), np.zeros((8, 32), np.float32), np.zeros((8, 32), np.float32)
    with pytest.raises(PartialCodegenError, match="unwritten: output z is never written"):
        unwritten(x, y, z)
    with pytest.raises(ParserTypeError, match="y is written, but not declared as Out"):
        writes_an_input(x, y, z)
    with pytest.raises(PartialCodegenError, match="rebinds: output y is never written"):
        rebinds(x, y)
    # Nothing is run: the program shows what the declaration would be.
    lowered = writes_an_input.lower(x, y, z).get_function("writes_an_input")
    assert lowered.param_directions == [ir.ParamDirection.In, ir.ParamDirection.InOut, ir.ParamDirection.Out]


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"platform": "a4"}, "platform: expects one of a2a3sim"),
        ({"ring_task_window": 6}, "ring_task_window: expects a power of 2 from 4 on, not 6"),
        ({"ring_heap": 512}, "ring_heap"),
        ({"ring_dep_pool": [4, 4, 4]}, "ring_dep_pool: a list has 4 entries, not 3"),
        ({"enable_pmu": 1}, r"enable_pmu: expects 0, 2 \(PIPE_UTILIZATION\) or 4 \(MEMORY\), which .* counts, not 1"),
        ({"enable_chip_swimlane": 5}, "enable_chip_swimlane: expects 0 to 4, not 5"),
    ],
)
def test_run_config_checks_its_fields(fields, message):
    with pytest.raises(ValueError, match=message):
        RunConfig(**fields)
    assert RunConfig(enable_l2_swimlane=True).enable_chip_swimlane == 4


def test_importing_the_language_loads_neither_numpy_nor_the_parser():
    code = "import pto_mlir.pypto as p; p.enable(); import sys; import pypto.language; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pypto.jit.function", "pypto.language.parser.entry", "pypto.runtime"} & set(loaded)
