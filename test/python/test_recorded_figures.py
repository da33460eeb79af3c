"""The tables of figures in README.md and docs/ are what scripts/readme_table.py writes from the recorded runs."""

import copy
import importlib.util
import json
import subprocess
import sys

import pytest
from conftest import ROOT

SCRIPT = ROOT / "scripts" / "readme_table.py"


@pytest.fixture(scope="module")
def tables():
    spec = importlib.util.spec_from_file_location("readme_table", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def recorded(tables):
    return {name: tables.read(tables.RECORDED / f"{name}.json") for name in tables.BLOCKS}


def run(*arguments):
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True)


def test_pages_are_what_the_recorded_runs_give():
    assert run("--check").returncode == 0, f"run {SCRIPT.name}"


def test_a_figure_that_changes_makes_the_page_stale(tables, recorded, tmp_path):
    for name, change in (("zoo", {"value": 99.0}),):
        other = copy.deepcopy(recorded[name])
        shown = next(row for row in other["rows"] if row["model"] in tables.NETWORKS and row["what"] == tables.SPEED)
        shown |= change
        assert tables.BLOCKS[name].write(other) != tables.BLOCKS[name].write(recorded[name])
        (tmp_path / f"{name}.json").write_text(json.dumps(other))
        assert run("--check", f"--{name}", tmp_path / f"{name}.json").returncode == 1


def test_blocks_name_the_command_and_the_tree(tables, recorded):
    text = tables.zoo(recorded["zoo"])
    assert "    PYTHONPATH=build/python .venv/bin/python benchmarks/zoo.py --modes F32,F16\n" in text
    assert recorded["zoo"]["tree"] in text and recorded["zoo"]["machine"] in text
    for name, block in tables.BLOCKS.items():
        command = block.write(recorded[name]).splitlines()[0]
        script = next(word for word in command.split() if word.endswith(".py"))
        assert (ROOT / script).is_file(), f"{name}: no command {script} makes these figures"


def test_the_script_reads_what_the_benchmark_writes(tables, monkeypatch, tmp_path):
    """The names of figures in benchmarks/zoo.py, and the form of benchmarks/record.py."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import record
    import zoo

    assert (tables.SPEED, tables.FILE) == (zoo.zoo_cost.OVER_ONNXRUNTIME, zoo.FILE)
    table = zoo.Table()
    for name in tables.NETWORKS:
        outputs = [
            {"name": n, "cosine": 1.0, "max_error": e, "float64": e, "onnxruntime_float64": 1e-6}
            for n, e in (("y", 1e-6), ("z", 2e-6))
        ]
        for mode in ("F32", "F16"):
            result = {
                "name": name,
                "mode": mode,
                "cores": 1,
                "outputs": outputs,
                "seconds": {"cmodel": 0.3, "onnxruntime": 0.1},
            }
            result |= {"bytes": {"file": 1000, "weights": 900}, "kernels": []}
            case = zoo.Case(result, {}, None, None, tmp_path)
            zoo.accuracy(table, result)
            zoo.inference(table, case)
            zoo.sizes(table, case, 900)
        table.add(name, "F32", zoo.CONVERSION, 1.5, None, ".2f")
    record.write(tmp_path / "zoo.json", "command", table.rows, zoo.summary(table))
    text = tables.zoo(tables.read(tmp_path / "zoo.json"))
    row = "| PP-OCR cls | 1x3x48x192 | 3.0 x | 3.0 x | 2.0e-6 | 2.0 x | 2.0e-6 | 1.0000000 | 1,000 |"
    assert row in text and "1.5 to 1.5 s per network" in text


@pytest.mark.parametrize("text, word", [("{", "Expecting"), ("[]", "command"), ('{"rows": []}', "command")])
def test_a_bad_file_is_one_line(tmp_path, text, word):
    (tmp_path / "bad.json").write_text(text)
    done = run("--check", "--zoo", tmp_path / "bad.json")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and word in done.stderr


def test_a_missing_figure_is_named(tables, recorded, tmp_path):
    other = {**recorded["zoo"], "rows": [r for r in recorded["zoo"]["rows"] if r["model"] != "rec"]}
    (tmp_path / "less.json").write_text(json.dumps(other))
    done = run("--check", "--zoo", tmp_path / "less.json")
    assert done.returncode == 1 and "of rec in F32" in done.stderr and len(done.stderr.splitlines()) == 1
