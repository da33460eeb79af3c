"""The parts that the public planner's cost model computes a product in where L0 does not hold it: rows, columns and
steps of K, and what stays in L0 while the others move past it.

The model is the documented one: cycles of loads, of the cube and of draining L0C for each way, and the least of them.
It answers what that planner would do; kernels of this compiler are tiled by the chooser of its cube kernels.
"""

import enum
from dataclasses import dataclass

import numpy as np


class Stationarity(enum.Enum):
    """What stays in L0 while the others move past it."""

    OutputStationary = 0
    AStationary = 1
    BStationary = 2


@dataclass
class L0TileConfig:
    """The product's extents, bytes of its elements, the memories (of 910B), which ways may be taken, and the cycles
    that the model counts with: measured there and published with the planner."""

    M: int = 0
    N: int = 0
    K: int = 0
    l0a_bytes: int = 64 * 1024
    l0b_bytes: int = 64 * 1024
    l0c_bytes: int = 128 * 1024
    bytes_a: int = 2
    bytes_b: int = 2
    bytes_c: int = 4
    min_m: int = 16
    min_n: int = 16
    min_k: int = 16
    align_m: int = 16
    align_n: int = 16
    align_k: int = 16
    l0c_align_m: int = 16
    box_align_m: int = 1
    box_align_n: int = 1
    max_n: int = 0
    max_n_pipelined: int = 0
    max_n_nested_pipelined: int = 0
    allow_a_stationary: bool = False
    allow_b_stationary: bool = False
    allow_double_buffer_c: bool = False
    allow_k_boundary: bool = False
    allow_padding: bool = False
    c_read: bool = False
    bw_a: float = 129.7
    bw_b: float = 85.4
    bw_drain: float = 118.0
    drain_fixed_cycles: float = 164.0
    drain_row_cycles: float = 4.45
    drain_penalty_cycles: float = 2.6
    drain_c0_bytes: int = 32
    mad_head: int = 21
    mad_k_fractal_bytes: int = 32
    mad_fp32_passes: int = 2


@dataclass
class L0TileResult:
    """The parts, what stays, and what the model says of them."""

    m: int
    n: int
    k: int
    stationarity: Stationarity = Stationarity.OutputStationary
    os_holds_a: bool = True
    double_buffer_c: bool = False
    estimated_traffic_bytes: int = 0
    estimated_cost_cycles: int = 0
    padded_compute_volume: int = 0
    perf_hint: str = ""


