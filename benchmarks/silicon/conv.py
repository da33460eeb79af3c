"""f16 convolutions of 3 x 3 on A3 (pto-isa's conv2d_forward README).

The kernel has the published one's grid (4 images x 6 parts of the output channels), tiles (128 pixels x 48 x 256
channels), buffers and layouts in memory: images NC1HWC0, filters in blocks of 16 x 16, which are in L1 the boxes of the
right operand as they are. A tile of 128 pixels begins at any column of the image, so the rows it needs and its padding
are constants that differ per tile: `kernel` writes the text with one loop per tile position."""

import sys
from pathlib import Path

import numpy as np
from timed_run import run

# output channels: (input channels / 16, height, width)
SHAPES = {1536: (8, 8, 48), 3072: (16, 12, 64), 4608: (24, 12, 96), 6144: (32, 16, 96), 7680: (40, 15, 128)}
BATCH, PARTS, C0, TILE = 4, 6, 16, 128

TYPES = """!X = !pto.tensor_view<?x?xf16>
!W = !pto.tensor_view<?x?x16xf16>
!Y = !pto.tensor_view<1x?x?x16x16xf16>
!GW = !pto.partition_tensor_view<9x256x16xf16>
!GY = !pto.partition_tensor_view<1x16x8x16x16xf16>
!MW = !pto.tile_buf<mat, 2304x16xf16, blayout=col_major, slayout=row_major>
!MZ = !pto.tile_buf<mat, 144x256xf16, slayout=col_major>
!L = !pto.tile_buf<left, 128x48xf16, slayout=row_major>
!R = !pto.tile_buf<right, 48x256xf16, slayout=col_major>
!A = !pto.tile_buf<acc, 128x256xf32, blayout=col_major, slayout=row_major, fractal=1024>
"""


MODULE = """
module attributes {{pto.target_arch = "a3"}} {{
  func.func @conv(%px: !pto.ptr<f16>, %pw: !pto.ptr<f16>, %py: !pto.ptr<f16>)
      attributes {{pto.entry, pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %c8 = arith.constant 8 : index
    %c9 = arith.constant 9 : index
    %c16 = arith.constant 16 : index
    %c48 = arith.constant 48 : index
    %c96 = arith.constant 96 : index
    %c2 = arith.constant 2 : index
    %c256 = arith.constant 256 : index
    %inputs = arith.constant {c1} : index
    %pixels = arith.constant {pixels} : index
    %rows = arith.constant {rows} : index
    %tiles = arith.constant {tiles} : index
    %depth = arith.constant {depth} : index
    %blocks = arith.constant {blocks} : index
    %part = arith.constant {part} : index
    %channels = arith.muli %blocks, %c16 : index
    %wrow = arith.muli %blocks, %c256 : index
    %plane = arith.muli %pixels, %c16 : index
    %batch = arith.constant 4 : index
    %xv = pto.make_tensor_view %px, shape = [%rows, %c16], strides = [%c16, %c1] : !X
    %wv = pto.make_tensor_view %pw, shape = [%depth, %channels, %c16], strides = [%wrow, %c16, %c1] : !W
    %block = pto.get_block_idx
    %b = arith.index_cast %block : i64 to index
    %image = arith.divsi %b, %c6 : index
    %g = arith.remsi %b, %c6 : index
    %start = arith.muli %g, %part : index
    %end = arith.addi %start, %part : index
    %before = arith.muli %image, %inputs : index
    %xrow = arith.muli %before, %pixels : index
    %yplane = arith.muli %image, %blocks : index
    %planes = arith.muli %batch, %blocks : index
    %yv = pto.make_tensor_view %py, shape = [%c1, %planes, %tiles, %c16, %c16],
      strides = [%c0, %plane, %c256, %c16, %c1] {{layout = #pto.layout<nz>}} : !Y
    %a0 = arith.constant 0 : i64
    %ax = arith.constant 65536 : i64
    %aw0 = arith.constant 131072 : i64
    %aw1 = arith.constant 204800 : i64
    %a1 = arith.constant 32768 : i64
    %acc = pto.alloc_tile addr = %a0 : !A
    %w0 = pto.alloc_tile addr = %aw0 : !MW
    %w1 = pto.alloc_tile addr = %aw1 : !MW
    %z0 = pto.alloc_tile addr = %aw0 : !MZ
    %z1 = pto.alloc_tile addr = %aw1 : !MZ
    %l0 = pto.alloc_tile addr = %a0 : !L
    %l1 = pto.alloc_tile addr = %a1 : !L
    %r0 = pto.alloc_tile addr = %a0 : !R
    %r1 = pto.alloc_tile addr = %a1 : !R
{begin}{body}{drain}    return
  }}
}}
"""

