"""Every row of the instruction table on the simulator, over element types, layouts, valid shapes and in-place forms,
against numpy."""

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from isa import convert, cube, elementwise, fixpipe, golden, movement, quantise, scalar, sorting, transfers
from isa import numbers as nb
from isa.machine import BITS, BUILD, NUMPY, TABLE, Fault, Machine, Program, Tile, View, reg, run_vector

FILES = (elementwise, convert, movement, sorting, quantise, transfers, cube, fixpipe, scalar)
CASES = {mnemonic: case for file in FILES for mnemonic, case in file.CASES.items()}
PAGE = Path(__file__).resolve().parents[2] / "docs/isa-names.md"


def rows():
    for mnemonic in sorted(TABLE.rows):
        for arch, kinds in list(TABLE.combinations(mnemonic)) or [("a3", [])]:
            yield mnemonic, arch, kinds


@pytest.mark.parametrize("mnemonic", sorted(TABLE.rows))
def test_row(mnemonic):
    """A row without a case fails here."""
    for name, arch, kinds in rows():
        if name == mnemonic:
            CASES[mnemonic](mnemonic, arch, kinds, np.random.default_rng(7))


def test_types_of_a5_are_refused_on_a3():
    """Rejected at load time, with the types in the message."""
    t = Tile("bf16", 1, 16)
    with pytest.raises(Fault, match=r"tadd: element types \(bf16, bf16, bf16\) are not legal on a3"):
        run_vector("a3", "tadd", {name: (t, np.zeros((1, 16))) for name in ("dst", "src0", "src1")})


def test_rows_of_a5_are_refused_on_a3():
    t = Tile("u32", 1, 64)
    words = {"key0": 1, "key1": 2, "counter0": 0, "counter1": 0, "counter2": 0, "counter3": 0, "rounds": 10}
    with pytest.raises(Fault, match="trandom: element types"):
        run_vector("a3", "trandom", {"dst": (t, np.zeros((1, 64)))}, words)


def test_scales_need_the_memory_of_a5():
    program = Program("a3", "AIC")
    program.do("textract_sa", dst=Tile("f8E8M0", 16, 2, None, "ZZ"), src=Tile("f8E8M0", 16, 32), row=0, col=0)
    with pytest.raises(Fault, match="SA has 0"):
        program.run()


def test_reciprocals_of_integers():
    """On a3 only, and not for an operand of 0."""
    t = Tile("i16", 1, 16, (1, 5))
    x = np.array([[1, -1, 2, -30000, 7] + [0] * 11])
    boxes, _ = run_vector("a3", "trecip", {"dst": (t, np.full((1, 16), 9)), "src": (t, x)})
    assert boxes["dst"].tolist() == [[1, -1, 0, 0, 0] + [9] * 11]
    with pytest.raises(Fault, match="the divisor tile holds a 0"):
        run_vector("a3", "trecip", {"dst": (t, x), "src": (t, x * 0)})
    with pytest.raises(Fault, match="are not legal on a5"):
        run_vector("a5", "trecip", {"dst": (t, x), "src": (t, x)})


def test_most_rows_of_a_load_and_most_extents_of_a_product():
    """Rejected at load time if the number is an immediate, a fault if it is in a register; one less is accepted."""
    for rows, words in ((4095, None), (4096, "tload: moves 4096 rows into UB, one load moves at most 4095")):
        for register in (False, True):
            program = Program("a5", "AIV")
            number = program.argument(np.zeros((4096, 8), np.float32))
            valid = reg(5) if register else rows
            program.do("li", "MTE2", dst=5, value=rows)
            program.do("tload", dst=Tile("f32", 4096, 8, (valid, 8)), src=View(number, "f32", (4096, 8)), space="UB")
            if words is None:
                program.run()
                continue
            with pytest.raises(Fault, match="at once, the most is 4095" if register else words):
                program.run()
    for register in (False, True):
        program = Program("a3", "AIC")
        program.do("li", "M", dst=5, value=4096)
        depth = reg(5) if register else 4096
        tiles = {
            "a": Tile("i8", 16, 4096, (1, depth), "ZZ"),
            "b": Tile("i8", 4096, 16, (depth, 1), "ZN"),
            "dst": Tile("i32", 16, 16, (1, 1), "NZ16"),
        }
        with pytest.raises(Fault, match="m, k and n of a product are at most 4095, got 4096"):
            program.do("tmatmul", **tiles).run()


@pytest.mark.parametrize("mnemonic", ["tdiv", "trem", "tfmod"])
def test_integers_are_not_divided_by_zero(mnemonic):
    t = Tile("i32", 2, 8, (2, 7))
    ones = np.ones((2, 8))
    divisor = ones.copy()
    divisor[:, 7] = 0  # outside the valid region: not a divisor
    arguments = {"dst": (t, ones), "src0": (t, ones), "src1": (t, divisor)}
    run_vector("a5", mnemonic, arguments)
    divisor[1, 3] = 0
    with pytest.raises(Fault, match="divisor tile holds a 0"):
        run_vector("a5", mnemonic, arguments)


def test_least_integer_by_minus_one_wraps():
    t = Tile("i32", 1, 8)
    low = np.full((1, 8), -(1 << 31))
    boxes, _ = run_vector("a5", "tdiv", {"dst": (t, low), "src0": (t, low), "src1": (t, -np.ones((1, 8)))})
    assert (boxes["dst"] == low).all()


