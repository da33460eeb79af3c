"""Runs the Python of a host level (`orchestration/host_orch.py`) on the simulated devices.

What it submits is written down in order, and is then a host level of its own without loops and branches: that is
compiled and run like every other, so a file that was edited runs as it stands."""

import math
import runpy
from pathlib import Path

import numpy as np

from pypto.ir.bodies import sequence
from pypto.jit.arguments import Buffer, read
from pypto.pypto_core import DataType, ir
from pypto.runtime.call_config import CallConfig, TaskArgs, WindowView

_WRITTEN = (ir.ParamDirection.Out, ir.ParamDirection.InOut)


class Domain:
    """A group of devices with windows, as a context manager: `domain[device].buffers[name].tensor(shapes=, dtype=)`."""

    def __init__(self, name, workers, buffers):
        self.name, self.workers, self.specs = name, list(workers), {each.name: each for each in buffers}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __getitem__(self, device):
        if device not in self.workers:
            raise ValueError(f"{self.name}: device {device} is none of its devices {self.workers}")
        return _Copy(self)


class _Copy:
    """What one device has of a group. `device_ctx`: nothing, the launch knows its rank."""

    device_ctx = 0

    def __init__(self, domain):
        self.domain_size = len(domain.workers)
        self.buffers = _Names(domain.name, "buffer", {name: _Handle(domain, name) for name in domain.specs})


class _Handle:
    def __init__(self, domain, name):
        self._domain, self._name = domain, name

    def tensor(self, shapes, dtype):
        return WindowView(self._domain, self._name, tuple(shapes), dtype)


class _Names(dict):
    """What `owner` has of a kind by name; ValueError for other names."""

    def __init__(self, owner, kind, held):
        super().__init__(held)
        self._owner, self._kind = owner, kind

    def __missing__(self, name):
        raise ValueError(f"{self._owner} has no {self._kind} {name!r}; it has {', '.join(map(repr, self))}")


class Submitted:
    """What the file gets as `orch`: it writes down what is submitted."""

    def __init__(self, worker, program, ranks):
        self._worker, self._program, self._ranks = worker, program, ranks
        self.launches, self.called, self._shared = [], [], {}

    def allocate_domain(self, *, name, workers, window_size, buffers):
        if sum(each.nbytes for each in buffers) > window_size:
            raise ValueError(f"allocate_domain: {name}: its buffers need more than {window_size} bytes")
        return Domain(name, workers, buffers)

    def submit_next_level(self, function, args, config=None, worker=0):
        self._check(function, args)
        if not isinstance(worker, int) or not 0 <= worker < self._ranks:
            raise ValueError(f"submit_next_level: {function}: worker {worker!r} is none of {self._ranks} devices")
        if self.called:
            raise ValueError(f"submit_next_level: {function} is launched after the SubWorker {self.called[-1][0]}")
        if function.startswith("builtin."):
            self._collective(function, args, worker)
        elif self._shared:
            waiting, (_, workers) = next(iter(self._shared.items()))
            raise ValueError(
                f"submit_next_level: {function}: of {waiting} only the devices {workers} have been submitted"
            )
        else:
            self.launches.append((function, args, worker))

    def submit_sub(self, function, args):
        self._check(function, args)
        self.called.append((function, args.tensors))

    @staticmethod
    def _check(function, args):
        if not isinstance(args, TaskArgs):
            raise TypeError(f"{function}: expects TaskArgs, not {type(args).__name__}")

    def _collective(self, function, args, worker):
        """One launch, once all devices of the group have submitted it."""
        views = [each for each in args.tensors if isinstance(each, WindowView)]
        _, workers = self._shared.setdefault(function, (views, []))
        workers.append(worker)
        if len(workers) == len(views[0].domain.workers):
            del self._shared[function]
            if sorted(workers) != sorted(views[0].domain.workers):
                raise ValueError(f"submit_next_level: {function} is submitted for the devices {workers}")
            self.launches.append((function, args, None))

    def check_ended(self):
        for function, (views, workers) in self._shared.items():
            raise ValueError(f"{function}: only the devices {workers} of {views[0].domain.workers} have submitted it")


