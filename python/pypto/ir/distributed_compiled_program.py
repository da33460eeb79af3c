"""Programs of several ranks, ready to run: the devices are simulated in this process, at the same time."""

import sys
from dataclasses import dataclass, field
from typing import Any

from pypto.ir.bodies import statements_in_order
from pypto.ir.compiled_program import CompiledProgram, main_of
from pypto.ir.extents import element
from pypto.ir.host_reads import host_reads, words
from pypto.language.parser.diagnostics import UnsupportedFeatureError
from pypto.language.parser.function_parser import returned_parameters, statements
from pypto.pypto_core import ir

_MOST = 64


@dataclass
class DistributedConfig:
    """The devices of a program: rank i runs on `device_ids[i]`. `num_sub_workers`, `runtime` and `aicpu_thread_num`
    say how processes of a real machine share the work, and change nothing here. ValueError for wrong numbers."""

    device_ids: list[int] = field(default_factory=lambda: [0])
    num_sub_workers: int = 0
    runtime: Any = None
    aicpu_thread_num: Any = None

    def __post_init__(self):
        if not hasattr(self.device_ids, "__len__"):
            raise TypeError(f"device_ids: expects a list of numbers, not {type(self.device_ids).__name__}")
        self.device_ids = list(self.device_ids)
        if not 1 <= len(self.device_ids) <= _MOST:
            raise ValueError(f"device_ids: expects 1 to {_MOST} devices, not {len(self.device_ids)}")
        for device in self.device_ids:
            if not isinstance(device, int) or isinstance(device, bool) or device < 0:
                raise ValueError(f"device_ids: {device!r} is no number of a device")
        if len(set(self.device_ids)) != len(self.device_ids):
            raise ValueError(f"device_ids: {self.device_ids} names a device twice")


class KeptWindows:
    """Windows of a program that keep what they hold from run to run; `of`: the program that ran with them."""

    of = None


class DistributedCompiledProgram(CompiledProgram):
    """A program of the host level, callable like every CompiledProgram; `ranks` says how many devices it has.

    Numbers that it takes, and elements that the host level reads, decide which launches there are, which the .pmodel
    does in each run. Where it cannot, where windows keep what they hold and where runs are recorded, such a program is
    compiled at the first call with each set of them, as it is for extents that it leaves open.
    Its SubWorkers, Python functions that the host level calls with tensors, are those of the program, or are bound by
    `prepare`.
    """

    def __init__(self, program, config, *args, **keywords):
        self.ranks, self._bound, self._kept = config.ranks, {}, None
        self._own = {name: _on_tensors(held) for name, held in getattr(program, "sub_workers", {}).items()}
        super().__init__(program, config, *args, **keywords)
        self.sub_workers, self._handed = sub_worker_calls(program, main_of(program))

    @property
    def device_ids(self):
        """The devices: rank i runs on `device_ids[i]`."""
        return self._config.distributed_config.device_ids

    def prepare(
        self,
        config=None,
        *,
        callbacks=None,
        sub_worker_overrides=None,
        extra_compiled=None,
        persistent=False,
        reset_persistent_windows=True,
    ):
        """A DistributedWorker that runs this program, and `extra_compiled`. `callbacks` and `sub_worker_overrides`:
        what SubWorkers do, by name. ValueError for one that is not bound, or that the program does not call. With
        `persistent` and without `reset_persistent_windows` windows keep what they hold from one run of the worker to
        the next; else they are zero at the start of each. `config` says nothing more."""
        from pypto.runtime.distributed_worker import DistributedWorker

        bound = {**(callbacks or {}), **(sub_worker_overrides or {})}
        keeps = persistent and not reset_persistent_windows
        programs = [self, *(extra_compiled or [])]
        return DistributedWorker(programs, bound, keeps_windows=keeps, persistent=persistent)

    def run_with(self, callbacks, *args, kept=None, **keywords):
        """Runs with SubWorkers by name. `kept`: the KeptWindows of earlier runs; zeros without."""
        self._bound, self._kept = callbacks, kept
        try:
            return self(*args, **keywords)
        finally:
            self._bound, self._kept = {}, None

    def _find_open(self):
        super()._find_open()
        self._decisive = host_reads(self.program, main_of(self.program))
        self._open += [element(name, 0) for name in self._decisive if element(name, 0) not in self._sizes]

    def _leaves_open(self):
        return super()._leaves_open() and not (self._kept and self._decisive)  # windows are of one run there

    def _read_by_host(self, held):
        if self._leaves_open():
            return {element(name, 0): 0 for name in self._decisive}  # the run reads them
        read = {}
        for name in self._decisive:
            if name in held:
                is_number = isinstance(self._types[name], ir.ScalarType)
                value = self._number(name, held[name]) if is_number else held[name]
                read |= words(f"{self._name}: argument {name}", name, value)
        return read

    def _of_sizes(self, sizes):
        made = super()._of_sizes(sizes)
        made._bound, made._kept = self._bound, self._kept
        return made

    def launch(self, values, args=()):
        """As for every program; then the SubWorkers that it calls, in order."""
        from pypto.jit.arguments import read

        bound = {**self._own, **self._bound}
        for name, _ in self.sub_workers:
            if name not in bound:
                raise ValueError(f"{self._name}: the SubWorker {name} is not bound; use prepare(callbacks=)")
        if self._kept and self._kept.of not in (None, self):
            raise ValueError(
                f"{self._name}: its windows keep what a run with other sizes or numbers left in them; a worker without "
                "persistent= runs it with zeros"
            )
        self._session.keep_windows(bool(self._kept and self._kept.of))
        returned = super().launch(values, args)
        if self._kept:
            self._kept.of = self
        handed = dict(zip(self._handed, (read(name, returned[i]) for i, name in enumerate(self._handed)), strict=True))
        for name, names in self.sub_workers:
            bound[name]([{**values, **handed}[each] for each in names])
        return returned[len(handed) :]


