"""Commands from the instruction table as docs/commands.md spells them, and the simulator through its C functions:
nothing of the C++ is used to make the words that are tested."""

import ctypes
import json
from dataclasses import dataclass, replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pto_mlir

BUILD = Path(pto_mlir.__file__).resolve().parents[2]

ELEMENTS = [
    "f32",
    "f16",
    "bf16",
    "i8",
    "u8",
    "i16",
    "u16",
    "i32",
    "u32",
    "i64",
    "u64",
    "f8E4M3FN",
    "f8E5M2",
    "hif8",
    "f4E2M1",
    "f4E1M2",
    "i4",
    "f64",
    "f8E8M0",
]
LAYOUTS = ["ND", "DN", "NZ", "ZN", "ZZ", "NN", "NZ16"]
PIPES = {"S": 0, "V": 1, "M": 2, "MTE1": 3, "MTE2": 4, "MTE3": 5, "ALL": 6, "FIX": 10}
MEMORIES = ["UB", "L1", "L0A", "L0B", "L0C", "BT", "FB", "SA", "SB"]
PADS = ["null", "zero", "max", "min"]
BITS = {
    "f32": 32,
    "f16": 16,
    "bf16": 16,
    "i8": 8,
    "u8": 8,
    "i16": 16,
    "u16": 16,
    "i32": 32,
    "u32": 32,
    "i64": 64,
    "u64": 64,
    "f8E4M3FN": 8,
    "f8E5M2": 8,
    "hif8": 8,
    "f4E2M1": 4,
    "f4E1M2": 4,
    "i4": 4,
    "f64": 64,
    "f8E8M0": 8,
}
# Compute types in numpy; types that it lacks are kept as codes.
NUMPY = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "u16": np.uint16,
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "hif8": np.uint8,
    "f8E8M0": np.uint8,
    "f4E2M1": np.uint8,
    "f4E1M2": np.uint8,
    "i4": np.uint8,
}


class Table:
    """The rows as printed by `llvm-tblgen` for the build."""

    def __init__(self):
        self.data = json.loads((BUILD / "include/pto_mlir/ISA/ISA.json").read_text())
        rows = (self.data[name] for name in self.data["!instanceof"]["Insn"])
        self.rows = {row["mnemonic"]: row for row in rows}

    def ref(self, value):
        return self.data[value["def"]]

    def operands(self, mnemonic):
        return [self.ref(argument) for argument, _ in self.rows[mnemonic]["operands"]["args"]]

    def typed(self, mnemonic):
        """Names of the tile and view operands that are part of the row's type combinations."""
        return [o["name"] for o in self.operands(mnemonic) if o["kind"] in ("Tile", "View") and not o["types"]]

    def combinations(self, mnemonic):
        """(architecture to run on, one type per typed operand)."""
        types = self.ref(self.rows[mnemonic]["types"])
        for arch, key in (("a3", "combinations"), ("a5", "a5only"), ("a3", "a3only")):
            for combination in types[key]:
                names = [self.ref(t)["name"] for t in combination]
                yield arch, names * len(self.typed(mnemonic)) if types["same"] else names

    def pipe(self, mnemonic):
        return self.ref(self.rows[mnemonic]["pipe"])["name"]


TABLE = Table()


@dataclass
class Tile:
    type: str
    rows: int
    cols: int
    valid: tuple = None
    layout: str = "ND"
    address: int = 0
    pad: str = "null"

    @property
    def valid_shape(self):
        return self.valid or (self.rows, self.cols)

    @property
    def bytes(self):
        return self.rows * self.cols * BITS[self.type] // 8


@dataclass
class View:
    arg: int
    type: str
    sizes: tuple
    strides: tuple = None
    offset: int = 0
    layout: str = "ND"


def reg(number):
    return ("r", number)


