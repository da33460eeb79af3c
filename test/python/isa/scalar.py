"""Cases of scalar instructions: single elements, arithmetic, control flow, flags and queues."""

import ml_dtypes
import numpy as np

from . import numbers as nb
from .elementwise import scalar_bits
from .machine import (
    BITS,
    Fault,
    Program,
    Tile,
    View,
    encode,
    reg,
    tested,
)
from .movement import same


def scalars(mnemonic, arch, kinds, rng):
    """One element of global memory or of a tile, through a register."""
    kind = kinds[0]
    values = nb.random(kind, rng, (4, 64))
    tile = Tile(kind, 4, 64)
    bits = lambda v: scalar_bits(kind, v)
    program = Program(arch, "AIV")
    if mnemonic in ("load_scalar", "store_scalar"):
        size = BITS[kind] // 8
        source, target = program.argument(values), program.argument(np.zeros_like(values))
        at = lambda number, i: View(number, kind, (1,), (1,), i * size)
        for i in range(8):
            program.do("load_scalar", dst=3, src=at(source, 5 * i))
            program.do("store_scalar", dst=at(target, 5 * i), value=reg(3))
        expected = np.zeros_like(values).ravel()
        expected[0:40:5] = values.ravel()[0:40:5]
        same(program.run().matrix(target, kind, (256,)), expected, kind)
        return
    program.fill(tile, values, "UB")
    for i in range(4):
        program.do("tgetval", dst=3, src=tile, index=70 * i + 1 if i < 3 else 255).do(
            "tsetval", dst=tile, index=i, value=reg(3)
        )
    program.do("tsetval", dst=tile, index=9, value=bits(2))
    expected = values.copy().ravel()
    for i in range(4):
        expected[i] = expected[70 * i + 1 if i < 3 else 255]
    expected[9] = 2
    number = program.fetch(tile, "UB")
    same(program.run().box(number, tile).ravel(), expected, kind)


def cells(mnemonic, arch, kinds, rng):
    """Signal cells: set, added to, waited for; a wait that nothing satisfies is a deadlock."""

    def program(last):
        made = Program(arch, "AIV")
        number = made.argument(np.zeros(8, np.int32))
        at = lambda i: View(number, "i32", (1,), (1,), 4 * i)
        made.do("notify", dst=at(1), value=7, mode="set").do("notify", dst=at(1), value=-3, mode="add")
        made.do("wait_cell", src=at(1), value=4, mode="eq").do("wait_cell", src=at(1), value=3, mode="ge")
        made.do("notify", dst=at(2), value=1, mode="add").do("wait_cell", src=at(2), value=last, mode="ge")
        return made, number

    made, number = program(-5)
    same(made.run().matrix(number, "i32", (8,)), np.array([0, 4, 2, 0, 0, 0, 0, 0], np.int32), "i32")  # two cores
    try:
        program(2)[0].run()
    except Fault as error:
        assert "waits for the cell 8 bytes into argument 0, which is 1, to be at least 2" in str(error), error
    else:
        raise AssertionError("a wait that nothing satisfies ended")


M64 = (1 << 64) - 1


signed = lambda v: (v & M64) - (1 << 64) if v & M64 >> 1 != v & M64 else v & M64


ARITHMETIC = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "rem": lambda a, b: a % b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << (b & 63),
    "shr": lambda a, b: a >> (b & 63),
}


def float_results(a, b):
    """What farith makes of two floats, by operation."""
    with np.errstate(all="ignore"):
        either = np.isnan(a) or np.isnan(b)
        above, below = (a, b) if a > b or (a == b and not np.signbit(a)) else (b, a)
        other = b if np.isnan(a) else a
        return {
            "add": a + b,
            "sub": a - b,
            "mul": a * b,
            "div": a / b,
            "rem": np.fmod(a, b),
            "maximum": np.nan if either else above,
            "minimum": np.nan if either else below,
            "maxnum": other if either else above,
            "minnum": other if either else below,
        }


def float_relations(a, b):
    """What fcmp says of two floats, by mode."""
    either = bool(np.isnan(a) or np.isnan(b))
    answers = {"eq": a == b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b, "ne": a != b}
    ordered = {f"o{name}": not either and value for name, value in answers.items() if name != "ne"} | {
        "one": not either and a != b,
        "ord": not either,
    }
    return {
        "never": False,
        "always": True,
        "uno": either,
        **ordered,
        **{f"u{name}": either or value for name, value in answers.items()},
    }


