"""Every published measurement of silicon that the timing mode is compared with: the one table of the rows.

A row belongs to the group `fitted` when a rate of the model was taken from it or from another size of the same kernel,
else to `validation`. No rate may be taken from a validation row (docs/timing.md lists every fitted rate with its rows).
Source of all: the kernels' READMEs in the public repository pto-isa, commit 3186c381, below kernels/manual.
"""

from __future__ import annotations

from dataclasses import dataclass, field

CUBE = ("AIC M", "AIC MTE1", "AIC MTE2", "AIC FIX")


@dataclass(frozen=True)
class Row:
    kernel: str
    size: int | tuple
    group: str  # fitted or validation
    microseconds: float
    busy: dict = field(default_factory=dict)  # engine: percentage of the time, where published
    large: bool = False  # takes minutes to simulate


def rows(kernel: str, group: str, engines: tuple, large: tuple, values: dict) -> list[Row]:
    """`values`: size to microseconds and a percentage for each of `engines`."""
    return [Row(kernel, s, group, us, dict(zip(engines, busy)), s in large) for s, (us, *busy) in values.items()]


# cores: microseconds with 1024, 2048, 4096, 8192 rows of K and V
FEW_CORES = {
    1: (42.08, 51.44, 43.80, 74.54),
    2: (33.201, 44.101, 43.521, 75.162),
    4: (41.721, 55.441, 46.621, 86.322),
    8: (63.72, 85.882, 64.461, 107.342),
}

MXFP4_LARGE = ((2048, 4096, 4096), (4096, 1024, 8192), (1024, 12288, 4096), (2048, 8192, 8192), (2040, 8192, 8100))

ROWS = [
    # a2a3/gemm_performance: f16 to f32, m = n = k
    *rows("product f16", "fitted", CUBE, (6144, 7680), {
        1536: (38.8, 54.5, 42.2, 72.2, 7.7),
        3072: (206.7, 79.0, 62.0, 90.9, 5.8),
        6144: (1506.0, 86.7, 68.1, 95.2, 3.1),
        7680: (3168.0, 80.6, 63.0, 98.4, 2.4),
    }),
    # a2a3/topk: rows of 1024, the 1000 greatest
    *rows("top-k f32", "fitted", ("AIV V", "AIV MTE2", "AIV MTE3"), (), {
        4800: (324.106, 94.0, 11.7, 10.4),
        3456: (238.819, 91.5, 12.3, 10.5),
        2304: (161.375, 88.7, 12.4, 10.1),
    }),
    # a5/matmul_mxfp8_performance: e5m2 with scales e8m0 to bf16, m = k = n
    *rows("MXFP8 a5", "fitted", CUBE, (4096, 6144, 8192), {
        2048: (38.3, 58.2, 35.1, 84.6, 7.3),
        4096: (187.9, 87.7, 54.2, 96.3, 5.3),
        6144: (602.0, 91.6, 57.3, 98.2, 3.5),
        8192: (1474.9, 90.1, 56.2, 99.6, 2.6),
    }),
    # a2a3/conv2d_forward: 3 x 3, pads of 1, 4 images; the size is the number of output channels
    *rows("conv 3x3 f16", "validation", CUBE, (4608, 6144, 7680), {
        1536: (32.2, 52.9, 59.4, 43.9, 5.6),
        3072: (147.3, 86.1, 57.3, 75.1, 4.0),
        4608: (470.9, 89.3, 61.6, 78.8, 2.8),
        6144: (1097.9, 90.8, 61.1, 80.4, 2.1),
        7680: (2131.2, 91.3, 62.4, 80.7, 1.7),
    }),
    # common/flash_atten on a 910B2: 24 cores, as many rows of Q as of K
    *rows("attention", "validation", (), (16384, 32768), {
        1024: (20.960,), 2048: (32.461,), 4096: (88.902,), 8192: (292.626,), 16384: (909.058,), 32768: (3262.645,),
    }),
    # common/flash_atten on an A3: cores with 128 rows of Q each x rows of K and V
    *rows("attention, few cores", "validation", (), (), {
        (cores, n): (us,) for cores, values in FEW_CORES.items() for n, us in zip((1024, 2048, 4096, 8192), values)
    }),
    # a2a3/topk: rows of 1024, the 1008 greatest
    *rows("top-k f16", "validation", ("AIV V", "AIV MTE2", "AIV MTE3"), (), {4800: (326.886, 93.7, 11.5, 9.6)}),
    # a5/matmul_mxfp4_performance: e2m1 with scales e8m0 to bf16, m x k x n
    *rows("MXFP4 a5", "validation", CUBE, MXFP4_LARGE, {
        (2048, 2048, 2048): (42.5, 44.7, 46.6, 22.1, 25.6),
        (2048, 4096, 4096): (100.3, 77.4, 76.7, 38.5, 7.7),
        (4096, 1024, 8192): (122.6, 64.9, 58.4, 29.3, 25.7),
        (1024, 12288, 4096): (137.7, 84.9, 87.4, 43.4, 2.8),
        (2048, 8192, 8192): (348.9, 90.7, 88.1, 45.8, 4.6),
        (2040, 8192, 8100): (377.3, 83.0, 83.0, 42.1, 12.3),
    }),
]  # fmt: skip


def published(kernel: str, size) -> Row:
    return next(row for row in ROWS if (row.kernel, row.size) == (kernel, size))
