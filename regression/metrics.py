"""End metrics: what a user of the model would notice. Each gives {passed, summary, details}."""

from __future__ import annotations

import numpy as np

from . import samples, zoo
from .boxes import same_boxes
from .measure import onnxruntime_call
from .ocr_metric import same_text
from .precise import float64_outputs

SCENES = 4  # drawn pictures beside the photographs
SPACING = {"F32": 2**-23, "F16": 2**-10, "BF16": 2**-7}  # of neighbouring numbers, relative


def agreement(ours: np.ndarray, theirs: np.ndarray, mode: str) -> tuple[bool, int, bool]:
    """Whether the best class is the same, how many of the best five are, and whether a tie decided: a class counts as
    rightly placed when onnxruntime's score for it is below the one that it replaces by less than two spacings of the
    storage type at the largest score, one for each of the two.
    """
    spacing = 2 * np.abs(theirs).max() * SPACING[mode]
    ranked = np.sort(theirs)[::-1]
    best = theirs[np.argsort(ours)[::-1][:5]]
    exact = bool(best[0] == ranked[0] and best.min() >= ranked[4])
    return bool(best[0] >= ranked[0] - spacing), int((best >= ranked[4] - spacing).sum()), not exact


def is_undecided(model, onnx_file, feed, scores: np.ndarray) -> bool:
    """Whether onnxruntime itself has other classes than float64: on such a picture the network only amplifies
    rounding, and nothing follows from other classes."""
    exact = next(iter(float64_outputs(model, onnx_file, feed).values())).ravel().astype(np.float32)
    same_best, same_five, _ = agreement(scores, exact, "F32")
    return not same_best or same_five < 5


def top_k(model, cache, session, reference, mode) -> dict:
    """Classifiers: the same best class, and the same five best, on photographs and drawn scenes; pictures on which
    onnxruntime's classes are not float64's do not count, at most a quarter of all."""
    name, shape = model.inputs[0].name, model.inputs[0].shape
    photographs, _, reason = samples.photographs(cache)
    feeds = [{name: model.preprocess.load(path, shape)} for path in photographs] + [
        zoo.feed(model, cache, seed) for seed in range(SCENES)
    ]
    results, undecided = [], 0
    for feed in feeds:
        theirs = onnxruntime_call(reference, feed)[0].ravel()
        result = agreement(session.run(None, feed)[0].ravel(), theirs, mode)
        if result[:2] != (True, 5) and is_undecided(model, cache / "zoo" / model.file, feed, theirs):
            undecided += 1
        else:
            results.append(result)
    first, five = sum(r[0] for r in results), sum(r[1] for r in results)
    ties, count = sum(r[2] for r in results if r[0] and r[1] == 5), len(results)
    return {
        "passed": first == count and five == 5 * count and 4 * undecided <= len(feeds),
        "summary": (
            f"top-1 alike on {first} of {count} pictures ({len(photographs)} photographs), {five} of {5 * count} "
            f"classes of the top-5"
        )
        + (f", {ties} with ties below two of {mode}'s spacings" if ties else "")
        + (f"; {undecided} more on which onnxruntime's classes are not float64's" if undecided else "")
        + (f"; no photographs: {reason}" if reason else ""),
    }


def sentences(model, cache, session, reference, mode) -> dict:
    """Sentence embeddings: for every sentence the others in the same order of likeness."""
    batch = model.inputs[0].shape[0]
    count = len(samples.SENTENCES) // batch * batch
    vectors: list[list[np.ndarray]] = [[], []]
    names = [o.name for o in reference.get_outputs()]
    for begin in range(0, count, batch):
        feed = zoo.feed(model, cache, begin)
        for runs, values in zip(vectors, (session.run(None, feed), onnxruntime_call(reference, feed))):
            runs.append(values[names.index("sentence_embedding")])
    ours, theirs = (np.concatenate(v) @ np.concatenate(v).T for v in vectors)
    # Two sentences that onnxruntime itself finds alike to a hundred-thousandth have no order.
    alike = pairs = 0
    for mine, other in zip(ours, theirs):
        gap_ours, gap_theirs = mine[:, None] - mine, other[:, None] - other
        decided = np.triu(np.abs(gap_theirs) > 1e-5, 1)
        pairs += int(decided.sum())
        alike += int((np.sign(gap_ours) == np.sign(gap_theirs))[decided].sum())
    for matrix in (ours, theirs):
        np.fill_diagonal(matrix, -2)
    nearest = int((ours.argmax(1) == theirs.argmax(1)).sum())
    return {
        "passed": nearest == count and alike >= 0.995 * pairs,
        "summary": f"nearest sentence alike for {nearest} of {count}, order alike in {alike} of {pairs} pairs",
        "details": {"similarity_error": float(np.abs(ours - theirs).max())},
    }


OF_ONE_MODEL = {"top_k": top_k, "sentences": sentences, "boxes": same_boxes}
# Name -> models that it needs, function of the job's spec.
MODELS = {"ocr": ["det", "cls", "rec"]}
OF_SEVERAL_MODELS = {"ocr": same_text}
