"""Writes small ONNX models, where unittests/ONNXFuzz begins: ONNX's own node tests, a few per operator.

usage: make_onnx_seeds.py OUT
"""

import importlib
import pathlib
import pkgutil
import sys
from collections import Counter

from onnx.backend.test.case import node as suite

PER_OPERATOR = 3
LIMIT = 4096  # bytes

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for module in pkgutil.iter_modules(suite.__path__):
    importlib.import_module(f"{suite.__name__}.{module.name}")
taken = Counter()
for case in sorted(suite._NodeTestCases, key=lambda case: case.name):
    if case.model is None or case.model.ByteSize() > LIMIT:
        continue
    key = tuple(sorted({node.op_type for node in case.model.graph.node}))
    if taken[key] < PER_OPERATOR:
        taken[key] += 1
        (out / f"{case.name}.onnx").write_bytes(case.model.SerializeToString())
print(f"{sum(taken.values())} models")
