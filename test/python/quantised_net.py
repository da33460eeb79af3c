"""Top modules of quantised tensors, written by hand, and what numpy makes of the same arithmetic."""

import json
import struct
from pathlib import Path

import numpy as np


def quantised(scale, zero=0, axis=None):
    """The text of an i8 type: one scale and zero point, or lists of them along `axis`."""
    if axis is None:
        return f"!quant.uniform<i8:f32, {scale:e}:{zero}>"
    pairs = ",".join(f"{s:e}" for s in scale)
    return f"!quant.uniform<i8:f32:{axis}, {{{pairs}}}>"


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def array(values):
    return f"array<i64: {', '.join(map(str, values))}>"


class Net:
    """The lines of `@main`; values are (name, shape, element) and have their name in the file."""

    def __init__(self, inputs):
        self.inputs, self.lines, self.weights = inputs, [], {}

    def weight(self, name, values, element):
        self.weights[name] = values
        self.lines.append(f'%{name} = top.weight "{name}" : {tensor(values.shape, element)}')
        return name, values.shape, element

    def op(self, text, name, operands, shape, element, attributes=""):
        types = ", ".join(tensor(o[1], o[2]) for o in operands)
        values = ", ".join(f"%{o[0]}" for o in operands)
        braces = f" {{{attributes}}}" if attributes else ""
        self.lines.append(
            f'%{name} = top.{text} {values}{braces} : ({types}) -> {tensor(shape, element)} loc("{name}")'
        )
        return name, tuple(shape), element

    def conv(self, name, x, w, b, element, pads=(0, 0, 0, 0), strides=(1, 1), group=1):
        kernel = w[1][2:]
        spatial = [
            (size + pads[i] + pads[i + 2] - k) // stride + 1
            for i, (size, k, stride) in enumerate(zip(x[1][2:], kernel, strides, strict=True))
        ]
        attributes = (
            f"strides = {array(strides)}, pads = {array(pads)}, dilations = array<i64: 1, 1>, group = {group} : i64, "
            f"to = {element}"
        )
        return self.op("conv", name, [x, w] + [b] * (b is not None), (x[1][0], w[1][0], *spatial), element, attributes)

    def matmul(self, name, x, w, b, element):
        return self.op(
            "matmul", name, [x, w] + [b] * (b is not None), (*x[1][:-1], w[1][-1]), element, f"to = {element}"
        )

    def relu(self, name, x):
        return self.op("relu", name, [x], x[1], x[2])

    def save(self, folder: Path, outputs) -> Path:
        arguments = ", ".join(f'%{n}: {tensor(s, e)} {{top.name = "{n}"}}' for n, s, e in self.inputs)
        results = ", ".join(f'{tensor(s, e)} {{top.name = "{n}"}}' for n, s, e in outputs)
        lines = "\n    ".join(self.lines)
        weights = "net_top_weights.safetensors"
        text = f"""module @net attributes {{top.state = "transformed", top.weight_file = "{weights}"}} {{
  func.func @main({arguments}) -> ({results}) {{
    {lines}
    return {", ".join(f"%{o[0]}" for o in outputs)} : {", ".join(tensor(s, e) for _, s, e in outputs)}
  }}
}}
"""
        header, data = {}, b""
        for name, values in self.weights.items():
            raw = np.ascontiguousarray(values).tobytes()
            kind = {"int8": "I8", "int32": "I32", "float32": "F32"}[values.dtype.name]
            header[name] = {
                "dtype": kind,
                "shape": list(values.shape),
                "data_offsets": [len(data), len(data) + len(raw)],
            }
            data += raw
        head = json.dumps(header).encode()
        head += b" " * (-len(head) % 8)
        (folder / weights).write_bytes(struct.pack("<Q", len(head)) + head + data)
        path = folder / "net.mlir"
        path.write_text(text)
        return path


def factors(sx, sw, sy):
    """sx * sw / sy in f32, step by step."""
    return np.float32(sx) * np.asarray(sw, np.float32) / np.float32(sy)


def requantised(sums, factor, zero, relu=False):
    """The fixpipe's conversion (pto-isa, quantising TSTORE; docs/commands.md, tstore_acc_quant): the sum as f32, times
    the scale, plus the zero point, each rounded to f32; clamped; to nearest, ties to even."""
    value = sums.astype(np.int64).astype(np.float32) * np.asarray(factor, np.float32) + np.float32(zero)
    return np.rint(np.clip(value, max(-128, zero) if relu else -128, 127)).astype(np.int8)


def convolved(x, w, pads, strides, group, zero=0):
    """Sums of a convolution of integers, NCHW; the border holds the zero point, which every element is less of."""
    x = np.pad(x.astype(np.int64) - zero, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    n, c, height, width = x.shape
    features, per_group, kh, kw = w.shape
    oh, ow = (height - kh) // strides[0] + 1, (width - kw) // strides[1] + 1
    out = np.zeros((n, features, oh, ow), np.int64)
    for g in range(group):
        own = slice(g * features // group, (g + 1) * features // group)
        for i in range(kh):
            for j in range(kw):
                part = x[:, g * per_group : (g + 1) * per_group, i : i + oh * strides[0] : strides[0]][
                    :, :, :, j : j + ow * strides[1] : strides[1]
                ]
                out[:, own] += np.einsum("nchw,fc->nfhw", part, w[own, :, i, j].astype(np.int64))
    return out
