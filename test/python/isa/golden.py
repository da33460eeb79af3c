"""The instructions of golden/probe.cpp on our simulator: name -> matrix that pto-isa's CPU simulator must have
answered."""

import numpy as np

from .elementwise import scalar_bits
from .machine import NUMPY, Tile, run_vector

ROWS, COLS, VALID = 8, 64, (5, 37)


def word(i, seed):
    return ((i.astype(np.uint64) + seed * 7919) * 2654435761 & 0xFFFFFFFF) >> np.uint64(7)


def filled(seed, kind, rows=ROWS, cols=COLS, valid=VALID, layout="ND"):
    """A tile and its values, by the formula of the probe."""
    i = np.arange(rows * cols)
    value = (word(i, seed) % 2001).astype(np.int64) - 1000
    values = (value / 8).astype(NUMPY[kind]) if kind in ("f32", "f16") else value.astype(NUMPY[kind])
    shape = (cols, rows) if layout == "DN" else (rows, cols)
    values = values.reshape(shape)
    return Tile(kind, rows, cols, valid, layout), values.T if layout == "DN" else values


def run(mnemonic, tiles, attributes=None, dst="dst"):
    boxes, _ = run_vector("a5", mnemonic, tiles, attributes)
    return lambda name=dst: boxes[name][: tiles[name][0].valid_shape[0], : tiles[name][0].valid_shape[1]]


def tile_tile(name, kind):
    return run(name.lower(), {"dst": filled(9, kind), "src0": filled(1, kind), "src1": filled(2, kind)})()


def unary(name, kind):
    return run(name.lower(), {"dst": filled(9, kind), "src": filled(1, kind)})()


def scalar(name, kind):
    value = {"TADDS": 3, "TMULS": 3, "TMAXS": 5, "TMINS": 5, "TSUBS": 7}[name]
    return run(name.lower(), {"dst": filled(9, kind), "src": filled(1, kind)}, {"scalar": scalar_bits(kind, value)})()


def reduce_rows(name, kind):
    return run(
        name.lower(), {"dst": filled(9, kind, 32, 1, (5, 1), "DN"), "src": filled(1, "f32" if "ARG" in name else kind)}
    )()


def reduce_columns(name, kind):
    return run(name.lower(), {"dst": filled(9, kind, 1, 64, (1, 37)), "src": filled(1, kind)})()


def partial(name, kind):
    return run(
        name.lower(), {"dst": filled(9, kind), "src0": filled(1, kind), "src1": filled(2, kind, valid=(3, 13))}
    )()


def expand(name, kind):
    small = filled(2, kind, 32, 1, (5, 1), "DN") if name.startswith("TROW") else filled(2, kind, 1, 64, (1, 37))
    return run(name.lower(), {"dst": filled(9, kind), "src0": filled(1, kind), "src1": small})()


def convert(name, kind):
    _, mode, source = name.split("-")
    source = {"float": "f32", "half": "f16", "int16_t": "i16", "int32_t": "i32"}[source]
    attributes = {"rounding": mode.removeprefix("CAST_").lower(), "saturate": "off"}
    return run("tcvt", {"dst": filled(9, kind), "src": filled(1, source)}, attributes)()


# Entries whose name does not contain the operand type.
COMPARED = {"TCMP-EQ": "f32", "TCMP-LT": "f32", "TCMP-GE": "f16", "TCMP-NE": "i32"}


def compare(name, kind):
    source = COMPARED[name]
    mask = Tile("u8", 8, 64, (5, 5)), np.zeros((8, 64), np.uint8)
    return run(
        "tcmp", {"dst": mask, "src0": filled(1, source), "src1": filled(2, source)}, {"mode": name[5:].lower()}
    )()


