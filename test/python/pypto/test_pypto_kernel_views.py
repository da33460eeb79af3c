"""Views of tensors that a kernel makes itself: loads, stores and elements of them are those of the tensor."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import InvalidOperationError
from pypto.runtime import RunConfig, run

TEXT = """\
import pypto.language as pl


@pl.program
class Views:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[64, 64], pl.FP32], z: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
{BODY}
        return z

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.Tensor[[64, 64], pl.FP32], z: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        z = self.kernel(x, z)
        return z


@pl.program
class Scope:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self, x: pl.Tensor[[64, 64], pl.FP32], z: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
{INDENTED}
        return z
"""


def program(body, name):
    lines = ["        " + line for line in body]
    text = TEXT.format(BODY="\n".join(lines), INDENTED="\n".join("    " + line for line in lines))
    kept = text.split("@pl.program\n")
    return pl.parse_program(kept[0] + "@pl.program\n" + kept[1 if name == "function" else 2])


def loaded(x, z):
    z[8:16, 8:24] = x[20:28, 5:21]


def stored(x, z):
    z[24:32, 16:32] = x[:8, :16]


def nested(x, z):
    z[:8, :16] = x[21:29, 10:26]


def again(x, z):
    z[32:40, 16:32] = x[:8, :16]
    z[:8, :16] = x[:8, :16]


CASES = {
    "a load": (
        ("w = pl.slice(x, [32, 32], [16, 4])", "t = pl.load(w, [4, 1], [8, 16])", "z = pl.store(t, [8, 8], z)"),
        loaded,
    ),
    "a store": (
        ("w = pl.slice(z, [32, 32], [16, 16])", "t = pl.load(x, [0, 0], [8, 16])", "w = pl.store(t, [8, 0], w)"),
        stored,
    ),
    "a view of a view": (
        (
            "v = pl.slice(x, [40, 40], [16, 8])",
            "w = pl.slice(v, [16, 20], [4, 0])",
            "t = pl.load(w, [1, 2], [8, 16])",
            "z = pl.store(t, [0, 0], z)",
        ),
        nested,
    ),
    "what was stored to a view": (
        (
            "w = pl.slice(z, [32, 32], [16, 16])",
            "t = pl.load(x, [0, 0], [8, 16])",
            "w = pl.store(t, [16, 0], w)",
            "u = pl.load(w, [16, 0], [8, 16])",
            "z = pl.store(u, [0, 0], z)",
        ),
        again,
    ),
}


@pytest.mark.parametrize("platform", ("a2a3sim", "a5sim"))
@pytest.mark.parametrize("form", ("function", "scope"))
@pytest.mark.parametrize("name", CASES)
def test_parts_of_views(name, form, platform):
    body, expect = CASES[name]
    x, z = (np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32) for seed in range(2))
    expected = z.copy()
    expect(x, expected)
    run(program(body, form), x, z, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(z, expected)


def test_elements_of_views():
    body = (
        "w = pl.slice(x, [32, 32], [16, 4])",
        "n = pl.tensor.read(w, [2, 3])",
        "v = pl.slice(z, [32, 32], [8, 8])",
        "v = pl.tensor.write(v, [1, 2], n)",
    )
    x, z = (np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32) for seed in range(2))
    expected = z.copy()
    expected[9, 10] = x[18, 7]
    run(program(body, "function"), x, z)
    np.testing.assert_array_equal(z, expected)


def test_tensors_assembled_into_a_view():
    body = (
        "v = pl.slice(z, [32, 32], [8, 8])",
        "v = pl.assemble(v, pl.add(pl.slice(x, [8, 16], [4, 4]), 1.0), [1, 2])",
    )
    x, z = (np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32) for seed in range(2))
    expected = z.copy()
    expected[9:17, 10:26] = x[4:12, 4:20] + 1
    run(program(body, "function"), x, z)
    np.testing.assert_array_equal(z, expected)


def test_a_view_that_is_valid_in_part_is_refused():
    body = ("w = pl.slice(x, [32, 32], [16, 4], valid_shape=[20, 32])", "t = pl.load(w, [4, 1], [8, 16])",
            "z = pl.store(t, [8, 8], z)")  # fmt: skip
    with pytest.raises(InvalidOperationError, match="tile.load on a view that drops axes or is valid in part"):
        run(program(body, "function"), *[np.zeros((64, 64), np.float32)] * 2)