def registers(mnemonic, arch, kinds, rng):
    """Arithmetic, control and queues: each result is stored as two words."""
    program, wanted = Program(arch, "AIV"), []
    place = iter(range(0, 1 << 16, 8))

    def show(number, value, pipe="S"):
        first = next(place)
        for half in range(2):
            program.do("store_scalar", dst=View(0, "u32", (1,), (1,), first + 4 * half), value=reg(number)).do(
                "shr", "S", dst=number, lhs=reg(number), rhs=32
            )
        wanted.append(value & M64)

    program.argument(np.zeros(1 << 13, np.uint64))
    on = lambda name, **operands: program.do(name, "S", **operands)
    pairs = [(5, 3), (-7, 2), (7, -2), (-(1 << 62), 3), (0x123456789ABCDEF, -0x1234), (1 << 40, 65), (-1, 1)]
    if mnemonic in ARITHMETIC:
        for a, b in pairs:
            on("li", dst=1, value=a & M64), on("li", dst=2, value=b & M64)
            on(mnemonic, dst=3, lhs=reg(1), rhs=reg(2)), show(3, ARITHMETIC[mnemonic](a, b))
            (
                on(mnemonic, dst=3, lhs=reg(1), rhs=b if abs(b) < 1 << 31 else 9),
                show(3, ARITHMETIC[mnemonic](a, b if abs(b) < 1 << 31 else 9)),
            )
    elif mnemonic == "cmp":
        relations = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
        for name, sign in relations.items():
            for a, b in pairs + [(4, 4)]:
                on("li", dst=1, value=a & M64), on("li", dst=2, value=b & M64)
                on("cmp", dst=3, mode=name, lhs=reg(1), rhs=reg(2)), show(3, int(eval(f"{a} {sign} {b}")))
    elif mnemonic in ("li", "mov", "select"):
        for a, b in pairs:
            on("li", dst=1, value=a & M64), on("mov", dst=2, src=reg(1)), show(2, a)
            on("mov", dst=2, src=-5), on("select", dst=3, cond=a & 1, a=reg(1), b=reg(2)), show(3, a if a & 1 else -5)
    elif mnemonic in ("farith", "fcmp"):
        floats = np.array([0.0, -0.0, 1.5, -2.25, 3e38, 1e-40, np.inf, -np.inf, np.nan], np.float32)
        for a in floats:
            for b in floats:
                on("li", dst=1, value=int(a.view(np.uint32))), on("li", dst=2, value=int(b.view(np.uint32)))
                for name, value in (float_results(a, b) if mnemonic == "farith" else float_relations(a, b)).items():
                    if mnemonic == "fcmp":
                        on("fcmp", dst=3, mode=name, lhs=reg(1), rhs=reg(2)), show(3, int(value))
                    elif not np.isnan(value):
                        (
                            on("farith", dst=3, op=name, lhs=reg(1), rhs=reg(2)),
                            show(3, int(np.float32(value).view(np.int32))),
                        )
                    else:  # whatever NaN: it differs from itself
                        (
                            on("farith", dst=3, op=name, lhs=reg(1), rhs=reg(2)),
                            on("fcmp", dst=3, mode="uno", lhs=reg(3), rhs=reg(3)),
                            show(3, 1),
                        )
    elif mnemonic == "fcvt":
        word = lambda x: int(np.float32(x).view(np.int32))
        for i in (0, -3, 16777217, (1 << 62) + 1, -(1 << 63)):
            (
                on("li", dst=1, value=i & M64),
                on("fcvt", dst=3, cast="from_signed", src=reg(1)),
                show(3, word(np.float32(i))),
            )
            on("fcvt", dst=3, cast="from_unsigned", src=reg(1)), show(3, word(np.float32(i & M64)))
        for x, to_signed, to_unsigned in (
            (2.75, 2, 2),
            (-2.75, -2, 0),
            (3e9, 3000000000, 3000000000),
            (np.nan, 0, 0),
            (1e30, (1 << 63) - 1, -1),
            (-1e30, -(1 << 63), 0),
        ):
            (
                on("li", dst=1, value=word(x) & 0xFFFFFFFF),
                on("fcvt", dst=3, cast="to_signed", src=reg(1)),
                show(3, to_signed),
            )
            on("fcvt", dst=3, cast="to_unsigned", src=reg(1)), show(3, to_unsigned)
        for x in (0.1, 65519.0, 65520.0, 3e-8, -1e-3, 3.4e38, 1.00390625):
            with np.errstate(over="ignore"):
                half = np.float32(np.float32(x).astype(np.float16))
            (
                on("li", dst=1, value=word(x) & 0xFFFFFFFF),
                on("fcvt", dst=3, cast="round_f16", src=reg(1)),
                show(3, word(half)),
            )
            (
                on("fcvt", dst=3, cast="round_bf16", src=reg(1)),
                show(3, word(np.float32(ml_dtypes.bfloat16(np.float32(x))))),
            )
    elif mnemonic == "break_if_zero":
        for limit in (0, 3, 99):
            (
                on("li", dst=4, value=0),
                on("loop", iv=1, lb=0, ub=10, step=1),
                on("cmp", dst=2, mode="lt", lhs=reg(1), rhs=limit),
            )
            (
                on("break_if_zero", cond=reg(2)),
                on("add", dst=4, lhs=reg(4), rhs=reg(1)),
                on("end"),
                show(4, sum(range(min(limit, 10)))),
            )
    elif mnemonic in ("loop", "end", "skip_if_zero"):
        for low, high, step in ((0, 10, 3), (5, 5, 1), (-4, 4, 1)):
            on("li", dst=4, value=0), on("loop", iv=1, lb=low, ub=high, step=step)
            (
                on("and", dst=2, lhs=reg(1), rhs=1),
                on("skip_if_zero", cond=reg(2), words=4),
                on("add", dst=4, lhs=reg(4), rhs=reg(1)),
                on("end"),
            )
            show(4, sum(i for i in range(low, high, step) if i & 1))
    elif mnemonic == "get":
        for number, (what, value) in enumerate({"block_idx": 0, "block_num": 1, "subblock_num": 2}.items()):
            on("get", dst=1, what=what), show(1, value)
    elif mnemonic in (
        "cross_set",
        "cross_wait",
    ):  # the two vector cores meet; a raise that is not taken, or not made by both, is a fault
        for number in range(16):
            (
                on("cross_set", mode="pair", id=number),
                on("cross_wait", id=number),
                on("li", dst=1, value=number),
                show(1, number),
            )
    else:  # push and pop, flags and barriers: V fills a tile with values that S computes
        program = Program(arch, "AIV")
        for i in range(3):
            program.streams.setdefault("S", []).extend(encode_all(("push", {"value": 41 + i, "engine": "V"})))
            program.do("pop", "V", dst=1, engine="V").do(
                "texpands", dst=Tile("i32", 1, 8, (1, 8), "ND", 32 * i), scalar=reg(1)
            ).do("barrier", "V", pipe="V")
        number = program.fetch(Tile("i32", 1, 24), "UB")
        tested.update(("push", "set_flag", "wait_flag"))
        same(program.run().matrix(number, "i32", (3, 8)), np.repeat([[41], [42], [43]], 8, 1).astype(np.int32))
        return
    got = program.run().results[0].view(np.uint64)[: len(wanted)]
    assert got.tolist() == wanted, (mnemonic, got.tolist(), wanted)


def encode_all(*instructions):

    return [word for name, operands in instructions for word in encode(name, **operands)]


FAMILIES = [
    ({"load_scalar", "store_scalar", "tgetval", "tsetval"}, scalars),
    ({"notify", "wait_cell"}, cells),
    (
        {
            *ARITHMETIC,
            "cmp",
            "li",
            "mov",
            "select",
            "loop",
            "end",
            "skip_if_zero",
            "break_if_zero",
            "farith",
            "fcmp",
            "fcvt",
            "get",
            "push",
            "pop",
            "barrier",
            "set_flag",
            "wait_flag",
            "cross_set",
            "cross_wait",
        },
        registers,
    ),
]
CASES = {mnemonic: f for names, f in FAMILIES for mnemonic in names}
