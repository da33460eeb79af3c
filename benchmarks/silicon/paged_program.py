"""Paged attention as a PyPTO program: one row for each head of a request, which share keys and values that lie in pages
of a cache. A table says which pages a request has, a tensor how many keys they hold.

The cube core works a page ahead of the vector cores, as in flash_program.py. What lies behind the last key of a page
gets the weight 0; it must be finite. A request without keys gives zeros."""

import pypto.language as pl
from flash_program import LOWEST

PAGE = 128  # keys


def queue_words(heads: int, head: int) -> int:
    """f32 words of the kernel's last argument for each block."""
    return 8 * heads * (PAGE * 4 + PAGE * 2 + head * 4) // 4


def paged_attention(requests: int, heads: int, head: int, pages: int, most: int, dtype):
    """`pages`: of the cache; `most`: of a request. `heads`: a multiple of 16."""
    half = heads // 2  # of a vector core
    scale = head**-0.5
    scores, weights, sums = heads * PAGE * 4, heads * PAGE * 2, heads * head * 4  # bytes of a slot

    @pl.inline
    def push_scores(left, k, page):
        tile = pl.load(k, [page * PAGE, 0], [PAGE, head], target_memory=pl.Mem.Mat)
        right = pl.move(pl.tile.transpose_view(tile), target_memory=pl.Mem.Right)
        pl.tpush_to_aiv(pl.matmul(left, right), split=1, id=0)

    @pl.inline
    def push_sums(v, page):
        tile = pl.load(v, [page * PAGE, 0], [PAGE, head], target_memory=pl.Mem.Mat)
        p: pl.Tile[[heads, PAGE], dtype, pl.Mem.Mat] = pl.tpop_from_aiv(split=1, id=1)
        factor = pl.move(p, target_memory=pl.Mem.Left)
        pl.tfree_to_aiv(p, split=1, id=1)
        pl.tpush_to_aiv(pl.matmul(factor, pl.move(tile, target_memory=pl.Mem.Right)), split=1, id=2)

    @pl.program
    class PagedAttention:
        @pl.function(type=pl.FunctionType.AIC)
        def cube(
            self,
            q: pl.Tensor[[requests * heads, head], dtype],
            k: pl.Tensor[[pages * PAGE, head], dtype],
            v: pl.Tensor[[pages * PAGE, head], dtype],
            table: pl.Tensor[[requests * most], pl.INT32],
            lengths: pl.Tensor[[requests], pl.INT32],
            y: pl.Out[pl.Tensor[[requests * heads, head], dtype]],
        ):
            scores_there = pl.import_peer_buffer(name="scores", peer_func="vector")
            pl.aic_initialize_pipe(dir_mask=1, slot_size=scores, c2v_consumer_buf=scores_there, id=0)
            weights_here = pl.reserve_buffer(name="weights", size=2 * weights)
            pl.aic_initialize_pipe(dir_mask=2, slot_size=weights, v2c_consumer_buf=weights_here, local_slot_num=2, id=1)
            sums_there = pl.import_peer_buffer(name="sums", peer_func="vector")
            pl.aic_initialize_pipe(dir_mask=1, slot_size=sums, c2v_consumer_buf=sums_there, id=2)
            for request in pl.range(pl.tile.get_block_idx(), requests, pl.tile.get_block_num()):
                length: pl.Scalar[pl.INDEX] = pl.cast(pl.read(lengths, request), pl.INDEX)
                count = (length + (PAGE - 1)) // PAGE
                part = pl.load(q, [request * heads, 0], [heads, head], target_memory=pl.Mem.Mat)
                left = pl.move(part, target_memory=pl.Mem.Left)
                for t in pl.range(count + 1):
                    if t < count:
                        ahead: pl.Scalar[pl.INDEX] = pl.cast(pl.read(table, request * most + t), pl.INDEX)
                        push_scores(left, k, ahead)
                    if t > 0:
                        behind: pl.Scalar[pl.INDEX] = pl.cast(pl.read(table, request * most + t - 1), pl.INDEX)
                        push_sums(v, behind)

        @pl.function(type=pl.FunctionType.AIV)
        def vector(
            self,
            q: pl.Tensor[[requests * heads, head], dtype],
            k: pl.Tensor[[pages * PAGE, head], dtype],
            v: pl.Tensor[[pages * PAGE, head], dtype],
            table: pl.Tensor[[requests * most], pl.INT32],
            lengths: pl.Tensor[[requests], pl.INT32],
            y: pl.Out[pl.Tensor[[requests * heads, head], dtype]],
        ) -> pl.Tensor[[requests * heads, head], dtype]:
            scores_here = pl.reserve_buffer(name="scores", size=2 * half * PAGE * 4)
            pl.aiv_initialize_pipe(dir_mask=1, slot_size=scores, c2v_consumer_buf=scores_here, local_slot_num=2, id=0)
            weights_there = pl.import_peer_buffer(name="weights", peer_func="cube")
            pl.aiv_initialize_pipe(dir_mask=2, slot_size=weights, v2c_consumer_buf=weights_there, id=1)
            sums_here = pl.reserve_buffer(name="sums", size=2 * half * head * 4)
            pl.aiv_initialize_pipe(dir_mask=1, slot_size=sums, c2v_consumer_buf=sums_here, local_slot_num=2, id=2)
            for request in pl.range(pl.tile.get_block_idx(), requests, pl.tile.get_block_num()):
                length: pl.Scalar[pl.INDEX] = pl.cast(pl.read(lengths, request), pl.INDEX)
                count = (length + (PAGE - 1)) // PAGE
                row = request * heads + pl.tile.get_subblock_idx() * half
                most_ = pl.tile.full([half, 1], dtype=pl.FP32, value=LOWEST)
                total = pl.tile.full([half, 1], dtype=pl.FP32, value=0.0)
                out = pl.tile.full([half, head], dtype=pl.FP32, value=0.0)
                for t, (most_, total, out) in pl.range(count, init_values=(most_, total, out)):
                    s: pl.Tile[[half, PAGE], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=1, id=0)
                    scaled = pl.mul(s, scale)
                    pl.tfree_to_aic(s, split=1, id=0)
                    inside = pl.tile.set_validshape(scaled, half, pl.min(length - t * PAGE, PAGE))
                    padded = pl.tile.fillpad(inside, pad_value=pl.PadValue.min)
                    new = pl.maximum(most_, pl.row_max(padded))
                    shrink = pl.exp(pl.sub(most_, new))
                    e = pl.exp(pl.row_expand_sub(padded, new))
                    added = pl.add(pl.mul(total, shrink), pl.row_sum(e))
                    pl.tpush_to_aic(pl.cast(e, dtype, mode="rint"), split=1, id=1)
                    more: pl.Tile[[half, head], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=1, id=2)
                    less = pl.row_expand_mul(out, shrink)
                    sum_ = pl.add(less, more)
                    pl.tfree_to_aic(more, split=1, id=2)
                    most_, total, out = pl.yield_(new, added, sum_)
                some = pl.maximum(total, 1e-30)
                y = pl.store(pl.cast(pl.row_expand_div(out, some), dtype, mode="rint"), [row, 0], y)
            return y

        @pl.function(type=pl.FunctionType.Group)
        def both(
            self,
            q: pl.Tensor[[requests * heads, head], dtype],
            k: pl.Tensor[[pages * PAGE, head], dtype],
            v: pl.Tensor[[pages * PAGE, head], dtype],
            table: pl.Tensor[[requests * most], pl.INT32],
            lengths: pl.Tensor[[requests], pl.INT32],
            y: pl.Out[pl.Tensor[[requests * heads, head], dtype]],
        ) -> pl.Tensor[[requests * heads, head], dtype]:
            self.cube(q, k, v, table, lengths, y)
            y = self.vector(q, k, v, table, lengths, y)
            return y

        @pl.function(type=pl.FunctionType.Orchestration)
        def attention(
            self,
            q: pl.Tensor[[requests * heads, head], dtype],
            k: pl.Tensor[[pages * PAGE, head], dtype],
            v: pl.Tensor[[pages * PAGE, head], dtype],
            table: pl.Tensor[[requests * most], pl.INT32],
            lengths: pl.Tensor[[requests], pl.INT32],
            y: pl.Out[pl.Tensor[[requests * heads, head], dtype]],
        ) -> pl.Tensor[[requests * heads, head], dtype]:
            y = self.both(q, k, v, table, lengths, y)
            return y

    return PagedAttention
