"""The groups `st` and `ut` of regression.pypto: tests of a checkout under pytest with our package, files unmodified.

A test is passed, failed with its reason, or skipped by its own condition. Of one for several platforms one is counted.
A system test that skips with the option or the variable that it wants is run again with it.
"""

from __future__ import annotations

import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"st": ("tests/st",), "ut": ("tests/ut/language", "tests/ut/jit")}
_WANTED = re.compile(r"Skipped: pass (--[\w-]+) to|set (\w+)=(\w+) and run")
ERROR_FILES = ("test_error_cases.py", "test_error_wrapping.py", "test_op_validation.py")


def family(path: str) -> str:
    """The row of the table that a test file belongs to."""
    parts = Path(path).parts
    if parts[1] == "ut":
        return "errors" if parts[-1] in ERROR_FILES else parts[2]
    if parts[2] != "runtime":
        return parts[2]
    return parts[3] if len(parts) > 4 and parts[3] != "external_kernel" else "other"


def environment(rows: Path, folder: str, args) -> dict:
    from pto_mlir import pypto

    package = Path(pypto.__file__).resolve().parent.parent
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(package), str(ROOT)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYPTO_PROG_BUILD_DIR": folder,
        "TMPDIR": folder,
        "PYPTO_TESTS_ROWS": str(rows),
        "PYPTO_TESTS_LIMIT": str(args.timeout),
        "PYPTO_TESTS_PLATFORM": args.platform,
        "PYPTO_TESTS_CHECKED": "1" if args.checked else "",
    }


def wanted(rows: list[dict]) -> tuple[list[str], dict]:
    """(options, variables of the environment) that skipped tests ask for in their reasons."""
    found = [_WANTED.search(row.get("reason", "")) for row in rows if row["outcome"] == "skipped"]
    options = {each[1] for each in found if each and each[1]}
    return sorted(options), {each[2]: each[3] for each in found if each and each[2]}


def run(checkout: Path, file: Path, args) -> list[dict]:
    """The rows of one file: test, outcome (passed, failed, skipped), seconds, reason."""
    rows = run_with(checkout, file, [str(file)], args, {})
    options, variables = wanted(rows)
    if not options:
        return rows
    # What they look at lies where kernels are saved, in folders by seconds: other tests may not write there as well.
    skipped = [f"{file}::{row['test']}" for row in rows if row["outcome"] == "skipped"]
    again = run_with(checkout, file, [*skipped, *options, "--save-kernels"], args, variables)
    found = {row["test"]: row for row in again}
    return [found.get(row["test"], row) if row["outcome"] == "skipped" else row for row in rows]


def run_with(checkout: Path, file: Path, arguments: list[str], args, variables: dict) -> list[dict]:
    """The rows of one run of pytest on a file's tests with these arguments and variables of the environment."""
    name = str(file.relative_to(checkout))
    command = [
        args.python,
        "-m",
        "pto_mlir.pypto",
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "regression.pypto_plugin",
    ]
    command += ["-q", "--tb=short", "--no-header", f"--rootdir={checkout}", *arguments]
    if name.startswith("tests/st"):
        command += [f"--platform={args.platform},{args.platform}sim", "--device=0-7"]
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows"
        with open(Path(folder) / "log", "w+") as log:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**environment(rows, folder, args), **variables},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            try:
                code = process.wait(max(600.0, 20 * args.timeout))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                code = None
            log.seek(0)
            lines = log.read().strip().splitlines()
        events = [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []
    ended = "the file took too long" if code is None else f"the process ended with {code}: {(lines or [''])[-1]}"
    return outcomes(name, events, ended, code in (0, 1, 2, 5))


def outcomes(name: str, events: list[dict], ended: str, in_order: bool) -> list[dict]:
    """A row for each test out of what the plug-in noted."""
    rows: dict[str, dict] = {}
    for event in events:
        held = rows.setdefault(event["test"], {"file": name, "test": event["test"].split("::", 1)[-1]})
        if held.get("outcome") != "failed":  # a failed test stays one, whatever its teardown says
            held.update({key: value for key, value in event.items() if key != "test"})
    for row in rows.values():
        if row["outcome"] == "uncollected":
            row["outcome"] = "failed"
        elif row["outcome"] == "collected":
            row.update(outcome="failed", reason=ended)
    if not rows and not in_order:
        return [{"file": name, "test": "", "outcome": "failed", "reason": ended}]
    return list(rows.values())


def grouped(reason: str) -> str:
    """A reason without what differs between tests: names, numbers, paths."""
    text = re.sub(r"\S*/\S+", "PATH", reason)
    text = re.sub(r"\d+", "N", text)
    return text[:120]


def files(checkout: Path, group: str, only: str) -> list[Path]:
    found = [each for folder in FOLDERS[group] for each in sorted((checkout / folder).rglob("test_*.py"))]
    return [each for each in found if only in str(each.relative_to(checkout))]


def count(rows: list[dict]) -> dict[str, collections.Counter]:
    """passed, failed and skipped of each family, and of all."""
    counts: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for row in rows:
        for each in (family(row["file"]), "all"):
            counts[each][row["outcome"]] += 1
    return {each: counts[each] for each in [*sorted(set(counts) - {"all"}), "all"] if each in counts}


def report(rows: list[dict], most: int = 40) -> None:
    from pto_mlir import cli

    head = ["family", "passed", "failed", "skipped", "tests"]
    cells = []
    for name, counter in count(rows).items():
        outcomes_ = [counter[each] for each in ("passed", "failed", "skipped")]
        cells.append([name, *map(str, [*outcomes_, sum(outcomes_)])])
    cli.table(head, cells, left=(0,))
    failed = [row for row in rows if row["outcome"] == "failed"]
    reasons = collections.Counter((family(row["file"]), grouped(row.get("reason", ""))) for row in failed)
    if reasons:
        print()
        cells = [[str(n), where, reason] for (where, reason), n in reasons.most_common(most)]
        cli.table(["failed", "family", "reason"], cells, left=(1, 2))


def main_of(args) -> int:
    """Runs the group that the options name."""
    checkout = Path(args.checkout).resolve()
    todo = files(checkout, args.group, args.only)
    saved = checkout / "build_output"
    before = set(saved.iterdir()) if saved.is_dir() else set()
    rows = []
    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
        done = pool.map(lambda each: run(checkout, each, args), todo)
        for file, each in zip(todo, done, strict=True):
            rows += each
            passed = sum(row["outcome"] == "passed" for row in each)
            print(f"{file.relative_to(checkout)}: {passed} of {len(each)} passed", file=sys.stderr, flush=True)
            if args.json:  # what is known so far, should the run be ended
                Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    for each in set(saved.iterdir()) - before if saved.is_dir() else ():
        shutil.rmtree(each, ignore_errors=True)
    report(rows)
    return 0
