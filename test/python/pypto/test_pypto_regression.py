"""regression/pypto.py on a small checkout."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
GOOD = """
import argparse
import numpy as np
import pypto.language as pl


@pl.jit
def twice(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.add(x, x)


_MODES = {"small": 8, "large": 32}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=sorted(_MODES), default="small")
    x = np.ones((_MODES[parser.parse_args().mode], 32), np.float32)
    y = np.zeros_like(x)
    twice(x, y)
    assert np.allclose(y, x * FACTOR)
"""


def test_rows_say_how_far_a_program_comes(tmp_path):
    folder = tmp_path / "examples" / "beginner"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "01_good.py").write_text(GOOD.replace("FACTOR", "2"))
    (folder / "02_wrong.py").write_text(GOOD.replace("FACTOR", "3").replace("choices=sorted(_MODES), ", ""))
    (folder / "03_broken.py").write_text(GOOD.replace("pl.add(x, x)", "pl.nothing(x)").replace("choices", "help"))
    out = tmp_path / "rows.json"
    command = [sys.executable, "-m", "regression.pypto", "--checkout", tmp_path, "--json", out, "--jobs", "2"]
    done = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "2 of 4 runs that check numbers pass, 0 of 0 others"
    rows = {(row["file"].rsplit("/", 1)[1], row["mode"]): row for row in json.loads(out.read_text())}
    assert set(rows) == {("01_good.py", "small"), ("01_good.py", "large"), ("02_wrong.py", ""), ("03_broken.py", "")}
    assert all(rows["01_good.py", "large"][each] for each in ("parsed", "compiled", "ran", "passed"))
    assert rows["02_wrong.py", ""]["ran"] and not rows["02_wrong.py", ""]["passed"]
    broken = rows["03_broken.py", ""]
    assert not broken["parsed"] and not broken["passed"] and "pl.nothing" in broken["reason"]


RACE = """
import numpy as np
import pypto.language as pl


@pl.jit.incore
def step(x: pl.Tensor, y: pl.InOut[pl.Tensor]):
    h, w = x.shape
    y = pl.store(pl.add(pl.load(x, [0, 0], [h, w]), pl.load(y, [0, 0], [h, w])), [0, 0], y)
    return y


@pl.jit
def twice(x: pl.Tensor, y: pl.InOut[pl.Tensor]):
    with pl.manual_scope():
        y, first = pl.submit(step, x, y)
        y, second = pl.submit(step, x, y)
    return y


if __name__ == "__main__":
    x, y = np.ones((8, 32), np.float32), np.zeros((8, 32), np.float32)
    twice(x, y)
    assert np.allclose(y, 2)
"""


def test_programs_in_the_checked_mode(tmp_path):
    folder = tmp_path / "examples"
    folder.mkdir()
    (folder / "01_good.py").write_text(GOOD.replace("FACTOR", "2").replace("choices", "help"))
    (folder / "02_race.py").write_text(RACE)
    (folder / "03_ordered.py").write_text(
        RACE.replace("submit(step, x, y)\n    return", "submit(step, x, y, deps=[first])\n    return")
    )
    out = tmp_path / "rows.json"
    for options, passed in ([], [True] * 3), (["--checked"], [True, False, True]):
        command = [sys.executable, "-m", "regression.pypto", "--checkout", tmp_path, "--json", out, *options]
        done = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
        rows = json.loads(out.read_text())
        assert [row["passed"] for row in rows] == passed, done.stdout + done.stderr
    assert "02_race.py:" in rows[1]["reason"] or "task-race" in rows[1]["reason"]


def test_a_folder_that_is_no_checkout(tmp_path):
    command = [sys.executable, "-m", "regression.pypto", "--checkout", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "has no folder examples" in done.stderr and "Traceback" not in done.stderr


def test_options_that_skipped_tests_ask_for():
    from regression.pypto_tests import wanted

    rows = [
        {"outcome": "skipped", "reason": "Skipped: pass --enable-chip-swimlane to validate the chain"},
        {"outcome": "skipped", "reason": "Skipped: a witness; set PYPTO_EXTRA=1 and run this test node by itself"},
        {"outcome": "skipped", "reason": "Skipped: Under debugging"},
        {"outcome": "passed"},
        {"outcome": "failed", "reason": "Skipped: pass --other to see"},
    ]
    assert wanted(rows) == (["--enable-chip-swimlane"], {"PYPTO_EXTRA": "1"})


def test_modes_of_switches_and_devices():
    from regression.pypto import modes

    text = """
parser.add_argument("--mode", choices=["put", "get"])
parser.add_argument("-d", "--device", help="device ids, any count >= 2")
parser.add_argument("--use-builtin", action="store_true")
parser.add_argument("--compile-only", action="store_true")
"""
    ways = [["--mode", "put"], ["--mode", "get"]]
    ways += [[*each, "--device", "0,1,2,3"] for each in ways]
    assert modes(text) == ways + [[*each, "--use-builtin"] for each in ways]
