"""The parts of the end metrics: tokens, boxes, crops, CTC; and the float64 evaluator against onnxruntime."""

import wave
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import save_model, weight
from onnx import TensorProto, helper, numpy_helper
from pto_mlir.compare import Row, first_loss, sources
from pto_mlir.reference import run_onnx

from regression import metrics, ocr, precise, speech, wordpiece


def test_wordpiece(tmp_path):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "cafe", "!", "東", "##a", "a"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    batch = wordpiece.WordPiece(tmp_path / "vocab.txt").batch(["Unaffable Café!", "東aa xyz", "a " * 20], 8)
    names = [[pieces[t] for t in row] for row in batch["tokens"]]
    assert names[0] == ["[CLS]", "un", "##aff", "##able", "cafe", "!", "[SEP]", "[PAD]"]
    assert names[1] == ["[CLS]", "東", "a", "##a", "[UNK]", "[SEP]", "[PAD]", "[PAD]"]
    assert names[2] == ["[CLS]", *["a"] * 6, "[SEP]"]
    assert batch["mask"].sum(1).tolist() == [7, 6, 8] and batch["tokens"].dtype == np.int64


@pytest.mark.parametrize("angle", [0, 7, -20])
def test_boxes_of_turned_rectangles(angle):
    turn = np.deg2rad(angle)
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    y, x = np.mgrid[0:200, 0:300]
    inside = np.all(np.abs((np.stack([x, y], -1) - [150, 100]) @ axes.T) <= [80, 12], axis=-1)
    (box,) = ocr.text_boxes(np.where(inside, 0.9, 0.0))
    grow = 160 * 24 * 1.6 / (2 * (160 + 24))
    expected = ocr.corners_of(np.array([150.5, 100.5]), np.array([80 + grow, 12 + grow]), axes)
    assert np.abs(box - expected).max() < 3.5
    assert ocr.text_boxes(np.where(inside, 0.4, 0.0)) == []  # found, but with too low confidence


def test_regions_touching_at_corners_are_one():
    mask = np.zeros((6, 8), bool)
    mask[0, 0:2] = mask[1, 2:4] = mask[2, 1] = mask[5, 6] = True
    assert sorted(len(set(map(tuple, p.tolist()))) for p in ocr.components(mask)) == [1, 5]


def test_reading_order_joins_lines():
    boxes = [np.array([[x, y]] * 4, float) for x, y in ((90, 5), (10, 12), (5, 40))]
    assert [b[0].tolist() for b in ocr.in_reading_order(boxes)] == [[10, 12], [90, 5], [5, 40]]


def test_cut_out_and_resize():
    y, x = np.mgrid[0:40, 0:60].astype(np.float64)
    ramp = np.stack([x, 2 * y, x + y], -1)
    crop = ocr.cut_out(ramp, np.array([[5, 10], [45, 10], [45, 25], [5, 25]], float))
    assert np.array_equal(crop, ramp[10:25, 5:45])  # cubic interpolation reproduces its samples
    assert ocr.cut_out(ramp, np.array([[5, 5], [15, 5], [15, 35], [5, 35]], float)).shape == (10, 30, 3)
    assert np.abs(ocr.resized(ramp, 80, 60)[1:-1, :, 1] - 2 * (np.arange(1, 79) / 2 - 0.25)[:, None]).max() <= 0.5


def test_ctc():
    steps = np.eye(3)[[1, 1, 0, 1, 2, 2, 0]] * 0.8
    assert ocr.decode(steps, ["a", "b"]) == ("aab", pytest.approx(0.8))
    assert ocr.decode(np.eye(3)[[0, 0]], ["a", "b"]) == ("", 0.0)


def test_ties_of_classes():
    scores = np.array([8.0, 7.999, 5, 4, 3, 2.999, 1], np.float32)
    swapped = scores[[1, 0, 2, 3, 5, 4, 6]]
    assert metrics.agreement(scores, scores, "F16") == (True, 5, False)
    assert metrics.agreement(swapped, scores, "F16") == (True, 5, True)
    assert metrics.agreement(swapped, scores, "F32") == (False, 4, True)
    assert metrics.agreement(scores[::-1], scores, "F16")[0] is False


