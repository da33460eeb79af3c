"""The greatest of rows of 1024 and their places on A3 (pto-isa's top-k kernel README), f32 and f16. Rows are spread
over 48 vector cores; the published rows lie 1280 elements apart, which the cost model does not see."""

import sys
from pathlib import Path

import numpy as np
from timed_run import fill_in, run

CORES, COLS = 48, 1024


def measure_type(rows: int, folder: Path, dtype, best: int, file: str) -> tuple:
    """Microseconds and the engines' percentages of the `best` greatest of `rows` rows, a multiple of 48. The result is
    checked."""
    fill_in(file, folder, rows=rows, each=rows // CORES)
    x = np.random.default_rng(0).permuted(np.tile(np.arange(COLS, dtype=dtype), (rows, 1)), axis=1)
    inputs = {"x": x, "i": np.arange(COLS, dtype=np.uint32)[None]}
    places = "u32" if dtype == np.float16 else "f32"
    kinds = {"v": f"{rows}x{best}x{'f16' if dtype == np.float16 else 'f32'}", "p": f"{rows}x{best}x{places}"}
    (v, p), microseconds, busy = run(folder, file, "topk", CORES // 2, inputs, kinds)
    order = np.argsort(-x.astype(np.float32), axis=1)[:, :best]
    if not (np.array_equal(v, np.take_along_axis(x, order, axis=1)) and np.array_equal(p.view(np.uint32), order)):
        sys.exit(f"top-k of {rows} rows: the result is wrong")
    return microseconds, busy


def measure(rows: int, folder: Path) -> tuple:
    """The 1000 greatest, f32."""
    return measure_type(rows, folder, np.float32, 1000, "topk.pto")


def measure_f16(rows: int, folder: Path) -> tuple:
    """The 1008 greatest, f16."""
    return measure_type(rows, folder, np.float16, 1008, "topk_f16.pto")
