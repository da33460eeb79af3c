"""Runs the pieces of a regression run, each in a process of its own, some at a time, in the order of their needs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(eq=False)  # a key of the sorter: itself
class Piece:
    """`spec` is what the job gets; `needs` are pieces that must have passed before."""

    name: str
    spec: dict
    needs: list[Piece]
    result: dict | None = None


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
        assert piece.result is not None
        problem = piece.result.get("problem")
        how = piece.result["status"] + (f": {problem.splitlines()[0][:150]}" if problem else "")
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


class Jobs:
    """The processes of the pieces that run now. `stop` ends them all and starts no more; any thread may call it."""

    def __init__(self, work: Path, timeout: float):
        self.work, self.timeout = work, timeout
        self.lock = threading.Lock()
        self.processes: dict[str, subprocess.Popen] = {}
        self.stopped = False

    def run(self, piece: Piece) -> float:
        """Runs one piece to its end and fills in its result; gives its seconds. Leaves no result when stopped."""
        begin = time.monotonic()
        with self.lock:
            if self.stopped:
                return 0.0
            process = self.processes[piece.name] = self._start(piece)
        try:
            process.wait(self.timeout)
            problem = ""
        except subprocess.TimeoutExpired:
            problem = f"not finished after {self.timeout:g} s"
        with self.lock:
            _kill(process)
            del self.processes[piece.name]
            if not self.stopped:
                piece.result = self._result(piece, process.returncode, problem)
        return time.monotonic() - begin

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for process in self.processes.values():
                _kill(process)

    def _start(self, piece: Piece) -> subprocess.Popen:
        spec = self.work / "results" / f"{piece.name}.spec.json"
        spec.write_text(json.dumps({**piece.spec, "result": str(result_file(self.work, piece))}))
        path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        with open(self.work / "logs" / f"{piece.name}.log", "w") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "regression.job", str(spec)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
            )

    def _result(self, piece: Piece, code: int, problem: str) -> dict:
        """What a job wrote, or why it wrote nothing."""
        file = result_file(self.work, piece)
        if not problem and file.is_file():
            return json.loads(file.read_text())
        log = self.work / "logs" / f"{piece.name}.log"
        problem = problem or (f"killed by signal {-code}" if code < 0 else f"exit code {code}") + f" (log: {log})"
        result = {**piece.spec, "status": "failed", "problem": problem}
        file.write_text(json.dumps(result))
        return result


def _kill(process: subprocess.Popen) -> None:
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
        piece.result = _previous(work, piece) if resume else None
        if piece.result:
            progress.finished(piece, None)
        else:
            result_file(work, piece).unlink(missing_ok=True)
    running = Jobs(work, timeout)
    pool = ThreadPoolExecutor(jobs)
    try:
        _in_order(pieces, running, pool, progress, jobs)
    except KeyboardInterrupt:
        done = sum(p.result is not None for p in pieces)
        print(f"  interrupted: {done} of {len(pieces)} done; --resume goes on from here", flush=True)
        raise
    finally:
        progress.stop()
        running.stop()
        pool.shutdown(cancel_futures=True)


def _in_order(pieces: list[Piece], running: Jobs, pool: ThreadPoolExecutor, progress: Progress, jobs: int) -> None:
    """Starts pieces whose needs are done, the first of the list first; a piece whose need did not pass is skipped."""
    order = TopologicalSorter({piece: piece.needs for piece in pieces})
    order.prepare()
    ready: list[Piece] = []
    started: dict[Future, Piece] = {}
    while order.is_active():
        ready = sorted([*ready, *order.get_ready()], key=pieces.index)
        for piece in ready:
            bad = [n for n in piece.needs if n.result and n.result["status"] != "passed"]
            if piece.result is None and bad and bad[0].result:
                problem = f"{bad[0].name} {bad[0].result['status']}"
                piece.result = {**piece.spec, "status": "skipped", "problem": problem}
                progress.finished(piece, 0.0)
            if piece.result:
                order.done(piece)
            elif len(started) < jobs:
                started[pool.submit(running.run, piece)] = piece
        ready = [piece for piece in ready if piece.result is None and piece not in started.values()]
        progress.running([piece.name for piece in started.values()])
        finished, _ = wait(started, timeout=0.2, return_when=FIRST_COMPLETED) if started else (set(), set())
        for future in finished:
            piece = started.pop(future)
            progress.finished(piece, future.result())
            order.done(piece)