def test_checked_mode_follows_the_new_rows():
    """Runs every case of these rows under observation: their reads and writes agree with the checked mode."""
    from isa import machine as module

    saved = dict(module._machines)
    module._machines.update({arch: Machine(arch, "checked") for arch in ("a3", "a5")})
    try:
        for mnemonic in (
            "tconcat",
            "tpairreducesum",
            "tscatter_mask",
            "tmrgsort4",
            "mgather",
            "mscatter",
            "tinsert_acc",
            "tmov_acc_quantv",
            "tinsert_l1",
            "tmatmul_mx_bias",
            "tinterleave",
            "textract_ub",
            "tinsert_ub",
            "tfillpad_l1",
            "texpands_l1",
            "tcvt",
            "tquant_mx",
            "tquant_mx_boxed",
            "thistogram",
            "trowargmax_values",
            "tcolargmin_values",
            "mgather_l1",
        ):
            for name, arch, kinds in rows():
                if name == mnemonic:
                    CASES[mnemonic](mnemonic, arch, kinds, np.random.default_rng(7))
                    break
    finally:
        module._machines.clear()
        module._machines.update(saved)


def test_every_name_of_the_isa_is_a_row_or_is_explained():
    """docs/isa-names.md lists the names of the public ISA and, for names without a row, their composition."""
    page = PAGE.read_text()
    listed = re.findall(r"^\| `([A-Z0-9_]+)` \| (.+) \|$", page, re.M)
    assert len(listed) > 150
    for name, text in listed:
        for mnemonic in re.findall(r"`([a-z0-9_]+)`", text.split(":")[0]):
            assert mnemonic in TABLE.rows, f"{name}: no row {mnemonic}"
    named = {m for _, text in listed for m in re.findall(r"`([a-z0-9_]+)`", text)}
    scalar = {m for m, row in TABLE.rows.items() if row["opcode"] < 0x40 and not m.startswith("t")}
    missing = set(TABLE.rows) - named - scalar - {"load_scalar", "store_scalar"}
    assert not missing, f"rows that the page does not name: {sorted(missing)}"


def test_every_row_has_its_meaning_and_its_section():
    """Exactly one simulator file and one section of the generated page per row; register arithmetic is evaluateScalar's
    (ISA/Scalar.h)."""
    root = PAGE.parents[1]
    meanings = {path.stem for path in (root / "lib/CModel/Insns").glob("*.cpp")}
    scalars = set(re.findall(r': ScalarBinary<0x\w+, "(\w+)"', (root / "include/pto_mlir/ISA/Scalar.td").read_text()))
    assert len(scalars) == 12 and not scalars & meanings
    meanings |= scalars
    sections = set(re.findall(r"^### `([a-z0-9_]+)`", (BUILD / "docs/isa.md").read_text(), re.M))
    assert meanings == set(TABLE.rows) and sections == set(TABLE.rows), meanings ^ set(TABLE.rows) | sections ^ set(
        TABLE.rows
    )


ANSWERS = np.load(Path(__file__).resolve().parent / "isa/golden/answers.npz")


@pytest.mark.parametrize("case", ANSWERS.files)
def test_answers_of_the_public_simulator(case):
    """Exact comparison, for the instructions for which that simulator is an oracle (isa/golden)."""
    answer, ours = ANSWERS[case], golden.ours(case)
    assert ours.dtype == answer.dtype
    assert ours.tobytes() == answer.tobytes(), np.argwhere(ours != answer)[:5]


@pytest.mark.parametrize("kind", ["f8E4M3FN", "f8E5M2", "hif8", "f4E2M1", "f4E1M2"])
def test_small_floats_round_at_every_border(kind):
    """Every number of the type, every middle of two neighbours and what lies just beside it: to the type by ml_dtypes
    (hif8, e1m2: by search) and back."""
    own = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "f4E2M1": ml_dtypes.float4_e2m1fn}.get(
        kind
    )
    codes = np.arange(16 if BITS[kind] == 4 else 256).astype(np.uint8)
    numbers = codes.view(own).astype(np.float64) if own else nb.TABLES[kind][codes]
    finite = np.unique(numbers[np.isfinite(numbers)])
    middles = (finite[:-1] + finite[1:]) / 2
    wide = "bf16" if BITS[kind] == 4 else "f32"
    step = np.spacing(np.abs(middles).astype(np.float32)) * (1 if wide == "f32" else 1 << 16)
    x = np.concatenate([finite, middles, middles + step, middles - step, [finite[-1] * 1.2, finite[0] * 1.2]])
    x = np.pad(x, (0, -x.size % 64))[None].astype(NUMPY[wide])
    src, dst = Tile(wide, *x.shape), Tile(kind, *x.shape)
    saturate = "off" if kind.startswith("f8") else "on"
    boxes, _ = run_vector(
        "a5", "tcvt", {"dst": (dst, np.zeros(x.shape)), "src": (src, x)}, {"rounding": "rint", "saturate": saturate}
    )
    got = boxes["dst"].view(np.uint8)
    value = x.astype(np.float64)
    expected = value.astype(np.float32).astype(own).view(np.uint8) if own else nb.nearest_code(kind, value)
    back = lambda c: c.view(own).astype(np.float64) if own else nb.TABLES[kind][c]
    np.testing.assert_array_equal(back(got), back(expected))
    boxes, _ = run_vector(
        "a5",
        "tcvt",
        {"dst": (src, np.zeros(x.shape)), "src": (dst, boxes["dst"])},
        {"rounding": "rint", "saturate": "off"},
    )
    np.testing.assert_array_equal(boxes["dst"].astype(np.float64), back(got))
