"""top.attention: its definition in float64, and modules that hold one op."""

import numpy as np

TEXT = """module attributes {{top.state = "imported"}} {{
  func.func @main({arguments}) -> ({result} {{top.name = "y"}}) {choice}{{
    %0 = top.attention %query, %key, %value {optional} {{{attributes}}} : ({types}) -> {result} loc("y")
    return %0 : {result}
  }}
}}
"""
LIST = "x".join


def heads_of(tensor, layout, heads):
    """[batch, heads, rows, depth] of a tensor in a layout."""
    if layout == "BNSD":
        return tensor
    batch, rows, columns = tensor.shape
    return tensor.reshape(batch, rows, heads, columns // heads).transpose(0, 2, 1, 3)


def attention(feed, a):
    """The definition, row by row; `a` holds the op's attributes."""
    wide = {name: np.asarray(value, np.float64) for name, value in feed.items()}
    query = heads_of(wide["query"], a.get("q_layout", "BNSD"), a["q_heads"])
    key = heads_of(wide["key"], a.get("k_layout", "BNSD"), a["kv_heads"])
    value = heads_of(wide["value"], a.get("v_layout", "BNSD"), a["kv_heads"])
    batch, heads, rows, _ = query.shape
    keys, depth = key.shape[2], value.shape[3]
    bias = np.broadcast_to(wide.get("bias", np.float64(0)), (batch, heads, rows, keys))
    left, right = a.get("window", (-1, -1))
    result = np.zeros((batch, heads, rows, depth))
    for b, h, i in np.ndindex(batch, heads, rows):
        g = h // (heads // a["kv_heads"])
        length = int(feed["lengths"][b]) if "lengths" in feed else keys
        place = i + a.get("offset", length - rows if "lengths" in feed else keys - rows)
        score = a["scale"] * (key[b, g] @ query[b, h, i])
        if a.get("softcap", 0):
            score = a["softcap"] * np.tanh(score / a["softcap"])
        score = score + bias[b, h, i]
        j = np.arange(keys)
        seen = (j < length) & (score > -np.inf)
        if a.get("causal"):
            seen &= j <= place
        if left >= 0:
            seen &= j >= place - left
        if right >= 0:
            seen &= j <= place + right
        if not seen.any():
            continue
        greatest = score[seen].max()
        if "sinks" in feed:
            greatest = max(greatest, wide["sinks"][h])
        weights = np.exp(score[seen] - greatest)
        total = weights.sum() + (np.exp(wide["sinks"][h] - greatest) if "sinks" in feed else 0)
        result[b, h, i] = weights @ value[b, g][seen] / total
    if a.get("result_layout") == "BSND":
        return result.transpose(0, 2, 1, 3).reshape(batch, rows, heads * depth)
    return result


def type_text(array):
    return f"tensor<{LIST([*map(str, array.shape), {'float32': 'f32', 'int32': 'i32'}[str(array.dtype)]])}>"


def module(feed, a, result_shape, way=""):
    """The text of a module whose inputs are the operands by name. `way`: "together" in one kernel, "apart" in separate
    ones; else the compiler chooses."""
    names = [name for name in ("query", "key", "value", "bias", "lengths", "sinks") if name in feed]

    def attribute(name, value):
        if isinstance(value, bool):
            return f"{name} = {str(value).lower()}"
        if isinstance(value, tuple):
            return f"{name} = array<i64: {', '.join(map(str, value))}>"
        return f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value!r}"

    return TEXT.format(
        arguments=", ".join(f'%{name}: {type_text(feed[name])} {{top.name = "{name}"}}' for name in names),
        optional=" ".join(f"{name} %{name}" for name in names[3:]),
        attributes=", ".join(attribute(name, value) for name, value in a.items()),
        types=", ".join(type_text(feed[name]) for name in names),
        result=f"tensor<{LIST(map(str, result_shape))}xf32>",
        choice=f'attributes {{top.attentions = "{way}"}} ' if way else "",
    )


def random_case(seed):
    """Operands and attributes of one attention: sizes, layouts and options by chance."""
    rng = np.random.default_rng(seed)
    some = lambda *choices: choices[rng.integers(len(choices))]  # noqa: E731
    batch, kv_heads, group = some(1, 2, 3), some(1, 2, 3), some(1, 1, 2, 4)
    rows, keys = some(1, 2, 5, 16, 33), some(1, 2, 7, 16, 40, 130)
    depth, value_depth = some(8, 16, 24, 64), some(8, 16, 40)
    a = {"scale": float(some(1.0, 0.125, depth**-0.5)), "q_heads": kv_heads * group, "kv_heads": kv_heads}
    feed = {}

    def tensor(name, layout, heads, length, columns):
        a[layout] = some("BNSD", "BSND")
        shape = (batch, heads, length, columns) if a[layout] == "BNSD" else (batch, length, heads * columns)
        feed[name] = rng.standard_normal(shape, np.float32)

    tensor("query", "q_layout", kv_heads * group, rows, depth)
    tensor("key", "k_layout", kv_heads, keys, depth)
    tensor("value", "v_layout", kv_heads, keys, value_depth)
    a["result_layout"] = some("BNSD", "BSND")
    if some(True, False):
        shape = [some(1, batch), some(1, kv_heads * group), some(1, rows), some(1, keys)][some(0, 1, 2) :]
        feed["bias"] = rng.standard_normal(shape, np.float32)
        feed["bias"][rng.random(shape) < 0.2] = -np.inf
    if some(True, False):
        feed["lengths"] = rng.integers(0, keys + 1, batch).astype(np.int32)
    if some(True, False, False):
        feed["sinks"] = rng.standard_normal(kv_heads * group).astype(np.float32)
    if some(True, False):
        a["causal"] = True
    if some(True, False, False):
        a["offset"] = int(rng.integers(-3, keys))
    if some(True, False, False):
        a["window"] = (int(rng.integers(-1, 5)), int(rng.integers(-1, 5)))
    if some(True, False, False):
        a["softcap"] = 3.5
    return feed, a
