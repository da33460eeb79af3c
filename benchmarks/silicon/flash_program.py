"""Flash attention as a PyPTO program: one kernel of cube and vector cores, for any number of rows of queries and keys.

A block takes one unit of rows of queries after the other, and pairs of tiles of keys. The cube core multiplies both,
the two vector cores (half of the rows each) turn the scores into weights of the softmax so far, in f32, the cube core
multiplies these with the values and adds the pair up, and the vector cores add the pairs. Tiles travel in three queues;
the cube core is AHEAD pairs ahead with the scores, and the vector cores take a sum BEHIND pairs after its weights. What
a unit computes does not depend on its block, so results are the same bits on any number of blocks. Units go from the
last row to the first; where the rows are no multiple of a unit, the last unit also computes rows of another one, which
it does not store."""

import pypto.language as pl

KEYS = 128  # of a tile
MOST_ROWS = 128  # of a unit
CORES = 24  # that share the rows evenly
AHEAD, BEHIND = 2, 2  # a vector core holds what two pairs shrink by
LOWEST = -3.4028234663852886e38  # below every score, so that no difference is a NaN


def round_up(number: int, step: int) -> int:
    return -(-number // step) * step


def rows_of_unit(queries: int) -> int:
    """Even shares for all cores: an even number, or the only row."""
    rounds = -(-queries // (CORES * MOST_ROWS))
    even = round_up(-(-queries // (CORES * rounds)), 2)
    return even if even <= queries else max(queries // 2 * 2, 1)


def queue_words(queries: int, head: int) -> int:
    """f32 words of the kernel's last argument for each block: eight slots of scores, weights and sums."""
    return 8 * rows_of_unit(queries) * (KEYS * 4 + KEYS * 2 + head * 4) // 4


def flash_attention(queries: int, keys: int, head: int, dtype):
    """softmax(q k^T / sqrt(head)) v of one head: a program of q, k, v and y."""
    rows = rows_of_unit(queries)
    box = round_up(rows, 16)  # rows in memory
    split = 1 if rows > 1 else 0  # how a queue divides a tile: by rows, or not at all
    half, half_box = (rows // 2, box // 2) if split else (1, 16)
    units = -(-queries // rows)
    full, rest = keys // (2 * KEYS), keys % (2 * KEYS)  # pairs of tiles, and keys of one more
    ahead, behind = min(AHEAD, full), min(BEHIND, full)
    ragged = rest > 0
    scale = head**-0.5
    scores, weights, sums = rows * KEYS * 4, rows * KEYS * 2, rows * head * 4  # bytes of a slot

    # Of the cube core.

    @pl.inline
    def push_scores(left, k, first, count):
        tile = pl.load(k, [first, 0], [KEYS, head], valid_shape=[count, head], target_memory=pl.Mem.Mat)
        right = pl.move(pl.tile.transpose_view(tile), target_memory=pl.Mem.Right)
        pl.tpush_to_aiv(pl.matmul(left, right), split=split, id=0)

    @pl.inline
    def push_pair(left, k, first, count):
        push_scores(left, k, first, min(count, KEYS))
        if count > KEYS:
            push_scores(left, k, first + KEYS, count - KEYS)

    @pl.inline
    def weights_of(count):
        p: pl.Tile[[box, KEYS], dtype, pl.Mem.Mat, pl.TileView(valid_shape=[rows, count])] = pl.tpop_from_aiv(
            split=split, id=1
        )
        factor = pl.move(p, target_memory=pl.Mem.Left)
        pl.tfree_to_aiv(p, split=split, id=1)
        return factor

    @pl.inline
    def values_of(v, first, count):
        return pl.load(v, [first, 0], [KEYS, head], valid_shape=[count, head], target_memory=pl.Mem.Mat)

    @pl.inline
    def push_sums(v, first, count):
        if count > KEYS:
            lower = values_of(v, first, KEYS)
            upper = values_of(v, first + KEYS, count - KEYS)
            part = pl.matmul(weights_of(KEYS), pl.move(lower, target_memory=pl.Mem.Right))
            whole = pl.matmul_acc(part, weights_of(count - KEYS), pl.move(upper, target_memory=pl.Mem.Right))
            pl.tpush_to_aiv(whole, split=split, id=2)
        else:
            tile = values_of(v, first, count)
            only = pl.matmul(weights_of(count), pl.move(tile, target_memory=pl.Mem.Right))
            pl.tpush_to_aiv(only, split=split, id=2)

    # Of a vector core.

    @pl.inline
    def column(value):
        return pl.tile.set_validshape(pl.tile.full([half_box, 1], dtype=pl.FP32, value=value), half, 1)

    @pl.inline
    def scores_of(count):
        s: pl.Tile[[half_box, KEYS], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[half, count])] = pl.tpop_from_aic(
            split=split, id=0
        )
        return s

    @pl.inline
    def push_tile(s, new):
        """The weights of a tile; their sums."""
        scaled = pl.mul(s, scale)
        e = pl.exp(pl.row_expand_sub(scaled, new))
        sums_ = pl.row_sum(e, s)  # s is scratch now
        pl.tfree_to_aic(s, split=split, id=0)
        pl.tpush_to_aic(pl.cast(e, dtype, mode="rint"), split=split, id=1)
        return sums_

    @pl.inline
    def push_weights(most, total, count):
        """Also the maximum and the total with this pair, and by what all before it shrinks."""
        if count > KEYS:
            lower = scores_of(KEYS)
            upper = scores_of(count - KEYS)
            new = pl.maximum(most, pl.mul(pl.maximum(pl.row_max(lower), pl.row_max(upper)), scale))
            shrink = pl.exp(pl.sub(most, new))
            sums_ = push_tile(lower, new)
            added = pl.add(pl.mul(total, shrink), pl.add(sums_, push_tile(upper, new)))
        else:
            s = scores_of(count)
            new = pl.maximum(most, pl.mul(pl.row_max(s), scale))
            shrink = pl.exp(pl.sub(most, new))
            added = pl.add(pl.mul(total, shrink), push_tile(s, new))
        return new, added, shrink

    @pl.inline
    def add_sums(out, shrink):
        more: pl.Tile[[half_box, head], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[half, head])] = pl.tpop_from_aic(
            split=split, id=2
        )
        less = pl.row_expand_mul(out, shrink)
        added = pl.add(less, more)
        pl.tfree_to_aic(more, split=split, id=2)
        return added

    @pl.program
    class FlashAttention:
        @pl.function(type=pl.FunctionType.AIC)
        def cube(
            self,
            q: pl.Tensor[[queries, head], dtype],
            k: pl.Tensor[[keys, head], dtype],
            v: pl.Tensor[[keys, head], dtype],
            y: pl.Out[pl.Tensor[[queries, head], dtype]],
        ):
            scores_there = pl.import_peer_buffer(name="scores", peer_func="vector")
            pl.aic_initialize_pipe(dir_mask=1, slot_size=scores, c2v_consumer_buf=scores_there, id=0)
            weights_here = pl.reserve_buffer(name="weights", size=2 * box * KEYS * 2)
            pl.aic_initialize_pipe(dir_mask=2, slot_size=weights, v2c_consumer_buf=weights_here, local_slot_num=2, id=1)
            sums_there = pl.import_peer_buffer(name="sums", peer_func="vector")
            pl.aic_initialize_pipe(dir_mask=1, slot_size=sums, c2v_consumer_buf=sums_there, id=2)
            for unit in pl.range(pl.tile.get_block_idx(), units, pl.tile.get_block_num()):
                row = pl.max(queries - (unit + 1) * rows, 0)
                part = pl.load(q, [row, 0], [box, head], valid_shape=[rows, head], target_memory=pl.Mem.Mat)
                left = pl.move(part, target_memory=pl.Mem.Left)
                for t in pl.range(ahead):
                    push_pair(left, k, t * 2 * KEYS, 2 * KEYS)
                for t in pl.pipeline(ahead, full, stage=2):
                    push_pair(left, k, t * 2 * KEYS, 2 * KEYS)
                    push_sums(v, (t - ahead) * 2 * KEYS, 2 * KEYS)
                if ragged:
                    push_pair(left, k, full * 2 * KEYS, rest)
                for t in pl.range(full - ahead, full):
                    push_sums(v, t * 2 * KEYS, 2 * KEYS)
                if ragged:
                    push_sums(v, full * 2 * KEYS, rest)

        @pl.function(type=pl.FunctionType.AIV)
        def vector(
            self,
            q: pl.Tensor[[queries, head], dtype],
            k: pl.Tensor[[keys, head], dtype],
            v: pl.Tensor[[keys, head], dtype],
            y: pl.Out[pl.Tensor[[queries, head], dtype]],
        ) -> pl.Tensor[[queries, head], dtype]:
            scores_here = pl.reserve_buffer(name="scores", size=2 * half_box * KEYS * 4)
            pl.aiv_initialize_pipe(dir_mask=1, slot_size=scores, c2v_consumer_buf=scores_here, local_slot_num=2, id=0)
            weights_there = pl.import_peer_buffer(name="weights", peer_func="cube")
            pl.aiv_initialize_pipe(dir_mask=2, slot_size=weights, v2c_consumer_buf=weights_there, id=1)
            sums_here = pl.reserve_buffer(name="sums", size=half_box * head * 4)
            pl.aiv_initialize_pipe(dir_mask=1, slot_size=sums, c2v_consumer_buf=sums_here, local_slot_num=1, id=2)
            for unit in pl.range(pl.tile.get_block_idx(), units, pl.tile.get_block_num()):
                mine = pl.tile.get_subblock_idx() * half
                row = pl.max(queries - (unit + 1) * rows, 0) + mine
                own = pl.min(queries - unit * rows - mine, half)  # rows that no other unit has
                most, total = column(LOWEST), column(0.0)
                older, newer = column(1.0), column(1.0)
                out = pl.tile.set_validshape(pl.tile.full([half_box, head], dtype=pl.FP32, value=0.0), half, head)
                for _, (most, total, older, newer) in pl.range(behind, init_values=(most, total, older, newer)):
                    new, added, shrink = push_weights(most, total, 2 * KEYS)
                    most, total, older, newer = pl.yield_(new, added, newer, shrink)
                for _, (most, total, older, newer, out) in pl.range(
                    behind, full, init_values=(most, total, older, newer, out)
                ):
                    new, added, shrink = push_weights(most, total, 2 * KEYS)
                    sum_ = add_sums(out, older)
                    most, total, older, newer, out = pl.yield_(new, added, newer, shrink, sum_)
                if ragged:
                    most, total, last = push_weights(most, total, rest)
                for _, (older, newer, out) in pl.range(behind, init_values=(older, newer, out)):
                    sum_ = add_sums(out, older)
                    older, newer, out = pl.yield_(newer, newer, sum_)
                if ragged:
                    out = add_sums(out, last)
                done = pl.cast(pl.row_expand_div(out, total), dtype, mode="rint")
                if own > 0:
                    y = pl.store(pl.tile.set_validshape(done, own, head), [row, 0], y)
            return y

        @pl.function(type=pl.FunctionType.Group)
        def both(
            self,
            q: pl.Tensor[[queries, head], dtype],
            k: pl.Tensor[[keys, head], dtype],
            v: pl.Tensor[[keys, head], dtype],
            y: pl.Out[pl.Tensor[[queries, head], dtype]],
        ) -> pl.Tensor[[queries, head], dtype]:
            self.cube(q, k, v, y)
            y = self.vector(q, k, v, y)
            return y

        @pl.function(type=pl.FunctionType.Orchestration)
        def attention(
            self,
            q: pl.Tensor[[queries, head], dtype],
            k: pl.Tensor[[keys, head], dtype],
            v: pl.Tensor[[keys, head], dtype],
            y: pl.Out[pl.Tensor[[queries, head], dtype]],
        ) -> pl.Tensor[[queries, head], dtype]:
            y = self.both(q, k, v, y)
            return y

    return FlashAttention
