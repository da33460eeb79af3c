"""The verdict of a benchmark: goals that hold, misses with a recorded reason, and misses that end it with exit code 1.

`known_misses.toml` beside this file lists each miss that is accepted: benchmark, goal, the value measured and the
reason. A miss passes while its value is not worse than the one listed; a listed goal that holds again is named, so that
its entry can go.
"""

from __future__ import annotations

from pathlib import Path

import tomllib

KNOWN_MISSES = Path(__file__).with_name("known_misses.toml")
KEYS = {"benchmark": str, "goal": str, "value": float, "reason": str}


def read_known(file: Path, benchmark: str) -> dict[str, dict]:
    """The entries of one benchmark by goal; a SystemExit in one line for a file that is not well-formed."""
    try:
        entries = tomllib.loads(file.read_text()).get("miss", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise SystemExit(f"{file}: {error}") from None
    known: dict[str, dict] = {}
    for number, entry in enumerate(entries, 1):
        for key, kind in KEYS.items():
            value = entry.get(key)
            if not isinstance(value, (int, float) if kind is float else kind) or value == "":
                raise SystemExit(f"{file}: miss {number}: expects {key} as a {kind.__name__}, got {value!r}")
        if unknown := set(entry) - set(KEYS):
            raise SystemExit(f"{file}: miss {number}: unknown key {sorted(unknown)[0]!r}")
        if entry["benchmark"] == benchmark and entry["goal"] in known:
            raise SystemExit(f"{file}: miss {number}: {entry['goal']!r} is listed twice")
        if entry["benchmark"] == benchmark:
            known[entry["goal"]] = entry
    return known


class Goals:
    """Collects verdicts; `close` prints the summary and returns the exit code."""

    def __init__(self, benchmark: str, file: Path = KNOWN_MISSES):
        self.known = read_known(file, benchmark)
        self.file = file
        self.held = 0
        self.missed: list[str] = []
        self.excused: list[str] = []
        self.mended: list[str] = []

    def verdict(self, goal: str, value: float, bound: float, least: bool = False) -> str:
        """'ok', 'known miss' or 'MISSED'. `least`: the value must be at least the bound, else at most."""

        def holds(limit: float) -> bool:
            return value >= limit if least else value <= limit

        if holds(bound):
            self.held += 1
            if goal in self.known:
                self.mended.append(goal)
            return "ok"
        if goal in self.known and holds(self.known[goal]["value"]):
            self.excused.append(goal)
            return "known miss"
        listed = f" (listed with {self.known[goal]['value']:g})" if goal in self.known else ""
        self.missed.append(f"{goal}: {value:g}, goal {'>=' if least else '<='} {bound:g}{listed}")
        return "MISSED"

    def close(self) -> int:
        """Prints what was missed and why; 1 when a miss has no reason on record, else 0."""
        print(
            f"\n{self.held} goals hold, {len(self.excused)} are missed for a known reason, {len(self.missed)} "
            f"are missed"
        )
        for goal in self.excused:
            print(f"  known: {goal}: {self.known[goal]['reason']}")
        for goal in self.mended:
            print(f"  holds again: {goal}; its entry in {self.file.name} can go")
        for line in self.missed:
            print(f"  MISSED: {line}")
        return 1 if self.missed else 0
