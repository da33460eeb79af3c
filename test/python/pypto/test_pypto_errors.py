"""Programs that are wrong: which error, where, and that nothing of a text is executed."""

import textwrap
import time
from pathlib import Path

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import (
    ErrorRenderer,
    InvalidOperationError,
    OperandError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    SSAViolationError,
    UndefinedVariableError,
    UnsupportedFeatureError,
)
from pypto.runtime import run as run_program

HEAD = "x: pl.Tensor[[64, 32], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]"


def text(body, head=HEAD):
    return f"@pl.function\ndef f({head}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


@pytest.mark.parametrize(
    "body, error, message, at",
    [
        ("return z", UndefinedVariableError, "Undefined variable 'z'", (3, 12)),
        ("t = pl.xyz(x)", InvalidOperationError, "Unknown operation 'pl.xyz'", (3, 9)),
        ("t = pl.tile.xyz(x)", InvalidOperationError, "Unknown operation 'pl.tile.xyz'", (3, 9)),
        ("for i in range(4):\n    pass", ParserSyntaxError, "must use pl.range()", (3, 14)),
        ("for i, j in pl.range(4):\n    pass", ParserSyntaxError, "target must be", (3, 9)),
        ("for i in pl.range(4, init_values=(1,)):\n    pass", ParserSyntaxError, "target must be", (3, 9)),
        ("for i, (a,) in pl.range(4, init_values=(1, 2)):\n    pass", ParserSyntaxError, "Mismatch", (3, 9)),
        ("for i, (a,) in pl.range(4, init_values=(1,)):\n    pass", ParserSyntaxError, "must end in pl.yield_", (3, 5)),
        ("for i in pl.range(0, 4, 0):\n    pass", ParserTypeError, "the step must not be 0", (3, 29)),
        (
            "for i in pl.unroll(4, init_values=(1,)):\n    pass",
            ParserSyntaxError,
            "does not accept 'init_values='",
            (3, 27),
        ),
        ("for i in pl.range(4, chunk=2):\n    pass", ParserSyntaxError, "does not accept 'chunk='", (3, 26)),
        ("for i in pl.pipeline(4):\n    pass", ParserSyntaxError, "requires stage=, how many", (3, 14)),
        ("for i in pl.range(4):\n    pass\nelse:\n    pass", UnsupportedFeatureError, "for .. else", (6, 9)),
        ("if n:\n    pass", ParserTypeError, "condition must be a Bool-typed scalar", (3, 8)),
        ("while n + 1:\n    pass", ParserTypeError, "condition must be a Bool-typed scalar", (3, 11)),
        ("r = pl.yield_(n)", ParserSyntaxError, "pl.yield_ belongs", (3, 9)),
        ("if n > 1:\n    r = pl.yield_(n)", ParserSyntaxError, "must end both arms", (4, 13)),
        ("if n > 1:\n    return n", UnsupportedFeatureError, "return must be the last", (4, 9)),
        ("n += 1", UnsupportedFeatureError, "AugAssign is not supported", (3, 5)),
        ("import os", UnsupportedFeatureError, "Import is not supported", (3, 5)),
        ("def g():\n    pass", UnsupportedFeatureError, "FunctionDef is not supported", (3, 5)),
        ("try:\n    pass\nexcept E:\n    pass", UnsupportedFeatureError, "Try is not supported", (3, 5)),
        ("t = [i for i in x]", UnsupportedFeatureError, "ListComp is not supported", (3, 9)),
        ("t = n if n > 1 else 2", UnsupportedFeatureError, "IfExp is not supported", (3, 9)),
        ("t = n ** 2", ParserSyntaxError, "the operator Pow is not supported", (3, 9)),
        ("t = x + x", ParserTypeError, "operators are for scalars", (3, 9)),
        ("t = 1 < n < 3", UnsupportedFeatureError, "cannot be chained", (3, 9)),
        ("t = 1 // 0", ParserSyntaxError, "cannot be computed", (3, 9)),
        ("t = 1 << 1000000000", ParserSyntaxError, "a shift by", (3, 9)),
        ("t = 4611686018427387904 * 4", ParserSyntaxError, "more than 64 bits", (3, 9)),
        ("t = pl.add(x)", OperandError, "tensor.add needs its rhs", (3, 9)),
        ("t = pl.load(x, [0], [16])", InvalidOperationError, "needs 2 offsets and extents", (3, 9)),
        ("t = pl.load(x, [0, 0], [0, 32])", InvalidOperationError, "an extent must be positive", (3, 9)),
        ("t = pl.cast(x, 3)", OperandError, "target_type must be an element type", (3, 9)),
        ("x[0, 1] = n", UnsupportedFeatureError, "Element-write: an element of a tensor cannot be assigned", (3, 5)),
        ("t = x[::2]", UnsupportedFeatureError, "slices have no step", (3, 11)),
        ("t = x[-3:, 0:4]", UnsupportedFeatureError, "indices from the end", (3, 11)),
        ("t: pl.Tile[[4, 4], pl.FP32] = pl.load(x, [0, 0], [8, 4])", ParserTypeError, "declared", (3, 8)),
        ("t: pl.Scalar[pl.INDEX] = pl.system.bar_all()", ParserTypeError, "the value is nothing", (3, 8)),
        ("t = pl.system.bar_all()", ParserTypeError, "has no result", (3, 5)),
        ("return n, (n, 1)", ParserTypeError, "a tuple in a returned tuple is not supported", (3, 5)),
        ("return n\nreturn n", ParserSyntaxError, "nothing may follow return", (4, 5)),
        ("t = n.__class__", UnsupportedFeatureError, "the attribute __class__", (3, 9)),
        ("t = pl.parse('x')", UnsupportedFeatureError, "cannot be called in a kernel", (3, 9)),
        ("t = n\nfor i in pl.range(4):\n    t = x", ParserTypeError, "the types must match", (4, 5)),
        ("if n > 4:\n    t = n + 1\nreturn t", UndefinedVariableError, "Undefined variable 't'", (5, 12)),
        (
            "k = n\nfor i in pl.range(4):\n    k = k + 1\n    break",
            UnsupportedFeatureError,
            "break and continue",
            (4, 5),
        ),
    ],
)
def test_errors_say_what_and_where(body, error, message, at):
    with pytest.raises(ParserError) as caught:
        pl.parse(text(body), "k.py")
    held = caught.value
    assert type(held) is error and message in held.message
    assert (held.span["line"], held.span["column"]) == at and held.span["filename"] == "k.py"