def _up(value, align):
    return -(-value // align) * align


class _Candidates:
    """All parts of one way that fit, as arrays of equal length, and what the model says of each."""

    def __init__(self, config, stationarity, twice):
        self.config, self.stationarity, self.twice = config, stationarity, twice
        sizes = []
        for low, extent, align in zip(*self._ranges(), strict=True):
            sizes.append(np.arange(low, extent + 1, align, dtype=np.int64))
        m, n, k = (each.ravel() for each in np.meshgrid(*sizes, indexing="ij"))
        fits = self._fits(m, n, k)
        self.m, self.n, self.k = m[fits], n[fits], k[fits]
        self.rows, self.columns = -(-config.M // self.m), -(-config.N // self.n)
        allowed = self._allowed()
        for name in ("m", "n", "k", "rows", "columns"):
            setattr(self, name, getattr(self, name)[allowed])

    def _ranges(self):
        """(smallest, largest, step) of m, n and k; no longer than the memories hold beside the smallest others."""
        c = self.config
        once_a, once_b, acc = self._elements()
        most_m = min(max(c.M, c.min_m) if c.allow_padding else c.M, once_a // c.min_k, acc // c.min_n)
        most_n = min(max(c.N, c.min_n) if c.allow_padding else c.N, once_b // c.min_k, acc // c.min_m)
        most_k = min(
            max(_up(c.K, c.align_k), c.min_k) if c.allow_padding else c.K, once_a // c.min_m, once_b // c.min_n
        )
        if c.max_n:
            most_n = min(most_n, c.max_n)
        return (c.min_m, c.min_n, c.min_k), (most_m, most_n, most_k), (c.align_m, c.align_n, c.align_k)

    def _elements(self):
        """How many elements of A, B and C have room: what moves, and an accumulator that is drained beside the next
        one's products, is there twice."""
        c = self.config
        return (
            c.l0a_bytes // (c.bytes_a * (1 if self.stationarity is Stationarity.AStationary else 2)),
            c.l0b_bytes // (c.bytes_b * (1 if self.stationarity is Stationarity.BStationary else 2)),
            c.l0c_bytes // (c.bytes_c * (2 if self.twice else 1)),
        )

    def _fits(self, m, n, k):
        c = self.config
        once_a, once_b, acc = self._elements()
        boxed_m, boxed_n = _up(m, c.box_align_m), _up(n, c.box_align_n)
        fits = (boxed_m * k <= once_a) & (boxed_n * k <= once_b) & (_up(boxed_m, c.l0c_align_m) * boxed_n <= acc)
        peeled = c.allow_k_boundary and c.K % c.align_k == 0
        return fits if c.allow_padding or peeled else fits & (c.K % k == 0)

    def _allowed(self):
        """Ways other than the plain one take all of K at a time; two accumulators need two whole parts to turn over."""
        c, whole = self.config, self.k == self.config.K
        allowed = np.ones(self.m.shape, bool)
        if self.twice or self.stationarity is not Stationarity.OutputStationary:
            allowed &= whole
        outer_rows = self.holds_a()
        if self.twice:
            allowed &= np.where(outer_rows, c.N // self.n, c.M // self.m) >= 2
        most = np.full(self.m.shape, c.max_n)
        if self.stationarity is not Stationarity.BStationary:
            inner = (self.stationarity is Stationarity.OutputStationary) & outer_rows
            capped = np.where(inner, c.max_n_nested_pipelined, c.max_n_pipelined)
            most = np.where(whole & (self.rows * self.columns > 1) & (capped > 0), capped, most)
        return allowed & ((most == 0) | (self.n <= most))

    def _loads(self, of_a, of_b):
        """What is loaded, in units of `of_a` and `of_b` for an element: with A held, with B held."""
        c = self.config
        a, b = of_a * c.M * c.K, of_b * c.K * c.N
        return a + b * self.rows, a * self.columns + b, a * self.columns + b * self.rows

    def holds_a(self):
        """Whether A is what the outer loop holds."""
        if self.stationarity is not Stationarity.OutputStationary:
            return np.full(self.m.shape, self.stationarity is Stationarity.AStationary)
        c = self.config
        held_a, held_b, _ = self._loads(c.bytes_a / c.bw_a, c.bytes_b / c.bw_b)
        return held_a <= held_b

    def loads(self, of_a, of_b):
        """What is loaded: one operand once where all of K is taken at a time, else both again and again."""
        held_a, held_b, neither = self._loads(of_a, of_b)
        one = np.where(self.holds_a(), held_a, held_b)
        return (
            one
            if self.stationarity is not Stationarity.OutputStationary
            else np.where(self.k >= self.config.K, one, neither)
        )

    def products(self):
        """Cycles of the cube: of each step its head and its fractals, the last step with those that it has."""
        c = self.config
        step = max(1, c.mad_k_fractal_bytes // c.bytes_a)
        passes = max(1, c.mad_fp32_passes if c.bytes_a == 4 else c.bytes_a // 2)
        full, rest = c.K // self.k, c.K % self.k
        fractals = full * -(-self.k // step) + -(-rest // step)
        area = -(-self.m // c.align_m) * -(-self.n // c.align_n)
        return self.rows * self.columns * ((full + (rest > 0)) * c.mad_head + passes * area * fractals)

    def drains(self):
        """Cycles in which L0C is drained: for each part its head, and for each row the greater of a row's head and its
        bytes; a count of fractals that is no power of two takes further passes."""
        c = self.config
        fractals = -(-self.n // max(1, c.drain_c0_bytes // c.bytes_c))
        odd = fractals // (fractals & -fractals)
        row = np.maximum(c.drain_row_cycles, c.bytes_c * self.n / c.bw_drain) + c.drain_penalty_cycles * (odd - 1)
        return self.rows * self.columns * (c.drain_fixed_cycles + self.m * row)

    def cycles(self):
        """All of it: loads and products overlap; the drain does with two accumulators, but for the first or last."""
        c = self.config
        busy = np.maximum(self.loads(c.bytes_a / c.bw_a, c.bytes_b / c.bw_b), self.products())
        drain = self.drains()
        if not self.twice:
            return np.floor(busy + drain + 0.5).astype(np.int64)
        alone = np.minimum(busy, drain) / (self.rows * self.columns)
        return np.floor(np.maximum(busy, drain) + alone + 0.5).astype(np.int64)

    def best(self):
        """The result of the fewest cycles, then of the least padding, fewest steps, cheapest loads and greatest parts;
        None where nothing fits."""
        if not len(self.m):
            return None
        c, cycles = self.config, self.cycles()
        steps = -(-c.K // self.k)
        volume = self.rows * self.m * self.columns * self.n * steps * self.k
        cost = self.loads(c.bytes_a / c.bw_a, c.bytes_b / c.bw_b)
        i = np.lexsort((-self.k, -self.m * self.n, cost, steps, volume, cycles))[0]
        traffic = self.loads(c.bytes_a, c.bytes_b)[i] + (2 if c.c_read else 1) * c.bytes_c * c.M * c.N
        numbers = (int(each[i]) for each in (self.m, self.n, self.k))
        found = L0TileResult(*numbers, self.stationarity, bool(self.holds_a()[i]), self.twice)
        found.estimated_traffic_bytes, found.estimated_cost_cycles = int(traffic), int(cycles[i])
        found.padded_compute_volume = int(volume[i])
        return found


def _check(config):
    extents = {"M": config.M, "N": config.N, "K": config.K}
    if min(extents.values()) < 1:
        raise ValueError(f"choose_l0_tile: M, N, K must all be positive, not {config.M}, {config.N}, {config.K}")
    for axis, extent in extents.items():
        least = getattr(config, f"min_{axis.lower()}")
        if extent < least and not config.allow_padding:
            raise ValueError(f"choose_l0_tile: allow_padding=false but {axis}={extent} is less than {least}")
    for name in ("max_n", "max_n_pipelined", "max_n_nested_pipelined"):
        if 0 != getattr(config, name) < config.min_n:
            raise ValueError(f"choose_l0_tile: {name} must be zero (no limit) or at least min_n={config.min_n}")


def choose_l0_tile(config) -> L0TileResult:
    """The parts of the fewest estimated cycles among the ways that the configuration allows. ValueError where the
    configuration is none, or nothing fits: without `allow_padding` K must be a multiple of `align_k`."""
    _check(config)
    best = _Candidates(config, Stationarity.OutputStationary, False).best()
    if best is None:
        raise ValueError(
            f"choose_l0_tile: no part of {config.M} x {config.K} x {config.N} fits: K is a multiple of "
            f"{config.align_k}, and the smallest part must fit into L0"
        )
    if (best.m, best.n, best.k) != (config.M, config.N, config.K):
        held = [Stationarity.OutputStationary]
        held += [Stationarity.AStationary] if config.allow_a_stationary else []
        held += [Stationarity.BStationary] if config.allow_b_stationary else []
        for stationarity in held:
            for twice in (False, True) if config.allow_double_buffer_c else (False,):
                found = _Candidates(config, stationarity, twice).best()
                if found and found.estimated_cost_cycles < best.estimated_cost_cycles:
                    best = found
    if best.m > config.M or best.n > config.N or best.k > config.K:
        best.perf_hint = f"parts of {best.m} x {best.k} x {best.n} are padded"
    return best
