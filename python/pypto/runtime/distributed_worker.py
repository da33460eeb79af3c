"""DistributedWorker: programs of several ranks that are kept ready, with what their SubWorkers do."""

from pathlib import Path

import numpy as np

from pypto.ir.distributed_compiled_program import DistributedCompiledProgram, KeptWindows
from pypto.jit.arguments import array_type, read
from pypto.runtime.worker import DeviceTensor, RegistrationHandle, Worker


class StackedDeviceTensor(DeviceTensor):
    """A tensor of a worker whose part `i` lies on the device `worker_ids[i]`; here all parts lie side by side."""

    worker_ids: tuple = ()


class _Allocations:
    """`_next_alloc_id`: how many groups of windows a worker has made so far."""

    def __init__(self, programs):
        self._programs = {id(each): each for each in programs}
        self._runs = dict.fromkeys(self._programs, 0)  # those that made their windows

    def count(self, program):
        self._runs[id(program)] += 1

    @property
    def _next_alloc_id(self):
        from pypto.backend.host_writer import domains_of

        made = ((self._programs[each], runs) for each, runs in self._runs.items() if runs)
        return sum(runs * domains_of(each.program, each.ranks) for each, runs in made)


class RunHandle:
    """A run that was submitted: it has ended when the submission returns. `result()` and `wait()` give what it gave."""

    def __init__(self, returned):
        self._returned, self.done = returned, True

    def result(self, timeout=None):
        return self._returned

    wait = result


class DistributedWorker(Worker):
    """Runs programs of several ranks, as a context manager or closed by hand. `callbacks`: what SubWorkers do, by name;
    each gets a list of tensors (`pypto.runtime.distributed_runner._tensor_from_continuous`). `inherited_host_tensors`
    say what processes of a real machine share, and change nothing. `persistent`: the windows of a program are made by
    its first run; `keeps_windows`: they keep what they hold from run to run. ValueError for SubWorkers that are not
    bound, and for names that no program calls; RuntimeError for use after close."""

    def __init__(self, programs, callbacks=None, *, inherited_host_tensors=None, keeps_windows=False, persistent=False):
        super().__init__()
        if isinstance(programs, DistributedCompiledProgram):
            programs = [programs]
        self._programs, self._callbacks = list(programs), dict(callbacks or {})
        self._persistent = persistent or keeps_windows
        self._have_run, self._w = set(), _Allocations(self._programs)
        self._kept = {id(each): KeptWindows() for each in self._programs} if keeps_windows else {}
        for program in self._programs:
            if not isinstance(program, DistributedCompiledProgram):
                raise TypeError(f"DistributedWorker: expects programs of several ranks, not {type(program).__name__}")
        called = {name for program in self._programs for name, _ in program.sub_workers}
        own = {name for program in self._programs for name in program._own}
        missing, unknown = sorted(called - own - set(self._callbacks)), sorted(set(self._callbacks) - called)
        if missing:
            raise ValueError(f"SubWorkers are not bound: {', '.join(missing)}; pass callbacks={{{missing[0]!r}: ..}}")
        if unknown:
            raise ValueError(
                f"{', '.join(unknown)}: not sub-workers that a program calls; they call {sorted(called) or 'none'}"
            )

    def __call__(self, *args, **keywords):
        """Runs the only program."""
        if len(self._programs) != 1:
            count = len(self._programs)
            raise TypeError(f"the call is ambiguous: the DistributedWorker has {count} programs; use run(program, ..)")
        return self.run(self._programs[0], *args, **keywords)

    def register(self, program) -> RegistrationHandle:
        """A handle that runs one of the programs."""
        self._open("register")
        if not any(each is program for each in self._programs):
            raise ValueError("the program is none of this DistributedWorker")
        return RegistrationHandle(self, program)

    def run(self, program, *args, **keywords):
        """Runs one of the programs; its outputs are written in place, then its SubWorkers are called."""
        self._check_run("run", program, [*args, *keywords.values()])
        if not (self._persistent and id(program) in self._have_run):
            self._w.count(program)
        returned = program.run_with(self._callbacks, *args, kept=self._kept.get(id(program)), **keywords)
        self._have_run.add(id(program))
        return returned

    def run_host_orch(self, program, *args, file=None, **keywords):
        """Runs one of the programs by the Python of its host level, `orchestration/host_orch.py` in the folder of
        `ir.compile`, or by `file`, as it stands there; windows are zero at the start. Outputs are written in place;
        gives the tensors that the file holds, by name. ValueError for a file that submits what is not the program's."""
        from pypto.jit.arguments import bound
        from pypto.runtime import host_orch

        self._check_run("run_host_orch", program, [*args, *keywords.values()])
        self._w.count(program)
        file = file or Path(program) / "orchestration" / "host_orch.py"
        values = bound(program.name, program.param_names, args, keywords)
        return host_orch.run(self, program, file, {**program._own, **self._callbacks}, values)

    def _check_run(self, where, program, values):
        """RuntimeError after close, ValueError for another program, and tensors that no task can take."""
        from pypto.runtime.tensor_arg import make_tensor_arg

        self._open(where)
        self.register(program)
        self._check_owner(values)
        for value in values:
            if not isinstance(value, DeviceTensor) and hasattr(value, "shape") and value.shape != ():
                make_tensor_arg(self, value)

    def submit(self, program, *args, **keywords) -> RunHandle:
        """As run; gives a handle."""
        return RunHandle(self.run(program, *args, **keywords))

    def alloc_stacked_tensor(self, init, worker_ids=None) -> StackedDeviceTensor:
        """A tensor of the worker that begins with `init`: part `i` of its first axis for the device `worker_ids[i]`.
        ValueError where these are not as many devices as parts, each once."""
        self._open("alloc_stacked_tensor")
        given = read("alloc_stacked_tensor: init", init)
        parts = given.shape[0] if given.shape else 0
        ids = list(range(parts) if worker_ids is None else worker_ids)
        ranks = max((program.ranks for program in self._programs), default=1)
        if not parts or sorted(ids) != sorted(set(ids)) or len(ids) != parts or not set(ids) <= set(range(ranks)):
            raise ValueError(
                f"alloc_stacked_tensor: worker_ids {ids} are not {parts} different devices of 0 to {ranks - 1}"
            )
        array = given.data.reshape(-1).view(array_type(given.dtype.name)).reshape(given.shape).copy()
        made = StackedDeviceTensor(self, array, given.dtype)
        made.worker_ids = tuple(ids)
        self._owned_tensors.append(made)
        return made

    def free_stacked_tensor(self, tensor):
        self.free_tensor(tensor)

    def copy_stacked_from(self, tensor, target):
        """Copies a tensor of the worker into one of the host."""
        held, given = tensor.held("copy_stacked_from"), read("copy_stacked_from: target", target)
        if given.shape != held.shape or given.dtype != tensor.dtype or not given.writable:
            raise ValueError(f"copy_stacked_from: the target must be writable, of shape {list(held.shape)}")
        given.data.reshape(-1).view(np.uint8)[:] = held.reshape(-1).view(np.uint8)

    def release_inherited_host_tensor_refs(self):
        """Nothing: the worker holds no tensors of the host."""
