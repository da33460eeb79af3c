"""InferenceSession on a hand-assembled model: y = max(x + bias, 0), 3 x 37, with `sum` kept as a debug tensor."""

import subprocess
import threading
from pathlib import Path

import numpy as np
import pto_mlir
import pytest
from pto_mlir.runtime import InferenceSession, InvalidArgument, NodeArg, RuntimeFailure

BIN = Path(pto_mlir.__file__).resolve().parents[2] / "bin"
BIAS = (np.arange(3 * 37) % 5 - 2).astype(np.float32).reshape(3, 37)


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("runtime") / "sample.pmodel"
    subprocess.run([BIN / "pto-sample-model", path], check=True)
    return str(path)


@pytest.fixture(scope="module")
def session(sample):
    return InferenceSession(sample, threads=1)


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((3, 37)).astype(np.float32)


def test_inputs_and_outputs(session):
    assert session.get_inputs() == [NodeArg("x", [3, 37], "tensor(float)")]
    assert session.get_outputs() == [NodeArg("y", [3, 37], "tensor(float)")]
    info = session.info()
    assert info["processor"] == "a3" and info["host_ops"] == [] and info["debug_tensors"] == ["sum"]


def test_run(session, x):
    expected = np.maximum(x + BIAS, 0)
    for names in (None, ["y"]):
        (y,) = session.run(names, {"x": x})
        assert y.dtype == np.float32 and np.array_equal(y, expected)
    first = session.run(None, {"x": x})[0]
    session.run(None, {"x": x + 1})
    assert np.array_equal(first, expected), "a result must not change with the next run"


def test_layouts_of_the_feed(session, x):
    for same in (np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2], x.astype(">f4"), x.tolist()):
        if isinstance(same, list):  # a list of floats is float64, as in numpy
            with pytest.raises(InvalidArgument, match="f64"):
                session.run(None, {"x": same})
        else:
            assert np.array_equal(session.run(None, {"x": same})[0], np.maximum(x + BIAS, 0))
    x.flags.writeable = False
    session.run(None, {"x": x})


def test_debug_tensors_are_in_onnx_layout(session, x):
    tensors = session.run_with_debug({"x": x})
    assert set(tensors) == {"y", "sum"}
    assert tensors["sum"].shape == (1, 37, 3)
    assert np.array_equal(tensors["sum"][0], (x + BIAS).T)


def test_profile_counts(session, x):
    session.profile(reset=True)
    session.run(None, {"x": x})
    profile = session.profile()
    assert profile["launches"] == 2 and profile["instructions"] > 0
    assert profile["gm_bytes_read"] == 3 * x.nbytes and profile["gm_bytes_written"] == 2 * x.nbytes


def test_profile_of_each_kernel_adds_up(sample, x):
    session = InferenceSession(sample, threads=1)
    for _ in range(3):
        session.run(None, {"x": x})
    total, kernels = session.profile(), session.profile_kernels(reset=True)
    assert len({k["name"] for k in kernels}) == len(kernels)
    for key in ("launches", "instructions", "gm_bytes_read", "gm_bytes_written"):
        assert sum(k[key] for k in kernels) == total[key] > 0
    assert all(k["launches"] == 0 and k["host_seconds"] == 0 for k in session.profile_kernels())


def test_bad_feeds_are_value_errors(session, x):
    cases = [
        ({}, "input 'x' is missing: expects f32 3x37"),
        ({"x": x[:2]}, "expects f32 3x37, got f32 2x37"),
        ({"x": x.astype(np.float64)}, "expects f32 3x37, got f64 3x37"),
        ({"x": x, "z": x}, "no input 'z'"),
        ({"x": np.array(["a", "b"])}, "expects f32 3x37, got string 2"),
        ({"x": x.astype(np.complex64)}, "not supported"),
        ([x], "must map input names"),
    ]
    for feed, text in cases:
        with pytest.raises(ValueError, match=text):
            session.run(None, feed)
    with pytest.raises(ValueError, match="no output 'q'"):
        session.run(["q"], {"x": x})


def test_modes_give_the_same_numbers(sample, session, x):
    expected = session.run(None, {"x": x})
    for mode in ("checked", "shuffled:1", "shuffled:2"):
        got = InferenceSession(sample, mode=mode).run(None, {"x": x})
        assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True)), mode
    for mode in ("chequed", "shuffled:", "shuffled:x", ""):
        with pytest.raises(RuntimeFailure, match="the cmodel knows functional, checked"):
            InferenceSession(sample, mode=mode)


def test_files_and_devices_that_cannot_be_used(sample, tmp_path):
    with pytest.raises(RuntimeFailure, match="cannot open"):
        InferenceSession(tmp_path / "absent.pmodel")
    with pytest.raises(RuntimeFailure, match="no plug-in found"):
        InferenceSession(sample, device="nosuch")
    with pytest.raises(RuntimeFailure, match="no net 'other'"):
        InferenceSession(sample, net="other")
    with pytest.raises(ValueError, match="threads"):
        InferenceSession(sample, threads=-1)


def test_sessions_in_threads(sample, x):
    wrong = []

    def work(shift):
        own = InferenceSession(sample, threads=1)
        for _ in range(5):
            if not np.array_equal(own.run(None, {"x": x + shift})[0], np.maximum(x + shift + BIAS, 0)):
                wrong.append(shift)

    threads = [threading.Thread(target=work, args=(np.float32(i),)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
