"""Attention in one kernel: numbers beside float64, in every mode of the simulator and for every number of cores."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy
from pto_mlir.tools.native import program_output


@dataclass
class Case:
    """An attention of `heads` heads of `queries` rows that share `shared` heads of `keys` keys."""

    queries: int
    keys: int
    depth: int
    heads: int = 1
    shared: int = 1
    batch: int = 1
    value_depth: int = 0
    layout: str = "BNSD"
    attributes: dict = field(default_factory=dict)

    def shape(self, heads, rows, depth):
        sizes = (self.batch, heads, rows, depth)
        return sizes if self.layout == "BNSD" else (self.batch, rows, heads * depth)

    def shapes(self):
        width = self.value_depth or self.depth
        return {
            "q": self.shape(self.heads, self.queries, self.depth),
            "k": self.shape(self.shared, self.keys, self.depth),
            "v": self.shape(self.shared, self.keys, width),
            "y": self.shape(self.heads, self.queries, width),
        }

    def text(self):
        types = {name: f"tensor<{'x'.join(map(str, shape))}xf32>" for name, shape in self.shapes().items()}
        attributes = {"scale": repr(self.depth**-0.5), "q_heads": self.heads, "kv_heads": self.shared}
        attributes |= {f"{name}_layout": f'"{self.layout}"' for name in ("q", "k", "v", "result")} | self.attributes
        inputs = ", ".join(f'%{n}: {types[n]} {{top.name = "{n}"}}' for n in "qkv")
        return f"""module @m attributes {{top.state = "imported"}} {{
  func.func @main({inputs}) -> ({types["y"]} {{top.name = "y"}}) {{
    %0 = top.attention %q, %k, %v {{{", ".join(f"{k} = {v}" for k, v in attributes.items())}}}
        : ({types["q"]}, {types["k"]}, {types["v"]}) -> {types["y"]} loc("y")
    return %0 : {types["y"]}
  }}
}}
"""

    def expected(self, feed):
        def heads(name, count):
            x = feed[name].astype(np.float64)
            if self.layout == "BSND":
                x = x.reshape(self.batch, x.shape[1], count, -1).transpose(0, 2, 1, 3)
            return np.repeat(x, self.heads // count, 1)

        q, k, v = heads("q", self.heads), heads("k", self.shared), heads("v", self.shared)
        scores = q @ k.swapaxes(2, 3) * self.depth**-0.5
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        y = weights / weights.sum(-1, keepdims=True) @ v
        return y if self.layout == "BNSD" else y.transpose(0, 2, 1, 3).reshape(self.shapes()["y"])


CASES = {
    "whole tiles": Case(256, 512, 64),
    "many tiles": Case(128, 2048, 128),
    "image": Case(197, 197, 64, heads=3),
    "shared heads": Case(65, 129, 64, heads=4, shared=2, batch=2),
    "rows of heads": Case(130, 300, 80, heads=6, shared=3, layout="BSND"),
    "one row": Case(1, 77, 64, heads=2, shared=2),
    "short": Case(3, 5, 32),
    "wide heads": Case(40, 260, 256, heads=2),
    "other depth of values": Case(70, 300, 48, value_depth=96),
}


def deploy(command, folder, case, *options):
    (folder / "m.mlir").write_text(case.text())
    code, out, err = command(model_deploy, "--mlir", folder / "m.mlir", "--model", folder / "m.pmodel", *options)
    assert code == 0, out + err
    return folder / "m.pmodel"


def feed_of(case, dtype=np.float16):
    rng = np.random.default_rng(3)
    shapes = {name: shape for name, shape in case.shapes().items() if name != "y"}
    return {name: rng.standard_normal(shape).astype(dtype).astype(np.float32) for name, shape in shapes.items()}


def run(model, feed, mode="functional"):
    (result,) = InferenceSession(str(model), mode=mode).run(None, feed)
    return result


def mixed_kernels(model):
    """How many kernels have streams of both kinds of core."""
    made = json.loads(program_output("pmodel_tool", ["--print", str(model)]))["kernels"]
    return [{stream["core_kind"] for stream in kernel["streams"]} for kernel in made].count({"AIC", "AIV"})


@pytest.mark.parametrize("name", CASES)
def test_numbers_and_bits(command, tmp_path, name):
    case = CASES[name]
    feed = feed_of(case)
    results = []
    for cores in (1, 2, 24):
        model = deploy(command, tmp_path, case, "--quantize", "F16", "--num_core", cores)
        results.append(run(model, feed))
    np.testing.assert_allclose(results[0], case.expected(feed), atol=1e-3)
    assert all(np.array_equal(results[0], other) for other in results[1:])
    assert mixed_kernels(model) == 1


@pytest.mark.parametrize("name", CASES)
def test_every_mode_agrees(command, tmp_path, name):
    case = CASES[name]
    feed = feed_of(case)
    model = deploy(command, tmp_path, case, "--quantize", "F16", "--num_core", 2)
    expected = run(model, feed)
    for mode in ("checked", "shuffled:5", "timing"):
        assert np.array_equal(run(model, feed, mode), expected), mode


def test_bf16_and_the_other_processor(command, tmp_path):
    case = CASES["shared heads"]
    feed = feed_of(case, np.float32)
    feed = {name: (x.view(np.uint32) & 0xFFFF0000).view(np.float32) for name, x in feed.items()}
    for processor in ("a3", "a5"):
        model = deploy(command, tmp_path, case, "--quantize", "BF16", "--num_core", 2, "--processor", processor)
        np.testing.assert_allclose(run(model, feed, "checked"), case.expected(feed), atol=8e-3)


def test_great_scores_do_not_overflow(command, tmp_path):
    """Scores of some hundreds, the greatest of them late: the running maximum rescales what came before."""
    case = CASES["many tiles"]
    feed = feed_of(case)
    feed["k"] *= np.linspace(0, 30, case.keys, dtype=np.float32)[:, None]
    feed["k"] = feed["k"].astype(np.float16).astype(np.float32)
    model = deploy(command, tmp_path, case, "--quantize", "F16", "--num_core", 2)
    np.testing.assert_allclose(run(model, feed), case.expected(feed), atol=4e-3)
