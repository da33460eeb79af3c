"""Random graphs of one operator beside onnxruntime's numbers (regression/sweep.py); --full: thousands."""

import collections
import os

import pytest

from regression import sweep

FULL = os.environ.get("PTO_MLIR_FULL_TESTS") == "1"
COUNT = 250 if FULL else 12


@pytest.mark.parametrize("family", sweep.FAMILIES)
def test_family(family):
    rows = [sweep.guarded(task) for task in sweep.tasks([family], COUNT, seed=3)]
    bad = [f"{row['result']}: {row['text']}: {row['reason']}" for row in rows if row["result"] not in sweep.GOOD]
    assert not bad, "\n".join(bad)
    counts = collections.Counter(row["result"] for row in rows)
    assert counts["right"] >= 0.8 * COUNT, counts
