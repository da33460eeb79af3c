"""Processes that check graphs: one that dies or takes too long is replaced, and its graph has that outcome."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from typing import Any

from .check import Outcome


class Worker:
    """A forked process that works off tasks one by one."""

    def __init__(self, work: Callable[[Any], Outcome]):
        self.pipe, other = multiprocessing.Pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                self._serve(other, work)
            finally:
                os._exit(0)
        other.close()
        self.task: Any = None
        self.since = 0.0

    @staticmethod
    def _serve(pipe, work) -> None:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        while True:
            task = pipe.recv()
            try:
                pipe.send(work(task))
            except Exception:
                pipe.send(Outcome("crashed", traceback.format_exc(limit=-3)))

    def start(self, task) -> None:
        self.task, self.since = task, time.monotonic()
        self.pipe.send(task)

    def stop(self) -> int:
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        self.pipe.close()
        return os.waitstatus_to_exitcode(status)


def each(tasks: Iterable, work: Callable[[Any], Outcome], jobs: int, limit: float) -> Iterator[tuple[Any, Outcome]]:
    """Task and outcome, in the order in which they come; each is stopped after `limit` seconds."""
    waiting = deque(tasks)
    workers: list[Worker] = []
    try:
        while waiting or any(worker.task is not None for worker in workers):
            while waiting and len(workers) < jobs:
                workers.append(Worker(work))
            for worker in workers:
                if worker.task is None and waiting:
                    worker.start(waiting.popleft())
            busy = [worker for worker in workers if worker.task is not None]
            ready = wait([worker.pipe for worker in busy], timeout=1)
            for worker in busy:
                task, outcome = worker.task, None
                if worker.pipe in ready:
                    try:
                        outcome, worker.task = worker.pipe.recv(), None
                    except (EOFError, OSError):
                        outcome = Outcome("crashed", f"the process ended with {worker.stop()}")
                        workers.remove(worker)
                elif time.monotonic() - worker.since > limit:
                    worker.stop()
                    workers.remove(worker)
                    outcome = Outcome("timed out", f"ran longer than {limit:g} s")
                if outcome:
                    yield task, outcome
    finally:
        for worker in workers:
            worker.stop()
