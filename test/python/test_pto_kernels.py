"""What the builder's kernels compute on the simulator, in checked mode, against numpy: element types, loops, ragged and
large sizes, both chips."""

import re

import ml_dtypes
import numpy as np
import pto.emit_vector
import pytest
from pto import PTO, PTOError, PTOModule, ast_frontend
from pto_mlir.runtime import InvalidArgument, Kernel, RuntimeFailure
from pto_mlir.tools.native import program_output
from pto_runtime import BinaryCompiler

NUMPY = {name: np.dtype(name) for name in ("float32", "float16", "int8", "int16", "int32")}
NUMPY["bfloat16"] = np.dtype(ml_dtypes.bfloat16)
# exp and sqrt of the core differ in their last bits; everything else is exact.
TOLERANCE = {"float32": 2e-6, "float16": 2e-3, "bfloat16": 1e-2}
SUM_TOLERANCE = {"float32": 1e-5, "float16": 1e-3, "bfloat16": 8e-3, "int32": 0}
UNARY = {
    "tile_copy": lambda x: x,
    "tile_exp": np.exp,
    "tile_sqrt": np.sqrt,
    "tile_abs": np.abs,
    "tile_relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "tile_neg": np.negative,
}
BINARY = {
    "tile_add": np.add,
    "tile_sub": np.subtract,
    "tile_mul": np.multiply,
    "tile_div": np.divide,
    "tile_max": np.maximum,
    "tile_min": np.minimum,
}
PROCESSORS = pytest.mark.parametrize("processor", ["a3", "a5"])


