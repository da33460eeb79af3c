"""Texts of programs with random damage: what parses prints and reads back as the same, all else is one placed error.

$PTO_FUZZ_SECONDS says for how long (30); each text follows from its number alone, which a failure names."""

import os
import random
import re
import time
import warnings
from pathlib import Path

import pypto.language as pl
import pytest
from pypto import ir
from pypto.language.parser.diagnostics import ErrorRenderer, PlacedError

SECONDS = float(os.environ.get("PTO_FUZZ_SECONDS", 30))
FIRST = int(os.environ.get("PTO_FUZZ_FIRST", 0))
SLOWEST = 2.0  # seconds, of a text of some hundred characters on a busy machine
TEXTS = [
    """@pl.function(type=pl.FunctionType.InCore)
def f(x: pl.Tensor[[64, 32], pl.FP32], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]], n: pl.Scalar[pl.INDEX]):
    t = pl.load(x, [0, 0], [64, 32])
    for i, (s,) in pl.range(0, n, 1, init_values=(t,)):
        u = pl.add(s, pl.exp(t))
        if i % 2 == 0:
            v = pl.yield_(pl.mul(u, 2.0))
        else:
            v = pl.yield_(u)
        s = pl.yield_(v)
    return pl.store(s, [0, 0], y)
""",
    """@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self,
        a: pl.Tensor[[16, 128], pl.BF16],
        b: pl.Tensor[[128, 16], pl.BF16],
        c: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    ):
        l = pl.move(pl.load(a, [0, 0], [16, 128], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        r = pl.move(pl.load(b, [0, 0], [128, 16], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        return pl.store(pl.matmul(l, r), [0, 0], c)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[16, 128], pl.BF16],
        b: pl.Tensor[[128, 16], pl.BF16],
        c: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    ):
        for i in pl.range(3):
            c, task = pl.submit(self.kernel, a, b, c)
        with pl.manual_scope():
            c, last = pl.submit(self.kernel, a, b, c, deps=[])
        return c
""",
    """N = 64
M = pl.dynamic("M")

@pl.function
def g(x: pl.Tensor[[M, N], pl.FP32], w: pl.Tensor[[N, N], pl.FP32], k: pl.Scalar[pl.INT32]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y = pl.matmul(x, w, out_dtype=pl.FP32)
        z = pl.add(y, pl.cast(x, target_type=pl.FP32))
    i = 0
    while i < k:
        i = i + 1
    p = z[0:16, 0:N]
    return pl.slice(z, [16, 32], [i * 2, -3 + 4]), p
""",
]
NUMBERS = [
    "0",
    "1",
    "-1",
    "7",
    "64",
    "2**40",
    "1000000000000",
    "0.5",
    "1e999",
    "float('nan')",
    "True",
    "None",
    "'a'",
    "()",
]
WORDS = sorted({word for text in TEXTS for word in re.findall(r"[A-Za-z_][\w.]*", text)})
TOKEN = re.compile(r"[A-Za-z_][\w.]*|\d+(?:\.\d+)?|\s+|.")


def damaged(number: int) -> str:
    """A text with one to four mutations."""
    rng = random.Random(number)
    tokens = TOKEN.findall(rng.choice(TEXTS))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(tokens))
        token, other = tokens[at], rng.randrange(len(tokens))
        match rng.randrange(8):
            case 0:
                del tokens[at : at + rng.randint(1, 6)]
                tokens = tokens or ["x"]
            case 1:
                tokens[at:at] = tokens[other : other + rng.randint(1, 12)]
            case 2:
                tokens[at], tokens[other] = tokens[other], token
            case 3:
                tokens[at] = rng.choice("()[]{},.:=+-*/%<>@#\\\n\t\"'é\0")
            case 4 | 5:
                places = [i for i, each in enumerate(tokens) if each[0].isdigit()] or [at]
                tokens[rng.choice(places)] = rng.choice(NUMBERS)
            case _:
                places = [i for i, each in enumerate(tokens) if each[0].isalpha()] or [at]
                tokens[rng.choice(places)] = rng.choice(WORDS)
    return "".join(tokens)


def check(text: str) -> bool:
    """Whether the text is a program."""
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings(action="ignore"):
            held = pl.parse(text)
    except PlacedError as error:
        assert error.message and "\n" not in error.message, error.message
        assert "Traceback" not in ErrorRenderer().render(error)
        held = None
    except SyntaxError:  # Python's own
        held = None
    assert time.perf_counter() - begin < SLOWEST
    if held is not None:
        # An extent of a result that the body computes is a free variable of the types, which stand before the body.
        printed = ir.python_print(held)
        ir.assert_structural_equal(pl.parse(printed), held, enable_auto_mapping="def g" in printed)
    return held is not None


def test_damaged_texts():
    begin, number, programs = time.perf_counter(), FIRST, 0
    while time.perf_counter() - begin < SECONDS:
        try:
            programs += check(damaged(number))
        except Exception as error:
            raise AssertionError(f"text {number}: {type(error).__name__}: {error}\n{damaged(number)}") from error
        number += 1
    assert number - FIRST > 50 and programs > 0  # the damage is not all that there is


@pytest.mark.parametrize("text", TEXTS)
def test_whole_texts(text):
    assert check(text)


def test_nothing_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in ("open('made', 'w')", "[open('made', 'w') for _ in (1,)]", "pl.Mem.__class__", "(lambda: 0)()"):
        for place in (f"N = {text}\n{TEXTS[0]}", TEXTS[0].replace("2.0", text), TEXTS[0].replace("[64, 32]", text)):
            with pytest.raises((PlacedError, SyntaxError)):
                pl.parse(place)
    assert not list(Path(tmp_path).iterdir())
