"""The PTO builder, its text, its front end and the code generated from it, against numpy."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pto
import pto_as
import pto_mlir
import pytest
from pto import PTO, PTOError, PTOFunctionBuilder, PTOModule, ast_frontend, generate_ascend_code
from pto_mlir.runtime import Kernel
from pto_runtime import BinaryCompiler


def test_example_of_the_overview():
    M = K = N = 64
    from pto import PTO, scalar  # noqa: F401

    pto = PTO("my_kernel")
    A = pto.tensor(shape=(M, K), dtype="float32")
    B = pto.tensor(shape=(K, N), dtype="float32")
    C = pto.tensor(shape=(M, N), dtype="float32")
    pto.tile_add(C, A, B)
    pto_as_text = pto.build()
    assert pto_as_text == (
        "kernel @my_kernel {\n  %t0 = tensor f32[64, 64]\n  %t1 = tensor f32[64, 64]\n  %t2 = tensor f32[64, "
        "64]\n  tile_add %t2, %t0, %t1\n}\n"
    )


def test_unequal_shapes_are_one_clear_error():
    builder = PTO("my_kernel")
    a, b, c = builder.tensor((64, 32)), builder.tensor((32, 64)), builder.tensor((64, 64))
    with pytest.raises(
        PTOError,
        match=r"^tile_add: expects sources of the destination's shape, got %t0 of 64x32 f32 for %t2 of 64x64 f32$",
    ):
        builder.tile_add(c, a, b)
    assert "tile_add" not in builder.build()


def polynomial() -> PTO:
    """f = (a + b + 1)(a + b + 2) + (a + b), then 3 rounds of a matmul that accumulates."""
    builder = PTO("polynomial")
    a, b, f = (builder.tensor((16, 16), name=name) for name in "abf")
    s, t, u = (builder.tile((16, 16)) for _ in range(3))
    builder.tile_add(s, a, b)
    builder.tile_adds(t, s, 1.0)
    builder.tile_adds(u, s, pto.scalar(2.0))
    builder.tile_mul(t, t, u)
    builder.tile_add(f, t, s)
    with builder.repeat(3):
        builder.tile_matmul_acc(f, a, b)
    return builder


def polynomial_numpy(a, b):
    s = a + b
    return (s + 1) * (s + 2) + s + 3 * (a @ b)


def test_text_and_builder_agree():
    text = polynomial().build()
    assert text == polynomial().build()
    (kernel,) = pto_as.parse(text)
    assert pto_as.print_kernel(kernel) == text
    assert PTOFunctionBuilder(text).build() == PTOFunctionBuilder(polynomial()).build() == text
    for code in (PTOFunctionBuilder(text).code, PTOModule.parse(text).code, lambda: generate_ascend_code(text)):
        with pytest.raises(PTOError, match=r"C\+\+ of a kernel is not available; PTO.compile\("):
            code()
    spaced = text.replace("  ", "\t ").replace("\n", "  # note\n\n")
    assert pto_as.print_kernel(pto_as.parse(spaced)[0]) == text


@pytest.mark.parametrize(
    "text, message",
    [
        ("tensor", ":1: expects 'kernel @name {', got 'tensor'"),
        ("kernel @k {\n", "kernel @k has no closing }"),
        (
            "kernel @k {\n%a = tensor f8[4]\n}",
            ":2: 'f8' is no element type, expected one of f32, f16, bf16, f64, i8, i16, i32, i64",
        ),
        ("kernel @k {\n%a = tensor f32[0]\n}", ":2: tensor %a needs a shape of positive extents"),
        ("kernel @k {\n%a = tensor f32[4,,4]\n}", ":2: '[4,,4]' is no shape"),
        (
            "kernel @k {\n%a = tile f32[1000, 1000]\n}",
            ":2: tile %a of 1000x1000 f32 is larger than 1048576 bytes of local memory",
        ),
        ("kernel @k {\n%a = tensor f32[4]\n%a = tensor f32[4]\n}", ":3: %a is declared twice"),
        ("kernel @k {\n%a = scalar i32 = 1.5\n}", ":2: '1.5' is no i32 number"),
        ("kernel @k {\n%a = tensor f32[4]\ntile_add %a, %b, %a\n}", ":3: %b is not declared"),
        ("kernel @k {\n%a = tensor f32[4]\ntile_add %a, %a\n}", ":3: tile_add takes 3 operands, got 2"),
        (
            "kernel @k {\n%a = tensor f32[4]\ntile_frob %a, %a\n}",
            ":3: there is no operation 'tile_frob'; known are tile_abs",
        ),
        (
            "kernel @k {\n%a = tensor f32[4]\n%b = tensor i32[4]\ntile_copy %a, %b\n}",
            ":4: tile_copy: %b of 4 i32 and %a of 4 f32 differ in type",
        ),
        ("kernel @k {\n%a = tensor i32[4]\ntile_div %a, %a, %a\n}", ":3: tile_div needs floating-point values"),
        ("kernel @k {\n%a = tensor f32[4]\ntile_adds %a, %a, %a\n}", ":3: tile_adds: %a of 4 f32 is no scalar"),
        (
            "kernel @k {\n%a = tensor f32[4, 5]\ntile_matmul %a, %a, %a\n}",
            ":3: tile_matmul: %a of 4x5 f32 is no product",
        ),
        ("kernel @k {\nrepeat 0 {\n}\n}", ":2: repeat takes a count from 1"),
        ("kernel @k {\nrepeat %n {\n}\n}", ":2: %n is not declared"),
        (
            "kernel @k {\n%n = scalar f32\nrepeat %n {\n}\n}",
            ":3: repeat takes a scalar argument of i32 or i64, got scalar %n of scalar f32",
        ),
        ("kernel @k {\n%n = scalar i32 = 4\nrepeat %n {\n}\n}", ":3: repeat takes a scalar argument"),
        (
            "kernel @k {\n%a = tensor f16[4, 4]\n%b = tensor i32[4, 4]\ntile_matmul %b, %a, %a\n}",
            ":4: tile_matmul: %a of 4x4 f16 and %b of 4x4 i32 differ in type",
        ),
        ("kernel @k {\n__import__('os')\n}", ":2: cannot read '__import__('os')'"),
        ("kernel @k {\n}\nkernel @k {\n}", ":3: there are two kernels @k"),
        ("kernel @k {\n" + "repeat 2 {\n" * 40, "repeats nest more than 16 deep"),
    ],
)
def test_wrong_text(text, message):
    with pytest.raises(PTOError) as error:
        pto_as.parse(text, "x.ptoas")
    assert str(error.value).startswith("x.ptoas")
    assert message in str(error.value)


def test_builder_mistakes():
    builder = PTO("k")
    a = builder.tensor((4, 4))
    other = PTO("other").tensor((4, 4))
    cases = [
        (lambda: PTO("two words"), "'two words' is no name"),
        (lambda: builder.tensor((4, -1)), "needs a shape of positive extents"),
        (lambda: builder.tensor((4,), "float8"), "'float8' is no element type"),
        (lambda: builder.tensor((4,), name="t0"), "%t0 is declared twice"),
        (lambda: builder.scalar("1"), "a scalar is a number"),
        (lambda: builder.tile_copy(a, other), "%t0 belongs to another kernel"),
        (lambda: builder.tile_copy(a, "a"), "'a' is neither a tensor, a tile nor a number"),
        (lambda: builder.repeat(0).__enter__(), "repeat takes a count from 1"),
        (lambda: PTOFunctionBuilder("kernel @a {\n}\nkernel @b {\n}"), "expects text with one kernel, got 2"),
        (lambda: builder.repeat(a).__enter__(), "repeat takes a scalar argument of i32 or i64"),
        (lambda: builder.repeat(PTO("other").scalar(dtype="int32")).__enter__(), "belongs to another kernel"),
        (lambda: PTOModule("m").compile("m.pto"), "module m has no function to compile"),
    ]
    for call, message in cases:
        with pytest.raises(PTOError, match=re.escape(message)):
            call()
    with pytest.raises(AttributeError, match="PTO has no 'tile_frob'"):
        builder.tile_frob(a)


def test_module():
    module = PTOModule("both")
    module.add(polynomial())
    module.add(PTO("empty"))
    with pytest.raises(PTOError, match="has a function @empty already"):
        module.add(PTO("empty"))
    again = PTOModule.parse(module.build(), "both")
    assert list(again.functions) == ["polynomial", "empty"]
    assert again.build() == module.build()


SOURCE = '''
def blend(x, y, out):
    """Names stay, the source never runs."""
    acc = x * 0.5
    for _ in range(2):
        acc = acc + relu(2 - y)
    out[:] = -(maximum(acc, 0.25) @ x) / 3.0
'''


def test_ast_frontend_computes_what_the_source_says():
    program = ast_frontend(SOURCE, x=(8, 8), y=(8, 8), out=(8, 8))
    random = np.random.default_rng(1)
    x, y, out = (random.standard_normal((8, 8)).astype(np.float32) for _ in range(3))
    BinaryCompiler(program).compile("host").callable()(x, y, out)
    acc = x * 0.5 + 2 * np.maximum(2 - y, 0)
    np.testing.assert_allclose(out, -(np.maximum(acc, 0.25) @ x) / 3, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize(
    "body, message",
    [
        ("out[:] = z", "line 2: 'z' is not known"),
        ("out[:] = x.T", "line 2: cannot translate 'x.T'"),
        ("out[:] = 3", "line 2: a number alone has no shape"),
        ("out[:] = open('f')", "line 2: there is no function 'open' of 1 arguments"),
        ("while x: pass", "line 2: expects an assignment or a loop"),
        ("for i in range(x): out[:] = x", "line 2: a loop is 'for _ in range(N)'"),
        ("out[:] = (", "line 2: "),
    ],
)
def test_ast_frontend_errors(body, message):
    with pytest.raises(PTOError, match=re.escape(message)):
        ast_frontend(f"def f(x, out):\n    {body}\n", x=(4, 4), out=(4, 4))
    with pytest.raises(PTOError, match="f takes x, out; shapes were given for x"):
        ast_frontend("def f(x, out):\n    out[:] = x\n", x=(4, 4))


@pytest.mark.parametrize("kind", ["host", "aicpu", "aicore"])
def test_binaries_of_every_kind_compute_the_same(kind):
    random = np.random.default_rng(2)
    a, b = (random.standard_normal((16, 16)).astype(np.float32) for _ in range(2))
    f = np.zeros((16, 16), np.float32)
    binary = BinaryCompiler(polynomial()).compile(kind)
    assert binary.functions == ["polynomial"] and Path(binary.path).exists()
    binary.callable()(a, b, f)
    np.testing.assert_allclose(f, polynomial_numpy(a, b), rtol=2e-5, atol=2e-5)


def test_kernels_as_files(tmp_path):
    builder = PTO("scaled_sum")
    a, b, c = (builder.tensor((48, 40), name=name) for name in "abc")
    builder.tile_add(c, a, b)
    with builder.repeat(3):
        builder.tile_muls(c, c, 0.5)
    random = np.random.default_rng(4)
    x, y = (random.standard_normal((48, 40)).astype(np.float32) for _ in range(2))
    expected = (x + y) * np.float32(0.125)

    (model,) = builder.compile(tmp_path / "scaled_sum.pmodel")
    got = np.zeros_like(x)
    Kernel(model).run(x, y, got)
    np.testing.assert_array_equal(got, expected)

    (text,) = builder.compile(tmp_path / "scaled_sum.pto")
    assert "pto.tadd" in text.read_text() and sorted(f.name for f in tmp_path.iterdir()) == [
        "scaled_sum.pmodel",
        "scaled_sum.pto",
    ]
    binaries = Path(pto_mlir.__file__).resolve().parents[2] / "bin"
    subprocess.run([binaries / "pto-compile", text, "-o", tmp_path / "again.pmodel"], check=True)
    for name, array in (("a", x), ("b", y)):
        np.save(tmp_path / f"{name}.npy", array)
    run = [binaries / "pto-run", tmp_path / "again.pmodel", "--kernel", "scaled_sum"]
    subprocess.run(
        [*run, "--arg", tmp_path / "a.npy", "--arg", tmp_path / "b.npy", "--out", tmp_path / "c.npy"], check=True
    )
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), expected)

    with pytest.raises(PTOError, match="@scaled_sum: compiles to a .pmodel or a .pto, got x.so"):
        builder.compile(tmp_path / "x.so")
    with pytest.raises(PTOError, match="there is no folder"):
        builder.compile(tmp_path / "none" / "x.pto")
    with pytest.raises(PTOError, match="there is no processor 'a4', expected one of a3, a5"):
        builder.compile(tmp_path / "x.pto", processor="a4")


def test_sources_written_for_the_chip():
    """The signature of the overview: pointers first, then the number of elements."""
    source = """extern "C" __aicore__ void kernel(__gm__ int64_t* args) {
    // args[0..n-1]: input and output pointers
    // args[n]: number of elements
    auto x = (__gm__ float*)args[0]; auto y = (__gm__ float*)args[1];
    for (int64_t i = 0; i < args[2]; ++i) y[i] = x[i] * 2;
}"""
    for kind in ("host", "aicpu"):
        x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
        BinaryCompiler(source).compile(kind).callable("kernel")(x, y)
        np.testing.assert_array_equal(y, x * 2)


def test_compiler_errors():
    with pytest.raises(ValueError, match="there is no kind 'gpu', expected one of aicore, aicpu, host"):
        BinaryCompiler("x").compile("gpu")
    with pytest.raises(ValueError, match="nothing to compile"):
        BinaryCompiler().compile("host")
    with pytest.raises(ValueError, match="the source has no function"):
        BinaryCompiler("int x;").compile("host")
    with pytest.raises(ValueError, match="host compiler: kernel.cpp:1:.*error:"):
        BinaryCompiler('extern "C" void f(long *) { nonsense }').compile("host")
    with pytest.raises(ValueError, match="aicore needs PTO-AS text or a PTO builder"):
        BinaryCompiler('extern "C" void f(long *) {}').compile("aicore")
    unwritten = PTO("k")
    unwritten.tile_copy(unwritten.tensor((4, 4)), unwritten.tile((4, 4)))
    with pytest.raises(PTOError, match="@k: %t1 is read before it is written"):
        BinaryCompiler(unwritten).compile("aicore")
    double = PTO("k")
    double.tile_copy(double.tensor((4, 4), "float64"), double.tensor((4, 4), "float64"))
    with pytest.raises(
        PTOError, match="@k: %t0 is f64, which the vector core has no instructions for; it has f32, f16"
    ):
        BinaryCompiler(double).compile("aicore")
