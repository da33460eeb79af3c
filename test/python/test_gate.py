"""Tests of the test runner: a program that hangs, writes no report or runs no test is a failure."""

import importlib.util
import os
import re
import subprocess
import sys
import time

import pytest
from conftest import ROOT


@pytest.fixture
def gate(tmp_path):
    spec = importlib.util.spec_from_file_location("run_tests", ROOT / "scripts" / "run_tests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.RESULTS = tmp_path
    return module


CASES = '<testsuite><testcase name="a"/><testcase name="b"/></testsuite>'
WRITE = "import sys; open({report!r}, 'w').write({text!r}); sys.exit({code})"


def program(tmp_path, text: str, code: int = 0) -> list[str]:
    """A test program that writes this report and exits with this code."""
    return [sys.executable, "-c", WRITE.format(report=str(tmp_path / "t.xml"), text=text, code=code)]


def summary(gate) -> tuple[int, str]:
    return gate.close(), (gate.RESULTS / "summary.txt").read_text().strip()


def test_a_good_program_passes(gate, tmp_path):
    gate.run("t", program(tmp_path, CASES))
    assert summary(gate) == (0, "2 passed, 0 failed, 0 skipped")


@pytest.mark.parametrize(
    "text, code, expected, word",
    [
        ("<testsuite></testsuite>", 0, "0 passed, 1 failed, 0 skipped", "ran no test"),
        (CASES, 3, "2 passed, 1 failed, 0 skipped", "exit code 3"),
        ("<testsuite><testcase", 0, "0 passed, 1 failed, 0 skipped", "wrote no report"),
    ],
)
def test_bad_reports_are_failures(gate, tmp_path, capsys, text, code, expected, word):
    gate.run("t", program(tmp_path, text, code))
    assert summary(gate) == (1, expected)
    assert word in capsys.readouterr().out


def test_no_report_is_a_failure(gate, capsys):
    gate.run("t", [sys.executable, "-c", "print('nothing to see')"])
    assert summary(gate) == (1, "0 passed, 1 failed, 0 skipped")
    assert "wrote no report" in capsys.readouterr().out


def test_a_program_that_hangs_is_killed_with_its_children(gate, tmp_path, capsys):
    child = "import time, os; open({!r}, 'w').write(str(os.getpid())); time.sleep(600)".format(str(tmp_path / "pid"))
    text = f"import subprocess, sys; print('begin', flush=True); subprocess.run([sys.executable, '-c', {child!r}])"
    begin = time.monotonic()
    gate.run("t", [sys.executable, "-c", text], limit=3)
    assert time.monotonic() - begin < 60
    assert summary(gate) == (1, "0 passed, 1 failed, 0 skipped")
    assert "killed after its limit of 3 s" in capsys.readouterr().out
    pid = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 20  # a signal takes effect asynchronously
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    state = [line for line in _status(pid) if line.startswith("State")]
    return bool(state) and "Z" not in state[0]


def _status(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/status") as file:
            return file.read().splitlines()
    except OSError:
        return []


def test_nothing_at_all_is_a_failure(gate):
    assert summary(gate) == (1, "0 passed, 0 failed, 0 skipped")


def test_a_python_test_has_a_limit(tmp_path):
    """The limit of conftest.py: a test that sleeps beyond it fails, the next one runs."""
    (tmp_path / "conftest.py").write_text((ROOT / "test" / "python" / "conftest.py").read_text())
    (tmp_path / "test_slow.py").write_text(
        "import time\n\ndef test_slow():\n    time.sleep(600)\n\ndef test_next():\n    pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        env={**os.environ, "PTO_MLIR_TEST_LIMIT": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "took longer than its limit of 1 s" in done.stdout and "1 failed, 1 passed" in done.stdout


def test_lit_has_a_limit(tmp_path):
    (tmp_path / "lit.cfg").write_text(
        "import lit.formats\nconfig.name = 'limit'\nconfig.suffixes = ['.test']\n"
        "config.test_format = lit.formats.ShTest(True)\n"
    )
    (tmp_path / "slow.test").write_text("RUN: sleep 600\n")
    done = subprocess.run(
        [sys.executable, "/usr/lib/llvm-19/build/utils/lit/lit.py", "-v", "--timeout=1", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1 and "Timed Out" in done.stdout, done.stdout + done.stderr


FUZZER = """#!{python}
import sys
prefix = next(a.partition("=")[2] for a in sys.argv if a.startswith("-artifact_prefix="))
assert "-max_total_time=1" in sys.argv
if {crash}:
    open(prefix + "crash-0123", "w").close()
    print("ERROR: AddressSanitizer: heap-buffer-overflow")
    sys.exit(77)
"""


@pytest.fixture
def fuzzer(gate, tmp_path, monkeypatch):
    folder = tmp_path / "unittests"
    folder.mkdir()
    monkeypatch.setattr(gate, "FUZZERS", {"OneFuzz": [], "TwoFuzz": []})

    def make(name, crash):
        (folder / name).write_text(FUZZER.format(python=sys.executable, crash=crash))
        (folder / name).chmod(0o755)

    make("OneFuzz", False)
    return make


def test_every_fuzzer_of_the_build_runs(gate):
    built = {
        name
        for path in (ROOT / "unittests").glob("*/CMakeLists.txt")
        for name in re.findall(r"^pto_add_fuzzer\((\w+)", path.read_text(), re.M)
    }
    assert built == set(gate.FUZZERS)


def test_fuzzers_without_a_crash_pass(gate, fuzzer, tmp_path):
    fuzzer("TwoFuzz", False)
    gate.fuzz_all(tmp_path, 1)
    assert summary(gate) == (0, "2 passed, 0 failed, 0 skipped")


def test_a_crash_of_a_fuzzer_is_a_failure_with_its_input(gate, fuzzer, tmp_path, capsys):
    fuzzer("TwoFuzz", True)
    gate.fuzz_all(tmp_path, 1)
    assert summary(gate) == (1, "1 passed, 1 failed, 0 skipped")
    out = capsys.readouterr().out
    assert (
        "heap-buffer-overflow" in out
        and f"reproduce: {tmp_path}/unittests/TwoFuzz {tmp_path}/TwoFuzz-crash-0123" in out
    )


def test_a_fuzzer_that_is_not_built_is_a_failure(gate, fuzzer, tmp_path, capsys):
    gate.fuzz_all(tmp_path, 1)
    assert summary(gate) == (1, "1 passed, 1 failed, 0 skipped")
    assert "TwoFuzz is not built" in capsys.readouterr().out
