"""The parts that a product is computed in where L0 does not hold it: rows, columns and steps of K."""

import enum
from dataclasses import dataclass


class Stationarity(enum.Enum):
    """What stays in L0 while the others move past it."""

    OutputStationary = 0
    AStationary = 1
    BStationary = 2


@dataclass
class L0TileConfig:
    """The product's extents, bytes of its elements, and the memories."""

    M: int = 0
    N: int = 0
    K: int = 0
    l0a_bytes: int = 64 * 1024
    l0b_bytes: int = 64 * 1024
    l0c_bytes: int = 128 * 1024
    bytes_a: int = 2
    bytes_b: int = 2
    bytes_c: int = 4
    align_m: int = 16
    align_n: int = 16
    align_k: int = 16
    allow_a_stationary: bool = False
    allow_b_stationary: bool = False
    allow_double_buffer_c: bool = False
    allow_k_boundary: bool = False
    allow_padding: bool = False
    c_read: bool = False


@dataclass
class L0TileResult:
    """The parts, and how many bytes they move into L0."""

    m: int
    n: int
    k: int
    stationarity: Stationarity = Stationarity.OutputStationary
    os_holds_a: bool = True
    double_buffer_c: bool = False
    traffic_bytes: int = 0
    perf_hint: str = ""


def _steps(extent, align):
    """Sizes of parts: all of it, and multiples of the alignment below."""
    return [extent, *range((extent - 1) // align * align, 0, -align)]


def choose_l0_tile(config) -> L0TileResult:
    """The parts that move the fewest bytes into L0, two stages of each operand at a time; of those, the longest steps
    of K. ValueError where not even the smallest part fits."""
    if min(config.M, config.N, config.K) < 1:
        raise ValueError(f"choose_l0_tile: extents must be positive, not {config.M} x {config.K} x {config.N}")
    best = None
    for m in _steps(config.M, config.align_m):
        for n in _steps(config.N, config.align_n):
            if m * n * config.bytes_c > config.l0c_bytes:
                continue
            most = min(config.l0a_bytes // (2 * m * config.bytes_a), config.l0b_bytes // (2 * n * config.bytes_b))
            k = config.K if config.K <= most else most // config.align_k * config.align_k
            if k < 1:
                continue
            loads_a, loads_b = -(-config.N // n), -(-config.M // m)
            traffic = config.K * (loads_a * config.M * config.bytes_a + loads_b * config.N * config.bytes_b)
            if best is None or (traffic, -k) < (best.traffic_bytes, -best.k):
                twice = config.allow_double_buffer_c and 2 * m * n * config.bytes_c <= config.l0c_bytes
                twice = twice and (m < config.M or n < config.N)
                best = L0TileResult(m, n, k, double_buffer_c=twice, traffic_bytes=traffic)
    if best is None:
        raise ValueError("choose_l0_tile: not even the smallest part fits into L0")
    return best