@pytest.mark.parametrize(
    "head, message",
    [
        ("x", "missing type annotation of parameter x"),
        ("x: int", "int is no type"),
        ("x: pl.Tile[[4, 4], pl.FP32]", "parameter x may not be a tile"),
        ("x: pl.Tensor[[4, 4]]", "needs a shape and an element type"),
        ("x: pl.Tensor[[4, 4], pl.FP32, pl.DN]", "is no layout of a tensor"),
        ("x: pl.Tensor[[0, 4], pl.FP32]", "an extent must be positive, not 0"),
        ("x: pl.Tensor[[1000000000000, 4], pl.FP32]", "at most 2^36 elements"),
        ("x: pl.InOut[pl.Scalar[pl.INDEX]]", "a scalar cannot be InOut"),
        ("x: pl.Out", "pl.Out takes one type, not 0"),
        ("x: pl.InOut[()]", "pl.InOut takes one type, not 0"),
        ("x: pl.Out[pl.Tensor[[4, 4], pl.FP32], pl.FP32]", "pl.Out takes one type, not 2"),
        ("x: pl.Out[pl.Out[pl.Tensor[[4, 4], pl.FP32]]]", "pl.Out stands around the type of a parameter only"),
        ("x: pl.Array[4]", "pl.Array[4]: its brackets say too little"),
        ("*x: pl.Scalar[pl.INDEX]", "no defaults, stars or keywords"),
    ],
)
def test_parameters_that_are_refused(head, message):
    with pytest.raises(ParserTypeError) as caught:
        pl.parse(text("return", head))
    assert message in caught.value.message


def test_strict_ssa_binds_once():
    code = text("t = n + 1\nt = t + 1").replace("@pl.function", "@pl.function(strict_ssa=True)")
    with pytest.raises(SSAViolationError, match="t is bound already"):
        pl.parse(code)


