"""Random kernels of loops and branches over few tiles: are the flags of pto-insert-sync sufficient, and is each
necessary?

usage: random_sync.py FUNCTIONS SEED PTO_OPT [OPS]      OPS: approximate number of ops of a function (12)

What is executed is the text that the pass printed: loops run random numbers of times, branches go random ways, every
engine keeps a vector clock. Two accesses of different engines to the same bytes must be ordered by flags, no flag may
be raised while it is raised or before the engine that last waited for it is known to have done so, none may be left.
Then each event is removed in turn; where many runs do not miss it, it counts as needless.
"""

import random
import re
import subprocess
import sys

SIZE = 256  # bytes of a tile
TYPES = {
    "vec": "!pto.tile_buf<vec, 8x8xf32>",
    "mat": "!pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>",
    "left": "!pto.tile_buf<left, 16x16xf16, slayout=row_major>",
    "right": "!pto.tile_buf<right, 16x16xf16, slayout=col_major>",
    "acc": "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>",
}
VIEW = {"f32": "!pto.partition_tensor_view<8x8xf32>", "f16": "!pto.partition_tensor_view<16x16xf16>"}
# engine, text, address spaces of the read operands, of the written ones
OPS = {
    "vector": [
        ("MTE2", "pto.tload ins(%g : {f32}) outs({0})", [], ["vec"]),
        ("V", "pto.tabs ins({0}) outs({1})", ["vec"], ["vec"]),
        ("V", "pto.tadd ins({0_1}) outs({2})", ["vec", "vec"], ["vec"]),
        ("MTE3", "pto.tstore ins({0}) outs(%o : {f32})", ["vec"], []),
    ],
    "cube": [
        ("MTE2", "pto.tload ins(%h : {f16}) outs({0})", [], ["mat"]),
        ("MTE1", "pto.tmov ins({0}) outs({1})", ["mat"], ["left"]),
        ("MTE1", "pto.tmov ins({0}) outs({1})", ["mat"], ["right"]),
        ("M", "pto.tmatmul ins({0_1}) outs({2})", ["left", "right"], ["acc"]),
        ("FIX", "pto.tstore ins({0}) outs(%u : {f16})", ["acc"], []),
    ],
}


class Tile:
    def __init__(self, name, space, loop, buffers, address):
        self.name, self.space, self.loop, self.buffers, self.address = name, space, loop, buffers, address


class Function:
    """The text of a function, and for each engine op in it its accesses."""

    def __init__(self, number, size, kind):
        self.kind, self.lines, self.ops, self.loops, self.tiles = kind, [], [], 0, 0
        self.lines.append(
            f"func.func @f{number}(%g: {VIEW['f32']}, %o: {VIEW['f32']}, %h: {VIEW['f16']}, %u: {VIEW['f16']}, "
            "%n: index, %c: i1) attributes {pto.kernel_kind = #pto.kernel_kind<" + kind + ">} {"
        )
        self.lines += [f"%c{i} = arith.constant {i} : index" for i in range(7)]
        spaces = sorted({s for op in OPS[kind] for s in op[2] + op[3]})
        pool = []
        for space in spaces:
            pool += [self.tile(space, None) for _ in range(random.choice([1, 1, 2, 3]))]
        self.block(size, pool, None, 0)
        self.lines += ["return", "}"]

    def tile(self, space, loop):
        buffers = 2 if loop is not None and random.random() < 0.7 else 1
        address = random.randrange(5) * SIZE // 2 if random.random() < 0.3 else None
        name = f"%t{self.tiles}"
        self.tiles += 1
        marks = ([f"pto.buffers = {buffers} : i64"] if buffers > 1 else []) + (
            [f"pto.base = {address} : i64"] if address is not None else []
        )
        self.lines.append(f"{name} = pto.alloc_tile {{{', '.join(marks)}}} : {TYPES[space]}".replace("{} ", ""))
        return Tile(name, space, loop, buffers, address)

    def block(self, size, pool, loop, depth):
        pool = list(pool)
        while size > 0:
            kind = random.random()
            if kind < 0.16 and depth < 4:
                inner = random.randint(1, size)
                size -= inner
                trips = random.choice(["%n", "%n", "%c1", "%c2", "%c3", "%c5"])
                self.lines.append(f"scf.for %i{self.loops} = %c0 to {trips} step %c1 {{")
                self.loops += 1
                mine = self.loops - 1
                spaces = sorted({s for op in OPS[self.kind] for s in op[2] + op[3]})
                self.block(inner, pool + [self.tile(s, mine) for s in spaces if random.random() < 0.5], mine, depth + 1)
                self.lines.append("}")
            elif kind < 0.28 and depth < 4:
                inner = random.randint(1, size)
                size -= inner
                self.lines.append("scf.if %c {")
                self.block(inner, pool, loop, depth + 1)
                if random.random() < 0.5:
                    self.lines.append("} else {")
                    self.block(random.randint(1, 3), pool, loop, depth + 1)
                self.lines.append("}")
            else:
                size -= 1
                engine, text, reads, writes = random.choice(OPS[self.kind])
                tiles = [random.choice([t for t in pool if t.space == s]) for s in reads + writes]
                parts = {str(i): f"{t.name} : {TYPES[t.space]}" for i, t in enumerate(tiles)}
                if len(tiles) > 1:
                    parts["0_1"] = (
                        f"{tiles[0].name}, {tiles[1].name} : {TYPES[tiles[0].space]}, {TYPES[tiles[1].space]}"
                    )
                for key, value in (parts | VIEW).items():
                    text = text.replace("{" + key + "}", value)
                self.lines.append(text)
                self.ops.append((engine, [(t, i >= len(reads)) for i, t in enumerate(tiles)]))


