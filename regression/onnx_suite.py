"""ONNX's own backend tests, driven unmodified by onnx.backend.test in worker processes: what each one came to, with us
and with onnxruntime."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import tempfile
import time
import unittest
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import wait

import numpy as np
import onnx
import onnxruntime
from onnx.backend.base import Backend as OnnxBackend
from onnx.backend.base import BackendRep
from onnx.backend.test.runner import Runner
from pto_mlir.backend import Backend, ListRep, Rep

# These divide by the rounded number of result pixels minus one, as onnxruntime; ONNX's reference by the unrounded one.
AS_ONNXRUNTIME = {
    "test_resize_downsample_scales_linear_align_corners",
    "test_resize_downsample_scales_cubic_align_corners",
}
# Rounding errors of a transform in f32 where the exact result is 0.
WITHIN_A_ROUNDING = {"test_dft_inverse", "test_dft_inverse_opset19"}
# Operators that draw: the tests of them hold numpy's numbers.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)
# The newest IR and opset that onnxruntime reads; it takes most newer tests when they claim to be older.
ORT_IR, ORT_OPSET = 13, 26


@dataclass
class Outcome:
    """What a test came to. status: passed, refused (an error for people), wrong (other numbers), crashed, timed
    out, out of scope, or as AS_ONNXRUNTIME and WITHIN_A_ROUNDING say; `reason` says why."""

    name: str
    op: str = ""
    opset: int = 0
    has_floats: bool = False  # among the inputs, of a type that the engines compute in
    status: str = ""
    reason: str = ""
    host_ops: list[str] = field(default_factory=list)
    specialised: list[str] = field(default_factory=list)
    onnxruntime: str = ""
    seconds: float = 0


class Recording(Backend):
    """Our backend, which keeps the last model and what was made of it."""

    model: onnx.ModelProto | None = None
    rep: Rep | ListRep | None = None

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        Recording.model, Recording.rep = model, None
        Recording.rep = Backend.prepare(model, device, **kwargs)
        return Recording.rep


class OrtRep(BackendRep):
    def __init__(self, model: onnx.ModelProto):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        copy.ir_version = min(copy.ir_version, ORT_IR)
        for entry in copy.opset_import:
            if entry.domain in ("", "ai.onnx"):
                entry.version = min(entry.version, ORT_OPSET)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 4
        self.session = onnxruntime.InferenceSession(copy.SerializeToString(), options, ["CPUExecutionProvider"])

    def run(self, inputs, **kwargs):
        names = [info.name for info in self.session.get_inputs()]
        return self.session.run(None, dict(zip(names, inputs, strict=False)))


class OrtBackend(OnnxBackend):
    """onnxruntime on the same tests."""

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        return OrtRep(model)

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"


Tests = dict[str, tuple[str, Callable]]


def load(backend: type[OnnxBackend]) -> Tests:
    """All tests on the CPU by name: their kind and what runs them, as ONNX's runner makes them."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        classes = Runner(backend).test_cases
    return {
        name.removesuffix("_cpu"): (kind, getattr(made(name), name))
        for kind, made in classes.items()
        for name in dir(made)
        if name.startswith("test_") and name.endswith("_cpu")
    }


def out_of_scope(name: str, model: onnx.ModelProto | None) -> str:
    """Why a test is none of a converter's for inference; empty when it is."""
    domains = {node.domain for node in model.graph.node} if model else set()
    if "ai.onnx.preview.training" in domains or "training_mode" in name or name.startswith("test_training_"):
        return "training"
    return "the domain ai.onnx.ml" if "ai.onnx.ml" in domains or "ai_onnx_ml" in name else ""


def describe(outcome: Outcome, model: onnx.ModelProto | None) -> None:
    """Operator and opset of a test: of a model of several nodes, the one that the test's name begins with."""
    if not model:
        return
    ops = list(dict.fromkeys(node.op_type for node in model.graph.node)) or ["none"]
    flat = re.sub("[^a-z0-9]", "", outcome.name.removeprefix("test_").lower())
    known = [op for op in {schema.name for schema in onnx.defs.get_all_schemas()} if flat.startswith(op.lower())]
    is_node = len(ops) > 1 and known
    outcome.op = max(known, key=len) if is_node else ops[0]
    outcome.has_floats = any(info.type.tensor_type.elem_type in FLOATS for info in model.graph.input)
    outcome.opset = max((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), default=0)


def _draws(model: onnx.ModelProto | None) -> bool:
    """Whether the model draws random numbers, so that type and shape are all that another generator can repeat."""
    return any(node.op_type in RANDOM for node in model.graph.node) if model else False


