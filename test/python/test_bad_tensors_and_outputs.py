"""Tensors, weights and .pmodels that are damaged or of another kind, and outputs that cannot be written: one clear line
before any work, and nothing is left behind."""

import errno
import json
import os
import subprocess
import threading
import zipfile

import numpy as np
import onnx
import pytest
from conftest import one_line
from onnx import helper
from pto_mlir import npz
from pto_mlir.errors import UserError
from pto_mlir.tools import model_deploy, model_runner, model_transform
from pto_mlir.tools.native import _program, program_output


@pytest.mark.parametrize(
    "kind, numbers, word",
    [
        (onnx.TensorProto.INT32, np.array([1, 2**32 + 2]), "holds 4294967298, the model's type int32 does not"),
        (onnx.TensorProto.UINT8, np.array([1, -3]), "holds -3, the model's type uint8 does not"),
        (onnx.TensorProto.FLOAT, np.array([1, 1e300]), "holds 1e+300, the model's type float32 does not"),
        (onnx.TensorProto.INT32, np.array([1, -(2**31)]), None),
        (onnx.TensorProto.FLOAT, np.array([np.nan, np.inf]), None),
    ],
)
def test_numbers_that_the_inputs_type_does_not_hold(command, tmp_path, kind, numbers, word):
    info = helper.make_tensor_value_info
    node = helper.make_node("Cast", ["x"], ["y"], to=onnx.TensorProto.FLOAT)
    graph = helper.make_graph([node], "g", [info("x", kind, [2])], [info("y", onnx.TensorProto.FLOAT, [2])])
    model, feed, out = (tmp_path / name for name in ("m.onnx", "x.npz", "o.npz"))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), model)
    npz.save(feed, {"x": numbers})
    mlir = model.with_suffix(".mlir")
    assert command(model_transform, "--model_name", "m", "--model_def", model, "--mlir", mlir)[0] == 0
    code, _, err = command(model_runner, "--model", mlir, "--input", feed, "--output", out)
    assert code == (1 if word else 0), err
    if word:
        one_line(err, "x.npz", "'x'", word)
    else:
        np.testing.assert_array_equal(npz.load(out)["y"], numbers.astype(np.float32))


def _header(shape):
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "member, content, word",
    [
        ("x.npy", "hello", "'x' is not an .npy tensor"),
        ("", b"", "does not begin as a zip archive"),
        ("x", "hello", "'x' is not an .npy tensor"),
        ("x.npy", _header("(1, 3, 8")[:60], "not a readable .npz"),
        ("x.npy", _header("(1, 3, 8"), "not a readable .npz"),
        ("x.npy", _header("(-1, 3, 8, 8)"), "not a readable .npz"),
        ("x.npy", _header("(1000000, 1000000, 1000)"), "do not fit into memory"),
    ],
)
def test_archives_with_other_members(command, deployed, tmp_path, member, content, word):
    if member:
        with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
            archive.writestr(member, content)
    else:
        (tmp_path / "bad.npz").write_bytes(deployed.read_bytes())
    out = tmp_path / "out.npz"
    code, _, err = command(model_runner, "--model", deployed, "--input", tmp_path / "bad.npz", "--output", out)
    assert code == 1 and not out.exists()
    one_line(err, "bad.npz", word)


def test_random_damage_of_an_npz(tmp_path):
    """It is read or refused, as whatever part of the archive, of a header or of compressed data is hit."""
    rng = np.random.default_rng(8)
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "good.npz", x=np.zeros((3, 8), np.float32), y=np.arange(5))
        good = (tmp_path / "good.npz").read_bytes()
        for _ in range(150):
            data = bytearray(good)
            for position in rng.integers(0, len(data), rng.integers(1, 4)):
                data[position] = rng.integers(256)
            (tmp_path / "bad.npz").write_bytes(data)
            try:
                npz.load(tmp_path / "bad.npz")
            except UserError as error:
                assert "bad.npz" in str(error) and len(str(error).splitlines()) == 1