# --- the printed text -------------------------------------------------------------------------------------------


def parse(lines, constants):
    """A block: a list of ('op',), ('set' or 'wait', source, target, id), ('for', loop, trips or None, block), ('if',
    block, block)."""
    block = []
    while lines:
        line = lines.pop(0).strip()
        if line.startswith("}"):
            return block, line
        if found := re.match(r"(%\w+) = arith\.constant (\d+) : index", line):
            constants[found[1]] = int(found[2])
        elif found := re.match(r"(%\w+) = arith\.remsi (%\w+), .*", line):
            constants[found[1]] = found[2]  # the loop variable: its trip mod 2
        elif found := re.match(r"(%\w+) = arith\.addi (%\w+), (%\w+) : index", line):
            constants[found[1]] = (constants.get(found[2]), constants.get(found[3]))
        elif found := re.match(r"scf\.for (%\w+) = %c0 to (%\w+) step %c1 {", line):
            trips = constants.get(found[2])
            inner, _ = parse(lines, constants)
            block.append(("for", found[1], trips, inner))
        elif line.startswith("scf.if"):
            then, end = parse(lines, constants)
            other = parse(lines, constants)[0] if "else" in end else []
            block.append(("if", then, other))
        elif found := re.match(r"pto\.(set|wait)_flag\[<PIPE_(\w+)>, <PIPE_(\w+)>, <EVENT_ID(\d)>\]", line):
            block.append((found[1], found[2], found[3], int(found[4])))
        elif found := re.match(r"pto\.(set|wait)_flag_dyn\[<PIPE_(\w+)>, <PIPE_(\w+)>, (%\w+)\]", line):
            block.append((found[1], found[2], found[3], constants[found[4]]))  # a name may be redefined
        elif line.startswith("pto.barrier"):
            block.append(("barrier",))
        elif line.startswith("pto.t"):
            block.append(("op",))
        elif line and not re.match(r"%\w+ = (pto\.alloc_tile|arith\.)|return|module|#|!", line):
            raise SystemExit(f"unknown line: {line}")
    return block, ""


class Wrong(Exception):
    pass