TILE_BEGIN = """    %first{t} = arith.constant {start} : index
    %count{t} = arith.constant {rows} : index
    %column{t} = arith.constant {column} : index
    %tile{t} = arith.constant {tile} : index
    %x{t}_0 = pto.alloc_tile addr = %a0 : {image}
    %x{t}_1 = pto.alloc_tile addr = %ax : {image}
    scf.for %n = %start to %end step %c256 {{
      %nb = arith.divsi %n, %c16 : index
      scf.for %c = %c0 to %inputs step %c2 {{
"""

LOAD = """        %c{h}th = arith.addi %c, %c{h} : index
        %plane{h} = arith.muli %c{h}th, %pixels : index
        %inside{h} = arith.addi %plane{h}, %first{t} : index
        %from{h} = arith.addi %xrow, %inside{h} : index
        %k{h} = arith.muli %c{h}th, %c9 : index
        %xp{h} = pto.partition_view %xv, offsets = [%from{h}, %c0], sizes = [%count{t}, %c16] : !X -> {part}
        %wp{h} = pto.partition_view %wv, offsets = [%k{h}, %n, %c0], sizes = [%c9, %c256, %c16] : !W -> !GW
        pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID{h}>]
        pto.tload ins(%xp{h} : {part}) outs(%x{t}_{h} : {image})
        pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID{h}>]
        pto.tload ins(%wp{h} : !GW) outs(%w{h} : !MW)
        pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID{w}>]
"""

STEP = """        pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID{b}>]
{loaded_x}        pto.timg2col ins(%x{t}_{h}, %column{t}, %c{k} : {image}, index, index) outs(%l{b} : !L) {attributes}
{loaded_w}        pto.textract ins(%z{h}, %c{k}, %c0 : !MZ, index, index) outs(%r{b} : !R)
{extracted}        pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID{b}>]
        pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID{b}>]
{product}        pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID{b}>]
"""

FIRST = """        %zero = arith.cmpi eq, %c, %c0 : index
        scf.if %zero {
          pto.tmatmul ins(%l0, %r0 : !L, !R) outs(%acc : !A)
        } else {
          pto.tmatmul.acc ins(%acc, %l0, %r0 : !A, !L, !R) outs(%acc : !A)
        }
"""

TILE_END = """      }}
      %to = arith.addi %yplane, %nb : index
      %yp = pto.partition_view %yv, offsets = [%c0, %to, %tile{t}, %c0, %c0],
        sizes = [%c1, %c16, %c8, %c16, %c16] : !Y -> !GY
      pto.set_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]
      pto.tstore ins(%acc : !A) outs(%yp : !GY)
      pto.set_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_FIX>, <PIPE_M>, <EVENT_ID0>]
    }}
"""


def flag(what: str, source: str, target: str, number: int) -> str:
    return f"        pto.{what}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{number}>]\n"


