"""ONNX models with state: decoders of GPT-2's structure, caches written by TensorScatter, recurrent cells."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


class Graph:
    """Nodes and weights, one call per node."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def normal(self, name, *shape, scale=0.02):
        return self.weight(name, self.rng.normal(0, scale, shape).astype(np.float32))

    def op(self, kind, inputs, *outputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, list(outputs), **attributes))
        return outputs[0]

    def model(self, inputs, outputs, opset=23):
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def decoder(layers, width, heads, vocabulary, context, tokens=1, joins="Attention", seed=0):
    """GPT-2: learned positions, layer norms before attention and MLP, tied embeddings. `tokens` new ones per run; keys
    and values of the past grow inside of Attention, by Concat before it, or before an attention spelled out (joins)."""
    g, depth = Graph(seed), width // heads
    table = g.normal("wte", vocabulary, width, scale=0.5)
    positions = g.normal("wpe", context, width, scale=0.5)
    x = g.op(
        "Add", [g.op("Gather", [table, "input_ids"], "tok"), g.op("Gather", [positions, "position_ids"], "pos")], "x"
    )
    inputs = [info("input_ids", INT64, [1, tokens]), info("position_ids", INT64, [1, tokens])]
    outputs = [info("logits", FLOAT, [1, tokens, vocabulary])]

    def norm(x, name):
        ones = g.weight(f"{name}.g", (1 + g.rng.normal(0, 0.1, width)).astype(np.float32))
        return g.op("LayerNormalization", [x, ones, g.normal(f"{name}.b", width)], name)

    def linear(x, name, rows, columns):
        product = g.op("MatMul", [x, g.normal(f"{name}.w", rows, columns, scale=3 * rows**-0.5)], f"{name}.mm")
        return g.op("Add", [product, g.normal(f"{name}.b", columns)], name)

    third = g.weight("third", np.array([width] * 3, np.int64))
    for i in range(layers):
        h = f"h{i}"
        parts = [f"{h}.q", f"{h}.k", f"{h}.v"]
        g.op("Split", [linear(norm(x, f"{h}.ln1"), f"{h}.attn", width, 3 * width), third], *parts, axis=2)
        pasts, presents = ([f"{w}.{i}.{kv}" for kv in ("key", "value")] for w in ("past_key_values", "present"))
        if joins == "Attention":
            operands, more = [*parts, "", *pasts], presents
        else:
            shape = g.weight(f"{h}.heads", np.array([1, tokens, heads, depth], np.int64))
            for kv in (1, 2):
                rows = g.op("Reshape", [parts[kv], shape], f"{parts[kv]}.rows")
                moved = g.op("Transpose", [rows], f"{parts[kv]}.moved", perm=[0, 2, 1, 3])
                g.op("Concat", [pasts[kv - 1], moved], presents[kv - 1], axis=2)
            query = g.op("Reshape", [parts[0], shape], f"{h}.q.rows")
            operands, more = [g.op("Transpose", [query], f"{h}.q.moved", perm=[0, 2, 1, 3]), *presents], []
        if joins == "Spelled":
            key = g.op("Transpose", [presents[0]], f"{h}.kT", perm=[0, 1, 3, 2])
            scores = g.op("MatMul", [operands[0], key], f"{h}.s")
            scaled = g.op("Mul", [scores, g.weight(f"{h}.scale", np.float32(depth**-0.5))], f"{h}.scaled")
            operands = [g.op("Softmax", [scaled], f"{h}.p", axis=-1), presents[1]]
        heads_of = {"q_num_heads": heads, "kv_num_heads": heads} if joins == "Attention" else {}
        # Without a past inside, ONNX aligns the causal triangle with the first key, so single tokens need none.
        flags = {} if joins == "Spelled" else {"is_causal": int(joins == "Attention"), **heads_of}
        y = g.op("MatMul" if joins == "Spelled" else "Attention", operands, f"{h}.y", *more, **flags)
        if joins != "Attention":
            merged = g.weight(f"{h}.merged", np.array([1, tokens, width], np.int64))
            y = g.op("Reshape", [g.op("Transpose", [y], f"{h}.y.moved", perm=[0, 2, 1, 3]), merged], f"{h}.y.rows")
        x = g.op("Add", [x, linear(y, f"{h}.proj", width, width)], f"{h}.x1")
        wide = linear(norm(x, f"{h}.ln2"), f"{h}.fc", width, 4 * width)
        x = g.op(
            "Add",
            [x, linear(g.op("Gelu", [wide], f"{h}.gelu", approximate="tanh"), f"{h}.fc2", 4 * width, width)],
            f"{h}.x2",
        )
        inputs += [info(p, FLOAT, [1, heads, "past", depth]) for p in pasts]
        outputs += [info(p, FLOAT, [1, heads, "total", depth]) for p in presents]
    tied = g.op("Transpose", [table], "wte.t", perm=[1, 0])
    g.op("MatMul", [norm(x, "ln"), tied], "logits")
    return g.model(inputs, outputs)