def _on_tensors(function):
    """A SubWorker of the program gets its tensors one by one: torch's, where that is loaded, else numpy's."""
    from pypto.runtime.distributed_runner import _tensor_from_continuous

    def call(views):
        if "torch" in sys.modules:
            return function(*map(_tensor_from_continuous, views))
        return function(*(view.data.reshape(view.shape) for view in views))

    return call


def sub_worker_calls(program, main):
    """(SubWorker, names of the tensors that it gets) of each call in the host level, and those of them that the host
    level makes, which are the first results of a run. UnsupportedFeatureError for calls in loops and branches, and for
    tensors of other origin."""
    workers = {each.name for each in program.functions.values() if each.role == ir.Role.SubWorker}
    roots, found, handed = {param: param.name_hint for param in main.params}, [], []
    made = set()
    for stmt in statements_in_order(main.body):
        call = getattr(stmt, "value", None) or getattr(stmt, "expr", None)
        if isinstance(stmt, ir.ReturnStmt) or not isinstance(call, (ir.Call, ir.Var)):
            continue
        if isinstance(call, ir.Var):
            roots[stmt.var] = roots.get(call)
        elif call.op.name in workers:
            names = [roots.get(each) for each in call.args]
            if None in names:
                raise UnsupportedFeatureError(
                    f"{call.op.name}: a SubWorker gets parameters of the host level, and tensors that it makes",
                    stmt.span,
                )
            found.append((call.op.name, names))
            handed += [name for name in dict.fromkeys(names) if name in made and name not in handed]
            written = program.functions[call.op.name].param_directions
            outputs = [name for name, each in zip(names, written, strict=True) if each != ir.ParamDirection.In]
            if isinstance(stmt, ir.AssignStmt) and len(outputs) == 1:
                roots[stmt.var] = outputs[0]
        elif isinstance(stmt, ir.AssignStmt) and call.op.name in ("tensor.create", "tensor.create_tensor"):
            roots[stmt.var] = f"{stmt.var.name_hint} {len(made)}"
            made.add(roots[stmt.var])
        elif isinstance(stmt, ir.AssignStmt) and isinstance(call.op, ir.GlobalVar):
            function = program.functions.get(call.op.name)
            numbers = returned_parameters(function) if function is not None else []
            outputs = [i for i, each in enumerate(function.param_directions) if each != ir.ParamDirection.In]
            given = [call.args[number] for number in numbers or outputs[:1]]
            if len(given) == 1:
                roots[stmt.var] = roots.get(given[0])
    _refuse_nested(statements_in_order(main.body), workers)
    return found, handed


def _refuse_nested(body, workers):
    for stmt in body:
        for each in statements(stmt) if isinstance(stmt, (ir.ForStmt, ir.WhileStmt, ir.IfStmt, ir.ScopeStmt)) else ():
            call = getattr(each, "value", None) or getattr(each, "expr", None)
            if isinstance(call, ir.Call) and call.op.name in workers:
                message = f"{call.op.name}: a SubWorker is called at the end of the host level, not in a loop or branch"
                raise UnsupportedFeatureError(message, each.span)
