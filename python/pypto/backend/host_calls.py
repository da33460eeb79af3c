"""Launches, windows and collectives of the host level as text of Python."""

import itertools
from dataclasses import dataclass, field

from pypto.backend.host_text import Expressions, Key, Window, elements, evaluated, refuse, tuple_text
from pypto.jit.arguments import array_type
from pypto.language.parser.function_parser import returned_parameters
from pypto.pypto_core import ir

_KINDS = {
    ir.ParamDirection.In: "TensorArgType.INPUT",
    ir.ParamDirection.Out: "TensorArgType.OUTPUT_EXISTING",
    ir.ParamDirection.InOut: "TensorArgType.INOUT",
}
_MOST_TURNS = 4096  # of loops that are looked at for the devices of a launch


@dataclass
class Buffer:
    """Memory that each device of a group has a copy of: the text of its bytes, the devices that launch with it."""

    name: str
    bytes: str
    devices: set = field(default_factory=set)
    domain: str = ""


def term(text):
    return f"({text})" if " " in text else text


class Calls(Expressions):
    """Calls as values, and the lines that make them. `known`: the buffers that a first walk found, with their
    devices."""

    def __init__(self, program, ranks, known):
        super().__init__()
        self.program, self.ranks, self.known = program, ranks, known
        self.buffers, self.made, self.loops, self.shared, self.tasks = [], [], [], [], 0

    def call(self, call):
        if isinstance(call.op, ir.GlobalVar):
            return self.launch(call, self.program.functions[call.op.name])
        name = call.op.name
        if name == "comm.alloc_window_buffer":
            return self.allocate(call)
        if name == "comm.window":
            held = self.value(call.args[0])
            shape = [self.number(each) for each in elements(call.args[1])]
            return Window(held.buffer, shape, call.kwargs["dtype"].name)
        if name in ("tensor.create", "tensor.create_tensor"):
            return self.create(call)
        if name.startswith("comm.") and "signal" in (ir.op_parameters(name) or []):
            return self.collective(call)
        return super().call(call)

    def allocate(self, call):
        if self.loops:
            refuse(call, "pld.alloc_window_buffer in a loop has no form in the host level's Python")
        dtype, shape = call.type.dtype, [self.unwrapped(each) for each in call.type.shape]
        bytes_ = " * ".join([*map(term, shape), str(dtype.get_byte())])
        name = self.target or f"buffer_{len(self.buffers)}"
        names = [each.name for each in self.buffers]
        name = name if name not in names else f"{name}_{len(names)}"
        self.buffers.append(Buffer(name, bytes_.removesuffix(" * 1")))
        return Window(len(self.buffers) - 1, shape, dtype.name)

    def create(self, call):
        if self.loops or self.indent > 1 + len(self.domains):
            refuse(call, "pl.create_tensor in a loop or branch has no form in the host level's Python")
        name, kind = self.fresh(self.target or "made"), array_type(call.type.dtype.name)
        shape = tuple_text([self.unwrapped(each) for each in call.type.shape])
        self.made += [f"{self.extents[each]} = {text}" for each, text in self.open.items() if each in shape]
        self.made.append(f'tensors["{name}"] = torch.zeros({shape}, dtype=torch.{kind}).share_memory_()')
        return Key(name)

    def view(self, window, rank):
        """A window as an argument of a launch on that device; its buffer."""
        buffer = self.known[window.buffer] if self.known else self.buffers[window.buffer]
        kind = array_type(window.dtype).upper()
        shape = tuple_text(window.shape)
        where = f'{buffer.domain}[{rank}].buffers["{buffer.name}"]'
        return f"{where}.tensor(shapes={shape}, dtype=DataType.{kind})", buffer

    def launch(self, call, function):
        self.target = ""
        rank = dict(call.attrs).get("device")
        rank = None if rank is None else self.number(rank)
        task, domains, numbers = self.task(), [], []
        outputs = [each for each in function.param_directions if each != ir.ParamDirection.In]
        if call.type != ir.UnknownType() and function.return_types and not outputs:
            refuse(
                call, f"{function.name} returns a tensor that it makes, which has no form in the host level's Python"
            )
        values = [self.value(each) for each in call.args]
        self.emit(f"{task} = TaskArgs()")
        for value, param, direction in zip(values, function.params, function.param_directions, strict=True):
            if isinstance(param.type, ir.ScalarType):
                numbers.append(value)
                continue
            if isinstance(value, Window):
                rank = rank or "0"
                text, buffer = self.view(value, rank)
                self.buffers[value.buffer].devices |= self.devices_of(rank)
                domains += [buffer.domain] if buffer.domain not in domains else []
            else:
                text = f"make_tensor_arg(orch._worker, {self.place(value)})"
            self.emit(f"{task}.add_tensor({text}, {_KINDS[direction]})")
        if function.role == ir.Role.SubWorker:
            self.emit(f'orch.submit_sub(sub_ids["{function.name}"], {task})')
        else:
            self.order(task, domains, rank)
            for value in numbers:
                self.emit(f"{task}.add_scalar({value})")
            self.emit(f"_keep.append({task})")
            self.emit(f'_submit_chip(orch, callables["{function.name}"], {task}, config, {rank})')
        returned = returned_parameters(function) if function.body is not None else []
        given = [values[i] for i in returned] or [
            value
            for value, each in zip(values, function.param_directions, strict=True)
            if each != ir.ParamDirection.In and isinstance(value, (Window, Key))
        ]
        return given[0] if len(given) == 1 else given

    def order(self, task, domains, rank):
        """A tensor for each group of windows that launches of one device write: they stay in their order."""
        for domain in domains:
            token = f'tensors["{domain}_ord"][{rank}]'
            self.emit(f"{task}.add_tensor(make_tensor_arg(orch._worker, {token}), TensorArgType.INOUT)")

    def collective(self, call):
        """Each device of the group launches it."""
        from pypto.backend.next_levels import variant

        names, windows = ir.op_parameters(call.op.name, operands=True), []
        for name, arg in itertools.zip_longest(names, call.args):
            if arg is None:  # a signal of its own
                size = len(self.known[windows[0].buffer].devices) if self.known else 1
                self.buffers.append(Buffer(f"{name}_{len(self.buffers)}", f"{size} * 4"))
                windows.append(Window(len(self.buffers) - 1, [str(size)], "INT32"))
            else:
                windows.append(self.value(arg))
        if not self.known:
            self.shared.append([each.buffer for each in windows])
        devices = sorted(self.known[windows[0].buffer].devices) if self.known else []
        everyone = devices == list(range(self.ranks))
        rank = self.fresh("r")
        self.emit(f"for {rank} in {'range(world_size)' if everyone else devices}:")
        self.indent += 1
        task = self.task()
        self.emit(f"{task} = TaskArgs()")
        for name, window in zip(names, windows, strict=True):
            kind = "INPUT" if name in ("local", "input", "send_counts") else "INOUT"
            self.emit(f"{task}.add_tensor({self.view(window, rank)[0]}, TensorArgType.{kind})")
        domain = self.view(windows[0], rank)[1].domain
        self.order(task, [domain], rank)
        self.emit(f"{task}.add_scalar({domain}[{rank}].domain_size)")
        self.emit(f"{task}.add_scalar({domain}[{rank}].device_ctx)")
        self.emit(f"{task}_config = CallConfig()")
        self.emit(f"{task}_config.aicpu_thread_num = config.aicpu_thread_num")
        self.emit(f"_keep.append({task})")
        self.emit(f'orch.submit_next_level(callables["{variant(call)}"], {task}, {task}_config, worker={rank})')
        self.indent -= 1
        like = {"all_to_all_v": 1, "allgather": 1, "all_to_all": 1}.get(call.op.name.removeprefix("comm."), 0)
        return windows[like]

    def task(self):
        self.tasks += 1
        return f"_ta_{self.tasks - 1}"

    def devices_of(self, rank):
        """The devices that the text of a rank means in the loops around it; all of them where that is not known."""
        everyone = set(range(self.ranks))
        found = set()
        try:
            turns = [{"world_size": self.ranks}]
            for name, bounds in self.loops:
                turns = [
                    {**turn, name: index}
                    for turn in turns
                    for index in range(*(evaluated(self.unwrap(each), turn) for each in bounds))
                ]
                if len(turns) > _MOST_TURNS:
                    return everyone
            found = {evaluated(self.unwrap(rank), turn) for turn in turns}
        except (NameError, SyntaxError, ValueError, TypeError):
            return everyone
        return found & everyone
