"""The checked mode of the simulator over a whole network's kernels, and the proof that it sees what a missing flag
does."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_runner, model_transform
from test_runtime import BIN


@pytest.fixture(scope="module")
def network(tmp_path_factory, classifier):
    folder = tmp_path_factory.mktemp("checked")
    mlir, model = folder / "m.mlir", folder / "m.pmodel"
    assert (
        model_transform.main(
            [
                "--model_name",
                "m",
                "--model_def",
                str(classifier / "cls.onnx"),
                "--input_shapes",
                "[[1,3,48,192]]",
                "--mlir",
                str(mlir),
            ]
        )
        == 0
    )
    assert model_deploy.main(["--mlir", str(mlir), "--quantize", "F16", "--model", str(model)]) == 0
    return model


def test_a_network_has_no_report(network):
    x = np.random.default_rng(1).standard_normal((1, 3, 48, 192)).astype(np.float32)
    expected, *_ = InferenceSession(str(network)).run(None, {"x": x})
    for mode in ("checked", "shuffled:3"):
        got, *_ = InferenceSession(str(network), mode=mode).run(None, {"x": x})
        assert np.array_equal(got, expected), mode


def test_a_detector_without_kept_tensors_has_no_report(tmp_path, classifier):
    """Its depthwise kernels load taps and rows alternately; a regression test of insert-sync for the order of the
    two."""
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.path.insert(0, sys.argv[1]); import pp_ocr; from pathlib import Path; "
            "pp_ocr.fetch('det', Path(sys.argv[2]))",
            str(ROOT / "regression" / "makers"),
            str(classifier / "det.onnx"),
        ],
        check=True,
    )
    mlir, model = tmp_path / "m.mlir", tmp_path / "m.pmodel"
    assert (
        model_transform.main(
            [
                "--model_name",
                "m",
                "--model_def",
                str(classifier / "det.onnx"),
                "--input_shapes",
                "[[1,3,640,640]]",
                "--mlir",
                str(mlir),
            ]
        )
        == 0
    )
    assert model_deploy.main(["--mlir", str(mlir), "--quantize", "F32", "--model", str(model)]) == 0
    x = np.random.default_rng(1).standard_normal((1, 3, 640, 640)).astype(np.float32)
    InferenceSession(str(model), mode="checked").run(None, {"x": x})


def test_every_harmful_mutation_is_reported(network):
    result = subprocess.run([BIN / "pto-mutate-flags", network, "40"], text=True, capture_output=True)
    assert result.returncode == 0, result.stdout + result.stderr
    kernels, false_reports, mutations, reported, harmless, missed, _ = map(
        int, re.findall(r"\d+", result.stdout.splitlines()[-1])
    )
    assert kernels >= 20 and false_reports == 0 and missed == 0
    assert reported + harmless == mutations and reported > 0.8 * mutations


def test_timing_gives_the_same_numbers_and_a_trace(network, tmp_path):
    x = np.random.default_rng(1).standard_normal((1, 3, 48, 192)).astype(np.float32)
    expected, *_ = InferenceSession(str(network)).run(None, {"x": x})
    session = InferenceSession(str(network), mode=f"timing:{tmp_path / 't.json'}")
    got, *_ = session.run(None, {"x": x})
    assert np.array_equal(got, expected)
    total, kernels = session.profile(), session.profile_kernels()
    assert np.isclose(sum(k["cycles"] for k in kernels), total["cycles"])
    assert all(k["busy"][e] <= k["cycles"] for k in kernels for e in k["busy"])
    del session
    events = [e for e in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert len([e for e in events if "blocks" in e["args"]]) == total["launches"]
    assert max(e["ts"] + e["dur"] for e in events) <= total["seconds"] * 1e6 * 1.001


@pytest.fixture
def silicon(monkeypatch):
    """Loads a module of benchmarks/silicon."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks" / "silicon"))
    return importlib.import_module


def near(silicon, kernel, size, folder, shares=None):
    """The time of a published row within the kernel's goal of it, and the engines' percentages within `shares`. Each
    kernel checks its result."""
    row = silicon("published").published(kernel, size)
    measure, goal = silicon("table").KERNELS[kernel]
    here, busy = measure(size, folder)
    assert abs(here / row.microseconds - 1) < goal, (here, row)
    assert shares is None or all(abs(busy[e] - p) < shares for e, p in row.busy.items()), (busy, row)
    return busy


@pytest.mark.parametrize(
    "kernel, size",
    [
        ("conv 3x3 f16", 1536),
        ("attention", 1024),
        ("attention, few cores", (1, 4096)),
        ("top-k f16", 4800),
        ("MXFP8 a5", 2048),
        ("MXFP4 a5", (2048, 2048, 2048)),
    ],
)
def test_a_published_kernel_takes_the_published_time(silicon, tmp_path, kernel, size):
    near(silicon, kernel, size, tmp_path)


