"""The commands shown in README.md run as printed."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

README = (ROOT / "README.md").read_text()
CLS = ROOT / ".cache" / "cls"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def after_commands():
    """The folder of the README's model after its shell commands ran; the model is fetched first if quickstart.sh has
    not done so."""
    fetch = [sys.executable, str(ROOT / "scripts" / "fetch_cls.py"), str(CLS)]
    subprocess.run(fetch, cwd=ROOT, check=True, capture_output=True)
    script = "".join(blocks("sh"))
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return CLS


def test_shell_commands(after_commands):
    with np.load(after_commands / "out.npz") as out:
        assert out.files


def test_python_lines(after_commands):
    prepare = "import numpy as np; image = np.load('cls_in_f32.npz')['x']\n"
    show = "\nassert probabilities.shape == (1, 2) and abs(probabilities.sum() - 1) < 1e-2"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "python")}
    for code in blocks("python"):
        done = subprocess.run(
            [sys.executable, "-c", prepare + code + show], cwd=after_commands, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def test_two_commands_are_those_of_the_gate():
    """.ci/run runs the commands of the README, in that order."""
    gate = (ROOT / ".ci" / "run").read_text()
    section = README.split("## Two commands")[1].split("\n## ")[0]
    printed = re.findall(r"^    (\./\S+)", section, re.MULTILINE)
    assert printed == ["./quickstart.sh", "./test.sh"]
    assert re.findall(r"^(?:exec |CCACHE_DISABLE=1 )(\./\S+)$", gate, re.MULTILINE) == printed
