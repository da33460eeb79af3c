"""Builds cube kernels over a sweep of shapes with pto-opt and compares their results with numpy."""

import subprocess
import sys

import cube_interpreter
import numpy as np

random = np.random.default_rng(0)
NUMPY = {"f32": np.float32, "f16": np.float16}
failures = 0


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def loops(rank):
    dims = ", ".join(f"d{i}" for i in range(rank))
    return f"affine_map<({dims}) -> ({dims})>", ", ".join(['"parallel"'] * rank)


class Kernel:
    """The text of a kernel and the arrays of its arguments (filters as the matrix that a launch passes)."""

    def __init__(self, out_shape, element, bias, relu):
        self.arguments = []
        self.arrays = []
        self.out_shape, self.element, self.bias, self.relu = out_shape, element, bias, relu

    def argument(self, name, shape, array):
        self.arguments.append(f"%{name}: {tensor(shape, 'f32' if name == 'bias' else self.element)}")
        self.arrays.append(np.ascontiguousarray(array).reshape(-1))

    def text(self, contraction):
        f32, out = tensor(self.out_shape, "f32"), tensor(self.out_shape, self.element)
        init = f"linalg.fill ins(%zero : f32) outs(%empty : {f32}) -> {f32}"
        if self.bias is not None:
            added = list(range(len(self.out_shape) - self.bias.ndim))
            init = (
                f"linalg.broadcast ins(%bias : {tensor(self.bias.shape, 'f32')}) outs(%empty : {f32}) dimensions "
                f"= {added}"
            )
        scalar, steps = "%v", []
        if self.relu:
            steps.append("%r = arith.maximumf %v, %zero : f32")
            scalar = "%r"
        if self.element != "f32":
            steps.append(f"%t = arith.truncf {scalar} : f32 to {self.element}")
            scalar = "%t"
        identity, iterators = loops(len(self.out_shape))
        newline = "\n"
        return f"""
func.func private @k({", ".join(self.arguments)}, %out: {out}) -> {out} attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {f32}
  %init = {init}
{contraction.replace("INIT", f"outs(%init : {f32})").replace("RESULT", f32)}
  %1 = linalg.generic {{indexing_maps = [{identity}, {identity}], iterator_types = [{iterators}]}} ins(%0 : {f32}) outs(%out : {out}) {{
  ^bb0(%v: f32, %o: {self.element}):
    {newline.join(steps)}
    linalg.yield {scalar} : {self.element}
  }} -> {out}
  return %1 : {out}
}}
"""

    def check(self, what, contraction, expected, cores, blocks):
        global failures
        if self.bias is not None:
            expected = expected + self.bias
        if self.relu:
            expected = np.maximum(expected, 0)
        built = subprocess.run(
            ["pto-opt", "-", f"--build-cube-kernels=num-cores={cores} windows=1"],
            input=self.text(contraction),
            capture_output=True,
            text=True,
        )
        if built.returncode:
            sys.exit(f"{what}\n{self.text(contraction)}\n{built.stderr}")
        # Kernels that use img2col are also built tap by tap.
        assert ("pto.timg2col" in built.stdout) == ("@k.windows" in built.stdout), what
        for name in ["k"] + ["k.windows"] * ("@k.windows" in built.stdout):
            out = np.full(expected.size, np.nan, NUMPY[self.element])
            cube_interpreter.run(built.stdout, name, self.arrays + [out], blocks)
            error = np.abs(out.astype(np.float64) - expected.reshape(-1)).max() / max(1, np.abs(expected).max())
            if not error < {"f32": 1e-5, "f16": 2e-3}[self.element]:
                failures += 1
                print(f"FAIL {what} cores {cores} @{name}: relative error {error:.1e}")


def normal(shape, element="f32"):
    return random.standard_normal(shape).astype(NUMPY[element])