def sort(name, kind):
    if name == "TSORT32":
        index = Tile("u32", 2, 64), np.tile(np.arange(64), (2, 1))
        return run(
            "tsort32", {"dst": filled(9, "f32", 2, 128, None), "src": filled(1, "f32", 2, 64, None), "indices": index}
        )()
    i = np.arange(128)
    scores = (1000 - i % 32 * 7 - (word(i // 32, 5) % 90).astype(np.int64)).astype(np.float32)
    row = np.stack([scores.view(np.uint32), i.astype(np.uint32)], 1).reshape(1, 256).view(np.float32)
    return run(
        "tmrgsort", {"dst": filled(9, "f32", 1, 256, None), "src": (Tile("f32", 1, 256), row)}, {"blockLength": 64}
    )()


def indexed(name, kind):
    index = Tile("i32", ROWS, COLS, VALID), (word(np.arange(ROWS * COLS), 4) % (ROWS * COLS)).reshape(ROWS, COLS)
    gathered = run("tgather", {"dst": filled(9, "f32"), "src": filled(1, "f32"), "indices": index})()
    if name == "TGATHER":
        return gathered
    before = filled(9, "f32")[1].copy()
    before[: VALID[0], : VALID[1]] = gathered
    return run(
        "tscatter", {"dst": (Tile("f32", ROWS, COLS, VALID), before), "src": filled(1, "f32"), "indices": index}
    )()


def masked(name, kind):
    whole, few = filled(1, "f32", valid=None), filled(9, "f32", ROWS, 32, None)
    attributes = {"pattern": "p1010", "axis": "cols"}
    gathered = run("tgather_mask", {"dst": few, "src": whole}, attributes)()
    if name.startswith("TGATHER"):
        return gathered
    return run("tscatter_mask", {"dst": whole, "src": (few[0], gathered)}, attributes)()


def part_arg(name, kind):
    short = (3, 13)
    tiles = {
        "dst": filled(9, "f32"),
        "dstIndices": filled(9, "u32"),
        "src0": filled(1, "f32"),
        "src1": filled(2, "f32", valid=short),
        "indices0": filled(3, "u32"),
        "indices1": filled(4, "u32", valid=short),
    }
    return run("tpartargmax", tiles)("dst" if name.endswith("values") else "dstIndices")


def random(name, kind):
    signed = lambda v: v - (1 << 32) if v >> 31 else v
    words = {
        "key0": 123456,
        "key1": signed(0xFFFFFFF0),
        "counter0": signed(0xFFFFFFFE),
        "counter1": -1,
        "counter2": 5,
        "counter3": 6,
        "rounds": 7,
    }
    return run("trandom", {"dst": filled(9, "u32", 3, 320, (3, 300))}, words)()


def histogram(name, kind):
    filters = np.zeros((32, 1), np.uint8)
    filters[:4, 0] = [255, 0, 255, 0]
    tiles = {
        "dst": filled(9, "u32", 4, 256, None),
        "src": filled(1, "u16", 4, 64, (4, 50)),
        "filter": (Tile("u8", 32, 1, (4, 1), "DN"), filters),
    }
    return run("thistogram", tiles, {"byte": int(name[-1])})()


def dequantise(name, kind):
    scale = {"scale": scalar_bits("f32", 0.125)}
    return run("tadddeqrelu", {"dst": filled(9, "f16"), "src0": filled(1, "i32"), "src1": filled(2, "i32")}, scale)()


def triangle(name, kind):
    return run("ttri", {"dst": filled(9, "f32")}, {"diagonal": 2, "half": "lower"})()


def interleave(name, kind):
    even = (5, 36)
    tiles = {
        "dst0": filled(9, "i16", valid=even),
        "dst1": filled(9, "i16", valid=even),
        "src0": filled(1, "i16", valid=even),
        "src1": filled(2, "i16", valid=even),
    }
    return run("tinterleave", tiles)(f"dst{name[-1]}")


CASES = {
    tile_tile: "TADD TSUB TMUL TMAX TMIN TAND TOR",
    unary: "TABS TNEG TRELU TNOT TPAIRREDUCESUM",
    scalar: "TADDS TMULS TMAXS TMINS TSUBS",
    reduce_rows: "TROWMAX TROWMIN TROWARGMAX",
    reduce_columns: "TCOLMAX TCOLMIN TCOLSUM",
    partial: "TPARTADD TPARTMAX TPARTMIN TPARTMUL",
    expand: "TROWEXPANDADD TROWEXPANDSUB TROWEXPANDMUL TCOLEXPANDADD TCOLEXPANDMUL TCOLEXPANDMAX",
    sort: "TSORT32 TMRGSORT",
    indexed: "TGATHER TSCATTER",
    masked: "TGATHER-P1010 TSCATTER-P1010",
    part_arg: "TPARTARGMAX-values TPARTARGMAX-indices",
    random: "TRANDOM-7",
    histogram: "THISTOGRAM-0 THISTOGRAM-1",
    dequantise: "TADDDEQRELU",
    triangle: "TTRI",
    interleave: "TINTERLEAVE-0 TINTERLEAVE-1",
    compare: " ".join(COMPARED),
}


def ours(key):
    """Our result for the case `name/type`."""
    name, kind = key.split("/")
    if name.startswith("TCVT"):
        return convert(name, kind)
    return next(function for function, names in CASES.items() if name in names.split())(name, kind)
