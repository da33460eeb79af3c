"""The small pieces: comparison, tables, pre-processing, npz_tool."""

import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT
from PIL import Image
from pto_mlir import cli, npz
from pto_mlir.compare import compare_tensor, cosine
from pto_mlir.errors import UserError
from pto_mlir.preprocess import Preprocess
from pto_mlir.tools import npz_tool


def test_two_zero_tensors_are_alike():
    zero, one = np.zeros(4), np.ones(4)
    assert cosine(zero, zero) == 1 and cosine(zero, one) == 0


def test_compare_finds_what_differs():
    a = np.array([1.0, 2.0, np.inf])
    assert compare_tensor("t", a, a).passes((1, 1))
    assert not compare_tensor("t", a, np.array([1.0, 2.0, -np.inf])).passes((0, 0))
    assert not compare_tensor("t", a, np.array([1.0, 2.0, 3.0])).passes((0, 0))
    assert not compare_tensor("t", np.zeros((2, 3)), np.zeros((3, 2))).passes((0, 0))
    assert compare_tensor("t", np.zeros((1, 6)), np.zeros((6,))).passes((1, 1))
    assert compare_tensor("t", np.zeros((0, 3)), np.zeros((0, 3))).passes((1, 1))
    assert compare_tensor("t", np.zeros((8, 3)), np.zeros((2, 4, 3))).passes((1, 1))
    for one, other in (((6, 4), (4, 2, 3)), ((8, 3), (2, 12)), ((2, 2), (2, 3)), ((0,), (2,))):
        assert (
            compare_tensor("t", np.zeros(one), np.zeros(other)).problem
            and compare_tensor("t", np.zeros(other), np.zeros(one)).problem
        )
    assert compare_tensor("t", np.array([3.0, 4.0]), np.array([3.0, 4.5])).max_error == 0.5


def test_preprocess_pads_right_and_normalises(tmp_path):
    picture = tmp_path / "p.png"
    Image.new("RGB", (20, 10), (255, 0, 51)).save(picture)
    p = Preprocess([10, 40], True, 127.5, "normal", [127.5] * 3, [1 / 127.5] * 3, "bgr")
    x = p.load(picture, [1, 3, 10, 40])
    assert x.dtype == np.float32 and np.all(x[..., 20:] == 0)
    assert np.allclose(x[0, :, 0, 0], [51 / 127.5 - 1, -1, 1], atol=1e-6)
    with pytest.raises(UserError, match="channels"):
        p.load(picture, [1, 1, 10, 40])
    with pytest.raises(UserError, match="not a readable image"):
        (tmp_path / "q.png").write_text("no image")
        p.load(tmp_path / "q.png", [1, 3, 10, 40])


def test_npz_tool(command, tmp_path):
    a, b, c = (tmp_path / f"{n}.npz" for n in "abc")
    npz.save(a, {"t": np.arange(6.0), "u": np.ones(2)})
    npz.save(b, {"t": np.arange(6.0) + 0.001})
    assert command(npz_tool, "compare", a, b)[0] == 0
    code, out, _ = command(npz_tool, "compare", a, b, "--tolerance", "0.99,0.9999")
    assert code == 1 and "worst t" in out
    assert command(npz_tool, "extract", a, c, "u")[0] == 0 and list(npz.load(c)) == ["u"]
    code, _, err = command(npz_tool, "extract", a, c, "absent")
    assert code == 1 and "no tensor 'absent'" in err
    code, _, err = command(npz_tool, "compare", c, b)
    assert code == 1 and "no tensor name in common" in err
    assert command(npz_tool, "merge", tmp_path / "d.npz", b, c)[0] == 0
    assert sorted(npz.load(tmp_path / "d.npz")) == ["t", "u"]
    assert command(npz_tool, "dump", a)[1].splitlines()[0] == "t  [6]  float64"
    assert command(npz_tool, "compair", a, b)[0] == 2
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 broken")
    assert command(npz_tool, "dump", tmp_path / "bad.npz")[0] == 1


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 always imports from the working directory with -m")
@pytest.mark.parametrize("command", ["model_transform", "model_deploy", "model_runner", "npz_tool"])
def test_files_of_the_working_directory_are_not_imported(command, tmp_path):
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    (tmp_path / "numpy.py").write_text("raise SystemExit('the wrong numpy')")
    done = subprocess.run([ROOT / "build" / "bin" / command, "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("usage: "), done.stderr


def test_tables_are_whole_and_plain_when_piped(capsys):
    """No colour, no cut column, no fold, whatever the width: another program may read them."""
    name = "a_name_" * 60
    cli.table(["tensor", "cosine", ""], [[name, "0.99", ""], ["[b]", 1, "below tolerance"]], left=(0, 2), marked={1})
    head, first, second = capsys.readouterr().out.splitlines()
    assert first == f"{name}    0.99" and second.split() == ["[b]", "1", "below", "tolerance"]
    assert head.startswith("tensor ") and head.index("cosine") + 6 == len(first)


@pytest.mark.parametrize("width", [40, 200])
def test_tables_on_a_terminal_lose_nothing(monkeypatch, capsys, width):
    """Long cells fold on a narrow terminal."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(width))
    name = "".join(chr(ord("a") + i % 26) for i in range(60))
    cli.table(["tensor", "cosine"], [[name, "0.99"]])
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in capsys.readouterr().out.splitlines()]
    assert all(len(line) <= width for line in lines)
    assert "".join(line.split()[0] for line in lines[1:] if line.strip()) == name
