"""ONNX's own backend tests through the compiler and the simulator, beside onnxruntime:

    PYTHONPATH=build/python .venv/bin/python regression/onnx_node_tests.py --jobs 2 --json t.json --markdown t.md

Every node, simple, pytorch-converted, pytorch-operator and light real-model test of the pinned onnx, with the tests'
own tolerances, by onnx.backend.test. Exit code 1 when a result is wrong, or a process crashed or ran too long.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter, defaultdict
from dataclasses import asdict
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pto_mlir import cli  # noqa: E402

from regression import onnx_suite  # noqa: E402
from regression.onnx_suite import Outcome  # noqa: E402

PROG = "onnx_node_tests"
BAD = ("wrong", "crashed", "timed out")
FAILED = ("refused", *BAD)
# Why the host has an operation that computes no float: it packs integers, or moves elements as values say.
NO_FLOATS = re.compile(r"elements of type u?i[24]$|bits in another type|the values decide the (sizes|number of rows)$")
# Other numbers than ONNX's reference, on purpose.
KNOWN = ("as onnxruntime", "within a rounding", "random numbers")


def parser() -> cli.Parser:
    p = cli.Parser(PROG, "Runs ONNX's own backend tests through compiler and simulator, beside onnxruntime.")
    p.add_argument("--tests", metavar="REGEX", default="", help="only tests whose name matches")
    p.add_argument("--sample", type=int, metavar="N", help="a random choice of N of them")
    p.add_argument("--seed", type=int, default=0, help="of that choice")
    p.add_argument("--jobs", type=int, default=1, help="processes at a time")
    p.add_argument("--limit", type=float, default=100, help="seconds after which a test is stopped")
    p.add_argument("--no-onnxruntime", dest="onnxruntime", action="store_false", help="leave out its column")
    p.add_argument("--json", metavar="F", help="all outcomes and the totals")
    p.add_argument("--markdown", metavar="F", help="operator x opset, and what failed and why")
    return p


def choose(names: list[str], pattern: str, sample: int | None, seed: int) -> list[str]:
    """The names that match, sorted; `sample` of them, the same for the same seed."""
    chosen = sorted(name for name in names if re.search(pattern, name))
    return sorted(random.Random(seed).sample(chosen, min(sample, len(chosen)))) if sample else chosen


def totals(outcomes: list[Outcome]) -> dict[str, int]:
    """How many tests came to what."""
    status = Counter(outcome.status for outcome in outcomes)
    passed = [outcome for outcome in outcomes if outcome.status == "passed"]
    inside = [outcome for outcome in outcomes if outcome.status != "out of scope"]
    return {
        "tests": len(outcomes),
        "passed": len(passed),
        **{kind: status[kind] for kind in (*FAILED, *KNOWN, "out of scope")},
        "passed with nodes on the host": sum(bool(outcome.host_ops) for outcome in passed),
        "with inputs of f32, f16 or bf16": sum(outcome.has_floats for outcome in inside),
        "of these passed on the engines alone": sum(outcome.has_floats and not outcome.host_ops for outcome in passed),
        "of these passed with all float computation on the engines": sum(
            outcome.has_floats and all(map(NO_FLOATS.search, outcome.host_ops)) for outcome in passed
        ),
        "passed specialised on values": sum(bool(outcome.specialised) for outcome in passed),
        "onnxruntime passed": sum(outcome.onnxruntime == "passed" for outcome in inside),
        "onnxruntime passed, we did not": sum(
            outcome.onnxruntime == "passed" and outcome.status != "passed" for outcome in inside
        ),
    }


def cause(reason: str) -> str:
    """A reason without the names and numbers of its test."""
    text = re.sub(r"^.*?model\.onnx: ", "", reason.splitlines()[0] if reason else "")
    text = re.sub(r"node [^(]*\(([\w.]+), opset \d+\)", r"\1", text)
    text = re.sub(r"'[^']*'", "'..'", text)
    return re.sub(r"-?\d+(\.\d+)?", "N", text)[:160]


def markdown(outcomes: list[Outcome]) -> str:
    """The totals, one row for each operator and opset, the causes of failures, and each failure."""
    lines = ["# ONNX's own backend tests", "", "| | tests |", "|---|---|"]
    lines += [f"| {name} | {count} |" for name, count in totals(outcomes).items()]
    columns = ("tests", "passed", "failed", "out of scope", "nodes on the host", "specialised", "onnxruntime passed")
    lines += ["", f"| operator | opset | {' | '.join(columns)} |", "|---" * (2 + len(columns)) + "|"]
    groups: dict[tuple[str, int], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.op or "unknown", outcome.opset].append(outcome)
    for (op, opset), group in sorted(groups.items()):
        counts = totals(group)
        row = (
            len(group),
            counts["passed"],
            sum(counts[kind] for kind in FAILED),
            counts["out of scope"],
            counts["passed with nodes on the host"],
            counts["passed specialised on values"],
            sum(outcome.onnxruntime == "passed" for outcome in group),
        )
        lines.append(f"| {op} | {opset} | {' | '.join(map(str, row))} |")
    failed = [outcome for outcome in outcomes if outcome.status in (*FAILED, *KNOWN)]
    causes = Counter((outcome.status, cause(outcome.reason)) for outcome in failed)
    lines += ["", "| tests | | cause |", "|---|---|---|"]
    lines += [f"| {count} | {status} | {_cell(text)} |" for (status, text), count in causes.most_common()]
    lines += ["", "| test | | reason |", "|---|---|---|"]
    others = [outcome for outcome in outcomes if outcome.status == "out of scope"]
    lines += [f"| {o.name} | {o.status} | {_cell(o.reason)} |" for o in failed + others]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def run(pattern: str, sample: int | None, seed: int, jobs: int, limit: float, beside: bool) -> list[Outcome]:
    """Runs the chosen tests; `beside`: also with onnxruntime."""
    ours = onnx_suite.load(onnx_suite.Recording)
    theirs = onnx_suite.load(onnx_suite.OrtBackend) if beside else {}
    return onnx_suite.run(choose(list(ours), pattern, sample, seed), ours, theirs, jobs, limit)


def main() -> int:
    args = parser().parse_args()
    outcomes = run(args.tests, args.sample, args.seed, args.jobs, args.limit, args.onnxruntime)
    counts = totals(outcomes)
    if args.json:
        document = {"totals": counts, "tests": [asdict(outcome) for outcome in outcomes]}
        Path(args.json).write_text(json.dumps(document, indent=1))
    if args.markdown:
        Path(args.markdown).write_text(markdown(outcomes))
    for outcome in outcomes:
        if outcome.status in BAD:
            print(f"{outcome.name}: {outcome.status}: {outcome.reason}")
    for name, count in counts.items():
        print(f"{count:6} {name}")
    return 1 if any(counts[kind] for kind in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