def encode(mnemonic, **operands):
    """The words of one instruction; a value may be reg(n)."""
    row = TABLE.rows[mnemonic]
    words, mask, slot = [], 0, 0

    def value(v, bits=32):
        nonlocal mask, slot
        if isinstance(v, tuple):
            mask |= 1 << slot
            v = v[1]
        slot += 1
        return int(v) & ((1 << bits) - 1)

    for operand in TABLE.operands(mnemonic):
        kind, name = operand["kind"], operand["name"]
        if kind == "Attr":
            word = 0
            for field in (TABLE.ref(f) for f in operand["fields"]):
                values = TABLE.ref(field["enumeration"])
                v = operands.pop(field["name"])
                if isinstance(v, str):
                    v = {"Pipe": PIPES.get, "Memory": MEMORIES.index}.get(values["name"], values["values"].index)(v)
                word = word << field["width"] | v
            words.append(word)
            continue
        v = operands.pop(name)
        if kind in ("Int", "Scalar"):
            words.append(value(v))
        elif kind == "Wide":
            words += [v & 0xFFFFFFFF, v >> 32 & 0xFFFFFFFF]
        elif kind == "Dst":
            words.append(v)
        elif kind == "Tile":
            head = ELEMENTS.index(v.type) | LAYOUTS.index(v.layout) << 5 | PADS.index(v.pad) << 8
            words.append(head << 20 | value(v.address, 20))
            words.append(v.rows << 16 | v.cols)
            words.append(value(v.valid_shape[0], 16) << 16 | value(v.valid_shape[1], 16))
        else:
            words.append(v.arg << 24 | len(v.sizes) << 20 | LAYOUTS.index(v.layout) << 16 | ELEMENTS.index(v.type) << 8)
            words.append(value(v.offset))
            words.append(v.offset >> 32 if not isinstance(v.offset, tuple) else 0)
            strides = v.strides or tuple(int(np.prod(v.sizes[i + 1 :])) for i in range(len(v.sizes)))
            for size, stride in zip(v.sizes, strides):
                words += [value(size), value(stride)]
    assert not operands, f"{mnemonic} has no operands {list(operands)}"
    extra = [mask >> 8] if mask >> 8 else []
    length = 1 + len(extra) + len(words)
    return [row["opcode"] | (1 << 10 if extra else 0) | length << 16 | (mask & 255) << 24] + extra + words


class _Stream(ctypes.Structure):
    _fields_ = [
        ("core_kind", ctypes.c_uint32),
        ("pipe", ctypes.c_uint32),
        ("words", ctypes.POINTER(ctypes.c_uint32)),
        ("num_words", ctypes.c_size_t),
    ]


class _Kernel(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("streams", ctypes.POINTER(_Stream)),
        ("num_streams", ctypes.c_size_t),
        ("num_args", ctypes.c_uint32),
    ]


class _Arg(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]


class _Options(ctypes.Structure):
    _fields_ = [("processor", ctypes.c_char_p), ("mode", ctypes.c_char_p), ("num_threads", ctypes.c_uint32)]


_P, _I = ctypes.c_void_p, ctypes.c_int
_U32P = ctypes.POINTER(ctypes.c_uint32)


