"""Products with a scale for every 32 elements along k on A5, to bf16 (pto-isa's matmul_mxfp8_performance and
matmul_mxfp4_performance READMEs).

The kernel has the published ones' grid of 4 x 8 cores, tiles, panels and buffers; A lies m x k, B n x k, scales beside
them. The text form of kernels has no element type of 4 bits (MLIR 19 has none), so the kernel of MXFP4 is written with
fp8 elements and half of k: two codes of 4 bits are one byte. It moves the same bytes, scales included, and its products
have the same price (TimingTest.cpp compares the instructions); its result is checked as that of the fp8 elements with
every second group of scales."""

import sys
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
from timed_run import run

GRID = (4, 8)


@dataclass(frozen=True)
class Form:
    """How one of the two kernels is tiled, in bytes along k: base tile, steps of k per load, scales per byte-group of
    32, loads per panel of scales."""

    m: int
    k: int
    n: int
    steps: int
    scales: int  # for 32 bytes along k
    panel: int  # bytes along k that a panel of scales belongs to


FP8 = Form(m=128, k=128, n=256, steps=4, scales=1, panel=4096)
FP4 = Form(m=256, k=128, n=256, steps=2, scales=2, panel=1024)

TEXT = """!F = !pto.tensor_view<?x?xi8>
!U = !pto.tensor_view<?x?xui8>
!Y = !pto.tensor_view<?x?xbf16>
!GA = !pto.partition_tensor_view<?x{load}xi8>
!GB = !pto.partition_tensor_view<{load}x?xi8>
!GS = !pto.partition_tensor_view<?x{width}xui8>
!GT = !pto.partition_tensor_view<{width}x?xui8>
!GY = !pto.partition_tensor_view<?x?xbf16>
!MA = !pto.tile_buf<mat, {m}x{load}xf8E5M2, valid=?x{load}, blayout=col_major, slayout=row_major>
!MB = !pto.tile_buf<mat, {load}x{n}xf8E5M2, valid={load}x?, slayout=col_major>
!MS = !pto.tile_buf<mat, {m}x{width}xui8, valid=?x{width}>
!MT = !pto.tile_buf<mat, {width}x{n}xui8, valid={width}x?>
!L = !pto.tile_buf<left, {m}x{k}xf8E5M2, valid=?x{k}, slayout=row_major>
!R = !pto.tile_buf<right, {k}x{n}xf8E5M2, valid={k}x?, slayout=col_major>
!S = !pto.tile_buf<scaling, {m}x{k}xui8, valid=?x{k}>
!T = !pto.tile_buf<scaling, {k}x{n}xui8, valid={k}x?>
!A = !pto.tile_buf<acc, {m}x{n}xf32, valid=?x?, blayout=col_major, slayout=row_major, fractal=1024>

module attributes {{pto.target_arch = "a5"}} {{
  func.func @mx(%pa: !pto.ptr<i8>, %pb: !pto.ptr<i8>, %ps: !pto.ptr<ui8>, %pt: !pto.ptr<ui8>, %py: !pto.ptr<bf16>)
      attributes {{pto.entry, pto.kernel_kind = #pto.kernel_kind<cube>}} {{
{constants}
    %av = pto.make_tensor_view %pa, shape = [%M, %K], strides = [%K, %one] : !F
    %bv = pto.make_tensor_view %pb, shape = [%K, %N], strides = [%one, %K] : !F
    %sv = pto.make_tensor_view %ps, shape = [%M, %groups], strides = [%groups, %one] : !U
    %tv = pto.make_tensor_view %pt, shape = [%groups, %N], strides = [%one, %groups] : !U
    %yv = pto.make_tensor_view %py, shape = [%M, %N], strides = [%N, %one] : !Y
    %block = pto.get_block_idx
    %b = arith.index_cast %block : i64 to index
    %mi = arith.remsi %b, %gridM : index
    %ni = arith.divsi %b, %gridM : index
    %m0 = arith.muli %mi, %coreM : index
    %n0 = arith.muli %ni, %coreN : index
    %m2 = arith.addi %m0, %coreM : index
    %n2 = arith.addi %n0, %coreN : index
    %m1 = arith.minsi %m2, %M : index
    %n1 = arith.minsi %n2, %N : index
{begin}    scf.for %i = %m0 to %m1 step %m {{
      %left = arith.subi %m1, %i : index
      %rows = arith.minsi %left, %m : index
      scf.for %j = %n0 to %n1 step %n {{
        %right = arith.subi %n1, %j : index
        %cols = arith.minsi %right, %n : index
        %di = arith.subi %i, %m0 : index
        %dj = arith.subi %j, %n0 : index
        %ti = arith.divsi %di, %m : index
        %tj = arith.divsi %dj, %n : index
        %tr = arith.muli %ti, %tilesN : index
        %tile = arith.addi %tr, %tj : index
        %before = arith.muli %tile, %panels : index
        %acc = pto.alloc_tile addr = %at0 valid_row = %rows valid_col = %cols : !A
        %l0 = pto.alloc_tile addr = %at0 valid_row = %rows : !L
        %l1 = pto.alloc_tile addr = %half valid_row = %rows : !L
        %r0 = pto.alloc_tile addr = %at0 valid_col = %cols : !R
        %r1 = pto.alloc_tile addr = %half valid_col = %cols : !R
        %ls0 = pto.alloc_tile addr = %at0 valid_row = %rows : !S
        %ls1 = pto.alloc_tile addr = %halfS valid_row = %rows : !S
        %rs0 = pto.alloc_tile addr = %at0 valid_col = %cols : !T
        %rs1 = pto.alloc_tile addr = %halfS valid_col = %cols : !T
        scf.for %p = %zero to %K step %panel {{
          %pp = arith.divsi %p, %panel : index
          %pn = arith.addi %before, %pp : index
          %ph = arith.remsi %pn, %two : index
          %pe = arith.addi %ph, %four : index
          %pi = arith.index_cast %ph : index to i64
          %sx = arith.muli %pi, %sizeS : i64
          %tx = arith.muli %pi, %sizeT : i64
          %sa = arith.addi %sx, %atS : i64
          %ta = arith.addi %tx, %atT : i64
          %sm = pto.alloc_tile addr = %sa valid_row = %rows : !MS
          %tm = pto.alloc_tile addr = %ta valid_col = %cols : !MT
          %group = arith.divsi %p, %perGroup : index
          %sp = pto.partition_view %sv, offsets = [%i, %group], sizes = [%rows, %width] : !U -> !GS
          %tp = pto.partition_view %tv, offsets = [%group, %j], sizes = [%width, %cols] : !U -> !GT
          pto.wait_flag_dyn[<PIPE_MTE1>, <PIPE_MTE2>, %pe]
          pto.tload ins(%sp : !GS) outs(%sm : !MS)
          pto.tload ins(%tp : !GT) outs(%tm : !MT)
          pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_MTE1>, %pe]
          pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_MTE1>, %pe]
          scf.for %q = %zero to %panel step %load {{
            %from = arith.addi %p, %q : index
            %fn = arith.divsi %from, %load : index
            %fh = arith.remsi %fn, %two : index
            %fe = arith.addi %fh, %two : index
            %fi = arith.index_cast %fh : index to i64
            %aa = arith.muli %fi, %sizeA : i64
            %bx = arith.muli %fi, %sizeB : i64
            %ba = arith.addi %bx, %atB : i64
            %am = pto.alloc_tile addr = %aa valid_row = %rows : !MA
            %bm = pto.alloc_tile addr = %ba valid_col = %cols : !MB
            %ap = pto.partition_view %av, offsets = [%i, %from], sizes = [%rows, %load] : !F -> !GA
            %bp = pto.partition_view %bv, offsets = [%from, %j], sizes = [%load, %cols] : !F -> !GB
            pto.wait_flag_dyn[<PIPE_MTE1>, <PIPE_MTE2>, %fh]
            pto.tload ins(%ap : !GA) outs(%am : !MA)
            pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_MTE1>, %fh]
            pto.tload ins(%bp : !GB) outs(%bm : !MB)
            pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_MTE1>, %fe]
{steps}            pto.set_flag_dyn[<PIPE_MTE1>, <PIPE_MTE2>, %fh]
          }}
          pto.set_flag_dyn[<PIPE_MTE1>, <PIPE_MTE2>, %pe]
        }}
        %yp = pto.partition_view %yv, offsets = [%i, %j], sizes = [%rows, %cols] : !Y -> !GY
        pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
        pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
        pto.tstore ins(%acc : !A) outs(%yp : !GY)
        pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
        pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
      }}
    }}
{drain}    return
  }}
}}
"""


