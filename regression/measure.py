"""Seconds, peak memory and medians: how everything in a report is measured."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from pto_mlir.errors import UserError


@dataclass
class Run:
    """A command that ran as a process of its own."""

    seconds: float
    peak_mb: float  # greatest resident set, MiB
    code: int
    output: str
    error: str

    @property
    def problem(self) -> str:
        """Why it failed, in its own words; empty when it did not."""
        if self.code == 0:
            return ""
        if self.code < 0:
            return f"killed by signal {-self.code}"
        return self.error.strip() or self.output.strip() or f"exit code {self.code}"


# Starts the command that follows, and writes how it ended to a file. A process of its own does it, because the greatest
# resident set of a process begins with that of the one that started it.
STARTER = """
import json, os, resource, sys, time
begin = time.perf_counter()
process = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(process, 0)
result = {"seconds": time.perf_counter() - begin, "peak": usage.ru_maxrss, "status": status}
with open(sys.argv[1], "w") as file:
    json.dump(result, file)
"""


def command(tool: str, *arguments: str | os.PathLike) -> Run:
    """One command of the package as a process; start and imports count."""
    line = [sys.executable, "-m", f"pto_mlir.tools.{tool}", *map(str, arguments)]
    with (
        tempfile.TemporaryFile("w+", errors="replace") as out,
        tempfile.TemporaryFile("w+", errors="replace") as err,
        tempfile.NamedTemporaryFile("r") as report,
    ):
        starter = [sys.executable, "-I", "-S", "-c", STARTER, report.name, *line]
        subprocess.run(starter, stdout=out, stderr=err, stdin=subprocess.DEVNULL, check=True)
        ended = json.load(report)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    return Run(ended["seconds"], ended["peak"] / 1024, os.waitstatus_to_exitcode(ended["status"]), *texts)


def medians(calls: Sequence[Callable[[], object]], least: int = 3, budget: float = 2.0) -> list[float]:
    """Median seconds of each call, taken in turns so that all see the same machine; each is called once before."""
    for call in calls:
        call()
    times: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + budget
    while len(times[0]) < least or (time.perf_counter() < end and len(times[0]) < 50):
        for call, seconds in zip(calls, times):
            begin = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - begin)
    return [statistics.median(t) for t in times]


def onnxruntime_session(path: str | os.PathLike, threads: int = 1):
    """onnxruntime as its users run it: all optimisations, a fixed number of threads."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    try:
        return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no common base class
        raise UserError(f"{path}: onnxruntime: {str(error).splitlines()[0]}") from None


def onnxruntime_call(session, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    """All outputs; the feed may hold more than the model asks for."""
    return session.run(None, asked(session, feed))


def asked(session, feed: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The part of a feed that a session of either kind has inputs for."""
    return {i.name: feed[i.name] for i in session.get_inputs()}