@pytest.mark.parametrize("exact, undecided", [([8, 7, 6, 5, 4, 3], 0), ([7, 8, 6, 5, 4, 3], 1)])
def test_classes_that_onnxruntime_itself_has_wrong_do_not_count(monkeypatch, tmp_path, exact, undecided):
    """Other classes on the first of four pictures fail where onnxruntime's are float64's, else they do not count."""
    theirs = np.array([8, 7, 6, 5, 4, 3], np.float32)
    model = SimpleNamespace(
        inputs=[SimpleNamespace(name="x", shape=[1])], preprocess=SimpleNamespace(load=lambda *_: None), file="m.onnx"
    )
    monkeypatch.setattr(metrics.samples, "photographs", lambda cache: ([], None, ""))
    monkeypatch.setattr(metrics.zoo, "feed", lambda model, cache, seed: {"seed": seed})
    monkeypatch.setattr(metrics, "onnxruntime_call", lambda session, feed: [theirs])
    monkeypatch.setattr(metrics, "float64_outputs", lambda *_: {"y": np.array(exact, np.float64)})
    ours = SimpleNamespace(run=lambda _, feed: [theirs[[1, 0, 2, 3, 4, 5]] if feed["seed"] == 0 else theirs])
    found = metrics.top_k(model, tmp_path, ours, None, "F32")
    assert found["passed"] == bool(undecided), found
    assert ("1 more on which onnxruntime's classes are not float64's" in found["summary"]) == bool(undecided)


@pytest.mark.parametrize("differs, undecided", [("", 0), ("optimised", 1), ("as written", 1)])
def test_boxes_that_onnxruntime_itself_has_wrong_do_not_count(monkeypatch, tmp_path, differs, undecided):
    """Another box on the first of four pictures fails where both of onnxruntime's runs have float64's."""
    from regression import boxes, measure, zoo

    names, model = ["boxes", "scores", "labels"], SimpleNamespace(file="m.onnx")
    right, wrong = ([np.full((1, 4), at, np.float32), np.ones(1, np.float32), np.array([2])] for at in (5, 9))
    written = dict(zip(names, wrong if differs == "as written" else right))
    exact = wrong if differs == "optimised" else right
    monkeypatch.setattr(zoo, "feed", lambda model, cache, seed: {"seed": seed})
    monkeypatch.setattr(measure, "onnxruntime_call", lambda session, feed: right)
    monkeypatch.setattr(boxes, "run_onnx", lambda path, feed, all_tensors: written)
    monkeypatch.setattr(boxes, "float64_outputs", lambda *_: dict(zip(names, exact)))
    ours = SimpleNamespace(run=lambda _, feed: wrong if feed["seed"] == 0 else right)
    reference = SimpleNamespace(get_outputs=lambda: [SimpleNamespace(name=name) for name in names])
    found = boxes.same_boxes(model, tmp_path, ours, reference, "F32")
    assert found["passed"] == bool(undecided), found
    assert ("1 more on which onnxruntime's boxes are not float64's" in found["summary"]) == bool(undecided)


def test_first_real_loss():
    graph = {"a": ("Conv", ["x"]), "hidden": ("Relu", ["a"]), "b": ("Softmax", ["hidden"]), "c": ("Add", ["b", "a"])}
    rows = [Row(n, (1,), 1, 1 - e, e) for n, e in (("a", 1e-7), ("b", 1e-2), ("c", 2e-2))]
    row, before = first_loss(rows, graph, 1e-5)
    assert row.name == "b" and before == pytest.approx(1e-7)
    assert first_loss(rows, graph, 1) is None
    assert sorted(sources("c", graph, {"a", "b"})) == ["a", "b"] and sources("b", graph, {"a", "b"}) == ["a"]