def test_functions_that_call_each_other():
    code = """
    @pl.program
    class P:
        @pl.function
        def f(self, n: pl.INDEX):
            self.g(n)

        @pl.function
        def g(self, n: pl.INDEX):
            self.f(n)
    """
    with pytest.raises(ParserSyntaxError, match="functions call each other: f -> g -> f"):
        pl.parse_program(textwrap.dedent(code))


@pytest.mark.parametrize(
    "code, message",
    [
        ("import os\n" + text("return n"), "Import is not supported outside a function"),
        ("from os import path\n" + text("return n"), "ImportFrom is not supported"),
        ("import os as pl\n" + text("return n"), "Import is not supported"),
        ("print('hello')\n" + text("return n"), "Expr is not supported outside a function"),
        ("N = open('f')\n" + text("return n"), "Unknown operation 'open'"),
        ("N = pl.Mem.__class__\n" + text("return n"), "the attribute __class__"),
        ("N = 'a' * 1000000000\n" + text("return n"), "operators are for scalars"),
        ("N = pl.dynamic('a b')\n" + text("return n"), "pl.dynamic needs a name"),
        ("@staticmethod\n" + text("return n").split("\n", 1)[1], "f has no @pl.function"),
        ("for i in x: pass\n", "For is not supported outside a function"),
        ("x\0", "null character"),
        ("@pl.function\ndef f(n: pl.INDEX):\n    return " + "-" * 5000 + "n\n", "nests too deeply"),
        ("@pl.function\ndef f(n: pl.INDEX):\n    return n" + " + n" * 200000 + "\n", "nests too deeply"),
    ],
)
def test_texts_that_are_refused(code, message):
    start = time.perf_counter()
    with pytest.raises(ParserError) as caught:
        pl.parse(code)
    assert message in caught.value.message
    assert time.perf_counter() - start < 2


def test_what_is_no_python_is_pythons_error():
    for code in ("def", "[" * 1000000, "f(" * 200):
        with pytest.raises((SyntaxError, ParserSyntaxError)):
            pl.parse(code)


def test_files_that_are_no_text(tmp_path):
    path = tmp_path / "k.py"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ParserSyntaxError, match="not UTF-8"):
        pl.loads(path)


def test_errors_are_rendered_with_their_line():
    with pytest.raises(ParserError) as caught:
        pl.parse(text("t = pl.load(x, [0, 0], [8, 8])\nreturn u"), "k.py")
    assert ErrorRenderer().render(caught.value) == (
        "Error: Undefined variable 'u'\n"
        "  --> k.py:4:12\n"
        "  |\n"
        "4 |     return u\n"
        "  |            ^\n"
        "  = help: bind it before, or define it outside as a constant"
    )
    assert "\033[" in ErrorRenderer(use_color=True).render(caught.value)


def test_a_decorated_functions_error_names_this_file():
    with pytest.raises(UndefinedVariableError) as caught:

        @pl.function
        def broken(n: pl.Scalar[pl.INDEX]):
            return missing  # noqa: F821

    assert caught.value.span["filename"] == __file__
    shown = ErrorRenderer().render(caught.value)
    assert "return missing" in shown and shown.splitlines()[4].endswith("^")


@pytest.mark.parametrize("source", ("kernels/write.cpp", Path("kernels/write.cpp")), ids=("text", "path"))
def test_kernels_in_cpp_are_refused_by_name(source):
    @pl.program
    class External:
        @pl.function(type=pl.FunctionType.AIV, external_source=source)
        def write(self, out: pl.InOut[pl.Tensor[[64], pl.FP32]]) -> pl.Tensor[[64], pl.FP32]: ...

        @pl.function(type=pl.FunctionType.Orchestration)
        def main(self, out: pl.Out[pl.Tensor[[64], pl.FP32]]) -> pl.Tensor[[64], pl.FP32]:
            out = self.write(out)
            return out

    message = r"write is an external kernel in C\+\+ \(kernels/write.cpp\), which the simulated device cannot run"
    with pytest.raises(UnsupportedFeatureError, match=message) as error:
        run_program(External, np.zeros(64, np.float32))
    assert error.value.hint == "write its body in the language"
    text = Path(__file__).read_text().splitlines()
    assert "def write(self" in text[error.value.span["line"] - 1]
