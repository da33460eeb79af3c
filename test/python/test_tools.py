"""Small utilities: comparison, preprocessing, npz_tool."""

import numpy as np
import pytest
from PIL import Image
from pto_mlir import npz
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
