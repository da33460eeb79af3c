"""Runs every kind of test (GoogleTest, the same under sanitizers, fuzzers, lit, pytest) and closes with one line.

Each kind writes JUnit XML, which is all that is read here: 'N passed, N failed, N skipped'. A program that runs past
its limit, writes no report or runs no test counts as one failure.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RESULTS = BUILD / "test-results"
LIMITS = {"": 300, "-sanitized": 900, "-thread-sanitized": 900}  # seconds of one GoogleTest program
TEST_LIMIT = 300  # seconds of one lit or pytest test
SUITE_LIMIT = 3600  # seconds of all of lit, and of all of pytest
# With the folders of their seeds in the tree, beside what the build makes in unittests/seeds.
FUZZERS = {
    "ByteCodeFuzz": ["test/VM"],
    "ONNXFuzz": [],
    "PModelFuzz": [],
    "ProgramFuzz": [],
    "PyPTOFuzz": [],
    "StreamFuzz": [],
}
FUZZ_SECONDS = 60
PYTEST_WORKERS = 2  # of pytest-xdist


def execute(command: list[str], env: dict[str, str] | None, limit: float) -> tuple[int, str]:
    """Exit code and output. Past `limit` seconds the program and its children are killed, and the output says so."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return 124, f"{output}\nkilled after its limit of {limit:g} s"
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise


def run(name: str, command: list[str], env: dict[str, str] | None = None, limit: float = SUITE_LIMIT) -> None:
    """Runs one test program that writes RESULTS/NAME.xml."""
    report = RESULTS / f"{name}.xml"
    code, output = execute(command, env, limit)
    passed, failed, skipped = count(report)
    problem = ""
    if code != 0 and failed == 0:
        problem = f"exit code {code}"
    elif not report.exists():
        problem = "it wrote no report"
    elif passed + failed + skipped == 0:
        problem = "it ran no test"
    if code != 0 or problem:
        print(output[-8000:])
    if problem:
        print(f"  {name}: {problem}")
        add_failure(name, problem)
        failed += 1
    print(f"  {name}: {passed} passed, {failed} failed, {skipped} skipped", flush=True)


def add_failure(name: str, problem: str) -> None:
    """Reports a failure of a program as a whole, beside whatever it reported itself."""
    suite = ET.Element("testsuite")
    case = ET.SubElement(suite, "testcase", name=name)
    ET.SubElement(case, "failure", message=problem)
    ET.ElementTree(suite).write(RESULTS / f"{name}-program.xml")


def fuzz(binary: Path, seeds: list[str], seconds: int) -> None:
    """Runs a libFuzzer program for `seconds`; a crash, hang or leak is a failure, and the input that shows it is
    kept."""
    name = binary.name
    if not binary.is_file():
        print(f"  {name}: {binary} is not built")
        return add_failure(name, "it is not built")
    with tempfile.TemporaryDirectory() as corpus:
        options = [f"-max_total_time={seconds}", "-timeout=30", "-rss_limit_mb=4096", "-print_final_stats=1"]
        if seconds <= FUZZ_SECONDS:  # the gate's inputs are the same each time; --full draws others
            options.append("-seed=1")
        made = binary.parent / "seeds" / name
        folders = [corpus, *seeds, *([str(made)] if made.is_dir() else [])]
        command = [str(binary), *options, f"-artifact_prefix={RESULTS}/{name}-", *folders]
        code, output = execute(command, None, seconds + 300)
    if code != 0:
        inputs = sorted(map(str, RESULTS.glob(f"{name}-*-*")))
        print(output[-4000:])
        print(
            f"  {name}: exit code {code}; reproduce: {binary} {' '.join(inputs) or '(no input was kept)'}", flush=True
        )
        return add_failure(name, f"exit code {code}")
    (RESULTS / f"{name}.xml").write_text(f'<testsuite><testcase name="{name}"/></testsuite>')
    print(f"  {name}: {seconds} s without a crash", flush=True)


def fuzz_all(tree: Path, seconds: int) -> None:
    """Every fuzzer, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda item: fuzz(tree / "unittests" / item[0], item[1], seconds), FUZZERS.items()))


def count(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped cases of one JUnit file; skips are printed with their reasons."""
    if not report.exists():
        return 0, 0, 0
    try:
        cases = list(ET.parse(report).iter("testcase"))
    except ET.ParseError:  # the program died while it wrote
        report.unlink()
        return 0, 0, 0
    passed = failed = skipped = 0
    for case in cases:
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif skip is not None or case.get("status") == "notrun":
            skipped += 1
            reason = skip.get("message", "") if skip is not None else "disabled"
            print(f"  skipped {case.get('classname')}.{case.get('name')}: {reason}")
        else:
            passed += 1
    return passed, failed, skipped


def close() -> int:
    """Writes the summary; 1 when anything failed or nothing passed."""
    total = [count(report) for report in sorted(RESULTS.glob("*.xml"))]
    passed, failed, skipped = (sum(column) for column in zip(*total)) if total else (0, 0, 0)
    (RESULTS / "summary.txt").write_text(f"{passed} passed, {failed} failed, {skipped} skipped\n")
    return 1 if failed or not passed else 0


def main() -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--full", action="store_true", help="also the long tests")
    full = parser.parse_args().full
    RESULTS.mkdir(parents=True, exist_ok=True)
    for old in RESULTS.glob("*"):
        old.unlink()
    env = {"PTO_MLIR_FULL_TESTS": "1" if full else "0", "PTO_MLIR_TEST_LIMIT": str(TEST_LIMIT * (10 if full else 1))}
    trees = (
        (BUILD, ""),
        (ROOT / "build-sanitize", "-sanitized"),
        (ROOT / "build-sanitize-thread", "-thread-sanitized"),
    )
    for tree, suffix in trees:
        for test in sorted((tree / "unittests").glob("*Test*")):
            if os.access(test, os.X_OK) and test.is_file():
                name = test.name + suffix
                command = [str(test), "--gtest_brief=1", f"--gtest_output=xml:{RESULTS / name}.xml"]
                run(name, command, env, LIMITS[suffix] * (10 if full else 1))
    fuzz_all(BUILD, FUZZ_SECONDS * (10 if full else 1))
    lit = ["/usr/lib/llvm-19/build/utils/lit/lit.py", "-q", f"--timeout={TEST_LIMIT}"]
    run("lit", [sys.executable, *lit, f"--xunit-xml-output={RESULTS / 'lit.xml'}", str(BUILD / "test")])
    python = {"PYTHONPATH": str(BUILD / "python"), **env}
    pytest = ["-m", "pytest", "-q", "-rs", "-n", str(PYTEST_WORKERS), f"--junitxml={RESULTS / 'pytest.xml'}"]
    run("pytest", [sys.executable, *pytest, "test/python"], python, SUITE_LIMIT * (10 if full else 1))
    return close()


if __name__ == "__main__":
    sys.exit(main())
