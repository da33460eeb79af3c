"""End metrics: what a user of the model would notice. Each gives {passed, summary, details}."""

from __future__ import annotations

import numpy as np
import samples
import zoo
from measure import onnxruntime_call
from ocr_metric import same_text

SCENES = 4  # drawn pictures beside the photographs


def top_k(model, cache, session, reference) -> dict:
    """Classifiers: the same best class, and the same five best, on photographs and drawn scenes."""
    name, shape = model.inputs[0].name, model.inputs[0].shape
    photographs, _, reason = samples.photographs(cache)
    feeds = [{name: model.preprocess.load(path, shape)} for path in photographs] + [zoo.feed(model, cache, seed) for seed in range(SCENES)]
    first = five = 0
    for feed in feeds:
        ours, theirs = session.run(None, feed)[0].ravel(), onnxruntime_call(reference, feed)[0].ravel()
        first += int(ours.argmax() == theirs.argmax())
        five += len(set(np.argsort(ours)[-5:].tolist()) & set(np.argsort(theirs)[-5:].tolist()))
    count = len(feeds)
    return {"passed": first == count and five == 5 * count,
            "summary": f"top-1 alike on {first} of {count} pictures ({len(photographs)} photographs), {five} of {5 * count} classes of the top-5"
            + (f"; no photographs: {reason}" if reason else "")}  # fmt: skip


def sentences(model, cache, session, reference) -> dict:
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
    return {"passed": nearest == count and alike >= 0.995 * pairs,
            "summary": f"nearest sentence alike for {nearest} of {count}, order alike in {alike} of {pairs} pairs",
            "details": {"similarity_error": float(np.abs(ours - theirs).max())}}  # fmt: skip


OF_ONE_MODEL = {"top_k": top_k, "sentences": sentences}
# Name -> models that it needs, function of the job's spec.
MODELS = {"ocr": ["det", "cls", "rec"]}
OF_SEVERAL_MODELS = {"ocr": same_text}