class Run:
    """One execution; raises Wrong at the first access or flag that is not ordered."""

    def __init__(self, function, block, choose, without=None):
        self.function, self.choose, self.without = function, choose, without
        self.clocks = {e: {} for e in ("MTE2", "V", "MTE3", "MTE1", "M", "FIX")}
        self.tokens, self.taken, self.past, self.trips = {}, {}, {}, {}
        self.block(block, 0)
        if self.tokens:
            raise Wrong(f"left raised: {list(self.tokens)}")

    def value(self, meaning):
        if isinstance(meaning, tuple):
            return self.value(meaning[0]) + self.value(meaning[1])
        return meaning if isinstance(meaning, int) else self.trips[meaning] % 2

    def block(self, block, at):
        for node in block:
            if node[0] == "op":
                self.op(at)
                at += 1
            elif node[0] == "for":
                inner = count(node[3])
                for trip in range(self.choose("trips") if node[2] is None else node[2]):
                    self.trips[node[1]] = trip
                    self.block(node[3], at)
                at += inner
            elif node[0] == "if":
                first = count(node[1])
                if self.choose("way"):
                    self.block(node[1], at)
                else:
                    self.block(node[2], at + first)
                at += first + count(node[2])
            elif node[0] == "barrier":
                raise Wrong("the engines take turns")
            else:
                self.flag(*node)

    def tick(self, engine):
        self.clocks[engine][engine] = self.clocks[engine].get(engine, 0) + 1
        return self.clocks[engine][engine]

    def flag(self, kind, source, target, event):
        key = (source, target, self.value(event))
        if key == self.without:
            return
        if kind == "set":
            if key in self.tokens or self.clocks[source].get(target, 0) < self.taken.get(key, 0):
                raise Wrong(f"raised twice: {key}")
            self.tokens[key] = dict(self.clocks[source])
            return
        if key not in self.tokens:
            raise Wrong(f"waits for ever: {key}")
        for engine, time in self.tokens.pop(key).items():
            self.clocks[target][engine] = max(self.clocks[target].get(engine, 0), time)
        self.taken[key] = self.tick(target)

    def op(self, index):
        engine, operands = self.function.ops[index]
        time = self.tick(engine)
        touched = [(place, write) for tile, write in operands for place in self.bytes_of(tile)]
        for place, write in touched:
            for (other, wrote), when in self.past.get(place, {}).items():
                if other != engine and (write or wrote) and self.clocks[engine].get(other, 0) < when:
                    raise Wrong(f"op {index} of {engine} and one of {other} on {place}")
        for place, write in touched:
            self.past.setdefault(place, {})[engine, write] = time

    def bytes_of(self, tile):
        half = self.trips[self.function.names[tile.loop]] % 2 if tile.buffers > 1 else 0
        if tile.address is None:
            return [(tile.name, half)]
        size = SIZE if tile.space == "vec" else SIZE * (4 if tile.space == "acc" else 2)
        begin = tile.address + half * size
        return [(tile.space, at) for at in range(begin, begin + size, SIZE // 2)]


def count(block):
    return sum(
        1 if n[0] == "op" else count(n[3]) if n[0] == "for" else count(n[1]) + count(n[2]) if n[0] == "if" else 0
        for n in block
    )


def variables(block):
    return [
        v
        for n in block
        for v in (
            [n[1]] + variables(n[3]) if n[0] == "for" else variables(n[1]) + variables(n[2]) if n[0] == "if" else []
        )
    ]


def flags(block):
    return {n[1:] for n in block if n[0] in ("set", "wait")} | {
        f
        for n in block
        for f in (flags(n[3]) if n[0] == "for" else flags(n[1]) | flags(n[2]) if n[0] == "if" else set())
    }


def chooser(seed):
    source = random.Random(seed)
    return lambda what: source.choice([0, 1, 1, 2, 3, 4]) if what == "trips" else source.random() < 0.5


def main():
    number, seed, tool = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    size = int(sys.argv[4]) if len(sys.argv) > 4 else 12
    random.seed(seed)
    functions = [Function(i, random.randint(2, size), random.choice(["vector", "cube"])) for i in range(number)]
    text = "\n".join(line for f in functions for line in f.lines)
    result = subprocess.run([tool, "-pto-insert-sync"], input=text, text=True, capture_output=True)
    if result.returncode:
        raise SystemExit(result.stderr[:2000])
    printed = re.split(r"func\.func @f\d+\(.*", result.stdout)[1:]
    events = needless = 0
    for i, (function, body) in enumerate(zip(functions, printed, strict=True)):
        block, _ = parse(body.splitlines(), {})
        # Loops are printed in the order of their creation.
        function.names = dict(enumerate(variables(block)))
        shown = "\n".join(function.lines) + "\n// became\n" + body
        if count(block) != len(function.ops):
            raise SystemExit(f"{shown}\nfunction {i} has other ops")
        for run in range(40):
            try:
                Run(function, block, chooser(f"{seed} {i} {run}"))
            except Wrong as wrong:
                raise SystemExit(f"{shown}\nfunction {i}, run {run}: {wrong}")
        ids = {(a, b, e) for a, b, event in flags(block) for e in ([event] if isinstance(event, int) else [])}
        for key in ids:
            events += 1
            try:
                for run in range(150):
                    Run(function, block, chooser(f"{seed} {i} {run}"), key)
                needless += 1
                if "-v" in sys.argv:
                    print(f"{shown}\nfunction {i}: needless {key}")
            except Wrong:
                pass
    print(f"{number} functions are ordered; {needless} of {events} events are needless")
    if needless * 12 > events:
        raise SystemExit("too many needless events")


main()