def test_float64_evaluator(tmp_path):
    """Convolutions of every kind, transposed ones, pools with ceiling, batch norm, nearest Resize and the constants of
    a branch, within float32's rounding of onnxruntime."""
    rng = np.random.default_rng(1)
    tenth = numpy_helper.from_array(np.array([0.1], np.float32), "tenth")
    branch = helper.make_tensor_value_info("sum", TensorProto.FLOAT, None)
    body = helper.make_graph([helper.make_node("Add", ["x", "tenth"], ["sum"])], "body", [], [branch], [tenth])
    nodes = [
        helper.make_node(
            "Conv", ["x", "w0", "b0"], ["a"], strides=[2, 1], pads=[1, 0, 2, 1], dilations=[1, 2], group=2
        ),
        helper.make_node("BatchNormalization", ["a", "s", "b0", "m", "v"], ["b"], epsilon=1e-3),
        helper.make_node(
            "ConvTranspose", ["b", "w1", "b1"], ["c"], strides=[2, 2], pads=[1, 0, 0, 1], output_padding=[1, 0]
        ),
        helper.make_node("MaxPool", ["c"], ["d"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 0], ceil_mode=1),
        helper.make_node("AveragePool", ["d"], ["e"], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 1, 1, 0]),
        helper.make_node(
            "Resize",
            ["e", "", "scales"],
            ["y"],
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        ),
        helper.make_node("Conv", ["x", "w2"], ["z"], auto_pad="SAME_LOWER", strides=[2, 2]),
        helper.make_node("If", ["yes"], ["branch"], then_branch=body, else_branch=body),
    ]
    weights = [
        weight(rng, "w0", 6, 2, 3, 3),
        weight(rng, "b0", 6),
        weight(rng, "w1", 6, 3, 3, 2),
        weight(rng, "b1", 3),
        weight(rng, "w2", 2, 4, 4, 3),
        *(numpy_helper.from_array(rng.uniform(0.5, 2, 6).astype(np.float32), n) for n in "smv"),
        numpy_helper.from_array(np.array([1, 1, 2, 3], np.float32), "scales"),
        numpy_helper.from_array(np.array(True), "yes"),
    ]
    outputs = [("y", None), ("z", None), ("branch", None)]
    path = save_model(tmp_path / "m.onnx", nodes, [("x", [2, 4, 11, 13])], outputs, weights)
    feed = {"x": rng.standard_normal((2, 4, 11, 13)).astype(np.float32)}
    exact, reference = precise.evaluate(path, feed), run_onnx(path, feed)
    for name in ("y", "z", "branch"):
        assert exact[name].dtype == np.float64 and exact[name].shape == reference[name].shape
        assert np.abs(exact[name] - reference[name]).max() < 1e-4


def test_speech_segments(tmp_path):
    """A segment ends below another probability than it begins at; what is open at the end ends there."""
    assert speech.segments(np.array([0.4, 0.5, 0.4, 0.34, 0.45, 0.9])) == [(1, 3), (5, 6)]
    assert speech.segments(np.array([0.1])) == []
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(48000)
        file.writeframes(np.stack([np.full(4800, 16384), np.zeros(4800)], 1).astype(np.int16).tobytes())
    sound = speech.samples(str(tmp_path / "a.wav"))
    assert len(sound) == 1600 + 16000 and np.all(sound[8000:9600] == 0.5) and not np.any(sound[:8000])
    before = []
    speech.probabilities(sound, lambda x, state: (before.append(x[0, 0]) or x[:, -1:], state))
    assert len(before) == len(sound) // 512 and before[0] == 0 and before[16] == sound[16 * 512 - 64]


def test_boxes_in_ties():
    """Boxes that change places count as alike where their scores have no order."""
    from regression.boxes import in_order, order

    names = ["boxes", "scores", "labels"]
    theirs = [np.eye(4, dtype=np.float32) * 9, np.array([0.9, 0.5, 0.5, 0.1], np.float32), np.array([1, 2, 2, 3])]
    tied = [value[[0, 2, 1, 3]] for value in theirs]
    assert order(names, tied, theirs) == [0, 2, 1, 3]
    for ours, wanted in zip(in_order(names, tied, theirs), theirs):
        np.testing.assert_array_equal(ours, wanted)
    swapped = [value[[1, 0, 2, 3]] for value in theirs]
    assert order(names, swapped, theirs) is None and in_order(names, swapped, theirs) is swapped
    assert order(names, [value[:3] for value in theirs], theirs) is None
    moved = [theirs[0] + np.float32(0.1), *theirs[1:]]
    assert order(names, moved, theirs) is None