def entry_of(names, file):
    """The function that a file marks as its entry. ValueError where that is not one."""
    found = [each for each in names.values() if getattr(each, "_pypto_distributed_entry", False)]
    if len(found) != 1:
        raise ValueError(f"{file}: expects one function with _pypto_distributed_entry, it has {len(found)}")
    return found[0]


def run(worker, compiled, file, callbacks, values):
    """Runs the file with arguments by name, outputs in place; gives the tensors that it holds, by name."""
    from pypto.backend.next_levels import variants

    if not Path(file).is_file():
        reason = getattr(compiled, "left_out", {}).get("orchestration", "ir.compile writes it")
        raise ValueError(f"{file}: there is no such file: {reason}")
    names = runpy.run_path(str(file))
    tensors = {name: _on_host(value) for name, value in values.items()}
    if "_alloc_intermediates" in names:
        names["_alloc_intermediates"](tensors, compiled.ranks)
    roots = {name: held for name, value in tensors.items() if isinstance(held := _held(value), Buffer)}
    program = compiled.program
    orch = Submitted(worker, program, compiled.ranks)
    collectives = variants(program)
    known = _Names(program.name, "function", {name: name for name in [*program.functions, *collectives]})
    entry_of(names, file)(
        orch,
        None,
        CallConfig(),
        tensors=tensors,
        callables=known,
        sub_ids=known,
        _keep=[],
        world_size=compiled.ranks,
    )
    orch.check_ended()
    made, arguments = _Straight(program, collectives, roots).program(compiled.name, orch.launches)
    if orch.launches:
        _compiled(compiled, made)(*arguments)
    for function, views in orch.called:
        callbacks[function](views)
    return tensors


def _on_host(value):
    return value.held("host_orch") if hasattr(value, "held") else value


def _held(value):
    """The memory of a tensor; lists and numbers are none."""
    return None if isinstance(value, (list, int, float, bool)) else read("host_orch", value)


def _compiled(compiled, program):
    """The program of a file's launches; the same launches are compiled once."""
    from pypto.ir.distributed_compiled_program import DistributedCompiledProgram

    key = ir.serialize(program)
    held = compiled.__dict__.setdefault("_of_files", {})
    if key not in held:
        if len(held) >= 16:
            held.pop(next(iter(held)))
        held[key] = DistributedCompiledProgram(program, compiled._config)
    return held[key]


