"""Checked mode on running sums that no task has written: a kernel may load them and throw them away, not use them."""

import numpy as np
import pytest
from pto_mlir.runtime import RuntimeFailure
from pypto.language.parser.diagnostics import ErrorRenderer
from pypto.runtime import RunConfig, run
from source_file import imported

PROGRAM = """\
import pypto.language as pl


@pl.function(type=pl.FunctionType.InCore)
def update(
    x: pl.Tensor[[16, 64], pl.FP32],
    total: pl.InOut[pl.Tensor[[16, 64], pl.FP32]],
    is_first: pl.Scalar[pl.BOOL],
) -> pl.Tensor[[16, 64], pl.FP32]:
    new = pl.load(x, [0, 0], [16, 64])
    old = pl.load(total, [0, 0], [16, 64])
    {BODY}
    return kept


@pl.function(type=pl.FunctionType.InCore)
def hand_out(
    total: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
) -> pl.Tensor[[16, 64], pl.FP32]:
    return pl.store(pl.load(total, [0, 0], [16, 64]), [0, 0], out)


@pl.program
class Main:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
    ) -> pl.Tensor[[16, 64], pl.FP32]:
        total = pl.create_tensor([16, 64], dtype=pl.FP32)
        for i in pl.range({TURNS}):
            total = update(pl.slice(x, [16, 64], [i * 16, 0]), total, i == 0)
        out = hand_out(total, out)
        return out
"""
THROWN_AWAY = """\
if is_first:
        kept = pl.store(new, [0, 0], total)
    else:
        kept = pl.store(pl.add(old, new), [0, 0], total)"""
ADDED = "kept = pl.store(pl.add(old, new), [0, 0], total)"
REDUCED = """\
sums = pl.row_sum(old, pl.create_tile([16, 64], dtype=pl.FP32))
    kept = pl.store(pl.row_expand_add(new, sums), [0, 0], total)"""
MULTIPLIED_BY_ZERO = "kept = pl.store(pl.add(pl.mul(old, 0.0), new), [0, 0], total)"


def runs(monkeypatch, folder, platform, body, turns="4"):
    module = imported(monkeypatch, folder / "sums.py", PROGRAM.format(BODY=body, TURNS=turns))
    x = np.random.default_rng(7).integers(-8, 8, (64, 64)).astype(np.float32)
    out = np.zeros((16, 64), np.float32)
    run(module.Main, x, out, config=RunConfig(platform=platform, mode="checked"))
    return x, out


def line_of(body, part):
    return next(n for n, line in enumerate(PROGRAM.format(BODY=body, TURNS="4").splitlines(), 1) if part in line)


@pytest.mark.parametrize("platform", ("a2a3", "a5"))
def test_a_sum_that_is_thrown_away(platform, monkeypatch, tmp_path):
    x, out = runs(monkeypatch, tmp_path, platform, THROWN_AWAY)
    np.testing.assert_array_equal(out, x.reshape(4, 16, 64).sum(0))


@pytest.mark.parametrize("platform", ("a2a3", "a5"))
@pytest.mark.parametrize(
    "body, at, computes",
    (
        (ADDED, "pl.store(pl.add", ":21 (tadd) computed with it"),
        (MULTIPLIED_BY_ZERO, "pl.store(pl.add", ":28 (tmuls) computed with it"),
        (REDUCED, "pl.row_sum", "(trowsum "),
    ),
    ids=("added", "multiplied by zero", "reduced"),
)
def test_a_sum_that_is_used(platform, body, at, computes, monkeypatch, tmp_path):
    with pytest.raises(RuntimeFailure, match="uninitialised: .*, which nothing has written; MTE2 word") as caught:
        runs(monkeypatch, tmp_path, platform, body)
    said = str(caught.value)
    assert (
        f"pto.tload at sums.py:{line_of(body, 'old = ')}:11 (tload) loaded it from byte 0 of argument 1 (total)" in said
    )
    assert computes in said
    shown = ErrorRenderer().render(caught.value).splitlines()
    assert shown[1].startswith(f"  --> {tmp_path}/sums.py:{line_of(body, at)}:"), shown


@pytest.mark.parametrize("platform", ("a2a3", "a5"))
def test_a_copy_that_the_program_hands_out(platform, monkeypatch, tmp_path):
    with pytest.raises(RuntimeFailure, match=r"kernel 'hand_out' faulted on AIV0.0 MTE3.* which nothing has written"):
        runs(monkeypatch, tmp_path, platform, THROWN_AWAY, turns="0")
