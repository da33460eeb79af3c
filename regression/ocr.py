"""Reading a picture with PP-OCR's three networks: find lines, turn them upright, read them.

The steps and constants are those of PP-OCR (Du et al. 2020, arXiv 2009.09941; Liao et al. 2020, "Real-time scene text
detection with differentiable binarization", section 3.4): threshold 0.3, box score 0.5, growth 1.6, classifier 0.9,
text score 0.5. A network is a function from a float32 batch to its output.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image

Network = Callable[[np.ndarray], np.ndarray]
THRESHOLD, BOX_SCORE, GROWTH, TURNED, TEXT_SCORE, BATCH = 0.3, 0.5, 1.6, 0.9, 0.5, 6


@dataclass
class Reader:
    """Networks: det [1, 3, size, size], cls [1, 3, 48, 192], rec [1, 3, 48, any width from 320 on]."""

    det: Network
    cls: Network
    rec: Network
    characters: list[str]
    size: int = 640

    def read(self, picture: Image.Image) -> list[str]:
        """The lines of text from top to bottom, left to right; uncertain ones are left out."""
        image = np.asarray(picture.convert("RGB"), np.float32)
        height, width = image.shape[:2]
        scale = min(self.size / width, self.size / height)
        inner_h, inner_w = max(1, round(height * scale)), max(1, round(width * scale))
        canvas = np.zeros((1, 3, self.size, self.size), np.float32)
        canvas[0, :, :inner_h, :inner_w] = normalised(resized(image, inner_h, inner_w))
        likely = self.det(canvas)[0, 0, :inner_h, :inner_w]
        crops = []
        for box in in_reading_order(text_boxes(likely)):
            crop = cut_out(image, box / np.array([inner_w / width, inner_h / height]))
            turned = self.cls(padded(crop, 192))[0][1] > TURNED
            crops.append(crop[::-1, ::-1] if turned else crop)
        read = [decode(self.rec(padded(crop, w))[0], self.characters) for crop, w in zip(crops, common_widths(crops))]
        return [text for text, score in read if score >= TEXT_SCORE]


def common_widths(crops: list[np.ndarray]) -> list[int]:
    """The input width of each line: lines of like proportions, six at a time, get the width of the longest, at least
    320."""
    ratios = np.array([crop.shape[1] / crop.shape[0] for crop in crops])
    widths = [0] * len(crops)
    order = np.argsort(ratios)
    for begin in range(0, len(crops), BATCH):
        group = order[begin : begin + BATCH]
        for i in group:
            widths[i] = int(48 * max(320 / 48, ratios[group].max()))
    return widths


def normalised(image: np.ndarray) -> np.ndarray:
    """[height, width, 3] red first, 0 to 255 -> [3, height, width] blue first, -1 to 1."""
    return image[..., ::-1].transpose(2, 0, 1) / np.float32(127.5) - 1


def resized(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bilinear between pixel centres, without a filter for making smaller: what the networks were trained with. Rounded
    to whole values."""
    for axis, size in ((0, height), (1, width)):
        length = image.shape[axis]
        at = np.clip((np.arange(size) + 0.5) * length / size - 0.5, 0, length - 1)
        low = np.minimum(at.astype(int), max(length - 2, 0))
        part = (at - low).reshape([-1 if i == axis else 1 for i in range(3)])
        image = np.take(image, low, axis) * (1 - part) + np.take(image, np.minimum(low + 1, length - 1), axis) * part
    return np.rint(image).astype(np.float32)


def padded(image: np.ndarray, width: int) -> np.ndarray:
    """Height 48 with the sides in proportion, zeros at the right up to `width`; squeezed when it would be wider."""
    inner = min(width, math.ceil(48 * image.shape[1] / image.shape[0]))
    batch = np.zeros((1, 3, 48, width), np.float32)
    batch[0, :, :, :inner] = normalised(resized(image, 48, inner))
    return batch


def decode(probabilities: np.ndarray, characters: list[str]) -> tuple[str, float]:
    """The best path of a CTC output [steps, classes]: repeats joined, blanks (class 0) dropped; and its mean
    probability."""
    best = probabilities.argmax(1)
    kept = (best != 0) & np.concatenate([[True], best[1:] != best[:-1]])
    score = float(probabilities.max(1)[kept].mean()) if kept.any() else 0.0
    return "".join(characters[i - 1] for i in best[kept]), score


def components(mask: np.ndarray) -> list[np.ndarray]:
    """The 8-connected regions of a mask as points (x, y): the ends of their runs in each row, which span the same
    hull."""
    runs: list[tuple[int, int, int]] = []
    parent: list[int] = []

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    above: list[int] = []
    for y, row in enumerate(mask):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(np.int8), [0]])))
        current = []
        for begin, end in edges.reshape(-1, 2).tolist():
            index = len(runs)
            runs.append((y, begin, end - 1))
            parent.append(index)
            for other in above:
                if runs[other][1] <= end and runs[other][2] >= begin - 1:
                    parent[root(index)] = root(other)
            current.append(index)
        above = current
    groups: dict[int, list[tuple[int, int]]] = {}
    for index, (y, begin, end) in enumerate(runs):
        groups.setdefault(root(index), []).extend([(begin, y), (end, y)])
    return [np.array(points, np.float64) for points in groups.values()]


