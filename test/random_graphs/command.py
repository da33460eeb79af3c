"""The command line.

PYTHONPATH=build/python .venv/bin/python test/random_graphs [--count 300] [--first 0] [--jobs 2] [--full]
PYTHONPATH=build/python .venv/bin/python test/random_graphs --seed 17 --show            # one graph, as text
PYTHONPATH=build/python .venv/bin/python test/random_graphs --seed 17 --reduce DIR      # what fails of it
"""

from __future__ import annotations

import argparse
import collections
import json
import time
from pathlib import Path

from .check import BAD, TARGETS, Outcome, Target, check, kind
from .generate import generate
from .reducer import reduce, write
from .workers import each

FULL = 20_000
MOST_REFUSED = 0.005


def targets_of(seed: int, every: bool, checked: bool = False) -> list[Target]:
    targets = TARGETS if every else [TARGETS[seed % len(TARGETS)]]
    return [target._replace(simulator="checked") for target in targets] if checked else targets


def attempt(task: tuple[int, bool, bool]) -> Outcome:
    seed, every, checked = task
    return check(generate(seed), targets_of(seed, every, checked))


def run(first: int, count: int, every: bool, jobs: int, limit: float, report=lambda seed, outcome: None, checked=False):
    """Outcomes by seed."""
    made: dict[int, Outcome] = {}
    tasks = [(s, every, checked) for s in range(first, first + count)]
    for (seed, *_), outcome in each(tasks, attempt, jobs, limit):
        made[seed] = outcome
        report(seed, outcome)
    return made


def _reduced(seed: int, outcome: Outcome, targets: list[Target], options) -> Outcome:
    """What a failing graph is reduced to: its file and text."""
    small = reduce(generate(seed), outcome, targets, options.limit)
    path = write(small, outcome, targets, options.reduce, f"seed{seed}")
    return Outcome("reduced", f"{path}\n{small.text()}")


def passes(made: dict[int, Outcome]) -> bool:
    """None wrong, crashed or timed out, at most MOST_REFUSED refused."""
    counts = collections.Counter(outcome.status for outcome in made.values())
    return not any(counts[s] for s in BAD if s != "refused") and counts["refused"] <= MOST_REFUSED * len(made)


def summary(made: dict[int, Outcome]) -> str:
    counts = collections.Counter(outcome.status for outcome in made.values())
    causes = collections.Counter(kind(outcome.reason) for outcome in made.values() if outcome.status == "refused")
    lines = [f"{number:6} refused: {text}" for text, number in causes.most_common()]
    return "\n".join([*lines, ", ".join(f"{number} {status}" for status, number in counts.most_common())])


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    made.add_argument("--count", type=int, default=300, help="graphs (%(default)s)")
    made.add_argument("--first", type=int, default=0, help="the first seed")
    made.add_argument("--full", action="store_true", help=f"{FULL} graphs, each on every target")
    made.add_argument("--every", action="store_true", help="each graph on every target, not on one in turn")
    made.add_argument("--checked", action="store_true", help="fail runs that race or read what nobody wrote")
    made.add_argument("--jobs", type=int, default=2)
    made.add_argument("--limit", type=float, default=60, help="seconds for a graph (%(default)s)")
    made.add_argument("--log", type=Path, help="one JSON line per graph that is not right")
    made.add_argument("--seed", type=int, help="this graph alone, on every target")
    made.add_argument("--show", action="store_true", help="with --seed: print the graph")
    made.add_argument("--reduce", type=Path, metavar="DIR", help="write what is left of each failing graph there")
    return made


def main() -> int:
    options = parser().parse_args()
    if options.seed is not None:
        if options.show:
            print(generate(options.seed).text())
            return 0
        options.first, options.count, options.every = options.seed, 1, True
    every = options.every or options.full
    log = options.log.open("w") if options.log else None

    def report(seed: int, outcome: Outcome) -> None:
        if outcome.status == "right":
            return
        print(f"{seed}: {outcome.status} on {' '.join(map(str, outcome.target or []))}: {outcome.reason}", flush=True)
        if log:
            log.write(json.dumps({"seed": seed, **outcome._asdict()}) + "\n")
            log.flush()

    begin = time.monotonic()
    count = FULL if options.full else options.count
    made = run(options.first, count, every, options.jobs, options.limit, report, options.checked)
    print(summary(made), f"in {time.monotonic() - begin:.1f} s")
    if options.reduce:
        for seed, outcome in made.items():
            if outcome.status in BAD:
                targets = [outcome.target] if outcome.target else targets_of(seed, every, options.checked)
                for _, small in each([seed], lambda s: _reduced(s, outcome, targets, options), 1, 600):
                    print(f"{seed}: {small.reason}", flush=True)
    return int(not passes(made))