def test_attention_is_checked_without_a_report(silicon, tmp_path):
    """Cube and vector cores together, on a part of the chip."""
    silicon("flash").measure(1024, tmp_path, mode="checked", blocks=2)


def test_compiled_attention_is_checked_and_as_fast_as_by_hand(silicon, tmp_path):
    """The compiler's kernel beside flash.pto, whose queries are scaled in the kernel."""
    compiled = silicon("compiled")
    compiled.measure((1, 128, 128, True), tmp_path, mode="checked")
    ours, _ = compiled.measure((1, 1024, 128, False), tmp_path)
    by_hand, _ = silicon("flash").measure(1024, tmp_path)
    assert ours < 0.8 * by_hand  # the goals in us: benchmarks/silicon/compiled.py


def test_a_published_selection_takes_the_published_time(silicon, tmp_path):
    published = silicon("published").published("top-k f32", 2304).busy["AIV V"]
    assert abs(near(silicon, "top-k f32", 2304, tmp_path)["AIV V"] - published) < 10


def test_a_published_product_takes_the_published_time(silicon, tmp_path):
    near(silicon, "product f16", 1536, tmp_path, shares=8)


def test_no_rate_is_fitted_to_a_validation_row(silicon):
    """The sources that the instruction table and the chips name: whatever is fitted, is fitted to kernels of the group
    `fitted`."""
    rows = silicon("published").ROWS
    assert {row.group for row in rows} == {"fitted", "validation"}
    groups = {row.kernel: row.group for row in rows}
    assert all(row.group == groups[row.kernel] for row in rows)
    words = {"products": "product f16", "product": "product f16", "MX products": "MXFP8 a5", "top-k f32": "top-k f32"}
    folder = Path(__file__).parents[2] / "include" / "pto_mlir" / "ISA"
    sources = re.findall(r'"fitted to ([^"]*)"', "".join(f.read_text() for f in sorted(folder.glob("*.td"))))
    assert len(sources) > 10
    for source in sources:
        kernel = next(word for word in sorted(words, key=len, reverse=True) if source.startswith(word))
        assert groups[words[kernel]] == "fitted", source
        assert kernel != "MX products" or source.split(":")[0].endswith("fp8"), source


def test_the_page_shows_every_published_row(silicon):
    """docs/timing.md quotes what table.py --large prints: each row with its group and its published time."""
    page = (Path(__file__).parents[2] / "docs" / "timing.md").read_text()
    for row in silicon("published").ROWS:
        size = " x ".join(map(str, row.size)) if isinstance(row.size, tuple) else row.size
        pattern = rf"\| {row.kernel} \| {size} \| {row.group} \| [\d.]+ \| {row.microseconds:.1f} \|"
        assert re.search(pattern, page), pattern


def test_the_runner_takes_the_mode(network, command, tmp_path):
    np.savez(tmp_path / "in.npz", x=np.zeros((1, 3, 48, 192), np.float32))
    code, out, err = command(
        model_runner,
        "--model",
        network,
        "--input",
        tmp_path / "in.npz",
        "--output",
        tmp_path / "out.npz",
        "--mode",
        "checked",
    )
    assert code == 0, out + err
    trace = tmp_path / "t.json"
    code, out, err = command(
        model_runner,
        "--model",
        network,
        "--input",
        tmp_path / "in.npz",
        "--output",
        tmp_path / "out.npz",
        "--mode",
        "timing",
        "--trace",
        trace,
    )
    assert code == 0 and "busy (waiting)" in out and "AIC M" in out, out + err
    makespans, paths = [], []
    for blocks in ("24", "1"):
        code, out, err = command(
            model_runner,
            "--model",
            network,
            "--input",
            tmp_path / "in.npz",
            "--output",
            tmp_path / "out.npz",
            "--mode",
            "timing",
            "--blocks",
            blocks,
            "--profile",
            tmp_path / "p.json",
        )
        assert code == 0 and f"in virtual time on {blocks} cube" in out, out + err
        makespans.append(float(out.split("makespan ")[1].split(" ms")[0]))
        paths.append(out.split("critical path ")[1].split(" ms")[0])
        assert json.loads((tmp_path / "p.json").read_text())["traceEvents"]
    assert float(paths[0]) <= makespans[0] <= makespans[1] and paths[0] == paths[1]
    code, out, err = command(
        model_runner, "--model", network, "--input", tmp_path / "in.npz", "--mode", "timing", "--blocks", "0"
    )
    assert code == 1 and "expects 1 to 128" in err
    code, out, err = command(model_runner, "--model", network, "--input", tmp_path / "in.npz", "--trace", trace)
    assert code == 1 and "--trace needs --mode timing" in err
    code, out, err = command(
        model_runner, "--model", tmp_path / "m.onnx", "--input", tmp_path / "in.npz", "--mode", "checked"
    )
    assert code == 1 and "m.onnx" in err
