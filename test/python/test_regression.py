"""The regression command on small models: its report, failing models, interrupts, and what --resume reuses."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import ROOT, save_model, weight
from onnx import helper

from regression import command as run_command
from regression import measure, page, plan, report
from regression import zoo as descriptions

DESCRIPTION = """
title = "test net"
source = "a test"
licence = "none"
maker = ["copy_file.py", "{onnx}"]
file = "{name}.onnx"
modes = ["F32", "F16"]

[[inputs]]
name = "x"
shape = [2, 3, 12, 12]
kind = "normal"

[tolerance]
F32 = {{ tensors = 0.99999, outputs = 0.99999, max_error = {bound} }}
F16 = {{ tensors = 0.999, outputs = 0.999, max_error = 0.1 }}
"""
COPY = (
    "import shutil, sys, time\ntime.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 0)\n"
    "shutil.copy(sys.argv[1], sys.argv[-1])\n"
)


@pytest.fixture
def zoo(tmp_path):
    """A folder of descriptions, and a function that adds one."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "copy_file.py").write_text(COPY)

    def add(name, op="Sigmoid", bound="1e-4"):
        rng = np.random.default_rng(0)
        nodes = [
            helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv"),
            helper.make_node(op, ["c"], ["y"], name="last"),
        ]
        onnx = save_model(
            tmp_path / f"{name}.onnx",
            nodes,
            [("x", [2, 3, 12, 12])],
            [("y", [2, 5, 10, 10])],
            [weight(rng, "w", 5, 3, 3, 3), weight(rng, "b", 5)],
        )
        (folder / f"{name}.toml").write_text(DESCRIPTION.format(name=name, onnx=onnx, bound=bound))

    return folder, add


def command(tmp_path, *arguments):
    return [
        sys.executable,
        str(ROOT / "regression" / "run.py"),
        "--cache",
        str(tmp_path / "cache"),
        "--work",
        str(tmp_path / "work"),
        "--descriptions",
        str(tmp_path / "models"),
        "--timing",
        "0.05",
        *arguments,
    ]


def run(tmp_path, *arguments):
    done = subprocess.run(command(tmp_path, *arguments), capture_output=True, text=True, timeout=300)
    assert "Traceback" not in done.stderr, done.stderr
    report = tmp_path / "work" / "report.json"
    return done.returncode, done.stdout + done.stderr, json.loads(report.read_text()) if report.exists() else None


def test_report(tmp_path, zoo):
    zoo[1]("good")
    code, text, report = run(tmp_path, "--num_core", "1,3", "--jobs", "2", "--float64")
    assert code == 0, text
    assert "5 passed, 0 failed, 0 skipped" in text
    results = {(r["mode"], r["cores"]): r for r in report["results"] if r["what"] == "model"}
    assert set(results) == {("F32", 1), ("F32", 3), ("F16", 1), ("F16", 3)}
    one = results["F32", 1]
    assert one["host_ops"] == [] and one["first_loss"] is None
    assert {t["name"]: t["kind"] for t in one["tensors"]} == {"c": "Conv", "y": "Sigmoid"}
    (output,) = one["outputs"]
    assert output["float64"] <= 4 * output["onnxruntime_float64"] < 1e-4
    assert one["seconds"]["cmodel"] > 0 and one["peak_mb"]["deploy"] > 1 and one["bytes"]["file"] > 0
    assert [c["equal"] for c in report["cores"]] == [True, True]
    page = (tmp_path / "work" / "report.html").read_text()
    assert "<svg" in page and "test net" in page
    assert not any(word in page for word in ("http://", "https://", "<script", "src="))


def test_a_failing_model_does_not_stop_the_others(tmp_path, zoo):
    zoo[1]("good")
    zoo[1]("strange", op="NoSuchOp")
    zoo[1]("too_strict", bound="0.0")
    code, text, report = run(tmp_path, "--modes", "F32")
    assert code == 1
    status = {(r["name"], r["what"]): r["status"] for r in report["results"]}
    assert status == {
        ("good", "prepare"): "passed",
        ("good", "model"): "passed",
        ("strange", "prepare"): "failed",
        ("strange", "model"): "skipped",
        ("too_strict", "prepare"): "passed",
        ("too_strict", "model"): "failed",
    }
    assert "NoSuchOp" in text and "max error" in text


def test_a_model_that_cannot_be_made_here_is_skipped(tmp_path, zoo):
    zoo[1]("absent")
    zoo[1]("broken")
    (tmp_path / "models" / "copy_file.py").write_text(
        "import sys\nname = sys.argv[-1]\n"
        "sys.exit('no such weights') if 'broken' in name else print('error: no torch; apt-get install x', "
        "file=sys.stderr)\n"
        "sys.exit(3)\n"
    )
    code, text, report = run(tmp_path, "--models", "absent")
    assert code == 0 and report["skipped"] == 3 and "no torch; apt-get install x" in text
    code, text, report = run(tmp_path, "--models", "broken")
    assert code == 1 and "copy_file.py: no such weights" in text