def matmul(m, n, k, element, cores, bias=True, relu=False, batch=None, transposed=False):
    lead = [batch] if batch else []
    a, b = normal(lead + [m, k], element), normal(lead + ([n, k] if transposed else [k, n]), element)
    kernel = Kernel(lead + [m, n], element, normal([n]) if bias else None, relu)
    kernel.argument("a", a.shape, a)
    kernel.argument("b", b.shape, b)
    if bias:
        kernel.argument("bias", [n], kernel.bias)
    op = f"linalg.{'batch_' if batch else ''}matmul{'_transpose_b' if transposed else ''}"
    text = f"  %0 = {op} ins(%a, %b : {tensor(a.shape, element)}, {tensor(b.shape, element)}) INIT -> RESULT"
    expected = a.astype(np.float64) @ (np.swapaxes(b, -1, -2) if transposed else b).astype(np.float64)
    kernel.check(f"{op} {lead}{m}x{n}x{k} {element}", text, expected, cores, 1 if cores == 1 else 3)


def heads(batch, tokens, count, width, element, cores, part=0, parts=1):
    """Scores and mixture of an attention: heads side by side in the rows of one argument (one of `parts` slices of
    it)."""
    whole, split = [batch, tokens, parts * count * width], [batch, tokens, count, width]
    moved, flat = [batch, count, tokens, width], [batch * count, tokens, width]

    def view(name, argument):
        own = tensor([batch, tokens, count * width], element)
        return f"""
  %{name}0 = tensor.extract_slice {argument}[0, 0, {part * count * width}] [{batch}, {tokens}, {count * width}] [1, 1, 1] : {tensor(whole, element)} to {own}
  %{name}1 = tensor.expand_shape %{name}0 [[0], [1], [2, 3]] output_shape {split} : {own} into {tensor(split, element)}
  %{name}e = tensor.empty() : {tensor(moved, element)}
  %{name}2 = linalg.transpose ins(%{name}1 : {tensor(split, element)}) outs(%{name}e : {tensor(moved, element)}) permutation = [0, 2, 1, 3]
  %{name}3 = tensor.collapse_shape %{name}2 [[0, 1], [2], [3]] : {tensor(moved, element)} into {tensor(flat, element)}"""

    def apart(x):
        own = x[..., part * count * width : (part + 1) * count * width].astype(np.float64)
        return own.reshape(split).transpose(0, 2, 1, 3).reshape(flat)

    q, k, v = normal(whole, element), normal(whole, element), normal(whole, element)
    kernel = Kernel([batch * count, tokens, tokens], element, None, False)
    kernel.argument("q", whole, q)
    kernel.argument("k", whole, k)
    text = (
        f"{view('a', '%q')}{view('b', '%k')}\n  %0 = linalg.batch_matmul_transpose_b ins(%a3, %b3 : "
        f"{tensor(flat, element)}, {tensor(flat, element)}) INIT -> RESULT"
    )
    scores = apart(q) @ np.swapaxes(apart(k), 1, 2)
    kernel.check(
        f"scores {batch}x{tokens}x{count}x{width} part {part} {element}", text, scores, cores, 1 if cores == 1 else 3
    )

    p = normal([batch * count, tokens, tokens], element)
    out, back = tensor([batch, tokens, count, width], "f32"), tensor(moved, "f32")
    mixed = (p.astype(np.float64) @ apart(v)).reshape(moved).transpose(0, 2, 1, 3)
    kernel = Kernel([batch, tokens, count, width], element, None, False)
    kernel.argument("p", p.shape, p)
    kernel.argument("w", whole, v)
    product = tensor(flat, "f32")
    text = f"""{view("b", "%w")}
  %pe = tensor.empty() : {product}
  %pi = linalg.fill ins(%zero : f32) outs(%pe : {product}) -> {product}
  %p0 = linalg.batch_matmul ins(%p, %b3 : {tensor(p.shape, element)}, {tensor(flat, element)}) outs(%pi : {product}) -> {product}
  %p1 = tensor.expand_shape %p0 [[0, 1], [2], [3]] output_shape {moved} : {product} into {back}
  %oe = tensor.empty() : {out}
  %0 = linalg.transpose ins(%p1 : {back}) outs(%oe : {out}) permutation = [0, 2, 1, 3]"""
    kernel.check(
        f"mixture {batch}x{tokens}x{count}x{width} part {part} {element}", text, mixed, cores, 1 if cores == 1 else 3
    )