def test_outputs_are_checked_before_the_work(command, deployed, small, tmp_path):
    """The option is named, no step runs and nothing is left, whatever is in the output's way."""
    npz.save(tmp_path / "x.npz", {"x": np.zeros((1, 3, 8, 8), np.float32)})
    (tmp_path / "folder.pmodel").mkdir()
    (tmp_path / "folder.mlir").mkdir()
    before = set(os.listdir(tmp_path))
    mlir, feed = tmp_path / "m.mlir", tmp_path / "x.npz"
    transform = [model_transform, "--model_name", "n", "--model_def", small]
    deploy = [model_deploy, "--mlir", deployed.with_suffix(".mlir")]
    run = [model_runner, "--model", deployed, "--input", feed]
    good = ["--output", tmp_path / "o.npz"]
    absent, folder = "there is no directory", "is a directory"
    for line, option, path, reason in (
        (transform, "--mlir", tmp_path / "absent" / "m.mlir", absent),
        (transform, "--mlir", tmp_path / "folder.mlir", folder),
        ([*transform, "--mlir", mlir, "--test_input", feed], "--test_result", tmp_path / "absent" / "r.npz", absent),
        ([*transform, "--mlir", mlir, "--test_input", feed], "--test_result", tmp_path, folder),
        (deploy, "--model", tmp_path / "absent" / "m.pmodel", absent),
        (deploy, "--model", tmp_path / "folder.pmodel", folder),
        (run, "--output", tmp_path / "absent" / "o.npz", absent),
        (run, "--output", tmp_path, folder),
        (run, "--output", feed / "o.npz", absent),
        ([*run, *good], "--profile", tmp_path / "absent" / "t.json", absent),
        ([*run, *good, "--mode", "timing"], "--trace", tmp_path / "absent" / "t.json", absent),
    ):
        code, out, err = command(*line, option, path)
        assert code == 1 and not out, out
        one_line(err, f"{path}: {option}: cannot write: {reason}")
        assert set(os.listdir(tmp_path)) == before


def test_one_of_several_nets(command, deployed, tmp_path):
    mlir, other, both = deployed.with_suffix(".mlir"), tmp_path / "other.pmodel", tmp_path / "both.pmodel"
    mlir.write_text(mlir.read_text().replace("module @m ", "module @n "))
    assert command(model_deploy, "--mlir", mlir, "--model", other)[0] == 0
    program_output("pmodel_tool", ["--combine", str(deployed), "--combine", str(other), "-o", str(both)])
    npz.save(tmp_path / "x.npz", {"x": np.ones((1, 3, 8, 8), np.float32)})
    line = [model_runner, "--input", tmp_path / "x.npz", "--output"]
    code, _, err = command(*line, tmp_path / "o.npz", "--model", both)
    assert code == 1
    one_line(err, "choose one of 'm', 'n'")
    code, _, err = command(*line, tmp_path / "o.npz", "--model", both, "--net", "k")
    assert code == 1
    one_line(err, "'k'")
    code, _, err = command(*line, tmp_path / "o.npz", "--model", mlir, "--net", "n")
    assert code == 1
    one_line(err, "--net: only a .pmodel has several nets")
    for name, model, more in (("a", deployed, []), ("b", both, ["--net", "m"]), ("c", both, ["--net", "n"])):
        code, _, err = command(*line, tmp_path / f"{name}.npz", "--model", model, *more)
        assert code == 0, err
    expected = npz.load(tmp_path / "a.npz")["y"]
    for name in "bc":
        np.testing.assert_array_equal(npz.load(tmp_path / f"{name}.npz")["y"], expected)


@pytest.mark.parametrize("name", ["", "a/b", "../a", "a\0"])
def test_models_named_as_paths(command, small, tmp_path, name):
    npz.save(tmp_path / "x.npz", {"x": np.zeros((1, 3, 8, 8), np.float32)})
    line = ["--model_name", name, "--model_def", small, "--mlir", tmp_path / "m.mlir", "--test_input"]
    code, out, err = command(model_transform, *line, tmp_path / "x.npz")
    assert code == 1 and not out and not (tmp_path / "m.mlir").exists()
    one_line(err, "--model_name: expects a name", repr(name))


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(UserError, match="o.npz: cannot write: No space left on device"):
        npz.save(tmp_path / "o.npz", {"x": np.zeros(3)})
    assert not os.listdir(tmp_path)