def test_resume_keeps_what_passed_and_notices_changes(tmp_path, zoo):
    zoo[1]("good")
    assert run(tmp_path, "--modes", "F32")[0] == 0
    code, text, report = run(tmp_path, "--modes", "F32,F16", "--resume")
    assert code == 0 and text.count(" before ") == 2 and report["passed"] == 3
    description = tmp_path / "models" / "good.toml"
    description.write_text(description.read_text().replace("test net", "other net"))
    assert run(tmp_path, "--modes", "F32", "--resume")[1].count(" before ") == 0


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_goes_on(tmp_path, zoo, stop):
    zoo[1]("aaa")
    zoo[1]("slow")
    description = tmp_path / "models" / "slow.toml"
    description.write_text(description.read_text().replace('.onnx"]', '.onnx", "--", "600"]'))
    process = subprocess.Popen(
        command(tmp_path, "--modes", "F32"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    for line in process.stdout:
        if "aaa_F32_1" in line:
            break
    time.sleep(0.5)
    process.send_signal(stop)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in rest and "Traceback" not in rest
    assert json.loads((tmp_path / "work" / "report.json").read_text())["unfinished"] == 2
    assert not list((tmp_path / "work").rglob("*.tmp"))
    if stop == signal.SIGTERM:
        return
    description.write_text(description.read_text().replace("600", "0"))
    code, text, report = run(tmp_path, "--modes", "F32", "--resume")
    assert code == 0 and text.count(" before ") == 2 and report["passed"] == 4


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["--models", "absent"], "there are good"),
        (["--modes", "F8"], "F8"),
        (["--num_core", "0"], "1 to 24"),
        (["--num_core", "x"], "1 to 24"),
        (["--jobs", "0"], "--jobs"),
        (["--descriptions", "nowhere"], "no descriptions"),
    ],
)
def test_wrong_arguments_are_one_line(tmp_path, zoo, arguments, word):
    zoo[1]("good")
    code, text, report = run(tmp_path, *arguments)
    assert code == 1 and report is None
    assert len(text.strip().splitlines()) == 1 and word in text


@pytest.mark.parametrize(
    "change, word",
    [
        (("title =", "titel ="), "titel"),
        (("[tolerance]", "[tolerance"), "line"),
        (('kind = "normal"', "kind = 3"), "kind"),
        (("[2, 3, 12, 12]", '"2,3"'), "shape"),
        (('"F32", "F16"', '"F32", "I9"'), "I9"),
    ],
)
def test_wrong_descriptions_are_one_line(tmp_path, zoo, change, word):
    zoo[1]("good")
    description = tmp_path / "models" / "good.toml"
    description.write_text(description.read_text().replace(*change))
    code, text, _ = run(tmp_path)
    assert code == 1
    assert len(text.strip().splitlines()) == 1 and "good.toml" in text and word in text


@pytest.mark.parametrize("name, modes, cores, pieces", [("cls", "F32,F16", "1,2,24", 7), ("rec", "F32", "1,24", 3)])
def test_a_model_of_the_zoo(tmp_path, name, modes, cores, pieces):
    """Two of PP-OCR's networks through the whole command, every tensor compared, the same bits on all cores; the files
    come from PyPI."""
    cache = ROOT / ".cache" / "pto-mlir"
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "regression" / "run.py"),
            "--models",
            name,
            "--modes",
            modes,
            "--num_core",
            cores,
            "--cache",
            str(cache),
            "--work",
            str(tmp_path),
            "--jobs",
            "2",
            "--timing",
            "0.1",
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{pieces} passed, 0 failed, 0 skipped" in done.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    for result in report["results"]:
        assert result["what"] == "prepare" or len(result["tensors"]) > 100
    assert report["cores"] and all(c["equal"] for c in report["cores"])


@pytest.mark.parametrize(
    "change, word",
    [
        (None, ""),
        (lambda y: y + np.float32([0, 0, 1e-7]), "y: 1 of 3 elements differ"),
        (lambda y: y * np.float32([-1, 1, 1]), "y: 1 of 3 elements differ"),  # -0.0 is not 0.0
        (lambda y: y.astype(np.float64), "y: float64"),
        (lambda y: y[:2], "y: float32 (2,) instead of float32 (3,)"),
    ],
)
def test_any_bit_that_depends_on_the_cores_fails(tmp_path, change, word):
    """However small: the error against onnxruntime (here 1.0) is no excuse."""
    from types import SimpleNamespace

    first = np.float32([0.0, np.nan, 0.25])
    results = []
    for cores in (1, 2, 24):
        y = change(first) if change and cores == 24 else first
        np.savez(tmp_path / f"net_F32_{cores}_outputs.npz", y=y)
        results.append(
            {
                "what": "model",
                "name": "net",
                "mode": "F32",
                "cores": cores,
                "status": "passed",
                "outputs": [{"name": "y", "max_error": 1.0}],
            }
        )
    outcome = report.collect([SimpleNamespace(result=r) for r in results], [], tmp_path)
    assert outcome["passed"] == 3 and outcome["failed"] == (1 if change else 0)
    assert [c["equal"] for c in outcome["cores"]] == [True, not change]
    assert word in outcome["cores"][1]["difference"]