class _Straight:
    """A host level of launches alone."""

    def __init__(self, program, collectives, roots):
        self._program, self._collectives, self._roots = program, collectives, roots
        self._span, self._stmts, self._params, self._windows = program.span, [], {}, {}

    def program(self, name, launches):
        """(the Program, its arguments)."""
        for function, args, worker in launches:
            if function in self._collectives:
                call = self._collectives[function]
                count = len(ir.op_parameters(call.op.name, operands=True))
                operands = [self._argument(function, each) for each in args.tensors[:count]]
                made = ir.create_op(call.op.name, *operands, span=call.span, **call.kwargs)
                self._stmts.append(ir.EvalStmt(made, self._span))
            else:
                self._launch(self._program.functions[function], args, worker)
        used = list(self._params)
        directions = [ir.ParamDirection.InOut if self._params[each][1] else ir.ParamDirection.In for each in used]
        main = ir.Function(
            name,
            [self._params[each][0] for each in used],
            [],
            sequence([*self._stmts, ir.ReturnStmt([], self._span)], self._span),
            self._span,
            type=ir.FunctionType.Orchestration,
            param_directions=directions,
            level=ir.Level.HOST,
            role=ir.Role.Orchestrator,
        )
        others = [each for each in self._program.functions.values() if each.level != ir.Level.HOST]
        return ir.Program([*others, main], self._program.name, self._span), [self._roots[each] for each in used]

    def _launch(self, function, args, worker):
        tensors, numbers, values = iter(args.tensors), iter(args.scalars), []
        try:
            for param, direction in zip(function.params, function.param_directions, strict=True):
                if isinstance(param.type, ir.ScalarType):
                    values.append(_constant(next(numbers), param.type.dtype))
                else:
                    values.append(self._argument(function.name, next(tensors), direction in _WRITTEN))
        except StopIteration:
            raise ValueError(
                f"{function.name}: has {len(function.params)} parameters, its TaskArgs have fewer"
            ) from None
        results = function.return_types
        kind = ir.UnknownType() if not results else results[0] if len(results) == 1 else ir.TupleType(results)
        attrs = {"device": ir.ConstInt(worker, DataType.INDEX)}
        call = ir.Call(ir.GlobalVar(function.name), values, {}, attrs, kind, self._span)
        self._stmts.append(ir.EvalStmt(call, self._span))

    def _assigned(self, name, value):
        var = ir.Var(name, value.type, self._span)
        self._stmts.append(ir.AssignStmt(var, value, self._span))
        return var

    def _argument(self, function, given, written=False):
        if isinstance(given, WindowView):
            return self._window(given)
        begin = given.data.ctypes.data
        for name, root in self._roots.items():
            offset = begin - root.data.ctypes.data
            if 0 <= offset and offset + given.data.nbytes <= root.data.nbytes:
                break
        else:
            raise ValueError(f"{function}: a tensor of its TaskArgs lies in none of {', '.join(self._roots)}")
        if name not in self._params:
            kind = ir.TensorType(list(root.shape), root.dtype)
            self._params[name] = [ir.Var(name, kind, self._span), False]
        self._params[name][1] |= written
        return self._part(self._params[name][0], root, given, offset // root.dtype.get_byte())

    def _part(self, var, root, given, offset):
        """The part of a tensor with those extents that begins at that element."""
        if given.shape == root.shape and offset == 0:
            return var
        box, index = box_of(root.shape, math.prod(given.shape), offset)
        leading = len(box) - len(given.shape)
        drops = leading > 0 and tuple(box[leading:]) == given.shape and set(box[:leading]) == {1}
        dropped = {"drop_dims": list(range(leading))} if drops else {}
        part = self._assigned(f"{var.name_hint}_part", ir.create_op("tensor.slice", var, box, index, **dropped))
        if drops or tuple(box) == given.shape:
            return part
        return self._assigned(f"{var.name_hint}_shape", ir.create_op("tensor.reshape", part, list(given.shape)))

    def _window(self, view):
        key = id(view.domain), view.buffer
        if key not in self._windows:
            bytes_ = int(view.domain.specs[view.buffer].count)
            made = ir.create_op("comm.alloc_window_buffer", [bytes_])
            self._windows[key] = self._assigned(view.buffer, made), view.domain  # which keeps its id
        dtype = getattr(DataType, view.dtype.value)
        shape = [int(extent) for extent in view.shapes]
        return self._assigned("window", ir.create_op("comm.window", self._windows[key][0], shape, dtype=dtype))


def box_of(shape, count, offset):
    """(extents, first indices) of the `count` elements from `offset` on. ValueError where they are no box."""
    index = [int(each) for each in np.unravel_index(offset, shape)]
    for axis in reversed(range(len(shape))):
        inner = math.prod(shape[axis + 1 :])
        extent = count // inner
        if count % inner == 0 and index[axis] + extent <= shape[axis] and not any(index[axis + 1 :]):
            return [1] * axis + [extent, *shape[axis + 1 :]], index
    raise ValueError(f"{count} elements from element {offset} on are no box of a tensor of shape {list(shape)}")


def _constant(value, dtype):
    if dtype == DataType.BOOL:
        return ir.ConstBool(bool(value))
    return ir.ConstFloat(float(value), dtype) if dtype.is_float() else ir.ConstInt(int(value), dtype)