class _Api(ctypes.Structure):
    _fields_ = [
        ("abi_version", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("open", ctypes.CFUNCTYPE(_I, ctypes.POINTER(_Options), ctypes.POINTER(_P))),
        ("close", ctypes.CFUNCTYPE(None, _P)),
        ("alloc", ctypes.CFUNCTYPE(_I, _P, ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64))),
        ("free", ctypes.CFUNCTYPE(_I, _P, ctypes.c_uint64)),
        ("copy_to_device", ctypes.CFUNCTYPE(_I, _P, ctypes.c_uint64, _P, ctypes.c_uint64)),
        ("copy_from_device", ctypes.CFUNCTYPE(_I, _P, _P, ctypes.c_uint64, ctypes.c_uint64)),
        ("load_kernel", ctypes.CFUNCTYPE(_I, _P, ctypes.POINTER(_Kernel), _U32P)),
        ("unload_kernel", ctypes.CFUNCTYPE(_I, _P, ctypes.c_uint32)),
        (
            "launch",
            ctypes.CFUNCTYPE(
                _I, _P, ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(_Arg), ctypes.c_size_t, _P, ctypes.c_size_t
            ),
        ),
        ("synchronize", ctypes.CFUNCTYPE(_I, _P)),
        ("profile", _P),
        ("kernel_profile", _P),
        ("fault", _P),
        ("last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, _P)),
    ]


class Fault(Exception):
    pass


class Machine:
    """A simulated device of one architecture."""

    def __init__(self, arch, mode="functional"):
        library = ctypes.CDLL(str(BUILD / "lib/libpto_cmodel.so"))
        library.pto_device_get_api.restype = ctypes.POINTER(_Api)
        self.api = library.pto_device_get_api().contents
        self.context = _P()
        options = _Options(arch.encode(), mode.encode(), 1)
        self._check(self.api.open(ctypes.byref(options), ctypes.byref(self.context)))

    def _check(self, status):
        if status:
            raise Fault(self.api.last_error(self.context).decode())

    def run(self, core, streams, buffers):
        """Runs {pipe: words} on one block with uint8 buffers as arguments; returns what the buffers hold afterwards. A
        pipe of another kind of core than `core` is a pair (kind, pipe)."""
        places = [key if isinstance(key, tuple) else (core, key) for key in streams]
        arrays = [np.array(words, np.uint32) for words in streams.values()]
        described = (_Stream * len(arrays))(
            *[
                _Stream({"AIC": 0, "AIV": 1}[kind], PIPES[pipe], a.ctypes.data_as(_U32P), a.size)
                for (kind, pipe), a in zip(places, arrays)
            ]
        )
        kernel, number = _Kernel(b"k", described, len(arrays), len(buffers)), ctypes.c_uint32()
        self._check(self.api.load_kernel(self.context, ctypes.byref(kernel), ctypes.byref(number)))
        args = (_Arg * len(buffers))()
        try:
            for arg, buffer in zip(args, buffers):
                address = ctypes.c_uint64()
                self._check(self.api.alloc(self.context, buffer.nbytes, ctypes.byref(address)))
                arg.address, arg.bytes = address.value, buffer.nbytes
                self._check(self.api.copy_to_device(self.context, address, buffer.ctypes.data, buffer.nbytes))
            self._check(self.api.launch(self.context, number, 1, args, len(buffers), None, 0))
            self._check(self.api.synchronize(self.context))
            results = []
            for arg, buffer in zip(args, buffers):
                result = np.empty_like(buffer)
                self._check(self.api.copy_from_device(self.context, result.ctypes.data, arg.address, arg.bytes))
                results.append(result)
            return results
        finally:
            for arg in args:
                if arg.address:
                    self.api.free(self.context, arg.address)
            self.api.unload_kernel(self.context, number)


_machines = {}


def machine(arch):
    if arch not in _machines:
        _machines[arch] = Machine(arch)
    return _machines[arch]


# --- layouts, by the formulas of the ISA reference --------------------------------


def offsets(tile):
    """Element offset of each (row, column) of the box."""
    c0 = 256 // BITS[tile.type]
    narrow = 2 if tile.type == "f8E8M0" else c0
    ir, ic = {
        "ND": (1, 1),
        "DN": (1, 1),
        "NZ": (16, narrow),
        "ZN": (narrow, 16),
        "ZZ": (16, narrow),
        "NN": (narrow, 16),
        "NZ16": (16, 16),
    }[tile.layout]
    r, c = np.meshgrid(np.arange(tile.rows), np.arange(tile.cols), indexing="ij")
    if tile.layout == "ND":
        return r * tile.cols + c
    if tile.layout == "DN":
        return c * tile.rows + r
    box = {
        "NZ": r % ir * ic + c % ic,
        "NZ16": r % ir * ic + c % ic,
        "ZZ": r % ir * ic + c % ic,
        "ZN": c % ic * ir + r % ir,
        "NN": c % ic * ir + r % ir,
    }
    if tile.layout in ("NZ", "NZ16", "NN"):
        return c // ic * (tile.rows * ic) + r // ir * (ir * ic) + box[tile.layout]
    return r // ir * (tile.cols * ir) + c // ic * (ir * ic) + box[tile.layout]


def pack(tile, values):
    """A matrix of the box's shape as the bytes of the tile."""
    flat = np.zeros(tile.rows * tile.cols, NUMPY[tile.type])
    flat[offsets(tile).ravel()] = np.asarray(values, NUMPY[tile.type]).ravel()
    if BITS[tile.type] == 4:
        return (flat[0::2] & 15) | flat[1::2] << 4
    return flat.view(np.uint8)


def unpack(tile, data):
    data = np.ascontiguousarray(data)
    if BITS[tile.type] == 4:
        flat = np.stack([data & 15, data >> 4], 1).ravel()
    else:
        flat = data.view(NUMPY[tile.type])
    return flat[offsets(tile)]


def raw(tile):
    """The bytes of the tile as one row of words, for uninterpreted loads and stores."""
    words = -(-tile.bytes // 32) * 8
    return replace(tile, type="u32", rows=1, cols=words, valid=None, layout="ND", pad="null")


def sync(streams, src, dst, number=0):
    streams.setdefault(src, []).extend(encode("set_flag", src=src, dst=dst, id=number))
    streams.setdefault(dst, []).extend(encode("wait_flag", src=src, dst=dst, id=number))


tested = set()  # mnemonics that ran


class Program:
    """A kernel whose instructions run one after the other, whatever their engines: flags stand wherever the engine
    changes."""

    def __init__(self, arch, core):
        self.arch, self.core, self.streams, self.buffers, self.last = arch, core, {}, [], None

    def do(self, mnemonic, engine=None, /, **operands):
        tested.add(mnemonic)
        pipe = engine or TABLE.pipe(mnemonic)
        if self.last not in (None, pipe):
            sync(self.streams, self.last, pipe)
        self.streams.setdefault(pipe, []).extend(encode(mnemonic, **operands))
        self.last = pipe
        return self

    def argument(self, values):
        """Adds a kernel argument that holds `values`; returns its number."""
        self.buffers.append(np.ascontiguousarray(values).view(np.uint8).ravel().copy())
        return len(self.buffers) - 1

    def fill(self, tile, values, space):
        """Loads the whole box of a tile in UB or L1 with `values`."""
        data = pack(tile, values)
        whole = raw(tile)
        number = self.argument(np.concatenate([data, np.zeros(whole.cols * 4 - data.size, np.uint8)]))
        return self.do("tload", dst=whole, src=View(number, "u32", (1, whole.cols)), space=space)

    def fetch(self, tile, space):
        """Stores the whole box; returns the number under which `run` returns it."""
        whole = raw(tile)
        number = self.argument(np.zeros(whole.cols * 4, np.uint8))
        self.do("tstore", dst=View(number, "u32", (1, whole.cols)), src=whole, atomic="none", space=space)
        return number

    def run(self):
        self.results = machine(self.arch).run(self.core, self.streams, self.buffers)
        return self

    def matrix(self, number, kind, shape):
        return self.results[number].view(NUMPY[kind])[: int(np.prod(shape))].reshape(shape)

    def box(self, number, tile):
        return unpack(tile, self.results[number][: tile.bytes])


def run_vector(arch, mnemonic, tiles, attributes=None, aliases=None, globals_=None, then=None):
    """Executes one instruction on tiles in UB. `tiles`: operand name -> (Tile, values of its box); all of them are
    loaded whole before and stored whole afterwards. `aliases`: operand -> operand whose tile it is. `globals_`: view
    operand -> (View, values), one argument each. `then`: from the placed tiles to words that follow on the same engine.
    Returns the boxes and the buffers afterwards."""
    tested.add(mnemonic)
    aliases, globals_ = aliases or {}, globals_ or {}
    pipe = TABLE.pipe(mnemonic)
    placed, address = {}, 0
    for name, (tile, values) in tiles.items():
        if name not in aliases:
            placed[name] = replace(tile, address=address)
            address += -(-tile.bytes // 32) * 32
    for name, other in aliases.items():
        placed[name] = replace(tiles[name][0], address=placed[other].address)
    streams, buffers = {}, []
    padded = lambda tile, data: np.concatenate([data, np.zeros(raw(tile).cols * 4 - data.size, np.uint8)])
    for name, (tile, values) in tiles.items():
        if name in aliases:
            continue
        view = View(len(buffers), "u32", (1, raw(tile).cols))
        streams.setdefault("MTE2", []).extend(encode("tload", dst=raw(placed[name]), src=view, space="UB"))
        buffers.append(padded(tile, pack(tile, values)))
    operands = dict(attributes or {})
    operands.update(placed)
    for name, (view, values) in globals_.items():
        operands[name] = replace(view, arg=len(buffers))
        buffers.append(np.ascontiguousarray(values).view(np.uint8).ravel())
    if pipe != "MTE2":
        sync(streams, "MTE2", pipe)
    body = encode(
        mnemonic,
        **{
            k: v
            for k, v in operands.items()
            if then is None or k in {o["name"] for o in TABLE.operands(mnemonic)} | set(attributes)
        },
    )
    body += then(placed) if then else []
    stream = streams.setdefault(pipe, [])
    # Both sub-blocks run a kernel; instructions that are not idempotent run on the first only.
    stream += encode("get", dst=1, what="subblock_idx") + encode("cmp", dst=2, mode="eq", lhs=reg(1), rhs=0)
    stream += (encode("skip_if_zero", cond=reg(2), words=len(body)) if globals_ else []) + body
    if pipe != "MTE3":
        sync(streams, pipe, "MTE3", 1)
    first, names = len(buffers), []
    for name, tile in placed.items():
        if name in aliases:
            continue
        names.append(name)
        store = encode(
            "tstore", dst=View(len(buffers), "u32", (1, raw(tile).cols)), src=raw(tile), atomic="none", space="UB"
        )
        # Prevents the sub-block that skipped from overwriting the result.
        skip = encode("get", dst=1, what="subblock_idx") + encode("cmp", dst=2, mode="eq", lhs=reg(1), rhs=0)
        streams["MTE3"] = streams.get("MTE3", []) + skip + encode("skip_if_zero", cond=reg(2), words=len(store)) + store
        buffers.append(np.zeros(raw(tile).cols * 4, np.uint8))
    results = machine(arch).run("AIV", streams, buffers)
    boxes = {name: unpack(placed[name], results[first + i][: placed[name].bytes]) for i, name in enumerate(names)}
    loaded = sum(name not in aliases for name in tiles)
    memory = {name: results[loaded + i] for i, name in enumerate(globals_)}
    return boxes, memory
