"""The host level of a program of several ranks as Python over the calls of the public runtime: `orchestration/NAME.py`
(its file is host_orch.py) dispatches per device, `sub_workers/NAME.py` are the functions that run on the host.
`pypto.runtime.host_orch` runs what this writes."""

import ast
import inspect
import itertools
import json
import textwrap

from pypto.backend import host_text
from pypto.backend.host_calls import Calls, term
from pypto.backend.host_text import Window, refuse
from pypto.ir.bodies import statements_in_order
from pypto.ir.compiled_program import main_of
from pypto.pypto_core import ir

_HEADER = """try:
    import torch
except ImportError:  # tensors of the host level are numpy's then
    from pypto.runtime import host_tensors as torch
from simpler.task_interface import CallConfig, CommBufferSpec, DataType, TaskArgs, TensorArgType
from pypto.runtime.tensor_arg import make_tensor_arg
from pypto.runtime.distributed_runner import _submit_chip

"""


def host_files(program, ranks):
    """Path -> text. ValueError, which begins with the place, for a host level that has no such text."""
    files = {"orchestration/host_orch.py": host_text_of(program, ranks)}
    own, required = getattr(program, "sub_workers", {}), []
    for function in program.functions.values():
        if function.role == ir.Role.SubWorker:
            files[f"sub_workers/{function.name}.py"] = _sub_worker(function, own.get(function.name))
            required += [function.name] if function.name not in own else []
    if required:
        files["sub_workers/__required__.json"] = json.dumps(sorted(required), indent=2) + "\n"
    return files


def host_text_of(program, ranks):
    return _made(program, ranks).text()


def domains_of(program, ranks):
    """How many groups of windows the host level has: those of the same devices are one."""
    return len(_made(program, ranks).domains)


def _made(program, ranks):
    first = _Writer(program, ranks, [])
    first.write()
    first.share()
    second = _Writer(program, ranks, first.buffers)
    second.write()
    return second


def _sub_worker(function, definition):
    """The module of a SubWorker, callable with the list of its tensors."""
    names = [param.name_hint for param in function.params]
    try:
        if definition is None:
            raise OSError
        node = ast.parse(textwrap.dedent(inspect.getsource(definition))).body[0]
    except (OSError, SyntaxError, IndentationError):  # none, or its text is gone
        raised = f"SubWorker {function.name!r} has no body here: use prepare(callbacks={{{function.name!r}: ..}})"
        return f"def {function.name}(args):\n    raise RuntimeError({raised!r})\n"
    body = textwrap.indent("\n".join(ast.unparse(each) for each in node.body), "    ")
    unpacked = ", ".join(f"_tensor_from_continuous(args[{index}])" for index in range(len(names)))
    return (
        "from pypto.runtime.distributed_runner import _tensor_from_continuous\n\n\n"
        f"def _user_{function.name}({', '.join(names)}):\n{body}\n\n\n"
        f"def {function.name}(args):\n    return _user_{function.name}({unpacked})\n"
    )