def test_pipes_and_links_stay(command, deployed, tmp_path):
    """An output that is a device or a pipe is written to; one that is a link changes the file that it leads to."""
    npz.save(tmp_path / "x.npz", {"x": np.zeros((1, 3, 8, 8), np.float32)})
    pipe, link, aim = (tmp_path / name for name in ("pipe", "link.npz", "aim.npz"))
    os.mkfifo(pipe)
    link.symlink_to(aim)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for output in (pipe, link):
        line = [model_runner, "--model", deployed, "--input", tmp_path / "x.npz", "--output", output]
        code, _, err = command(*line)
        assert code == 0, err
    assert pipe.is_fifo() and link.is_symlink()
    assert os.read(reader, 2) == b"PK"
    os.close(reader)
    assert list(npz.load(aim)) == ["y"]


@pytest.mark.parametrize("option", ["--profile", "--trace"])
def test_traces_are_written_to_pipes(command, deployed, tmp_path, option):
    npz.save(tmp_path / "x.npz", {"x": np.zeros((1, 3, 8, 8), np.float32)})
    pipe, texts = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: texts.append(pipe.read_text()), daemon=True)
    reader.start()
    line = [model_runner, "--model", deployed, "--input", tmp_path / "x.npz", "--output", tmp_path / "o.npz"]
    code, _, err = command(*line, "--mode", "timing", option, pipe)
    assert code == 0, err
    reader.join(20)
    assert pipe.is_fifo() and json.loads(texts[0])["traceEvents"]


@pytest.mark.parametrize("tool", ["model_deploy", "model_runner"])
def test_a_model_that_is_no_text(command, small, tmp_path, tool):
    """An ONNX file where the text of model_transform belongs."""
    bad, out = tmp_path / "bad.mlir", tmp_path / "out.pmodel"
    bad.write_bytes(small.read_bytes())
    npz.save(tmp_path / "x.npz", {"x": np.zeros((1, 3, 8, 8), np.float32)})
    if tool == "model_deploy":
        code, _, err = command(model_deploy, "--mlir", bad, "--model", out)
    else:
        code, _, err = command(model_runner, "--model", bad, "--input", tmp_path / "x.npz", "--output", out)
    assert code == 1 and not out.exists()
    one_line(err, "bad.mlir", "expects the .mlir that model_transform wrote")


def test_damaged_weights(command, deployed, tmp_path):
    """A deployment without the file of weights, or with another one."""
    mlir = deployed.with_suffix(".mlir")
    (weights,) = mlir.parent.glob("*_top_weights.safetensors")
    good = weights.read_bytes()
    for damage in (None, b"", b"these are words\n" * 40, good[: len(good) // 2]):
        weights.unlink()
        if damage is not None:
            weights.write_bytes(damage)
        code, _, err = command(model_deploy, "--mlir", mlir, "--model", tmp_path / "out.pmodel")
        assert code == 1 and not (tmp_path / "out.pmodel").exists()
        one_line(err, weights.name)
        weights.touch()


@pytest.mark.parametrize("option", ["--info", "--print", "--disasm", "--weights", "--traffic", "--verify", "--chip"])
def test_random_damage_of_a_pmodel(deployed, tmp_path, option):
    """pmodel_tool reads the file or refuses it with one line."""
    good, bad = deployed.read_bytes(), tmp_path / "bad.pmodel"
    rng = np.random.default_rng(9)
    for _ in range(30):
        data = bytearray(good)
        for position in rng.integers(0, len(data), rng.choice([1, 8, 64])):
            data[position] = rng.integers(256)
        begin = rng.integers(len(data))
        data[begin : begin + rng.integers(64)] = b"\xff" * 5  # the file may also grow or shrink
        bad.write_bytes(data)
        done = subprocess.run([_program("pmodel_tool"), option, str(bad)], capture_output=True, timeout=60)
        assert done.returncode in (0, 1), done
        if done.returncode:
            one_line(done.stderr.decode(), "bad.pmodel")