def attempt(test: Callable) -> tuple[str, str]:
    """Status and reason of one run."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            test()
        return "passed", ""
    except unittest.SkipTest as skip:
        return "out of scope", str(skip)
    except TypeError as error:  # onnx's runner takes the length of each element of a list
        status = "out of scope" if "Unable to compare expected type" in str(error) else "crashed"
        return status, f"TypeError: {error}"[:600]
    except AssertionError as error:
        return "wrong", " ".join(str(error).split())[:300]
    except Exception as error:
        ours = type(error).__module__.startswith("pto_mlir")
        return "refused" if ours else "crashed", f"{'' if ours else type(error).__name__ + ': '}{error}"[:600]


def run_one(name: str, ours: Tests, theirs: Tests, send: Callable[[Outcome], None]) -> None:
    """Runs a test with us, then with onnxruntime; sends the outcome after each, in case that the second dies."""
    outcome = Outcome(name)
    begin = time.perf_counter()
    Recording.model = Recording.rep = None
    outcome.status, outcome.reason = attempt(ours[name][1])
    outcome.seconds = time.perf_counter() - begin
    describe(outcome, Recording.model)
    if outcome.status == "wrong" and name in AS_ONNXRUNTIME:
        outcome.status = "as onnxruntime"
    elif outcome.status == "wrong" and name in WITHIN_A_ROUNDING:
        outcome.status = "within a rounding"
    elif outcome.status == "wrong" and _draws(Recording.model) and "Mismatched elements" in outcome.reason:
        outcome.status = "random numbers"
    if why := out_of_scope(name, Recording.model):
        outcome.status, outcome.reason = "out of scope", why
    if Recording.rep:
        outcome.host_ops, outcome.specialised = Recording.rep.host_ops, Recording.rep.specialised
    Recording.rep = None
    send(outcome)
    outcome.onnxruntime = attempt(theirs[name][1])[0] if theirs else ""
    send(outcome)


class Worker:
    """A forked process that runs tests one by one, and is made anew after a crash or a time-out."""

    def __init__(self, ours: Tests, theirs: Tests):
        self.pipe, other = multiprocessing.Pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                self.serve(other, ours, theirs)
            finally:
                os._exit(0)
        other.close()
        self.name, self.since = "", 0.0
        self.got: Outcome | None = None

    @staticmethod
    def serve(pipe, ours: Tests, theirs: Tests) -> None:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        while True:
            name = pipe.recv()
            run_one(name, ours, theirs, pipe.send)

    def start(self, name: str) -> None:
        self.name, self.since, self.got = name, time.monotonic(), None
        self.pipe.send(name)

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.pipe.close()

    def end(self, status: str, reason: str) -> Outcome:
        """The outcome of a test whose process died or was stopped."""
        if self.got:  # it was onnxruntime's turn
            self.got.onnxruntime = status
            return self.got
        return Outcome(self.name, status=status, reason=reason)


def run(names: Iterable[str], ours: Tests, theirs: Tests, jobs: int, limit: float) -> list[Outcome]:
    """The outcomes of the named tests in that order, `jobs` at a time, each stopped after `limit` seconds."""
    waiting, done = deque(names), {}
    order = list(waiting)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ONNX_MODELS"] = folder  # where ONNX's runner puts inputs of its light models
        workers: list[Worker] = []
        while waiting or workers:
            while waiting and len(workers) < jobs:
                workers.append(Worker(ours, theirs))
                workers[-1].start(waiting.popleft())
            for worker in step(workers, limit, done):
                worker.stop()
                workers.remove(worker)
            for worker in workers:
                if not worker.name and waiting:
                    worker.start(waiting.popleft())
            for worker in [worker for worker in workers if not worker.name]:
                worker.stop()
                workers.remove(worker)
    return [done[name] for name in order]


def step(workers: list[Worker], limit: float, done: dict[str, Outcome]) -> list[Worker]:
    """Waits for the next answers and notes them; the workers that died or had to be stopped."""
    lost = []
    ready = wait([worker.pipe for worker in workers], timeout=1)
    for worker in workers:
        if worker.pipe in ready:
            try:
                answer = worker.pipe.recv()
            except (EOFError, OSError):
                done[worker.name] = worker.end("crashed", "the process died")
                lost.append(worker)
                continue
            if worker.got:
                done[worker.name], worker.name = answer, ""
            else:
                worker.got, worker.since = answer, time.monotonic()
        elif time.monotonic() - worker.since > limit:
            done[worker.name] = worker.end("timed out", f"ran longer than {limit:g} s")
            lost.append(worker)
    return lost