STEP = """            %inside{i} = arith.addi %q, %s{i} : index
            %step{i} = arith.divsi %inside{i}, %perGroup : index
            pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID{b}>]
{loaded_a}            pto.textract ins(%am, %zero, %s{i} : !MA, index, index) outs(%l{b} : !L)
            pto.textract ins(%sm, %zero, %step{i} : !MS, index, index) outs(%ls{b} : !S)
{loaded_b}            pto.textract ins(%bm, %s{i}, %zero : !MB, index, index) outs(%r{b} : !R)
            pto.textract ins(%tm, %step{i}, %zero : !MT, index, index) outs(%rs{b} : !T)
            pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID{b}>]
            pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID{b}>]
{product}            pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID{b}>]
"""

LOADED = "            pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_MTE1>, {}]\n"
PRODUCT = "pto.tmatmul.mx ins(%l{b}, %ls{b}, %r{b}, %rs{b} : !L, !S, !R, !T) outs(%acc : !A)\n"
SUM = "pto.tmatmul.mx.acc ins(%acc, %l{b}, %ls{b}, %r{b}, %rs{b} : !A, !L, !S, !R, !T) outs(%acc : !A)\n"
FIRST = """            %first = arith.cmpi eq, %from, %zero : index
            scf.if %first {
              PRODUCT            } else {
              SUM            }
"""