def tile(number: int, height: int, width: int) -> str:
    """The text of the tile that begins at pixel 128 * number: over the parts of the output channels, over the input
    channels, six products."""
    first = number * TILE
    top, bottom = first // width - 1, (first + TILE - 1) // width + 1
    rows = min(bottom, height - 1) - max(top, 0) + 1
    pads = [max(-top, 0), 1, max(bottom - height + 1, 0), 1]
    names = {
        "t": number,
        "start": max(top, 0) * width,
        "rows": rows * width,
        "column": first % width,
        "tile": first // 16,
        "image": f"!pto.tile_buf<mat, {rows * width}x16xf16, blayout=col_major, slayout=row_major>",
        "part": f"!pto.partition_tensor_view<{rows * width}x16xf16>",
        "attributes": "{kernel = [3, 3], strides = [1, 1], dilations = [1, 1], channels = 16, "
        f"pads = {pads}, image = [{rows}, {width}]}}",
    }
    text = TILE_BEGIN.format(**names) + LOAD.format(h=0, w=2, **names) + LOAD.format(h=1, w=3, **names)
    for step in range(6):
        b, h, k = step % 2, step // 3, step % 3
        text += STEP.format(
            **names,
            h=h,
            k=k * 48,
            b=b,
            loaded_x="" if k else flag("wait", "MTE2", "MTE1", h),
            loaded_w="" if k else flag("wait", "MTE2", "MTE1", h + 2),
            extracted="" if k < 2 else flag("set", "MTE1", "MTE2", h),
            product=f"        pto.tmatmul.acc ins(%acc, %l{b}, %r{b} : !A, !L, !R) outs(%acc : !A)\n"
            if step
            else FIRST,
        )
    return text + TILE_END.format(**names)


def kernel(channels: int) -> str:
    """The text of the kernel with `channels` output channels."""
    c1, height, width = SHAPES[channels]
    pixels = height * width
    assert pixels % TILE == 0 and channels % (PARTS * 256) == 0
    reverse = [("MTE1", "MTE2", 0), ("MTE1", "MTE2", 1), ("M", "MTE1", 0), ("M", "MTE1", 1)]
    return TYPES + MODULE.format(
        begin="".join(flag("set", *f) for f in reverse), drain="".join(flag("wait", *f) for f in reverse),
        body="".join(tile(t, height, width) for t in range(pixels // TILE)), c1=c1, pixels=pixels,
        channels=channels, blocks=channels // 16, part=channels // PARTS,
        rows=BATCH * c1 * pixels, depth=c1 * 9, tiles=pixels // 16,
    )  # fmt: skip


def measure(channels: int, folder: Path) -> tuple:
    """Microseconds and the engines' percentages of the convolution with `channels` output channels. The result is
    checked."""
    c1, height, width = SHAPES[channels]
    pixels, blocks = height * width, channels // C0
    (folder / "conv.pto").write_text(kernel(channels))
    random = np.random.default_rng(0)
    x = random.integers(-2, 3, (BATCH, c1, height, width, C0)).astype(np.float16)
    w = random.integers(-1, 2, (c1, 9, blocks, 16, C0)).astype(np.float16)
    inputs = {"x": x.reshape(-1, C0), "w": w.reshape(-1, 16 * C0)}
    (y,), *timed = run(
        folder,
        "conv.pto",
        "conv",
        BATCH * PARTS,
        inputs,
        {"y": f"{BATCH * blocks}x{pixels * C0}xf16"},
        flags=("--level", 3),
    )
    padded = np.pad(x[1].astype(np.float32), ((0, 0), (1, 1), (1, 1), (0, 0)))
    moved = [padded[:, i : i + height, j : j + width] for i in range(3) for j in range(3)]
    patches = np.stack(moved, 1).transpose(2, 3, 0, 1, 4).reshape(pixels, -1)
    filters = w[:, :, -2:].astype(np.float32).transpose(0, 1, 4, 2, 3).reshape(-1, 32)
    computed = y.reshape(BATCH, blocks, pixels, C0)[1, -2:].transpose(1, 0, 2).reshape(pixels, 32)
    if not np.array_equal(computed, (patches @ filters).astype(np.float16)):
        sys.exit(f"convolution of {channels} channels: the result is wrong")
    return tuple(timed)
