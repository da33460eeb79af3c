"""Runs every kind of test (GoogleTest, the same under sanitizers, lit, pytest) and closes with one line.

Each kind writes JUnit XML, which is all that is read here: 'N passed, N failed, N skipped'.
"""

import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RESULTS = BUILD / "test-results"


def run(name: str, command: list[str], env: dict[str, str] | None = None) -> None:
    """Runs one test program; a crash before its report is written counts as one failure."""
    report = RESULTS / f"{name}.xml"
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    passed, failed, skipped = count(report)
    if done.returncode != 0:
        print(done.stdout[-8000:])
        if failed == 0:
            report.write_text(f'<testsuite><testcase name="{name}"><failure/></testcase></testsuite>')
            failed = 1
    print(f"  {name}: {passed} passed, {failed} failed, {skipped} skipped", flush=True)


def count(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped cases of one JUnit file; skips are printed with their reasons."""
    if not report.exists():
        return 0, 0, 0
    passed = failed = skipped = 0
    for case in ET.parse(report).iter("testcase"):
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


def main() -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--full", action="store_true", help="also the long tests")
    full = parser.parse_args().full
    RESULTS.mkdir(parents=True, exist_ok=True)
    for old in RESULTS.glob("*"):
        old.unlink()
    env = {"PTO_MLIR_FULL_TESTS": "1" if full else "0"}
    trees = (
        (BUILD, ""),
        (ROOT / "build-sanitize", "-sanitized"),
        (ROOT / "build-sanitize-thread", "-thread-sanitized"),
    )
    for tree, suffix in trees:
        for test in sorted((tree / "unittests").glob("*Test*")):
            if os.access(test, os.X_OK) and test.is_file():
                name = test.name + suffix
                run(name, [str(test), "--gtest_brief=1", f"--gtest_output=xml:{RESULTS / name}.xml"], env)
    lit = "/usr/lib/llvm-19/build/utils/lit/lit.py"
    run("lit", [sys.executable, lit, "-q", f"--xunit-xml-output={RESULTS / 'lit.xml'}", str(BUILD / "test")])
    python = {"PYTHONPATH": str(BUILD / "python"), **env}
    run(
        "pytest",
        [sys.executable, "-m", "pytest", "-q", "-rs", f"--junitxml={RESULTS / 'pytest.xml'}", "test/python"],
        python,
    )

    total = [count(report) for report in sorted(RESULTS.glob("*.xml"))]
    passed, failed, skipped = (sum(column) for column in zip(*total))
    (RESULTS / "summary.txt").write_text(f"{passed} passed, {failed} failed, {skipped} skipped\n")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
