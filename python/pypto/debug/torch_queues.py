"""Cores of a block for the source that torch_codegen makes: each a thread, with queues of tiles between them."""

import queue
import threading

import torch

from pypto.debug.torch_runtime import boxed, marked, valid_of


def halves(x, split, lane, stride=None):
    """The part of one vector core: rows for 1 and 3, columns for 2 and 4, all for 0."""
    if split == 0:
        return x
    axis = -2 if split in (1, 3) else -1
    stride = stride or (x.shape[axis] + 1) // 2
    at, valid = x.shape[axis], list(valid_of(x))
    first = stride * lane
    made = x.narrow(axis, min(first, at), max(0, min(stride, at - first)))
    valid[axis] = max(0, min(valid[axis] - first, stride))
    if made.shape[axis] < stride:  # both cores have a box of this size
        shape = list(x.shape)
        shape[axis] = stride
        made = boxed(made, shape)
    return marked(made, valid)


def joined(parts_of, split):
    """The tile of which the vector cores hold these parts."""
    axis = -2 if split in (1, 3) else -1
    held = [each.narrow(axis, 0, valid_of(each)[axis]) for each in parts_of]
    made = torch.cat(held, axis)
    shape = list(parts_of[0].shape)
    shape[axis] *= 2
    valid = list(valid_of(parts_of[0]))
    valid[axis] = made.shape[axis]
    return marked(boxed(made, shape), valid)


class CrossCore:
    """`run` calls functions as cores that run at once. A queue has a direction, an id and a vector core."""

    patience = 60  # seconds until a wait for a tile is a deadlock

    def __init__(self):
        self.queues, self.here, self.lock = {}, threading.local(), threading.Lock()

    def of(self, *key):
        with self.lock:
            return self.queues.setdefault(key, queue.Queue())

    @property
    def lane(self):
        return getattr(self.here, "lane", 0)

    @property
    def lanes(self):
        return getattr(self.here, "lanes", 1)

    def split(self, split):
        return 0 if self.lanes == 1 else split

    def take(self, *key):
        try:
            return self.of(*key).get(timeout=self.patience)
        except queue.Empty:
            raise RuntimeError("a core waits for a tile that no other one pushes") from None

    def push_to_aiv(self, tile, split=0, lane_stride=None, id=0):
        for lane in range(self.lanes):
            part_of = halves(tile, self.split(split), lane, lane_stride)
            self.of("aiv", id, lane).put(marked(part_of.clone(), valid_of(part_of)))

    def pop_from_aic(self, split=0, lane_stride=None, id=0, valid=None):
        tile = self.take("aiv", id, self.lane)
        return tile if valid is None else marked(tile, valid)

    def push_to_aic(self, tile, split=0, lane_stride=None, id=0):
        if self.split(split) or self.lane == 0:
            self.of("aic", id, self.lane).put(marked(tile.clone(), valid_of(tile)))

    def pop_from_aiv(self, split=0, lane_stride=None, id=0, valid=None):
        count = 2 if self.split(split) else 1
        tiles = [self.take("aic", id, lane) for lane in range(count)]
        tile = joined(tiles, split) if count == 2 else tiles[0]
        return tile if valid is None else marked(tile, valid)

    def run(self, *calls):
        """calls: (function, whether it runs on both vector cores, arguments), with the same lanes for all. The results
        of each, those of the first vector core where there are two."""
        lanes = 2 if any(both for _, both, _ in calls) else 1
        results, errors, threads = [None] * len(calls), [], []
        self.queues = {}

        def body(number, lane):
            function, _, arguments = calls[number]
            self.here.lane, self.here.lanes = lane, lanes
            try:
                made = function(*arguments)
                if lane == 0:
                    results[number] = made
            except Exception as error:
                errors.append(error)

        for number, (_, both, _) in enumerate(calls):
            for lane in range(2 if both else 1):
                threads.append(threading.Thread(target=body, args=(number, lane), daemon=True))
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        if errors:
            raise errors[0]
        return results


_cross_core_rt = CrossCore()


def get_subblock_idx(dtype=None):
    return _cross_core_rt.lane


def shard(x, lane, split):
    return halves(x, split, lane)


def gathered(held, x, lane, split):
    """The tile of both lanes: what the lanes before held, and this one's part."""
    if split == 0:
        return x
    return [x] if lane == 0 else joined([held[0], x], split)
