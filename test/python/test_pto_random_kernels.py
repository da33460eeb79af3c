"""Random kernels of the builder: the simulator in checked mode against the numpy interpretation of the same program."""

import random

import ml_dtypes  # noqa: F401  registers "bfloat16" with numpy
import numpy as np
import pytest
from pto import PTO
from pto_as import PTOError
from pto_mlir.runtime import Kernel
from pto_runtime import BinaryCompiler

UNARY = ("tile_copy", "tile_abs", "tile_relu", "tile_neg")
BINARY = ("tile_add", "tile_sub", "tile_max", "tile_min")
SCALAR = ("tile_adds", "tile_subs", "tile_muls", "tile_maxs", "tile_mins")


class Program:
    """Operations on up to four tensors and three tiles of one shape, in nested loops; half of the f32 ones multiply
    matrices."""

    def __init__(self, seed: int):
        self.random = pick = random.Random(seed)
        self.dtype = pick.choice(["float32", "float32", "float16", "bfloat16", "int32", "int8"])
        self.cube = self.dtype == "float32" and pick.random() < 0.7
        size = pick.choice([3, 16, 24, 33, 130])
        self.shape = (size, size) if self.cube else pick.choice([(size, 40), (size, 7), (size,), (2, size, 9)])
        self.builder = PTO(f"random_{seed}")
        self.trips = self.builder.scalar(dtype="int32", name="trips")
        self.factor = self.builder.scalar(dtype=self.dtype, name="factor")
        self.tensors = [self.builder.tensor(self.shape, self.dtype) for _ in range(pick.randint(2, 4))]
        self.values = self.tensors + [self.builder.tile(self.shape, self.dtype) for _ in range(pick.randint(0, 3))]
        self.defined = list(self.tensors)
        self.body(0, pick.randint(2, 8))
        self.builder.tile_copy(self.tensors[0], self.pick())

    def pick(self):
        return self.random.choice(self.defined)

    def body(self, depth: int, count: int) -> None:
        for _ in range(count):
            if depth < 2 and self.random.random() < 0.2:
                with self.builder.repeat(self.random.choice([self.trips, 2, 3])):
                    self.body(depth + 1, self.random.randint(1, 3))
            else:
                self.operation()

    def operation(self) -> None:
        dst, kind = self.random.choice(self.values), self.random.random()
        if self.cube and kind < 0.4:
            a, b = self.pick(), self.pick()
            if dst in (a, b):
                return
            op = "tile_matmul_acc" if dst in self.defined and kind < 0.2 else "tile_matmul"
            getattr(self.builder, op)(dst, a, b)
            if self.random.random() < 0.8:  # otherwise it may stay in the accumulator
                self.builder.tile_muls(dst, dst, 0.1)
        elif kind < 0.6:
            getattr(self.builder, self.random.choice(UNARY))(dst, self.pick())
        elif kind < 0.85:
            getattr(self.builder, self.random.choice(BINARY))(dst, self.pick(), self.pick())
        elif kind < 0.9:
            self.builder.tile_expands(dst, self.factor)
        else:
            number = self.random.choice([self.factor, 3 if self.dtype.startswith("int") else 0.3])
            getattr(self.builder, self.random.choice(SCALAR))(dst, self.pick(), number)
        if dst not in self.defined:
            self.defined.append(dst)

    def arrays(self, seed: int) -> list[np.ndarray]:
        generator = np.random.default_rng(seed)
        if self.dtype.startswith("int"):
            return [generator.integers(-100, 100, self.shape).astype(self.dtype) for _ in self.tensors]
        return [generator.standard_normal(self.shape).astype(self.dtype) for _ in self.tensors]


@pytest.mark.parametrize("processor", ["a3", "a5"])
@pytest.mark.parametrize("seed", range(24))
def test_simulator_and_numpy_agree(seed, processor, tmp_path):
    program = Program(seed)
    core, host = program.arrays(seed), program.arrays(seed)
    scalars = [1 + seed % 3, 2 if program.dtype.startswith("int") else 0.7]
    BinaryCompiler(program.builder).compile("host").callable()(*host, *scalars)
    (path,) = program.builder.compile(tmp_path / "k.pmodel", processor)
    workspace = [np.empty(program.shape, program.dtype) for _ in program.builder.workspace()]
    Kernel(path, mode="checked").run(*core, *workspace, *scalars, blocks=1 + seed % 2)
    for got, expected in zip(core, host, strict=True):
        got, expected = got.astype(np.float64), expected.astype(np.float64)
        # Sums of products are added in another order; everything else agrees bit for bit.
        bound = 1e-3 * max(1, np.abs(expected).max()) if program.cube else 0
        np.testing.assert_allclose(got, expected, rtol=0, atol=bound, err_msg=program.builder.build())


def test_the_programs_have_what_they_should():
    """Products, accumulators, tiles between the cores, loops with trips from an argument: enough of the seeds have
    each."""
    texts = [program.builder.build() for program in map(Program, range(24))]
    for what, least in (("tile_matmul %", 4), ("tile_matmul_acc", 3), ("repeat %trips", 4), ("bf16", 2), ("i8", 2)):
        assert sum(what in text for text in texts) >= least, what
    assert sum(bool(Program(seed).builder.workspace()) for seed in range(24)) >= 3
    with pytest.raises(PTOError):
        BinaryCompiler(PTO("empty")).compile("host").callable()()