def greedy_reference(session, layers, heads, depth, prompt, steps):
    """Tokens that onnxruntime makes, past and present over the host, one token per run."""
    past = {
        f"past_key_values.{i}.{kv}": np.zeros((1, heads, 0, depth), np.float32)
        for i in range(layers)
        for kv in ("key", "value")
    }
    names = [o.name for o in session.get_outputs()]
    made, token = [], prompt[0]
    for position in range(len(prompt) + steps - 1):
        feed = {"input_ids": np.array([[token]]), "position_ids": np.array([[position]]), **past}
        values = dict(zip(names, session.run(names, feed)))
        past = {name: values[name.replace("past_key_values", "present")] for name in past}
        token = prompt[position + 1] if position + 1 < len(prompt) else int(values["logits"][0, -1].argmax())
        if position + 1 >= len(prompt):
            made.append(token)
    return made, past


def greedy(session, prompt, steps, state=None):
    """The same by a session with state."""
    made, token = [], prompt[0]
    for position in range(len(prompt) + steps - 1):
        feed = {"input_ids": np.array([[token]]), "position_ids": np.array([[position]])}
        (logits,) = session.run(["logits"], feed, state)
        token = prompt[position + 1] if position + 1 < len(prompt) else int(logits[0, -1].argmax())
        if position + 1 >= len(prompt):
            made.append(token)
    return made


def scatter_cache(batch, heads, length, depth, rows, mode="linear"):
    """A cache of fixed size that TensorScatter updates and Attention reads up to nonpad_kv_seqlen."""
    g = Graph()
    for kv in ("key", "value"):
        g.op("TensorScatter", [f"{kv}_cache", kv, "write_indices"], f"{kv}_cache_new", axis=2, mode=mode)
    g.op("Attention", ["query", "key_cache_new", "value_cache_new", "", "", "", "lengths"], "y")
    new, cache = [batch, heads, rows, depth], [batch, heads, length, depth]
    inputs = [info("query", FLOAT, new), info("key", FLOAT, new), info("value", FLOAT, new)]
    inputs += [info("key_cache", FLOAT, cache), info("value_cache", FLOAT, cache)]
    inputs += [info("write_indices", INT64, [batch]), info("lengths", INT64, [batch])]
    outputs = [info("y", FLOAT, new), info("key_cache_new", FLOAT, cache), info("value_cache_new", FLOAT, cache)]
    return g.model(inputs, outputs, 24)


def cell(width, kind="before"):
    """h' = tanh(x A + h B), y = h' C: h is read before h' is made. `after`: h' = tanh(x A), y = (x A + h B) C, where
    h' is made first."""
    g = Graph()
    weights = [g.normal(name, width, width, scale=0.2) for name in "ABC"]
    g.op("MatMul", ["x", weights[0]], "xA")
    if kind == "after":
        g.op("Tanh", ["xA"], "h_out")
    g.op("MatMul", ["h", weights[1]], "hB")
    g.op("Add", ["xA", "hB"], "sum")
    if kind == "before":
        g.op("Tanh", ["sum"], "h_out")
    g.op("MatMul", ["h_out" if kind == "before" else "sum", weights[2]], "y")
    shape = [4, width]
    inputs = [info("x", FLOAT, shape), info("h", FLOAT, shape)]
    return g.model(inputs, [info("y", FLOAT, shape), info("h_out", FLOAT, shape)])


def save(model, path):
    onnx.save(model, str(path))
    return str(path)
