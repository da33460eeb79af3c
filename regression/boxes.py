"""Detectors: boxes, scores and labels of two runtimes, best score first."""

from __future__ import annotations

import numpy as np
from pto_mlir.reference import run_onnx

from .precise import float64_outputs

PICTURES = 4
TIE = 1e-4  # scores that are nearer than that have no order
NEAR = 1e-2  # of the coordinates of one box, in pixels


def order(names: list[str], ours: list, theirs: list) -> list[int] | None:
    """For each box of theirs, the place of ours; None where one has none, or boxes changed places that are no tie."""
    at = {name: (ours[i], theirs[i]) for i, name in enumerate(names)}
    (boxes, wanted), (scores, best), (labels, classes) = (at[name] for name in ("boxes", "scores", "labels"))
    if boxes.shape != wanted.shape:
        return None
    places: list[int] = []
    free = np.ones(len(boxes), bool)
    for i in range(len(wanted)):
        fits = free & (labels == classes[i]) & (np.abs(scores - best[i]) <= TIE)
        fits &= np.abs(boxes - wanted[i]).max(axis=1) <= NEAR
        found = np.flatnonzero(fits)
        if not len(found):
            return None
        place = int(found[np.argmin(np.abs(found - i))])
        if abs(best[place] - best[i]) > TIE:
            return None
        free[place] = False
        places.append(place)
    return places


def in_order(names: list[str], ours: list, theirs: list) -> list:
    """Our results with ties in the other's order; as they are where that is none."""
    places = order(names, ours, theirs)
    return ours if places is None else [value[places] for value in ours]


def is_undecided(model, path, feed, names: list[str], theirs: list) -> bool:
    """Whether onnxruntime itself, as its users run it or without optimisations, has other boxes than float64: of two
    that overlap, a difference of one rounding between their scores decides which one stays."""
    exact = [float64_outputs(model, path, feed)[name] for name in names]
    as_written = run_onnx(path, feed, all_tensors=True)
    runs = (theirs, [as_written[name] for name in names])
    return any(order(names, values, exact) is None for values in runs)


def same_boxes(model, cache, session, reference, mode) -> dict:
    """The same boxes in the same order but for ties, on several seeds of the inputs; pictures on which onnxruntime's
    boxes are not float64's do not count, at most a quarter of all."""
    from . import zoo
    from .measure import onnxruntime_call

    names, count, ties, bad, undecided = [o.name for o in reference.get_outputs()], 0, 0, 0, 0
    for seed in range(PICTURES):
        feed = zoo.feed(model, cache, seed)
        theirs = onnxruntime_call(reference, feed)
        places = order(names, session.run(None, feed), theirs)
        if places is None and is_undecided(model, cache / "zoo" / model.file, feed, names, theirs):
            undecided += 1
            continue
        count += len(theirs[0])
        bad += places is None
        ties += 0 if places is None else sum(place != i for i, place in enumerate(places))
    pictures = PICTURES - undecided
    return {
        "passed": not bad and 4 * undecided <= PICTURES,
        "summary": f"{count} boxes in the same order but for {ties} in ties, on {pictures - bad} of {pictures} pictures"
        + (f"; {undecided} more on which onnxruntime's boxes are not float64's" if undecided else ""),
    }