def hull(points: np.ndarray) -> np.ndarray:
    """Convex hull by monotone chains (Andrew 1979)."""
    ordered = sorted({(x, y) for x, y in points.tolist()})
    if len(ordered) < 3:
        return np.array(ordered)

    def chain(sequence):
        line: list[tuple[float, float]] = []
        for p in sequence:
            while len(line) > 1 and (line[-1][0] - line[-2][0]) * (p[1] - line[-2][1]) <= (
                line[-1][1] - line[-2][1]
            ) * (p[0] - line[-2][0]):
                line.pop()
            line.append(p)
        return line[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def smallest_rectangle(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre, half sizes and axes (rows) of the rectangle of least area; one side lies on an edge of the hull."""
    corners = hull(points)
    edges = np.roll(corners, -1, 0) - corners
    edges = edges[np.hypot(*edges.T) > 0]
    best = None
    for edge in edges if len(edges) else np.array([[1.0, 0.0]]):
        along = edge / np.hypot(*edge)
        axes = np.array([along, [-along[1], along[0]]])
        placed = corners @ axes.T
        low, high = placed.min(0), placed.max(0)
        area = float(np.prod(high - low))
        if best is None or area < best[0] - 1e-9:
            best = (area, (low + high) / 2 @ axes, (high - low) / 2, axes)
    return best[1:]


def corners_of(centre, half, axes) -> np.ndarray:
    """Top left, top right, bottom right, bottom left (in the picture) of a rectangle, [4, 2]."""
    points = np.array(
        [centre + sx * half[0] * axes[0] + sy * half[1] * axes[1] for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    )
    by_x = points[np.argsort(points[:, 0], kind="stable")]
    left, right = by_x[:2][np.argsort(by_x[:2, 1])], by_x[2:][np.argsort(by_x[2:, 1])]
    return np.array([left[0], right[0], right[1], left[1]])


def text_boxes(likely: np.ndarray) -> list[np.ndarray]:
    """Corners of the lines of text in a map of probabilities [height, width], in its pixels."""
    mask = likely > THRESHOLD
    wide = mask.copy()  # each pixel also marks those right, below, and right below of it
    wide[1:] |= mask[:-1]
    wide[:, 1:] |= mask[:, :-1]
    wide[1:, 1:] |= mask[:-1, :-1]
    boxes = []
    for points in components(wide):
        centre, half, axes = smallest_rectangle(points)
        if 2 * half.min() < 3 or score(likely, centre, half, axes) < BOX_SCORE:
            continue
        sides = 2 * half
        grown = half + sides.prod() * GROWTH / (2 * sides.sum())
        if 2 * grown.min() < 5:
            continue
        limit = np.array([likely.shape[1] - 1, likely.shape[0] - 1])
        boxes.append(np.clip(np.round(corners_of(centre, grown, axes)), 0, limit))
    return boxes


def score(likely: np.ndarray, centre, half, axes) -> float:
    """Mean probability inside a rectangle."""
    y, x = np.mgrid[0 : likely.shape[0], 0 : likely.shape[1]]
    offset = np.stack([x, y], -1) - centre
    inside = np.all(np.abs(offset @ axes.T) <= half + 0.5, axis=-1)
    return float(likely[inside].mean()) if inside.any() else 0.0


def in_reading_order(boxes: list[np.ndarray]) -> list[np.ndarray]:
    """Top to bottom; boxes whose tops are less than ten pixels apart from left to right."""
    boxes = sorted(boxes, key=lambda b: (b[0][1], b[0][0]))
    for end in range(1, len(boxes)):
        for i in range(end, 0, -1):
            if abs(boxes[i][0][1] - boxes[i - 1][0][1]) >= 10 or boxes[i][0][0] >= boxes[i - 1][0][0]:
                break
            boxes[i - 1], boxes[i] = boxes[i], boxes[i - 1]
    return boxes


def cubic(t: np.ndarray) -> list[np.ndarray]:
    """Weights of the four neighbours of a position with fraction t: Keys's kernel with a = -3/4."""

    def near(d):
        return ((1.25 * d - 2.25) * d) * d + 1

    def far(d):
        return ((-0.75 * d + 3.75) * d - 6) * d + 3

    return [far(1 + t), near(t), near(1 - t), far(2 - t)]


def cut_out(image: np.ndarray, box: np.ndarray) -> np.ndarray:
    """The box (a parallelogram to within a pixel) as an upright picture, bicubic; one that is taller than wide is
    turned by 90 degrees."""
    top, right, bottom, left = (np.hypot(*(box[i] - box[(i + 1) % 4])) for i in range(4))
    width, height = max(1, int(max(top, bottom))), max(1, int(max(left, right)))
    u, v = np.arange(width)[None, :, None] / width, np.arange(height)[:, None, None] / height
    at = (1 - v) * ((1 - u) * box[0] + u * box[1]) + v * ((1 - u) * box[3] + u * box[2])
    whole = np.floor(at).astype(int)
    across, down = (cubic(at[..., i : i + 1] - whole[..., i : i + 1]) for i in (0, 1))
    crop = np.zeros((height, width, 3))
    for j in range(4):
        rows = np.clip(whole[..., 1] + j - 1, 0, image.shape[0] - 1)
        for i in range(4):
            columns = np.clip(whole[..., 0] + i - 1, 0, image.shape[1] - 1)
            crop += down[j] * across[i] * image[rows, columns]
    crop = np.clip(np.rint(crop), 0, 255)
    return np.rot90(crop) if height >= 1.5 * width else crop
