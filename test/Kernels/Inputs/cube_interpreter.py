"""Runs the printed pto body of a cube kernel on numpy arrays.

Tiles are held in logical coordinates and initialised with NaN, so that an element that is read too early or out of
range shows in the result. Every access is checked against its view or tile.
"""

import re

import numpy as np


def parse(text, name):
    """The statements of function `name`: dicts with `text` and, for regions, `body` and `else`."""
    lines = iter(text.splitlines())
    for line in lines:
        if re.match(rf"\s*func.func private @{name}\(", line):
            break
    root = []
    stack = [root]
    for line in map(str.strip, lines):
        if line == "}":
            stack.pop()
            if not stack:
                return root
        elif line == "} else {":
            stack.pop()
            stack[-1][-1]["else"] = []
            stack.append(stack[-1][-1]["else"])
        else:
            statement = {"text": line}
            stack[-1].append(statement)
            if line.endswith("{"):
                statement["body"] = []
                stack.append(statement["body"])
    raise ValueError(f"no function @{name}")


def run(text, name, arguments, blocks):
    """Runs @name once per block; `arguments` are flat arrays, the last one filled with NaN before."""
    body = parse(text, name)
    for block in range(blocks):
        Machine(arguments, block, blocks).execute(body)


class Tile:
    def __init__(self, rows, cols, valid, element):
        self.data = np.full((rows, cols), np.nan, np.float32)
        self.valid = valid
        self.element = element
        assert 0 < valid[0] <= rows and 0 < valid[1] <= cols, (rows, cols, valid)

    def read(self, rows=None, cols=None):
        return self.data[: rows or self.valid[0], : cols or self.valid[1]]

    def write(self, value):
        assert value.shape == self.valid, (value.shape, self.valid)
        self.data[: self.valid[0], : self.valid[1]] = value