def packed(filters, element):
    """[G, F, KH, KW, C] as the [G, K, F] matrix that img2col multiplies."""
    group = 32 // np.dtype(NUMPY[element]).itemsize
    g, f, kh, kw, c = filters.shape
    padded = np.zeros([g, f, kh, kw, -(-c // group) * group], filters.dtype)
    padded[..., :c] = filters
    return padded.reshape(g, f, kh, kw, -1, group).transpose(0, 4, 2, 3, 5, 1).reshape(g, -1, f)


def conv(
    n,
    h,
    w,
    c,
    f,
    window,
    element,
    cores,
    strides=(1, 1),
    pads=(0, 0, 0, 0),
    dilations=(1, 1),
    groups=1,
    bias=True,
    relu=False,
):
    top, left, bottom, right = pads
    (kh, kw), (sh, sw), (dh, dw) = window, strides, dilations
    oh, ow = (h + top + bottom - dh * (kh - 1) - 1) // sh + 1, (w + left + right - dw * (kw - 1) - 1) // sw + 1
    x, filters = normal([n, h, w, groups, c], element), normal([groups, f, kh, kw, c], element)
    image = np.zeros([n, h + top + bottom, w + left + right, groups, c])
    image[:, top : top + h, left : left + w] = x
    expected = np.zeros([n, oh, ow, groups, f])
    for i in range(kh):
        for j in range(kw):
            part = image[:, i * dh : i * dh + (oh - 1) * sh + 1 : sh, j * dw : j * dw + (ow - 1) * sw + 1 : sw]
            expected += np.einsum("nhwgc,gfc->nhwgf", part, filters[:, :, i, j].astype(np.float64))
    grouped = [groups] if groups > 1 else []
    matrix = packed(filters, element)
    apart = kh <= sh and kw <= sw and dh == dw == 1 and not any(pads) and (n == 1 or h == oh * sh)
    if not grouped and apart:  # read by strided loads: no packing
        matrix = filters[0].transpose(1, 2, 3, 0)
    in_shape, out_shape = [n, h, w] + grouped + [c], [n, oh, ow] + grouped + [f]
    filter_shape = [groups, f, kh, kw, c] if grouped else [kh, kw, c, f]
    expected = expected.reshape(out_shape)
    kernel = Kernel(out_shape, element, normal(grouped + [f]) if bias else None, relu)
    kernel.argument("x", in_shape, x)
    kernel.argument("w", filter_shape, matrix)
    if bias:
        kernel.argument("bias", kernel.bias.shape, kernel.bias)
    text, source, source_shape = "", "%x", in_shape
    if any(pads):
        rest = [0] * (len(in_shape) - 3)
        source, source_shape = "%pad", list(image.shape[:3]) + in_shape[3:]
        indices = ", ".join(f"%i{i}: index" for i in range(len(in_shape)))
        text = f"""  %pz = arith.constant 0.0 : {element}
  %pad = tensor.pad %x low{[0, top, left] + rest} high{[0, bottom, right] + rest} {{
  ^bb0({indices}):
    tensor.yield %pz : {element}
  }} : {tensor(in_shape, element)} to {tensor(source_shape, element)}
"""
    operands = f"ins({source}, %w : {tensor(source_shape, element)}, {tensor(filter_shape, element)}) INIT"
    if not grouped:
        text += (
            f"  %0 = linalg.conv_2d_nhwc_hwcf {{strides = dense<[{sh}, {sw}]> : tensor<2xi64>, "
            f"dilations = dense<[{dh}, {dw}]> : tensor<2xi64>}} {operands} -> RESULT"
        )
    else:
        loop = "(n, h, w, g, f, i, j, c)"
        iterators = ", ".join(['"parallel"'] * 5 + ['"reduction"'] * 3)
        wide = (
            ""
            if element == "f32"
            else f"    %a1 = arith.extf %a : {element} to f32\n    %b1 = arith.extf %b : {element} to f32\n"
        )
        a, b = ("%a", "%b") if element == "f32" else ("%a1", "%b1")
        text += f"""  %0 = linalg.generic {{indexing_maps = [affine_map<{loop} -> (n, h * {sh} + i * {dh}, w * {sw} + j * {dw}, g, c)>,
      affine_map<{loop} -> (g, f, i, j, c)>, affine_map<{loop} -> (n, h, w, g, f)>], iterator_types = [{iterators}]}} {operands} {{
  ^bb0(%a: {element}, %b: {element}, %c: f32):
{wide}    %m = arith.mulf {a}, {b} : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }} -> RESULT"""
    what = f"conv {in_shape} f {f} window {window} strides {strides} pads {pads} dilations {dilations} {element}"
    kernel.check(what, text, expected, cores, 1 if cores == 1 else 3)


for e in ("f32", "f16"):
    for cores in (1, 7, 24):
        # One row, primes, single elements, two columns; K in one step and in several panels.
        matmul(1, 8, 2, e, cores)
        matmul(1, 1, 1, e, cores)
        matmul(1, 2, 200, e, cores, relu=True)
        matmul(197, 197, 64, e, cores)
        matmul(197, 17, 1009, e, cores, bias=False, relu=True)
        matmul(13, 2, 31, e, cores, transposed=True)
        matmul(130, 70, 257, e, cores, transposed=True)
        matmul(33, 50, 64, e, cores, bias=False, batch=3)
        matmul(33, 50, 300, e, cores, bias=False, batch=3, transposed=True)
        matmul(300, 400, 600, e, cores)
        # More columns than rows: the left operand stays in L1.
        matmul(120, 700, 96, e, cores)
        matmul(300, 1500, 130, e, cores)
        heads(2, 21, 3, 16, e, cores)
        heads(1, 37, 4, 8, e, cores, part=1, parts=3)
        # Pointwise, 3 channels with stride 2, batches, uneven padding, dilation, groups, 1-D, whole image under one
        # window.
        conv(1, 24, 96, 8, 8, (1, 1), e, cores)
        conv(1, 48, 64, 3, 8, (3, 3), e, cores, (2, 2), (1, 1, 1, 1))
        conv(3, 13, 17, 3, 17, (3, 3), e, cores, (2, 2), (1, 1, 1, 1), relu=True)
        conv(2, 11, 9, 20, 17, (3, 2), e, cores, (2, 1), (0, 1, 2, 0))
        conv(1, 17, 19, 5, 7, (3, 3), e, cores, (1, 2), (2, 2, 2, 2), (2, 2), bias=False)
        conv(2, 9, 10, 6, 5, (3, 3), e, cores, pads=(1, 1, 1, 1), groups=3)
        conv(1, 7, 7, 12, 20, (1, 1), e, cores, groups=2)
        conv(2, 15, 15, 64, 96, (1, 1), e, cores, (2, 2))
        conv(2, 1, 50, 4, 6, (1, 5), e, cores, (1, 3), (0, 2, 0, 2))
        conv(1, 5, 5, 3, 4, (5, 5), e, cores)
        # Windows that do not overlap: patches, an image that they do not fill, a stride that skips pixels, parts of a
        # row.
        conv(1, 32, 48, 3, 24, (8, 8), e, cores, (8, 8), relu=True)
        conv(1, 14, 19, 5, 17, (4, 3), e, cores, (4, 3))
        conv(2, 12, 20, 16, 33, (2, 2), e, cores, (2, 2))
        conv(1, 1, 5000, 2, 3, (1, 2), e, cores, (1, 2))
        # Channels in several panels; rows in several slabs.
        conv(1, 14, 14, 128, 64, (3, 3), e, cores, pads=(1, 1, 1, 1))
        conv(1, 7, 7, 520, 33, (3, 3), e, cores, pads=(1, 1, 1, 1))
        conv(1, 14, 14, 16, 600, (3, 3), e, cores, pads=(1, 1, 1, 1))
    # A row of outputs whose slab exceeds L1.
    conv(1, 7, 3000, 8, 4, (7, 7), e, 0, pads=(0, 3, 0, 3))
    conv(1, 8, 4000, 20, 4, (7, 3), e, 0, (1, 2), (3, 1, 3, 1))
print("failures:", failures)