class _Writer(Calls):
    """Walks over the statements of the host level. A value is the key of a tensor in `tensors`, a Window, a number's
    text, or a list of values. `known`: the buffers that a first walk found, with their devices."""

    def __init__(self, program, ranks, known):
        super().__init__(program, ranks, known)
        self.main, self.lines, self.indent = main_of(program), [], 1
        self.domains = {}
        for buffer in known:
            if buffer.devices:
                self.domains.setdefault(tuple(sorted(buffer.devices)), []).append(buffer)
        for number, members in enumerate(self.domains.values()):
            for buffer in members:
                buffer.domain = f"__comm_d{number}"

    def text(self):
        domains = [members[0].domain for members in self.domains.values()]
        held = [f"    {line}" for line in self.made]
        for domain in domains:
            zeros = "torch.zeros((1,), dtype=torch.int32).share_memory_()"
            held.append(f'    tensors["{domain}_ord"] = [{zeros} for _ in range(max(world_size, 1))]')
        head = "orch, _args, config, *, tensors, callables, sub_ids, _keep, world_size, _domain_provider=None"
        name = self.main.name
        return "\n".join(
            [
                _HEADER,
                "def _alloc_intermediates(tensors, world_size=1):",
                *(held or ["    pass"]),
                "",
                "",
                f"def {name}({head}):",
                *(self.lines or ["    pass"]),
                "",
                "",
                f"{name}._pypto_distributed_entry = True",
                "",
            ]
        )

    def emit(self, line):
        self.lines.append("    " * self.indent + line)

    def write(self):
        for param in self.main.params:
            self.bind(param, self.fresh(param.name_hint))
            if isinstance(param.type, ir.ScalarType):
                self.emit(f"{self.values[param]} = tensors[{param.name_hint!r}]".replace("'", '"'))
        self.open = host_text.open_extents(self.main.params)
        for name, text in self.open.items():
            self.extents[name] = self.fresh(name)
            self.emit(f"{self.extents[name]} = {text}")
        start = self.indent
        for devices, members in self.domains.items():
            self.emit("with (_domain_provider or orch.allocate_domain)(")
            everyone = devices == tuple(range(self.ranks))
            rows = ["*range(world_size)"] if everyone else map(str, devices)
            sizes = [f"({term(each.bytes)} + 31) // 32 * 32" for each in members]
            self.emit(f'    name="{members[0].domain[2:]}",')
            self.emit(f"    workers=[{', '.join(rows)}],")
            self.emit(f"    window_size={' + '.join(sizes)},")
            self.emit("    buffers=[")
            for each, size in zip(members, sizes, strict=True):
                spec = f'name="{each.name}", dtype="opaque", count={each.bytes}, nbytes={size}'
                self.emit(f"        CommBufferSpec({spec}),")
            self.emit("    ],")
            self.emit(f") as {members[0].domain}:")
            self.indent += 1
        self.body(self.main.body)
        self.indent = start

    # --- statements ------------------------------------------------------------------------------

    def body(self, body):
        """The statements of a body; gives what its yield hands on."""
        begin, handed = len(self.lines), []
        for stmt in statements_in_order(body):
            if isinstance(stmt, ir.YieldStmt):
                handed = [self.value(each) for each in stmt.value]
            else:
                self.statement(stmt)
        if len(self.lines) == begin and not handed:
            self.emit("pass")
        return handed

    def share(self):
        """The windows of a collective belong to the devices that launch with some of them, else to all."""
        for _ in self.shared:
            for numbers in self.shared:
                devices = set().union(*(self.buffers[number].devices for number in numbers))
                for number in numbers:
                    self.buffers[number].devices |= devices
        for number in itertools.chain(*self.shared):
            self.buffers[number].devices = self.buffers[number].devices or set(range(self.ranks))

    def statement(self, stmt):
        self.target = ""
        if isinstance(stmt, ir.SeqStmts):
            self.body(stmt)
        elif isinstance(stmt, ir.AssignStmt):
            self.assign(stmt)
        elif isinstance(stmt, ir.EvalStmt):
            self.value(stmt.expr)
        elif isinstance(stmt, (ir.ForStmt, ir.WhileStmt)):
            self.loop(stmt)
        elif isinstance(stmt, ir.IfStmt):
            self.branch(stmt)
        elif not isinstance(stmt, ir.ReturnStmt):  # results are tensors of `tensors`
            refuse(stmt, f"{type(stmt).__name__} has no form in the host level's Python")

    def assign(self, stmt):
        name, self.target = stmt.var.name_hint, stmt.var.name_hint if isinstance(stmt.value, ir.Call) else ""
        value = self.value(stmt.value)
        if isinstance(stmt.var.type, ir.ScalarType) and isinstance(value, str) and not value.isidentifier():
            held = self.fresh(name)
            self.emit(f"{held} = {value}")
            self.definitions[held] = value
            value = held
        self.bind(stmt.var, value)

    def hand_on(self, targets, values):
        """Assigns at once what a body hands on: `targets` are keys and names, or windows, which do not change."""
        pairs = [(to, value) for to, value in zip(targets, values, strict=True) if not isinstance(to, (Window, list))]
        pairs = [(self.place(to), self.place(value)) for to, value in pairs if to != value]
        if pairs:
            self.emit(f"{', '.join(to for to, _ in pairs)} = {', '.join(value for _, value in pairs)}")

    def carried(self, stmt, variables, values):
        """A name for each variable that a loop or branch gives."""
        given = []
        for var, value in zip(variables, values, strict=True):
            if isinstance(value, (Window, list)):
                given.append(value)
            else:
                name = self.fresh(var.name_hint)
                given.append(host_text.Key(name) if isinstance(var.type, ir.TensorType) else name)
        return given

    def same_windows(self, stmt, before, after):
        for old, new in zip(before, after, strict=True):
            if isinstance(old, (Window, list)) and old != new:
                refuse(stmt, "a window that a branch or an iteration chooses has no form in the host level's Python")

    def loop(self, stmt):
        begun = [self.value(arg.initValue) for arg in stmt.iter_args]
        names = self.carried(stmt, stmt.return_vars, begun)
        self.hand_on(names, begun)
        for var, arg, name in zip(stmt.return_vars, stmt.iter_args, names, strict=True):
            self.bind(var, name)
            self.bind(arg, name)
        if isinstance(stmt, ir.WhileStmt):
            self.emit(f"while {self.number(stmt.condition)}:")
        else:
            bounds = [self.number(each) for each in (stmt.start, stmt.stop, stmt.step)]
            var = self.fresh(stmt.loop_var.name_hint)
            self.bind(stmt.loop_var, var)
            self.emit(f"for {var} in range({', '.join(bounds)}):")
            self.loops.append((var, bounds))
        self.indent += 1
        handed = self.body(stmt.body)
        self.same_windows(stmt, names, handed)
        self.hand_on(names, handed)
        self.indent -= 1
        if not isinstance(stmt, ir.WhileStmt):
            self.loops.pop()

    def branch(self, stmt):
        names, first = None, None
        for word, arm in ((f"if {self.number(stmt.condition)}:", stmt.then_body), ("else:", stmt.else_body)):
            if arm is None:
                continue
            self.emit(word)
            self.indent += 1
            handed = self.body(arm)
            if names is None:
                names, first = self.carried(stmt, stmt.return_vars, handed), handed
            self.same_windows(stmt, first, handed)
            self.hand_on(names, handed)
            self.indent -= 1
        for var, name in zip(stmt.return_vars, names or [], strict=True):
            self.bind(var, name)
