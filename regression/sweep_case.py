"""A random graph of one operator, and what the families of operators draw their extents and values by."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Case:
    """One operator with its inputs (name -> shape), weights and attributes."""

    op: str
    inputs: dict[str, list[int]]
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    attributes: dict = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    opset: int = 18
    feeds: dict[str, np.ndarray] = field(default_factory=dict)  # inputs whose values matter
    outputs: int = 1

    def text(self) -> str:
        shapes = {name: list(value.shape) for name, value in (self.feeds | self.weights).items()}
        return f"{self.op} {self.inputs | shapes} {self.attributes}"


def extent(rng, most: int) -> int:
    """1, a small number, a prime, a power of two or anything up to `most`."""
    primes = [p for p in (2, 3, 5, 7, 11, 13, 17, 31, 37, 61, 97, 127, 251, 509, 1021) if p <= most]
    powers = [1 << k for k in range(11) if 1 << k <= most]
    choices = [1, int(rng.integers(1, min(most, 9) + 1)), int(rng.choice(primes or [1])), int(rng.choice(powers))]
    return int(rng.choice([*choices, int(rng.integers(1, most + 1))]))


def shape_of(rng, ranks, budget: int = 60_000) -> list[int]:
    shape: list[int] = []
    for _ in range(rng.choice(ranks)):
        shape.append(extent(rng, max(1, min(1100, budget // int(np.prod(shape or [1]))))))
    return [int(v) for v in rng.permutation(shape)]


def data(rng, shape, kinds=("float32", "float32", "int32", "int64")) -> np.ndarray:
    """Values of one of the types, with ties."""
    kind = str(rng.choice(kinds))
    if kind == "float32":
        return (np.round(rng.normal(0, 8, shape) * 64) / 64).astype(np.float16).astype(kind)
    return (
        rng.integers(-(2**30), 2**30, shape).astype(kind)
        if rng.random() < 0.5
        else rng.integers(-9, 9, shape).astype(kind)
    )
