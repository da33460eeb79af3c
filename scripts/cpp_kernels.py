"""The kernels of scripts/compare_cpp.py: texts of the tree, and kernels of one op each, made here."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Kernel(NamedTuple):
    file: str  # of the tree, or the family that makes it
    name: str
    arguments: tuple  # element type of a pointer ("f32*"), or a scalar's type and value ("f32=1.5")
    vector_cores: int
    tolerance: float  # 0: the same bits
    elements: int  # of each buffer


# Tiles by letter: rows, columns, element, valid rows and columns (0: at run time), column-major.
TILES = {
    "V": (16, 64, "f32", 16, 64, False),
    "H": (16, 64, "f16", 16, 64, False),
    "I": (16, 64, "i32", 16, 64, False),
    "S": (16, 64, "i16", 16, 64, False),
    "R": (1, 64, "f32", 1, 64, False),
    "Q": (1, 64, "i32", 1, 64, False),
    "C": (16, 1, "f32", 16, 1, True),
    "J": (16, 1, "i32", 16, 1, True),
    "W": (64, 16, "f32", 64, 16, False),
    "M": (16, 32, "i8", 16, 8, False),
    "P": (16, 64, "f32", 13, 37, False),
    "D": (16, 64, "f32", 0, 0, False),
    "F": (16, 64, "f32, pad=1", 16, 64, False),
    "E": (32, 128, "f32, pad=1", 32, 128, False),
    "G": (16, 32, "f32", 16, 32, False),
    "U": (16, 64, "ui32", 16, 64, False),
    "T": (16, 64, "ui8", 16, 64, False),
    "Y": (16, 128, "f32", 16, 128, False),
    "Z": (1, 256, "f32", 1, 256, False),
}


class Op(NamedTuple):
    name: str
    op: str
    ins: str  # letters of tiles, `tmp` in brackets, a scalar as type and value: "V V", "V f32=1.5", "V [V]"
    out: str
    inside: str = ""  # attributes within ins(..)
    tolerance: float = 0.0


ADDED_TO = ("taxpy", "tmuladddst", "tscatter")  # ops that read their destination
MATH, F16 = 3e-7, 2e-3
FEW, MANY = 1 << 13, 1 << 20
OPS = [
    *(
        Op(f"{n}_{t}", f"t{n}", f"{v} {v}", v)
        for n in ("add", "sub", "mul", "max", "min")
        for t, v in (("f32", "V"), ("f16", "H"), ("i32", "I"), ("i16", "S"))
    ),
    Op("div_f32", "tdiv", "V V", "V"),
    *(
        Op(f"{n}_f32", f"t{n}", "V", "V", tolerance=t)
        for n, t in (
            ("abs", 0),
            ("neg", 0),
            ("relu", 0),
            ("exp", MATH),
            ("log", MATH),
            ("sqrt", MATH),
            ("rsqrt", MATH),
            ("recip", MATH),
        )
    ),
    *(Op(f"{n}_i16", f"t{n}", "S S", "S") for n in ("and", "or")),
    Op("not_i16", "tnot", "S", "S"),
    Op("shl_i32", "tshl", "I I", "I"),
    Op("shr_i32", "tshr", "I I", "I"),
    Op("prelu_less_f32", "tlrelu", "V f32=0.25", "V"),
    *(Op(f"{n}_f32", f"t{n}", "V f32=1.5", "V") for n in ("adds", "subs", "muls", "divs", "maxs")),
    Op("mins_i32", "tmins", "I i32=7", "I"),
    Op("divs_reversed_f32", "tdivs", "f32=1.5 V", "V"),
    Op("axpy_f32", "taxpy", "V f32=0.5", "V"),
    Op("addc_f32", "taddc", "V V V", "V"),
    Op("subsc_f32", "tsubsc", "V f32=0.5 V", "V"),
    Op("expands_f32", "texpands", "f32=2.5", "V"),
    Op("ci_i32", "tci", "i32=5", "Q"),
    Op("ci_falling_i32", "tci", "i32=5", "Q", inside="{descending = true}"),
    Op("partadd_f32", "tpartadd", "V P", "V"),
    Op("cvt_f32_f16", "tcvt", "V", "H"),
    Op("cvt_f16_f32", "tcvt", "H", "V"),
    *(
        Op(f"cvt_{m.lower()}_f32_i32", "tcvt", "V", "I", inside=f"{{rmode = #pto<round_mode {m}>}}")
        for m in ("RINT", "ROUND", "FLOOR", "CEIL", "TRUNC")
    ),
    Op("cvt_i32_f32", "tcvt", "I", "V"),
    *(
        Op(f"row{n}_f32", f"trow{n}", "V [V]", "C", tolerance=t)
        for n, t in (("sum", 3e-6), ("max", 0), ("min", 0), ("prod", 1e-6))
    ),
    Op("rowargmax_f32", "trowargmax", "V [V]", "J"),
    *(
        Op(f"col{n}_f32", f"tcol{n}", "V", "R", tolerance=t)
        for n, t in (("sum", 3e-6), ("max", 0), ("min", 0), ("prod", 1e-6))
    ),
    Op("colsum_halves_f32", "tcolsum", "V [V]", "R", inside="{isBinary = true}", tolerance=1e-6),
    Op("rowexpand_f32", "trowexpand", "C", "V"),
    Op("colexpand_f32", "tcolexpand", "R", "V"),
    *(Op(f"rowexpand{n}_f32", f"trowexpand{n}", "V C", "V") for n in ("add", "sub", "mul", "div", "max", "min")),
    *(Op(f"colexpand{n}_f32", f"tcolexpand{n}", "V R", "V") for n in ("add", "sub", "mul", "div", "max")),
    Op("rowexpandexpdif_f32", "trowexpandexpdif", "V C", "V", tolerance=MATH),
    Op("cmp_lt_f32", "tcmp", "V V", "M", inside="{cmpMode = #pto<cmp lt>}"),
    Op("trans_f32", "ttrans", "V [W]", "W"),
    Op("concat_f32", "tconcat", "V V", "Y"),
    Op("fillpad_f32", "tfillpad", "P", "F"),
    Op("mov_f32", "tmov", "V", "V"),
    Op("gather_f32", "tgather", "V I [I]", "V"),
    Op("gather_even_f32", "tgather", "V", "G", inside=", {maskPattern = #pto.mask_pattern<P0101>}"),
    Op("xor_i16", "txor", "S S [S]", "S"),
    Op("rem_f32", "trem", "V V [V]", "V", tolerance=MATH),
    Op("fmod_f32", "tfmod", "V V", "V", tolerance=MATH),
    Op("prelu_f32", "tprelu", "V V [T]", "V"),
    Op("muladddst_f32", "tmuladddst", "V V", "V", tolerance=MATH),
    *(Op(f"part{n}_f32", f"tpart{n}", "V P", "V") for n in ("mul", "max", "min")),
    Op("subc_f32", "tsubc", "V V V", "V"),
    Op("addsc_f32", "taddsc", "V f32=0.5 V", "V"),
    *(Op(f"{n}_i16", f"t{n}", "S i16=12", "S") for n in ("ands", "ors")),
    Op("xors_i16", "txors", "S i16=12 [S]", "S"),
    *(Op(f"{n}_i32", f"t{n}", "I i32=3", "I") for n in ("shls", "shrs", "adds", "muls", "maxs")),
    *(Op(f"{n}_f16", f"t{n}", "H f16=1.5", "H") for n in ("adds", "muls")),
    Op("fmods_f32", "tfmods", "V f32=0.7", "V", tolerance=MATH),
    Op("rems_f32", "trems", "V f32=0.7 [V]", "V", tolerance=MATH),
    Op("rsqrt_scratch_f32", "trsqrt", "V [V]", "V", tolerance=MATH),
    Op("tri_f32", "ttri", "i32=2", "V", inside="{upperOrLower = 1 : i32}"),
    Op("rowargmin_f32", "trowargmin", "V [V]", "J"),
    *(Op(f"colarg{n}_f32", f"tcolarg{n}", "V [V]", "Q") for n in ("max", "min")),
    Op("colexpandmin_f32", "tcolexpandmin", "V R", "V"),
    Op("colexpandexpdif_f32", "tcolexpandexpdif", "V R", "V", tolerance=MATH),
    Op("rowexpandmul_scratch_f32", "trowexpandmul", "V C [V]", "V"),
    Op("scatter_i32", "tscatter", "I I", "I"),
    Op("sort32_f32", "tsort32", "V U", "Y"),
    Op("mrgsort_f32", "tmrgsort", "Z i32=64", "Z"),
    Op("fillpad_inplace_f32", "tfillpad_inplace", "P", "F"),
    Op("fillpad_expand_f32", "tfillpad_expand", "P", "E"),
    Op("cvt_i16_f32", "tcvt", "S", "V"),
    Op("cvt_f32_i16", "tcvt", "V", "S", inside="{rmode = #pto<round_mode TRUNC>}"),
    Op("abs_f16", "tabs", "H", "H"),
    *(Op(f"{n}_f16", f"t{n}", "H", "H", tolerance=F16) for n in ("exp", "sqrt")),
    Op("add_ragged_f32", "tadd", "P P", "P"),
    Op("mul_run_time_extents_f32", "tmul", "D D", "D"),
    Op("exp_run_time_extents_f32", "texp", "D", "D", tolerance=MATH),
]


def tile_text(letter: str) -> str:
    rows, cols, element, valid_rows, valid_cols, column = TILES[letter]
    shown = "" if (rows, cols) == (valid_rows, valid_cols) else f", valid={valid_rows or '?'}x{valid_cols or '?'}"
    element, *pad = element.split(", ")
    return (
        f"!pto.tile_buf<vec, {rows}x{cols}x{element}{shown}{', blayout=col_major' if column else ''}"
        + "".join(f", {p}" for p in pad)
        + ">"
    )


class Text:
    """A kernel of one op as .pto: loads of what it reads, the op, a store of what it writes."""

    def __init__(self, op: Op):
        self.op, self.lines, self.constants, self.pointers = op, [], set(), []

    def constant(self, value: int) -> str:
        self.constants.add(value)
        return f"%c{value}"

    def view(self, name: str, letter: str) -> str:
        rows, cols, element, valid_rows, valid_cols, column = TILES[letter]
        element = element.split(",")[0]
        rows, cols = valid_rows or 11, valid_cols or 29
        self.pointers.append(element + "*")
        sizes = f"[{self.constant(rows)}, {self.constant(cols)}]"
        strides = (
            f"[{self.constant(1)}, {self.constant(rows)}]" if column else f"[{self.constant(cols)}, {self.constant(1)}]"
        )
        zeros, kind = f"[{self.constant(0)}, {self.constant(0)}]", f"{rows}x{cols}x{element}"
        self.lines.append(
            f"%{name}v = pto.make_tensor_view %{name}p, shape = {sizes}, strides = {strides} : !pto.tensor_view<{kind}>"
        )
        self.lines.append(
            f"%{name}w = pto.partition_view %{name}v, offsets = {zeros}, sizes = {sizes} : "
            f"!pto.tensor_view<{kind}> -> !pto.partition_tensor_view<{kind}>"
        )
        return f"!pto.partition_tensor_view<{kind}>"

    def tile(self, name: str, letter: str) -> None:
        extents = "" if TILES[letter][3] else f"valid_row = {self.constant(11)} valid_col = {self.constant(29)} "
        self.lines.append(f"%{name} = pto.alloc_tile {extents}: {tile_text(letter)}")

    def load(self, name: str, letter: str) -> None:
        self.tile(name, letter)
        view = self.view(name, letter)
        self.lines.append(f"pto.tload ins(%{name}w : {view}) outs(%{name} : {tile_text(letter)})")

    def text(self) -> str:
        names, types, op = [], [], self.op
        for k, word in enumerate(op.ins.split()):
            name = f"a{k}"
            if "=" in word:
                kind, value = word.split("=")
                self.lines.append(f"%{name} = arith.constant {value} : {kind}")
                types.append(kind)
            else:
                letter = word.strip("[]")
                self.tile(name, letter) if word.startswith("[") else self.load(name, letter)
                types.append(tile_text(letter))
            names.append("%" + name)
        # An op that adds to its destination finds something there.
        self.load("d", op.out) if op.op in ADDED_TO else self.tile("d", op.out)
        inside = op.inside if op.inside.startswith(",") else f" {op.inside}" if op.inside else ""
        outs = tile_text(op.out)
        self.lines.append(f"pto.{op.op} ins({', '.join(names)}{inside} : {', '.join(types)}) outs(%d : {outs})")
        result = self.view("r", op.out)
        self.lines.append(f"pto.tstore ins(%d : {outs}) outs(%rw : {result})")
        pointers = re.findall(r"make_tensor_view (%\w+),", "\n".join(self.lines))
        arguments = ", ".join(f"{p}: !pto.ptr<{t[:-1]}>" for p, t in zip(pointers, self.pointers, strict=True))
        constants = [f"%c{value} = arith.constant {value} : index" for value in sorted(self.constants)]
        body = "\n".join(f"    {line}" for line in [*constants, *self.lines])
        return f"  func.func @{op.name}({arguments}) attributes {{pto.entry}} {{\n{body}\n    return\n  }}\n"


def one_op_module(ops) -> tuple[str, list[Kernel]]:
    """The kernels of `ops` in one module, and what to call."""
    texts, kernels = [], []
    for op in ops:
        text = Text(op)
        texts.append(text.text())
        kernels.append(Kernel("one op", op.name, tuple(text.pointers), 1, op.tolerance, FEW))
    return "module {\n" + "".join(texts) + "}\n", kernels


# What differs for a reason that lies in the public simulator, by file and kernel.
BY_ROW = (
    "the simulator's TSTORE_FP takes the scale of the row, and its TMOV_FP words of the tile's type instead of 64 bits"
)
NO_SCALE = "the simulator's TMOV drops a scale that is a number"
ONE_TYPE = (
    "the library's TFILLPAD of L1, in this text, takes two tiles of one type, and types of `today` hold the valid parts"
)
KNOWN = {
    ("test/Tools/pto-compile/fixpipe.pto", "k"): BY_ROW,
    ("test/Tools/pto-compile/fixpipe.pto", "pads"): ONE_TYPE,
    ("test/Tools/pto-compile/quantise.pto", "k"): NO_SCALE,
}

# Texts of the tree: scalars by kernel, and how far sums and functions may differ.
FILES = {
    "test/Target/Cpp/straight-line.pto": ({}, 0.0),
    "test/Target/Cpp/control-flow.pto": (
        {"scale_rows": ["1.5", "64"], "scalars": ["5"], "swap": ["3"], "count": ["9"]},
        1e-6,
    ),
    "test/Tools/pto-compile/control-flow.pto": ({"tiles": ["5"], "search": ["0.5"], "events": ["1"]}, 1e-6),
    "test/Tools/pto-compile/scalars.pto": ({"pick": ["2", "1.5"]}, 0.0),
    "test/Tools/pto-compile/vector.pto": ({}, 0.0),
    "test/Tools/pto-compile/instructions.pto": ({}, F16),
    "test/Tools/pto-compile/bits.pto": ({}, 0.0),
    "test/Tools/pto-compile/subview.pto": ({}, 1e-6),
    "test/Tools/pto-compile/sort.pto": ({}, 0.0),
    "test/Tools/pto-compile/slots.pto": ({"ahead": ["8"]}, 1e-5),
    "test/Tools/pto-compile/matmul.pto": ({}, 1e-5),
    "test/Tools/pto-compile/later-text.pto": ({}, 1e-5),
    "test/Tools/pto-compile/one-core.pto": ({}, 0.0),
    "test/Tools/pto-compile/fixpipe.pto": ({"k": ["1065353216"]}, 1e-5),
    "test/Tools/pto-compile/quantise.pto": ({"k": ["1065353216"]}, 1e-5),
    "test/Target/Cpp/cube.pto": ({}, 1e-5),
    **{
        f"test/python/golden_kernels/{path.name}": ({}, F16 if "f16" in path.name else 2e-5)
        for path in sorted((ROOT / "test/python/golden_kernels").glob("*.pto"))
    },
}


def kernels_of(path: str) -> list[Kernel]:
    """The kernels of a text of the tree."""
    text, (scalars, tolerance) = (ROOT / path).read_text(), FILES[path]
    text = re.sub(r"//.*", "", text)
    found = []
    for name, arguments in re.findall(r"func\.func @(\w+)\((.*?)\)", text, re.S):
        given, types = iter(scalars.get(name, [])), []
        for kind in re.findall(r"%\w+: (!pto\.ptr<\w+>|memref<[^>]*>+|\w+)", arguments):
            pointer = re.match(r"!pto\.ptr<(\w+)>|memref<(?:\d+x)*(\w+),", kind)
            value = None if pointer else next(given, None)
            types.append((pointer[1] or pointer[2]) + "*" if pointer else value and f"{kind}={value}")
        if None in types:  # not one of the comparison
            continue
        body = text[text.index(f"@{name}(") :]
        body = body[: body.find("func.func", 9)]
        cores, elements = 2 if "get_subblock" in body else 1, MANY if "python" in path else FEW
        found.append(Kernel(path, name, tuple(types), cores, tolerance, elements))
    return found
