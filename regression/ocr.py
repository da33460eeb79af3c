"""Reading a picture with PP-OCR's three networks: find lines, turn them upright, read them.

The steps and constants are those of PP-OCR (Du et al. 2020, arXiv 2009.09941; Liao et al. 2020, "Real-time scene text detection with
differentiable binarization", section 3.4): threshold 0.3, box score 0.5, growth 1.6, classifier 0.9, text score 0.5.
A network is a function from a float32 batch to its output.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image

Network = Callable[[np.ndarray], np.ndarray]
THRESHOLD, BOX_SCORE, GROWTH, TURNED, TEXT_SCORE = 0.3, 0.5, 1.6, 0.9, 0.5


@dataclass
class Reader:
    """Networks of fixed shapes: det [1, 3, size, size], cls [1, 3, 48, 192], rec [1, 3, 48, width]."""

    det: Network
    cls: Network
    rec: Network
    characters: list[str]
    size: int = 640
    width: int = 320

    def read(self, image: Image.Image) -> list[str]:
        """The lines of text from top to bottom, left to right; uncertain ones are left out."""
        image = image.convert("RGB")
        scale = min(self.size / image.width, self.size / image.height)
        inner = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        canvas = np.zeros((1, 3, self.size, self.size), np.float32)
        canvas[0, :, : inner[1], : inner[0]] = normalised(image.resize(inner, Image.Resampling.BILINEAR))
        likely = self.det(canvas)[0, 0, : inner[1], : inner[0]]
        lines = []
        for box in in_reading_order(text_boxes(likely)):
            crop = cut_out(image, box / np.array([inner[0] / image.width, inner[1] / image.height]))
            turned = self.cls(padded(crop, 192))[0]
            if turned[1] > TURNED:
                crop = crop.rotate(180)
            text, score = decode(self.rec(padded(crop, self.width))[0], self.characters)
            if score >= TEXT_SCORE:
                lines.append(text)
        return lines


def normalised(image: Image.Image) -> np.ndarray:
    """[3, height, width], blue first, -1 to 1."""
    return np.asarray(image, np.float32)[..., ::-1].transpose(2, 0, 1) / 127.5 - 1


def padded(image: Image.Image, width: int) -> np.ndarray:
    """Height 48 with the sides in proportion, cut to `width` by squeezing, zeros at the right."""
    inner = min(width, math.ceil(48 * image.width / image.height))
    batch = np.zeros((1, 3, 48, width), np.float32)
    batch[0, :, :, :inner] = normalised(image.resize((inner, 48), Image.Resampling.BILINEAR))
    return batch


def decode(probabilities: np.ndarray, characters: list[str]) -> tuple[str, float]:
    """The best path of a CTC output [steps, classes]: repeats joined, blanks (class 0) dropped; and its mean probability."""
    best = probabilities.argmax(1)
    kept = (best != 0) & np.concatenate([[True], best[1:] != best[:-1]])
    score = float(probabilities.max(1)[kept].mean()) if kept.any() else 0.0
    return "".join(characters[i - 1] for i in best[kept]), score


def components(mask: np.ndarray) -> list[np.ndarray]:
    """The 8-connected regions of a mask as points (x, y): the ends of their runs in each row, which span the same hull."""
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
            while len(line) > 1 and (line[-1][0] - line[-2][0]) * (p[1] - line[-2][1]) <= (line[-1][1] - line[-2][1]) * (p[0] - line[-2][0]):
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
    points = np.array([centre + sx * half[0] * axes[0] + sy * half[1] * axes[1] for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
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


def cut_out(image: Image.Image, box: np.ndarray) -> Image.Image:
    """The quadrilateral as an upright picture; a tall one is turned by 90 degrees."""
    top, right, bottom, left = (np.hypot(*(box[i] - box[(i + 1) % 4])) for i in range(4))
    size = max(1, int(max(top, bottom))), max(1, int(max(left, right)))
    corners = [float(v) for i in (0, 3, 2, 1) for v in box[i]]
    crop = image.transform(size, Image.Transform.QUAD, corners, Image.Resampling.BICUBIC)
    return crop.transpose(Image.Transpose.ROTATE_90) if crop.height >= 1.5 * crop.width else crop