def products(steps: int) -> str:
    """The products of one load, on two halves of L0A and L0B in turn."""
    text = ""
    for i in range(steps):
        product, added = (line.format(b=i % 2) for line in (PRODUCT, SUM))
        text += STEP.format(
            i=i,
            b=i % 2,
            loaded_a="" if i else LOADED.format("%fh"),
            loaded_b="" if i else LOADED.format("%fe"),
            product="            " + added if i else FIRST.replace("PRODUCT", product).replace("SUM", added),
        )
    return text


def core(size: int, parts: int, tile: int) -> int:
    """Rows or columns per core: whole tiles, but for the last core."""
    return -(-size // (parts * tile)) * tile


def kernel(form: Form, m: int, k: int, n: int) -> str:
    """The text for m x n results and k bytes along k."""
    panel = int(np.gcd(form.panel, k))
    constants = {
        "zero": 0, "one": 1, "M": m, "K": k, "N": n, "groups": k // 32 * form.scales,
        "gridM": GRID[0], "coreM": core(m, GRID[0], form.m), "coreN": core(n, GRID[1], form.n),
        "m": form.m, "k": form.k, "n": form.n, "load": form.k * form.steps, "panel": panel, "panels": k // panel,
        "tilesN": core(n, GRID[1], form.n) // form.n, "perGroup": 32 // form.scales, "width": panel // 32 * form.scales,
    }  # fmt: skip
    constants |= {"two": 2, "four": 4} | {f"s{i}": i * form.k for i in range(form.steps)}
    size_a, size_b = form.m * constants["load"], form.n * constants["load"]
    size_s, size_t = form.m * constants["width"], form.n * constants["width"]
    places = {
        "at0": 0, "half": 32768, "halfS": 2048, "sizeA": size_a, "sizeB": size_b, "sizeS": size_s, "sizeT": size_t,
        "atB": 2 * size_a,
        "atS": 2 * (size_a + size_b), "atT": 2 * (size_a + size_b + size_s),
    }  # fmt: skip
    lines = [f"    %{name} = arith.constant {value} : index" for name, value in constants.items()]
    lines += [f"    %{name} = arith.constant {value} : i64" for name, value in places.items()]
    free = [("MTE1", "MTE2", event) for event in (0, 1, 4, 5)] + [("M", "MTE1", 0), ("M", "MTE1", 1)]
    flags = lambda what: "".join(f"    pto.{what}_flag[<PIPE_{s}>, <PIPE_{d}>, <EVENT_ID{e}>]\n" for s, d, e in free)  # noqa: E731
    return TEXT.format(
        constants="\n".join(lines), steps=products(form.steps), begin=flags("set"), drain=flags("wait"), **constants
    )


def measure(form: Form, m: int, k: int, n: int, folder: Path) -> tuple:
    """Microseconds and the engines' percentages. The result is checked."""
    (folder / "mx.pto").write_text(kernel(form, m, k, n))
    random = np.random.default_rng(0)
    a, b = (random.integers(-2, 3, (rows, k)).astype(ml_dtypes.float8_e5m2) for rows in (m, n))
    s, t = (random.integers(126, 129, (rows, k // 32 * form.scales)).astype(np.uint8) for rows in (m, n))
    inputs = {"a": a.view(np.int8), "b": b.view(np.int8), "s": s, "t": t}
    (y,), *timed = run(folder, "mx.pto", "mx", GRID[0] * GRID[1], inputs, {"y": f"{m}x{n}xbf16"}, flags=("--level", 3))
    rows = slice(m // 2, m // 2 + 16)
    used = np.arange(k // 32).reshape(-1, form.k // 32) // (form.k // 32) * (form.k // 32)
    used = (used * form.scales + np.arange(form.k // 32)).reshape(-1)
    scaled = lambda x, codes: x.astype(np.float32) * np.repeat(2.0 ** (codes[:, used].astype(np.float32) - 127), 32, 1)  # noqa: E731
    product = (scaled(a[rows], s[rows]) @ scaled(b, t).T).astype(ml_dtypes.bfloat16)
    if not np.array_equal(y[rows].view(np.uint16), product.view(np.uint16)):
        sys.exit(f"product of {m} x {k} x {n}: the result is wrong")
    return tuple(timed)


def measure_fp8(n: int, folder: Path) -> tuple:
    return measure(FP8, n, n, n, folder)


def measure_fp4(size: tuple, folder: Path) -> tuple:
    """`size`: m, k, n in elements."""
    m, k, n = size
    return measure(FP4, m, k // 2, n, folder)