def data(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    if dtype.startswith("int"):
        return random.integers(-128, 128, shape).astype(NUMPY[dtype])
    return (random.standard_normal(shape) * 2).astype(NUMPY[dtype])


@pytest.fixture
def launch(tmp_path):
    """Compiles a builder's kernel and runs it in checked mode; `mode` and `blocks` as in Kernel."""

    def run(builder, processor, *args, mode="checked", blocks=0):
        (path,) = builder.compile(tmp_path / f"{builder.name}.pmodel", processor)
        Kernel(path, mode=mode).run(*args, blocks=blocks)

    return run


def close(got, expected, tolerance):
    got, expected = got.astype(np.float64), np.asarray(expected).astype(np.float64)
    np.testing.assert_array_less(np.abs(got - expected), tolerance * np.maximum(1, np.abs(expected).max()) + 1e-30)


@PROCESSORS
@pytest.mark.parametrize("dtype", NUMPY)
def test_every_operation_of_every_type(launch, processor, dtype):
    """One kernel with all operations; rows of 37 elements leave a ragged tile. i8 wraps, bf16 rounds after each
    operation."""
    shape, builder = (13, 37), PTO("operations")
    x, y = (builder.tensor(shape, dtype, name) for name in "xy")
    value = 3 if dtype.startswith("int") else 0.3
    number = builder.scalar(dtype=dtype, name="number")
    floats = () if dtype.startswith("int") else ("tile_exp", "tile_sqrt", "tile_div")
    a, b = data(shape, dtype), data(shape, dtype, 1)
    a.flat[0] = -128 if dtype == "int8" else a.flat[0]
    expected, outputs = [], []
    with np.errstate(all="ignore"):
        for name, function in {**UNARY, **BINARY}.items():
            if dtype.startswith("int") and name in ("tile_exp", "tile_sqrt", "tile_div"):
                continue
            forms = (
                [(name, (x,), (a,))]
                if name in UNARY
                else [(name, (x, y), (a, b)), (name + "s", (x, number), (a, NUMPY[dtype].type(value)))]
            )
            for op, operands, arrays in forms:
                outputs.append(builder.tensor(shape, dtype, f"o_{op}"))
                if name == "tile_sqrt":
                    positive = builder.tile(shape, dtype)
                    builder.tile_abs(positive, x)
                    operands, arrays = (positive,), (np.abs(a),)
                getattr(builder, op)(outputs[-1], *operands)
                expected.append(function(*arrays))
    assert len(expected) == 3 + 5 * 2 + 1 + len(floats) + bool(floats)
    results = [np.zeros(shape, NUMPY[dtype]) for _ in outputs]
    launch(builder, processor, a, b, *results, value)
    for output, got, want in zip(outputs, results, expected, strict=True):
        tolerance = TOLERANCE.get(dtype, 0)
        error = np.abs(got.astype(np.float64) - want.astype(np.float64))
        assert (error <= tolerance * np.abs(want.astype(np.float64)) + 1e-7 * bool(tolerance)).all(), output.name


@PROCESSORS
def test_trips_are_an_argument(launch, processor, tmp_path):
    """A loop stays a loop, a tile a tile; without trips the output is unchanged."""
    shape, builder = (50, 37), PTO("loop")
    x, y, z = (builder.tensor(shape, name=name) for name in "xyz")
    trips, step = builder.scalar(dtype="int32", name="trips"), builder.scalar(name="step")
    tile = builder.tile(shape)
    builder.tile_copy(tile, x)
    with builder.repeat(trips):
        builder.tile_adds(tile, tile, step)
        with builder.repeat(2):
            builder.tile_muls(tile, tile, 0.5)
        builder.tile_copy(z, tile)
    builder.tile_copy(y, tile)
    (text,) = builder.compile(tmp_path / "loop.pto", processor)
    assert text.read_text().count("scf.for") == 3 and text.read_text().count("pto.tmuls") == 1
    assert f'pto.target_arch = "{processor}"' in text.read_text()
    a = data(shape, "float32")
    for count in (0, 1, 5):
        got, last = np.zeros(shape, np.float32), np.full(shape, 7, np.float32)
        launch(builder, processor, a, got, last, count, 0.75)
        expected = a.copy()
        for _ in range(count):
            expected = (expected + np.float32(0.75)) * np.float32(0.25)
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(last, expected if count else 7)


@PROCESSORS
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("shape", [(1000, 300), (3, 20000), (100000,), (7, 5), (50, 1), (2, 3, 70), (5000, 8)], ids=str)
def test_ragged_and_large_tensors(launch, processor, shape, dtype):
    """Tensors larger than UB are processed in blocks; the last block is smaller."""
    builder = PTO("blocks")
    x, y = builder.tensor(shape, dtype), builder.tensor(shape, dtype)
    builder.tile_adds(y, x, 1)
    builder.tile_add(y, y, x)
    a, got = data(shape, dtype), np.zeros(shape, NUMPY[dtype])
    launch(builder, processor, a, got)
    np.testing.assert_array_equal(got, (a + NUMPY[dtype].type(1)) + a)


def test_blocks_share_the_rows(launch):
    """In place: a row processed by two cores would be added twice."""
    for shape in ((3000, 64), (70000,)):
        builder = PTO("inplace")
        x = builder.tensor(shape)
        builder.tile_adds(x, x, 1.0)
        for blocks in (1, 3):
            got = data(shape, "float32")
            expected = got + 1
            launch(builder, "a3", got, blocks=blocks)
            np.testing.assert_array_equal(got, expected)


@PROCESSORS
@pytest.mark.parametrize(
    "types",
    [
        ("float32", "float32"),
        ("float16", "float16"),
        ("float16", "float32"),
        ("bfloat16", "float32"),
        ("int8", "int32"),
    ],
    ids=str,
)
@pytest.mark.parametrize("sizes", [(16, 16, 16), (5, 37, 19), (130, 300, 200), (1, 64, 1)], ids=str)
def test_products(launch, processor, types, sizes):
    dtype, sums = types
    m, k, n = sizes
    builder = PTO("product")
    x, y, z = builder.tensor((m, k), dtype), builder.tensor((k, n), dtype), builder.tensor((m, n), sums)
    builder.tile_matmul(z, x, y)
    a, b, got = data((m, k), dtype), data((k, n), dtype, 1), np.zeros((m, n), NUMPY[sums])
    launch(builder, processor, a, b, got, blocks=2)
    close(got, a.astype(np.float64) @ b.astype(np.float64), SUM_TOLERANCE[sums])


@PROCESSORS
def test_sums_stay_in_the_accumulator(launch, processor, tmp_path):
    """A tile written only by products stays in L0C: one store, and the vector core continues from there."""
    builder = PTO("sums")
    trips = builder.scalar(dtype="int64", name="trips")
    x, y = builder.tensor((48, 64), "float16"), builder.tensor((64, 80), "float16")
    z, w = builder.tensor((48, 80)), builder.tensor((48, 80))
    total = builder.tile((48, 80))
    builder.tile_matmul(total, x, y)
    with builder.repeat(trips):
        builder.tile_matmul_acc(total, x, y)
    builder.tile_copy(z, total)
    builder.tile_relu(w, z)
    assert builder.workspace() == []
    (text,) = builder.compile(tmp_path / "sums.pto", processor)
    assert "pto.tmatmul.acc" in text.read_text() and "atomic" not in text.read_text()
    a, b = data((48, 64), "float16"), data((64, 80), "float16", 1)
    for count in (0, 4):
        got, positive = np.zeros((48, 80), np.float32), np.zeros((48, 80), np.float32)
        launch(builder, processor, a, b, got, positive, count)
        expected = (count + 1) * (a.astype(np.float64) @ b.astype(np.float64))
        close(got, expected, 1e-5)
        close(positive, np.maximum(expected, 0), 1e-5)


@PROCESSORS
def test_sums_in_a_tensor(launch, processor):
    """The initial contents of the tensor count, and each trip adds once, also on several blocks."""
    builder = PTO("add_products")
    x, y, z = builder.tensor((20, 30)), builder.tensor((30, 40)), builder.tensor((20, 40))
    with builder.repeat(3):
        builder.tile_matmul_acc(z, x, y)
    a, b, got = data((20, 30), "float32"), data((30, 40), "float32", 1), data((20, 40), "float32", 2)
    expected = got + 3 * (a.astype(np.float64) @ b)
    launch(builder, processor, a, b, got, blocks=3)
    close(got, expected, 1e-5)


@PROCESSORS
def test_tiles_between_the_cores(launch, processor, tmp_path):
    """A tile that both cores use goes through global memory: one more pointer, which Binary passes by itself."""
    builder = PTO("power")
    trips = builder.scalar(dtype="int32", name="trips")
    a, x, y = (builder.tensor((24, 24), name=name) for name in "axy")
    tile = builder.tile((24, 24), name="between")
    builder.tile_copy(y, x)
    with builder.repeat(trips):
        builder.tile_matmul(tile, a, y)
        builder.tile_relu(tile, tile)
        builder.tile_muls(y, tile, 0.25)
    assert [value.name for value in builder.workspace()] == ["between"]
    left, right = data((24, 24), "float32"), data((24, 24), "float32", 1)
    binary = BinaryCompiler(builder).compile("aicore", processor=processor)
    for count in (0, 3):
        got, same = np.zeros((24, 24), np.float32), np.zeros((24, 24), np.float32)
        launch(builder, processor, left, right, got, np.zeros((24, 24), np.float32), count)
        binary.callable()(left, right, same, count)
        expected = right.astype(np.float64)
        for _ in range(count):
            expected = np.maximum(left @ expected, 0) * 0.25
        close(got, expected, 1e-5)
        np.testing.assert_array_equal(got, same)


SOURCE = """
def blend(x, y, out):
    acc = x * 0.5
    for _ in range(2):
        acc = acc + relu(2 - y)
    out[:] = -(maximum(acc, 0.25) @ x) / 3.0
"""


@pytest.mark.parametrize("kind", ["aicore", "host", "aicpu"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_front_end_on_every_kind(kind, dtype):
    builder = ast_frontend(SOURCE, dtype, x=(40, 40), y=(40, 40), out=(40, 40))
    x, y, out = data((40, 40), dtype), data((40, 40), dtype, 1), np.zeros((40, 40), NUMPY[dtype])
    BinaryCompiler(builder).compile(kind).callable()(x, y, out)
    a, b = x.astype(np.float64), y.astype(np.float64)
    acc = np.maximum(a * 0.5 + 2 * np.maximum(2 - b, 0), 0.25)
    close(out, -(acc @ a) / 3, {"float32": 1e-5, "float16": 3e-3, "bfloat16": 2e-2}[dtype])


@pytest.mark.parametrize("dtype", NUMPY)
def test_the_host_computes_what_the_core_does(dtype):
    """Elementwise comparison: the types round and wrap alike."""
    builder = PTO("alike")
    x, y, z = (builder.tensor((6, 50), dtype, name) for name in "xyz")
    factor = builder.scalar(dtype=dtype, name="factor")
    builder.tile_muls(z, x, factor)
    builder.tile_sub(z, z, y)
    builder.tile_max(z, z, x)
    builder.tile_neg(z, z)
    builder.tile_mul(z, z, y)
    a, b = data((6, 50), dtype), data((6, 50), dtype, 1)
    results = {}
    for kind in ("aicore", "host"):
        results[kind] = np.zeros((6, 50), NUMPY[dtype])
        BinaryCompiler(builder).compile(kind).callable()(a, b, results[kind], 5 if dtype.startswith("int") else 0.1)
    np.testing.assert_array_equal(results["aicore"], results["host"])


def test_module_is_one_file(tmp_path):
    module = PTOModule("pair")
    for name, op in (("twice", "tile_adds"), ("half", "tile_muls")):
        builder = PTO(name)
        x, y = builder.tensor((8, 8)), builder.tensor((8, 8))
        getattr(builder, op)(y, x, 0.5)
        module.add(builder)
    path = module.compile(tmp_path / "pair.pmodel")
    x, y = data((8, 8), "float32"), np.zeros((8, 8), np.float32)
    Kernel(path, "half").run(x, y)
    np.testing.assert_array_equal(y, x * np.float32(0.5))
    with pytest.raises(RuntimeFailure, match="choose a kernel; it has twice, half"):
        Kernel(path)


@PROCESSORS
def test_text_and_model_are_one_kernel(processor, tmp_path):
    """The .pto compiled manually equals the .pmodel byte for byte; so does the text of the same calls."""
    paths = {}
    for run in (1, 2):
        builder = PTO("same")
        x, y = builder.tensor((30, 20), "float16"), builder.tensor((30, 30))
        other, tile = builder.tensor((20, 30), "float16"), builder.tile((30, 30))
        builder.tile_matmul(tile, x, other)
        builder.tile_relu(tile, tile)
        builder.tile_exp(y, tile)
        folder = tmp_path / str(run)
        folder.mkdir()
        for suffix in ("pto", "pmodel"):
            (paths[run, suffix],) = builder.compile(folder / f"same.{suffix}", processor)
    assert paths[1, "pto"].read_text() == paths[2, "pto"].read_text()
    program_output("pto-compile", [str(paths[1, "pto"]), "-o", str(tmp_path / "by_hand.pmodel")])
    assert (tmp_path / "by_hand.pmodel").read_bytes() == paths[2, "pmodel"].read_bytes()


def test_what_cannot_be_compiled(tmp_path, monkeypatch):
    def kernel(dtype, *ops):
        builder = PTO("k")
        x = builder.tensor((16, 16), dtype, "x")
        y = builder.tensor((16, 16), dtype, "y")
        for op in ops:
            getattr(builder, op)(y, x, *([x] if "matmul" in op else []))
        return builder

    count = PTO("k")
    n, x = count.scalar(dtype="int32", name="n"), count.tensor((4, 4), "int32", "x")
    with count.repeat(n):
        count.tile_adds(x, x, n)
    unwritten = PTO("k")
    unwritten.tile_copy(unwritten.tensor((4, 4)), unwritten.tile((4, 4)))
    cases = [
        (
            kernel("float64", "tile_copy"),
            "@k: %y is f64, which the vector core has no instructions for",
        ),
        (
            kernel("int32", "tile_matmul"),
            "@k: tile_matmul: the cube core has no products of i32; it has f32, f16, bf16, i8",
        ),
        (kernel("int8", "tile_matmul"), "@k: tile_matmul: products of i8 are i32, but %y is i8"),
        (count, "@k: %n is both a number of trips and an operand; make it two scalars"),
        (unwritten, "@k: %t1 is read before it is written"),
        (PTO("k"), "@k writes no tensor"),
    ]
    for builder, message in cases:
        for suffix in ("pto", "pmodel"):
            with pytest.raises(PTOError, match=message):
                builder.compile(tmp_path / f"k.{suffix}")
            assert not (tmp_path / f"k.{suffix}").exists()
    monkeypatch.setitem(pto.emit_vector.UB_BYTES, "a3", 32)
    with pytest.raises(PTOError, match="@k: 2 tiles of one operation sequence do not fit into the 32 bytes of UB"):
        kernel("float32", "tile_copy", "tile_abs").compile(tmp_path / "k.pto")


def test_arguments_that_do_not_fit(tmp_path):
    builder = PTO("k")
    x, y = builder.tensor((4, 8)), builder.tensor((4, 8))
    builder.tile_muls(y, x, builder.scalar(name="factor"))
    (path,) = builder.compile(tmp_path / "k.pmodel")
    a, b = np.ones((4, 8), np.float32), np.zeros((4, 8), np.float32)
    fixed = b.copy()
    fixed.flags.writeable = False
    cases = [
        ((a, b), RuntimeFailure, "scalar argument 0 of 0"),
        ((a, 2.0), RuntimeFailure, "kernel 'k' takes 2 arguments, got 1; numbers are counted apart: 1"),
        ((a, fixed, 2.0), InvalidArgument, "kernel 'k', argument 1: the kernel writes it, but the array is read-only"),
        (
            (a[:, ::2], b, 2.0),
            InvalidArgument,
            "kernel 'k', argument 0: a kernel reads dense arrays, this one is strided",
        ),
        ((a, b, "2"), InvalidArgument, "kernel 'k', argument 2: expects an array or a number, got str"),
        ((a, b, 1 << 70), InvalidArgument, "does not fit into 64 bits"),
        ((a, b[:2].copy(), 2.0), RuntimeFailure, "out-of-range"),
    ]
    kernel = Kernel(path)
    for args, kind, message in cases:
        with pytest.raises(kind, match=message):
            kernel.run(*args)
    kernel.run(fixed, b, 2.0)
    kernel.run(a, b, np.float16(2.0))
    np.testing.assert_array_equal(b, 2)
    with pytest.raises(RuntimeFailure, match="has no kernel 'other'; it has k"):
        Kernel(path, "other")
    with pytest.raises(RuntimeFailure, match="absent.pmodel: cannot open"):
        Kernel(tmp_path / "absent.pmodel")
    for kind in ("aicore", "host"):
        function = BinaryCompiler(builder).compile(kind).callable()
        for args, message in (
            ((a, b), "@k takes 3 arguments, got 2"),
            ((a.astype(np.float64), b, 2.0), "@k: %t0 expects an array of float32 (4, 8), got float64 (4, 8)"),
            ((a[:2], b, 2.0), "@k: %t0 expects an array of float32 (4, 8), got float32 (2, 8)"),
            ((np.asfortranarray(a), b, 2.0), "@k: %t0 expects a dense array, this one is strided"),
        ):
            with pytest.raises(PTOError, match=re.escape(message)):
                function(*args)
