"""A plug-in of pytest for runs of public tests: a time limit for each test, one platform of each, a line of JSON for
each outcome. Set by $PYPTO_TESTS_ROWS (file), $PYPTO_TESTS_LIMIT (seconds), $PYPTO_TESTS_PLATFORM,
$PYPTO_TESTS_CHECKED (whether programs run in the checked mode)."""

import json
import os
import re
import signal

import pytest

_PLATFORMS = ("a2a3", "a2a3sim", "a5", "a5sim")
_RAISED = re.compile(r"(?:^|\s)((?:[\w.]+\.)?(\w*(?:Error|Exception|Warning|Failed))(?:: (.*))?)$")


def _note(row):
    with open(os.environ["PYPTO_TESTS_ROWS"], "a") as out:
        out.write(json.dumps(row) + "\n")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Of a test for several platforms, only the one that is counted."""
    wanted = os.environ["PYPTO_TESTS_PLATFORM"]
    kept, dropped = [], []
    for item in items:
        values = getattr(getattr(item, "callspec", None), "params", {}).values()
        platforms = {each for each in values if isinstance(each, str) and each in _PLATFORMS}
        (dropped if platforms and wanted not in platforms else kept).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    for item in session.items:
        _note({"test": item.nodeid, "outcome": "collected"})


def pytest_collectreport(report):
    if report.failed:
        _note({"test": report.nodeid, "outcome": "uncollected", "reason": reason(str(report.longrepr))})


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    limit = float(os.environ["PYPTO_TESTS_LIMIT"])

    def stop(*_):
        signal.setitimer(signal.ITIMER_REAL, 1)  # again, where the first was caught
        pytest.fail(f"TimeoutError: longer than {limit:g} s", pytrace=False)

    held = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, held)


def reason(text):
    """The innermost error that a report tells: a test often asserts on the text of another one."""
    last = ""
    for line in text.splitlines():
        line = line.removeprefix("E ").strip()
        found = _RAISED.search(line) if not line.endswith("Error") else None
        parts = re.split(r"(?<=: )(?=[\w.]*(?:Error|Exception): )", line)
        if len(parts) > 1 or re.match(r"[\w.]*(?:Error|Exception|Failed): ", line):
            last = parts[-1]
        elif found is not None and found[3]:
            last = found[1]
    last = re.sub(r"^(?:\w+\.)+(?=\w+: )", "", last)  # the class without its module
    return (last or next((each for each in reversed(text.splitlines()) if each.strip()), ""))[:400]


def pytest_runtest_logreport(report):
    if report.when != "call" and report.passed:
        return
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = "skipped" if report.skipped else outcome
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr or "")
    row = {"test": report.nodeid, "outcome": outcome, "seconds": round(report.duration, 2)}
    if outcome != "passed":
        crash = getattr(getattr(report.longrepr, "reprcrash", None), "message", None)
        row["reason"] = reason(crash or text) if outcome == "failed" else text[:200]
    _note(row)


def pytest_configure(config):
    from regression.pypto import index_as_newer_torch, run_checked

    index_as_newer_torch()
    if os.environ.get("PYPTO_TESTS_CHECKED"):
        run_checked()
