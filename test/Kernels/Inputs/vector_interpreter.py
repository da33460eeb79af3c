"""Runs the printed pto body of a vector kernel on numpy arrays, core after core.

Tiles keep their element order in memory (row-major rows with padding, or one column), so that reshapes and row subsets
have their real effect. Unwritten memory holds NaN patterns; every access is checked against its view.
"""

import re

import numpy as np

TYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.uint8}
TILE = re.compile(
    r"!pto\.tile_buf<vec, (\d+)x(\d+)x(\w+)(?:, valid=([\d?]+)x([\d?]+))?(, blayout=col_major)?(?:, pad=\w+)?>"
)


class Tile:
    def __init__(self, text, memory=None, offset=0, valid=(None, None)):
        match = TILE.search(text)
        self.rows, self.cols, self.type = int(match[1]), int(match[2]), np.dtype(TYPES[match[3]])
        self.column = bool(match[6])

        def extent(given, written, whole):
            if given is not None:
                return given
            return whole if written in (None, "?") else int(written)

        self.valid_rows = extent(valid[0], match[4], self.rows)
        self.valid_cols = extent(valid[1], match[5], self.cols)
        assert self.valid_rows <= self.rows and self.valid_cols <= self.cols, text
        assert (self.rows if self.column else self.cols) * self.type.itemsize % 32 == 0, text
        size = self.rows * self.cols * self.type.itemsize
        self.memory = bytearray(b"\xff" * size) if memory is None else memory
        self.offset = offset
        self.mask = None

    def array(self):
        flat = np.ndarray((self.rows * self.cols,), self.type, self.memory, self.offset)
        whole = flat.reshape(self.cols, self.rows).T if self.column else flat.reshape(self.rows, self.cols)
        return whole[: self.valid_rows, : self.valid_cols]


BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}
UNARY = {
    "trelu": lambda x: np.maximum(x, 0),
    "texp": np.exp,
    "tlog": np.log,
    "tsqrt": np.sqrt,
    "tabs": np.abs,
    "trsqrt": lambda x: 1 / np.sqrt(x),
    "tneg": np.negative,
    "tmov": lambda x: x,
    "tcvt": lambda x: x,
    "ttrans": lambda x: x.T,
    "trowsum": lambda x: x.sum(1, keepdims=True),
    "trowmax": lambda x: x.max(1, keepdims=True),
    "trowmin": lambda x: x.min(1, keepdims=True),
    "tcolsum": lambda x: x.sum(0, keepdims=True),
    "tcolmax": lambda x: x.max(0, keepdims=True),
    "tcolmin": lambda x: x.min(0, keepdims=True),
}
COMPARE = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
SCALAR = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "minsi": min,
    "maxsi": max,
    "floordivsi": lambda a, b: a // b,
    "remsi": lambda a, b: a % b,
    "index_cast": lambda a: a,
    "select": lambda c, a, b: a if c else b,
}


def kernel(text, name):
    """The lines of function `name`."""
    lines = iter(text.splitlines())
    for line in lines:
        if re.match(rf"\s*func\.func private @{name}\(", line):
            break
    body = []
    for line in lines:
        if re.match(r"  }", line) and not line.startswith("   "):
            return body
        body.append(line.strip())
    raise ValueError(f"no function @{name}")


