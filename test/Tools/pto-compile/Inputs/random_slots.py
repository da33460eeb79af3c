"""Random kernels whose tiles are slots of one allocation: run on the simulator in checked mode, beside numpy.

usage: random_slots.py KERNELS SEED FOLDER      commands pto-compile and pto-run are on the path
"""

import random
import subprocess
import sys
from pathlib import Path

import numpy as np

HEAD = """!G = !pto.partition_tensor_view<16x64xf32>
!X = !pto.tensor_view<128x64xf32>
!T = !pto.tile_buf<vec, 16x64xf32>
{types}module attributes {{pto.target_arch = "a3"}} {{
func.func @k(%px: !pto.ptr<f32>, %py: !pto.ptr<f32>) attributes {{pto.entry}} {{
{constants}%one = arith.constant 1.0 : f32
%x = pto.make_tensor_view %px, shape = [%c128, %c64], strides = [%c64, %c1] : !X
%y = pto.make_tensor_view %py, shape = [%c128, %c64], strides = [%c64, %c1] : !X
"""


class Kernel:
    """The text, and what it computes as functions of the loops' numbers."""

    def __init__(self, seed):
        self.random, self.lines, self.names, self.nests = random.Random(seed), [], 0, 7
        self.counts = [self.random.choice([2, 2, 2, 4, 3]) for _ in range(self.random.randrange(1, 4))]
        self.memory = [np.zeros((count, 16, 64), np.float32) for count in self.counts]
        self.steps = []
        for number, count in enumerate(self.counts):
            self.line(f"%m{number} = pto.alloc_multi_tile : !S{count}")
            for slot in range(count):
                known = f"%c{slot}", lambda env, slot=slot: slot
                self.load(known, self.take(number, known[1], known[0]), self.steps)
        self.block([], {}, self.steps)
        self.block([], {}, self.steps)

    def line(self, text):
        self.lines.append(text)

    def value(self, text, compute):
        self.names += 1
        self.line(f"%v{self.names} = {text}")
        return f"%v{self.names}", compute

    def number(self, loops):
        """Something that the loops' numbers decide: (its name, how it is computed)."""
        if not loops or self.random.random() < 0.1:
            known = self.random.randrange(4)
            return f"%c{known}", lambda env: known
        name, step = self.random.choice(loops)
        kind = self.random.choice(["itself", "itself", "trip", "sum", "shifted"])
        if kind == "trip":
            return self.value(f"arith.divsi {name}, %c{step} : index", lambda env: env[name] // step)
        if kind == "sum":
            other = self.random.choice(loops)[0]
            return self.value(f"arith.addi {name}, {other} : index", lambda env: env[name] + env[other])
        if kind == "shifted":
            by = self.random.randrange(1, 4)
            return self.value(f"arith.addi {name}, %c{by} : index", lambda env: env[name] + by)
        return name, lambda env: env[name]

    def take(self, number, compute, name):
        tile, _ = self.value(f"pto.multi_tile_get %m{number}[{name}] : !S{self.counts[number]} -> !T", None)
        return tile, number, compute

    def slot(self, loops, taken):
        """A tile, often one that this block or one around it has taken already."""
        number = self.random.randrange(len(self.counts))
        if number not in taken or self.random.random() < 0.3:
            (name, compute), count = self.number(loops), self.counts[number]
            rest, _ = self.value(f"arith.remsi {name}, %c{count} : index", None)
            taken[number] = self.take(number, lambda env: compute(env) % count, rest)
        return taken[number]

    def part(self, tensor, number):
        name, compute = number
        block, _ = self.value(f"arith.remsi {name}, %c8 : index", None)
        row, _ = self.value(f"arith.muli {block}, %c16 : index", None)
        view = f"pto.partition_view %{tensor}, offsets = [{row}, %c0], sizes = [%c16, %c64] : !X -> !G"
        return self.value(view, lambda env: compute(env) % 8)

    def load(self, number, slot, steps):
        (view, block), (tile, region, place) = self.part("x", number), slot
        self.line(f"pto.tload ins({view} : !G) outs({tile} : !T)")

        def step(env, x, y):
            self.memory[region][place(env)] = x[block(env)]

        steps.append(step)

    def store(self, number, slot, steps):
        (view, block), (tile, region, place) = self.part("y", number), slot
        self.line(f"pto.tstore ins({tile} : !T) outs({view} : !G)")

        def step(env, x, y):
            y[block(env)] = self.memory[region][place(env)]

        steps.append(step)

    def add(self, slot, to, steps):
        (tile, region, place), (target, into, there) = slot, to
        self.line(f"pto.tadds ins({tile}, %one : !T, f32) outs({target} : !T)")

        def step(env, x, y):
            self.memory[into][there(env)] = self.memory[region][place(env)] + np.float32(1)

        steps.append(step)

    def loop(self, loops, taken, steps):
        self.names += 1
        name, step, trips = f"%i{self.names}", self.random.choice([1, 1, 1, 2, 3]), self.random.randrange(1, 5)
        begin, first = f"%c{self.random.randrange(3)}", None
        if loops and self.random.random() < 0.2:  # it begins elsewhere each time
            begin = first = self.random.choice(loops)[0]
        end, _ = self.value(f"arith.addi {begin}, %c{step * trips} : index", None)
        self.line(f"scf.for {name} = {begin} to {end} step %c{step} {{")
        body = self.block([*loops, (name, step)], taken, [])
        self.line("}")

        def run(env, x, y):
            start = env[first] if first else int(begin.removeprefix("%c"))
            for value in range(start, start + step * trips, step):
                for each in body:
                    each({**env, name: value}, x, y)

        steps.append(run)

    def branch(self, loops, taken, steps):
        name, limit = self.random.choice(loops)[0], self.random.randrange(4)
        condition, _ = self.value(f"arith.cmpi sgt, {name}, %c{limit} : index", None)
        self.line(f"scf.if {condition} {{")
        body = self.block(loops, taken, [])
        self.line("}")

        def run(env, x, y):
            for each in body if env[name] > limit else []:
                each(env, x, y)

        steps.append(run)

    def block(self, loops, taken, steps):
        taken = dict(taken)
        for _ in range(self.random.randrange(2, 5)):
            kind = self.random.choice(["nest", "nest", "load", "load", "add", "add", "store"])
            if kind == "nest" and self.nests > 0 and len(loops) < 3:
                self.nests -= 1
                (self.branch if loops and self.random.random() < 0.3 else self.loop)(loops, taken, steps)
            elif kind == "load":
                self.load(self.number(loops), self.slot(loops, taken), steps)
            elif kind == "store":
                self.store(self.number(loops), self.slot(loops, taken), steps)
            else:
                self.add(self.slot(loops, taken), self.slot(loops, taken), steps)
        return steps

    def text(self):
        types = "".join(
            f"!S{count} = !pto.multi_tile_buf<vec, 16x64xf32, count={count}>\n" for count in sorted({*self.counts})
        )
        constants = "".join(f"%c{i} = arith.constant {i} : index\n" for i in [*range(17), 64, 128])
        return HEAD.format(types=types, constants=constants) + "\n".join([*self.lines, "return", "}", "}", ""])


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def main(kernels, seed, folder):
    folder.mkdir(parents=True, exist_ok=True)
    source, model, given, made = (folder / name for name in ("k.pto", "k.pmodel", "x.npy", "y.npy"))
    x = np.random.default_rng(seed).standard_normal((8, 16, 64)).astype(np.float32)
    np.save(given, x.reshape(128, 64))
    for number in range(kernels):
        kernel = Kernel(1000 * seed + number)
        source.write_text(kernel.text())
        wanted = np.zeros_like(x)
        for step in kernel.steps:
            step({}, x, wanted)
        problem = run("pto-compile", source, "-o", model)
        problem = problem or run("pto-run", model, "--arg", given, "--out", f"{made}:128x64xf32", "--mode", "checked")
        if not problem and not np.array_equal(np.load(made).reshape(wanted.shape), wanted):
            problem = "other numbers"
        if problem:
            sys.exit(f"kernel {number} of seed {seed}: {problem}\n{kernel.text()}")
    print(f"{kernels} kernels are right")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
