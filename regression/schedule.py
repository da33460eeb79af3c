"""Runs the pieces of a regression run, each in a process of its own, some at a time, in the order of their needs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Piece:
    """`spec` is what job.py gets; `needs` are pieces that must have passed before."""

    name: str
    spec: dict
    needs: list[Piece]
    result: dict | None = field(default=None, compare=False)


class Progress:
    """One line per finished piece; on a terminal also a bar below them."""

    def __init__(self, total: int):
        self.total, self.done, self.bar = total, 0, None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            self.bar = Bar(
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
                console=Console(stderr=True),
            )
            self.task = self.bar.add_task("", total=total)
            self.bar.start()

    def running(self, names: list[str]) -> None:
        if self.bar:
            self.bar.update(self.task, description=", ".join(names))

    def finished(self, piece: Piece, seconds: float | None) -> None:
        self.done += 1
        how = piece.result["status"] + (
            "" if not piece.result.get("problem") else f": {piece.result['problem'].splitlines()[0][:150]}"
        )
        when = "  before" if seconds is None else f"{seconds:7.1f} s"
        print(f"  [{self.done}/{self.total}] {when}  {piece.name}: {how}", flush=True)
        if self.bar:
            self.bar.update(self.task, completed=self.done)

    def stop(self) -> None:
        if self.bar:
            self.bar.stop()


def result_file(work: Path, piece: Piece) -> Path:
    return work / "results" / f"{piece.name}.json"


def _previous(work: Path, piece: Piece) -> dict | None:
    """An earlier result of the same piece with the same key, if it passed."""
    try:
        result = json.loads(result_file(work, piece).read_text())
    except (OSError, ValueError):
        return None
    good = isinstance(result, dict) and result.get("key") == piece.spec["key"] and result.get("status") == "passed"
    return result if good else None


def _start(work: Path, piece: Piece) -> subprocess.Popen:
    spec = work / "results" / f"{piece.name}.spec.json"
    spec.write_text(json.dumps({**piece.spec, "result": str(result_file(work, piece))}))
    with open(work / "logs" / f"{piece.name}.log", "w") as log:
        return subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("job.py")), str(spec)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _stop(process: subprocess.Popen) -> None:
    """Ends a job and what it started: they are a process group of their own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run(pieces: list[Piece], work: Path, jobs: int, timeout: float, resume: bool) -> None:
    """Fills in every piece's result. On an interrupt the running jobs are ended and nothing half done is left."""
    for folder in ("results", "logs"):
        (work / folder).mkdir(exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # jobs are groups of their own: they must be ended here
    progress = Progress(len(pieces))
    for piece in pieces:
        earlier = _previous(work, piece) if resume else None
        if earlier:
            piece.result = earlier
            progress.finished(piece, None)
        else:
            result_file(work, piece).unlink(missing_ok=True)
    running: dict[str, tuple[Piece, subprocess.Popen, float]] = {}
    try:
        while any(p.result is None for p in pieces):
            for piece in pieces:
                if piece.result is None and piece.name not in running and all(n.result for n in piece.needs):
                    bad = [n for n in piece.needs if n.result["status"] != "passed"]
                    if bad:
                        piece.result = {
                            **piece.spec,
                            "status": "skipped",
                            "problem": f"{bad[0].name} {bad[0].result['status']}",
                        }
                        progress.finished(piece, 0.0)
                    elif len(running) < jobs:
                        running[piece.name] = (piece, _start(work, piece), time.monotonic())
            progress.running(list(running))
            time.sleep(0.02)
            for piece, process, begin in list(running.values()):
                seconds = time.monotonic() - begin
                if process.poll() is None and seconds <= timeout:
                    continue
                late = process.poll() is None
                _stop(process)
                del running[piece.name]
                piece.result = _finished(work, piece, process, f"not finished after {timeout:g} s" if late else "")
                progress.finished(piece, seconds)
    except KeyboardInterrupt:
        print(
            f"  interrupted: {sum(p.result is not None for p in pieces)} of {len(pieces)} done; --resume goes on from here",
            flush=True,
        )
        raise
    finally:
        progress.stop()
        for _, process, _ in running.values():
            _stop(process)


def _finished(work: Path, piece: Piece, process: subprocess.Popen, problem: str) -> dict:
    """What a job wrote, or why it wrote nothing."""
    log = work / "logs" / f"{piece.name}.log"
    if not problem and result_file(work, piece).is_file():
        return json.loads(result_file(work, piece).read_text())
    code = process.returncode
    problem = problem or (f"killed by signal {-code}" if code < 0 else f"exit code {code}") + f" (log: {log})"
    result = {**piece.spec, "status": "failed", "problem": problem}
    result_file(work, piece).write_text(json.dumps(result))
    return result