class Core:
    def __init__(self, arguments, index, count):
        self.values = {f"%arg{i}": (array, 0) for i, array in enumerate(arguments)}
        self.index, self.count = index, count

    def run(self, lines):
        i = 0
        while i < len(lines):
            loop = re.match(r"scf\.for (%\w+) = (\S+) to (\S+) step (\S+) \{", lines[i])
            if not loop:
                self.statement(lines[i])
                i += 1
                continue
            depth, end = 1, i
            while depth:
                end += 1
                depth += lines[end].endswith("{") - lines[end].startswith("}")
            for value in range(*(self.values[loop[k]] for k in (2, 3, 4))):
                self.values[loop[1]] = value
                self.run(lines[i + 1 : end])
            i = end + 1

    def statement(self, line):
        if line in ("", "return"):
            return
        result = re.match(r"(%[\w-]+) = (.*)", line)
        if result:
            line = result[2]
        name = line.split()[0]
        operands = [self.values[x] for x in re.findall(r"%[\w-]+", line)]
        value = self.evaluate(name, line, operands)
        if result:
            self.values[result[1]] = value

    def evaluate(self, name, line, operands):
        if name == "arith.constant":
            text, kind = re.match(r"arith\.constant (\S+) : (\w+)", line).groups()
            if kind == "index" or kind.startswith("i"):
                return int(text)
            if text.startswith("0x"):
                return np.array([int(text, 16)], {"f32": np.uint32, "f16": np.uint16}[kind]).view(TYPES[kind])[0]
            return TYPES[kind](float(text))
        if name == "arith.cmpi":
            return {"sge": operands[0] >= operands[1], "slt": operands[0] < operands[1]}[line.split()[1].rstrip(",")]
        if name.startswith("arith."):
            return SCALAR[name[6:]](*operands)
        if name in ("pto.get_block_idx", "pto.get_block_num", "pto.get_subblock_idx", "pto.get_subblock_num"):
            return {"block_idx": 0, "block_num": 1, "subblock_idx": self.index, "subblock_num": self.count}[name[8:]]
        if name == "pto.alloc_tile":
            valid = [re.search(rf"{key} = (%\w+)", line) for key in ("valid_row", "valid_col")]
            return Tile(line, valid=[self.values[v[1]] if v else None for v in valid])
        if name == "pto.treshape":
            return Tile(line.split("->")[1], operands[0].memory, operands[0].offset)
        if name == "pto.subset":
            source, row, col = operands
            rows, cols = map(int, re.search(r"sizes \[(\d+), (\d+)\]", line).groups())
            assert col == 0 and cols == source.cols, line
            part = Tile(line, source.memory, source.offset + row * source.cols * source.type.itemsize)
            part.rows, part.valid_rows, part.valid_cols = rows, min(rows, source.valid_rows - row), source.valid_cols
            return part
        if name == "pto.subview":
            source, row, col, *valid = operands
            part = Tile(line.split("->")[1], source.memory, source.offset + row * source.cols * source.type.itemsize)
            assert col == 0 and part.cols == source.cols and row + part.rows <= source.rows, line
            if valid:
                part.valid_rows, part.valid_cols = valid
            return part
        if name == "pto.addptr":
            return operands[0][0], operands[0][1] + operands[1]
        if name == "pto.make_tensor_view":
            half = (len(operands) - 1) // 2
            return operands[0], operands[1 : 1 + half], operands[1 + half :]
        if name == "pto.partition_view":
            return operands[0]
        if name in ("pto.tload", "pto.tstore"):
            return self.move(name == "pto.tload", *operands, line)
        return self.compute(name[4:], line, operands)

    @staticmethod
    def move(load, a, b, line):
        ((memory, offset), sizes, strides), tile = (a, b) if load else (b, a)
        index = offset + sum(i * s for i, s in zip(np.indices(sizes), strides)).reshape(-1, sizes[-1])
        part = tile.array()
        assert index.shape == part.shape and memory.dtype == tile.type, line
        assert index.min() >= 0 and index.max() < memory.size, line
        if load:
            part[...] = memory[index]
        else:
            memory[index] = part

    @staticmethod
    def compute(name, line, operands):
        *sources, target = operands
        out = target.array()
        arrays = [s.array() if isinstance(s, Tile) else out.dtype.type(s) for s in sources]
        with np.errstate(all="ignore"):
            if name in ("tcmp", "tcmps"):
                other = sources[1].array() if name == "tcmp" else arrays[0].dtype.type(sources[1])
                target.mask = COMPARE[re.search(r"cmp (\w+)>", line)[1]](arrays[0], other)
            elif name in ("tand", "tor"):
                target.mask = {"tand": np.logical_and, "tor": np.logical_or}[name](sources[0].mask, sources[1].mask)
            elif name == "tsel":
                out[...] = np.where(sources[0].mask, arrays[1], arrays[2])
            elif name == "texpands" or name in ("trowexpand", "tcolexpand"):
                assert name != "trowexpand" or sources[0].valid_cols == 1, line
                assert name != "tcolexpand" or sources[0].valid_rows == 1, line
                out[...] = arrays[0]
            elif name == "tfillpad":  # with zeros, what sums of rows take
                assert "pad=1" in line, line
                out[...] = 0
                out[: sources[0].valid_rows, : sources[0].valid_cols] = arrays[0]
            elif name in UNARY:
                out[...] = UNARY[name](arrays[0]).astype(out.dtype)
            elif name.startswith("tcolexpand"):
                assert sources[1].valid_rows == 1 and sources[1].valid_cols == target.valid_cols, line
                out[...] = BINARY[name[10:]](*arrays)
            elif name.startswith("trowexpand"):
                assert sources[1].valid_cols == 1 and sources[1].valid_rows == target.valid_rows, line
                out[...] = BINARY[name[10:]](*arrays[:2])
            else:
                kind = name[1:] if name[1:] in BINARY else name[1:-1]
                out[...] = BINARY[kind](*arrays)


def run(text, name, arguments, cores):
    """Runs @name once per core; output arguments are flat arrays of NaN until they are written."""
    lines = kernel(text, name)
    for index in range(cores):
        Core(arguments, index, cores).run(lines)