def test_a_report_shows_an_end_metric_whose_models_failed(tmp_path):
    models = descriptions.read_all(["det", "cls", "rec"], ROOT / "regression" / "models")
    args = run_command.parser().parse_args(["--modes", "F16"])
    run_command.checked(args)
    last = plan.pieces(args, models)[-1]
    assert last.spec["what"] == "metric"
    last.result = {**last.spec, "status": "skipped", "problem": "rec_F16_1 failed"}
    assert "rec_F16_1 failed" in page.render(report.collect([last], [], tmp_path))


def test_the_page_escapes_what_models_say():
    """Names and messages are text, not HTML; every part of the page is there."""
    tensor = {"name": "<b>&t", "position": 0, "shape": [2, 3], "kind": "Conv", "cosine": 1.0, "relative_l2": 1e-7}
    tensor |= {"max_error": 1e-7, "problem": "<i>"}
    result = {
        "what": "model",
        "name": "n<et",
        "processor": "a3",
        "mode": "F32",
        "cores": 2,
        "status": "failed",
        "problem": "x < y",
        "outputs": [{"name": "y", "cosine": 1.0, "max_error": 0.0}],
        "tensors": [tensor],
        "account": {"compared": 1, "absorbed": [], "listed": {}, "lost": ["<lost>"]},
        "first_loss": {"name": "<b>&t", "kind": "Conv", "relative_l2": 0.5, "inputs": 0.1},
        "metric": {"summary": "1 < 2"},
        "seconds": {"deploy": 1.0, "cmodel": 0.2, "onnxruntime": 0.1},
        "peak_mb": {"deploy": 1.0},
        "bytes": {"file": 100, "weights": 60, "commands": 30},
        "kernels": [{"name": "<k>", "core": "AIC", "commands": 3, "bytes": 4}],
        "host_ops": [],
    }
    facts = {"title": "<t>", "source": "s", "licence": "l", "shapes": "[[1]]", "metric": "", "notes": ""}
    cores = [{"name": "n<et", "processor": "a3", "mode": "F32", "cores": [1, 2], "equal": False, "difference": "a<b"}]
    counts = {"passed": 0, "failed": 1, "skipped": 0, "unfinished": 1}
    text = page.render({**counts, "models": {"n<et": facts}, "results": [result], "cores": cores})
    assert not any(word in text for word in ("<b>&t", "<i>", "n<et", "x < y", "<lost>", "<t>", "a<b", "<k>"))
    assert "lost: &lt;lost&gt;" in text and "&lt;b&gt;&amp;t" in text and "were not run" in text
    assert text.count("<svg") == 4 and text.count("<table>") == 3


def test_the_peak_memory_of_a_command_is_its_own():
    held = np.ones(50_000_000)  # 381 MiB
    run = measure.command("model_transform", "--help")
    assert 5 < run.peak_mb < 200 and run.problem == "" and run.output.startswith("usage: ")
    assert measure.command("model_transform", "--model_name", "m").problem and held.size


def test_full_covers_every_chip():
    from pto_mlir import compiler

    chosen = {}
    for options in ([], ["--full"], ["--full", "--num_core", "3"]):
        args = run_command.parser().parse_args(options)
        run_command.checked(args)
        chosen[" ".join(options)] = (args.processors, args.num_core)
    first = next(iter(compiler.processors()))
    assert chosen[""] == ([first], ["1"])
    assert chosen["--full"] == (compiler.chips(), ["1", "24"]) and len(compiler.chips()) > 1
    assert chosen["--full --num_core 3"] == (compiler.chips(), ["3"])


def test_quick_takes_no_times_and_compares_bits(tmp_path, zoo):
    zoo[1]("good")
    code, text, report = run(tmp_path, "--num_core", "1,3", "--modes", "F32", "--quick")
    assert code == 0, text
    one, three = (r for r in report["results"] if r["what"] == "model")
    assert one["tensors"] and "tensors" not in three and three["outputs"]
    assert not {"cmodel", "onnxruntime"} & {*one["seconds"], *three["seconds"]}
    assert [c["equal"] for c in report["cores"]] == [True]
    head, _, row = (tmp_path / "work" / "report.md").read_text().splitlines()
    assert head.split(" | ")[1:] == ["a3 F32", "same bits on |"] and row.endswith("| 1, 3 |")