class Machine:
    INTEGER = {
        "addi": lambda x, y: x + y,
        "subi": lambda x, y: x - y,
        "muli": lambda x, y: x * y,
        "floordivsi": lambda x, y: x // y,
        "remsi": lambda x, y: x % y,
        "minsi": min,
        "maxsi": max,
    }

    def __init__(self, arguments, block, blocks):
        self.values = {f"%arg{i}": value for i, value in enumerate(arguments)}
        self.queries = {"pto.get_block_idx": block, "pto.get_block_num": blocks}

    def execute(self, statements):
        for statement in statements:
            self.step(statement)

    def names(self, text):
        return [self.values[name.strip()] for name in text.split(",") if name.strip()]

    def step(self, statement):
        text = statement["text"]
        loop = re.match(r"scf\.for (%\w+) = (%\w+) to (%\w+) step (%\w+)", text)
        if loop:
            low, high, step = (self.values[loop[i]] for i in (2, 3, 4))
            for value in range(low, high, step):
                self.values[loop[1]] = value
                self.execute(statement["body"])
            return
        branch = re.match(r"scf\.if (%\w+)", text)
        if branch:
            self.execute(statement["body"] if self.values[branch[1]] else statement.get("else", []))
            return
        if text == "return":
            return
        result, op, rest = re.match(r"(?:(%\w+) = )?([\w.]+)(.*)", text).groups()
        if op in self.queries:
            self.values[result] = self.queries[op]
        elif op.startswith("arith."):
            self.values[result] = self.scalar(op[6:], rest)
        elif result:
            self.values[result] = getattr(self, op[4:])(rest)
        else:
            ins = re.search(r"ins\((.*?) :", rest)[1]
            out = self.values[re.search(r"outs\((%\w+)", rest)[1]]
            getattr(self, op[4:].replace(".", "_"))(rest, out, *self.names(ins))

    def scalar(self, op, rest):
        operands = rest.split(" : ")[0]
        if op == "constant":
            return int(operands)
        if op == "index_cast":
            return self.names(operands)[0]
        if op == "cmpi":
            assert operands.split(",")[0].strip() == "eq"
            x, y = self.names(operands.split(",", 1)[1])
            return x == y
        return self.INTEGER[op](*self.names(operands))

    # Views and tiles.

    def addptr(self, rest):
        pointer, offset = self.names(re.match(r" (%\w+, %\w+)", rest)[1])
        assert 0 <= offset < pointer.size, (offset, pointer.size)
        return pointer[offset:]

    def make_tensor_view(self, rest):
        pointer, shape, strides = re.match(r" (%\w+), shape = \[(.*?)\], strides = \[(.*?)\]", rest).groups()
        data, shape, strides = self.values[pointer], self.names(shape), self.names(strides)
        assert sum((size - 1) * stride for size, stride in zip(shape, strides)) < data.size, "view leaves its argument"
        return np.lib.stride_tricks.as_strided(data, shape, [stride * data.itemsize for stride in strides])

    def partition_view(self, rest):
        view, offsets, sizes = re.match(r" (%\w+), offsets = \[(.*?)\], sizes = \[(.*?)\]", rest).groups()
        view, offsets, sizes = self.values[view], self.names(offsets), self.names(sizes)
        for offset, size, extent in zip(offsets, sizes, view.shape):
            assert offset >= 0 and size > 0 and offset + size <= extent, (offsets, sizes, view.shape)
        return view[tuple(slice(offset, offset + size) for offset, size in zip(offsets, sizes))]

    def alloc_tile(self, rest):
        rows, cols, element, config = re.search(r"tile_buf<\w+, (\d+)x(\d+)x(\w+)(.*)>", rest).groups()
        valid = re.search(r"valid=(\d+|\?)x(\d+|\?)", config)
        extents = list(valid.groups()) if valid else [rows, cols]
        for i, key in enumerate(("valid_row", "valid_col")):
            if extents[i] == "?":
                extents[i] = self.values[re.search(rf"{key} = (%\w+)", rest)[1]]
        return Tile(int(rows), int(cols), (int(extents[0]), int(extents[1])), element)

    # Engines.

    def tload(self, rest, tile, view):
        tile.write(view.reshape(-1, view.shape[-1]))
        if "slayout=row_major" in rest:
            group = 32 // view.itemsize
            tile.data[: tile.valid[0], tile.valid[1] : -(-tile.valid[1] // group) * group] = 0

    def tmov(self, rest, tile, source):
        tile.write(source.read())

    def textract(self, rest, tile, source, row, col):
        rows, cols = tile.valid
        assert row + rows <= source.valid[0] and col + cols <= source.valid[1], (row, col, tile.valid, source.valid)
        tile.write(source.data[row : row + rows, col : col + cols])

    def timg2col(self, rest, tile, slab, first_pixel, first_k):
        def pair(key):
            return [int(x) for x in re.search(rf"{key} = \[(.*?)\]", rest)[1].split(",")]

        channels = int(re.search(r"channels = (\d+)", rest)[1])
        (kernel_h, kernel_w), (stride_h, stride_w), (dilation_h, dilation_w) = (
            pair("kernel"),
            pair("strides"),
            pair("dilations"),
        )
        (top, left, bottom, right), (height, width) = pair("pads"), pair("image")
        group = 8 if slab.element == "f32" else 16
        out_w = (width + left + right - dilation_w * (kernel_w - 1) - 1) // stride_w + 1
        out_h = (height + top + bottom - dilation_h * (kernel_h - 1) - 1) // stride_h + 1
        assert slab.data.shape[0] >= height * width and first_pixel + tile.valid[0] <= out_h * out_w
        m = first_pixel + np.arange(tile.valid[0])[:, None]
        k = first_k + np.arange(tile.valid[1])[None, :]
        tap = k // group % (kernel_h * kernel_w)
        channel = k // (group * kernel_h * kernel_w) * group + k % group
        h = m // out_w * stride_h + tap // kernel_w * dilation_h - top
        w = m % out_w * stride_w + tap % kernel_w * dilation_w - left
        inside = (h >= 0) & (h < height) & (w >= 0) & (w < width) & (channel < channels)
        pixel = np.clip(h * width + w, 0, height * width - 1)
        tile.write(np.where(inside, slab.data[pixel, np.clip(channel, 0, slab.data.shape[1] - 1)], 0))

    def product(self, left, right):
        assert left.valid[1] == right.valid[0], (left.valid, right.valid)
        return left.read() @ right.read()

    def tmatmul(self, rest, tile, left, right):
        tile.write(self.product(left, right))

    def tmatmul_acc(self, rest, tile, accumulator, left, right):
        tile.write(accumulator.read() + self.product(left, right))

    def tmatmul_bias(self, rest, tile, left, right, bias):
        tile.write(self.product(left, right) + bias.read())

    def tstore(self, rest, view, tile):
        value = tile.read()
        assert (view.size // view.shape[-1], view.shape[-1]) == tile.valid, (view.shape, tile.valid)
        assert np.isnan(view).all(), "an element is stored twice"
        value = value.reshape(view.shape)
        view[:] = np.maximum(value, 0) if "normal_relu" in rest else value
