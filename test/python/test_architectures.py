"""regression.architectures on two hand-made networks: what it counts as right, wrong, refused and not exported. The
Python that exports is a stub, since torch is no dependency of the tests."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from graphs import F, info, save, weight
from onnx import helper

from regression import architectures

STUB = """
import json, sys
names = [name for name in sys.argv[3:] if name != "--list"]
print("\\n".join(["right", "strange", "broken"]) if "--list" in sys.argv else
      "\\n".join(json.dumps({"name": n, "reason": "ValueError: no such size" if n == "broken" else ""}) for n in names))
"""


@pytest.fixture
def exported(tmp_path):
    """The folder of networks, and an executable that claims to make them."""
    folder = tmp_path / "exported"
    folder.mkdir()
    x = np.random.default_rng(2).standard_normal((4, 8), np.float32)
    w = weight("w", np.random.default_rng(3).standard_normal((8, 8), np.float32))
    right = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
    strange = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("StringNormalizer", ["a"], ["y"])]
    save(folder / "right.onnx", right, [info("x", F, [4, 8])], [info("y", F, [4, 8])], [w])
    model = helper.make_model(
        helper.make_graph(strange, "g", [info("x", F, [4, 8])], [info("y", F, [4, 8])], [w]),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    (folder / "strange.onnx").write_bytes(model.SerializeToString())
    for name in ("right", "strange"):
        np.savez(folder / f"{name}.npz", x=x)
    stub = tmp_path / "stub.py"
    stub.write_text(STUB)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {stub} "$@"\n')
    python.chmod(0o755)
    return folder, python


def test_rows(exported, tmp_path, capsys, monkeypatch):
    folder, python = exported
    monkeypatch.chdir(architectures.MAKER.parents[2])
    rows = tmp_path / "rows.json"
    assert architectures.main(["--python", str(python), "--exported", str(folder), "--json", str(rows)]) == 0
    found = {row["name"]: row for row in json.loads(rows.read_text())}
    assert found["right"]["status"] == "passed" and found["right"]["nodes"] == 2 and found["right"]["host"] == 0
    assert found["strange"]["status"] == "no reference"
    assert found["broken"] == {"name": "broken", "status": "not exported", "reason": "ValueError: no such size"}
    assert "3 architectures, F32 on a3: " in capsys.readouterr().out


def test_a_wrong_number_is_found():
    theirs = {"y": np.array([1.0, 2.0, np.inf], np.float32), "n": np.array([3])}
    assert architectures.least_cosine(dict(theirs), theirs, "F32") == 1
    assert architectures.least_cosine(theirs | {"n": np.array([4])}, theirs, "F32") == 0
    assert architectures.least_cosine(theirs | {"y": np.array([1, 2, 9], np.float32)}, theirs, "F32") == 0
    moved = architectures.least_cosine(theirs | {"y": np.array([1.1, 2.0, np.inf], np.float32)}, theirs, "F32")
    assert 0.9 < moved < architectures.BOUNDS["F32"]


def test_what_fades_out_is_not_compared():
    theirs = {"y": np.array([1e-5, 2e-5], np.float32)}
    assert architectures.least_cosine({"y": np.zeros(2, np.float32)}, theirs, "F16") == 1
    assert architectures.least_cosine({"y": np.zeros(2, np.float32)}, theirs, "F32") == 0


def test_no_python_to_export(capsys):
    assert architectures.main([]) == 1
    assert "--python names a Python with torch" in capsys.readouterr().err
    assert architectures.main(["--python", sys.executable]) == 1
    assert "cannot export: ModuleNotFoundError" in capsys.readouterr().err


def test_weights_that_would_fade_out():
    """Parts of a configuration whose weights are next to 0 before training get those of the others."""
    from regression.makers.architectures import shrink

    class Part(SimpleNamespace):
        to_dict = vars

    config = shrink(Part(initializer_range=0.03, vision_config=Part(initializer_range=1e-10, hidden_size=768)))
    assert (config.initializer_range, config.vision_config.initializer_range) == (0.03, 0.02)
    assert config.vision_config.hidden_size == 64
