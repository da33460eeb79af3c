"""The output tree of programs with several functions of devices: a tree for each of them in `next_levels/NAME`, and a
folder for each collective that the host level calls, `next_levels/builtin.tensor.NAME__..`, with what it is."""

from pypto.backend.output_tree import orchestrators, tree_files
from pypto.language.parser.function_parser import statements
from pypto.pypto_core import ir


def next_levels(program, today=False, processor="", ptoas=None, slots=False):
    """(path -> text, what is left out by name -> the reason)."""
    files, left_out = {}, {}
    for main in device_functions(program):
        held, missing = tree_files(_with_callees(program, main), today, processor, ptoas, slots)
        files |= {f"next_levels/{main.name}/{path}": text for path, text in held.items()}
        left_out |= {f"{main.name}: {name}": reason for name, reason in missing.items()}
    for call in _collectives(program):
        files[f"next_levels/{variant(call)}/kernel_config.py"] = _config(call, program.name)
    return files, left_out


def device_functions(program):
    """The orchestrators that run on one device."""
    return [each for each in orchestrators(ir.with_orchestrators(program)) if each.level != ir.Level.HOST]


def independent_parts(program):
    """The programs of several orchestrators on one level, of which none calls another; else nothing."""
    mains = device_functions(program)
    called = {call.op.name for main in mains for call in _calls(main) if isinstance(call.op, ir.GlobalVar)}
    if len(mains) < 2 or len(mains) != len(orchestrators(program)) or called & {each.name for each in mains}:
        return []
    return [_with_callees(program, main) for main in mains]


def _calls(function):
    for stmt in statements(function.body):
        for value in (getattr(stmt, "value", None), getattr(stmt, "expr", None)):
            if isinstance(value, ir.Call):
                yield value


def _with_callees(program, main):
    """A function, and all that it calls, as a program."""
    functions, pending = {}, [main.name]
    while pending:
        found = program.functions.get(pending.pop())
        if found is not None and found.name not in functions:
            functions[found.name] = found
            pending += [call.op.name for call in _calls(found) if isinstance(call.op, ir.GlobalVar)]
    held = [functions[name] for name in program.functions if name in functions]
    return ir.Program(held, main.name, main.span)


def _collectives(program):
    """Calls of the host level in which all ranks take part."""
    for function in program.functions.values():
        if function.level == ir.Level.HOST:
            for call in _calls(function):
                if call.op.name.startswith("comm.") and "signal" in (ir.op_parameters(call.op.name) or []):
                    yield call


def variants(program):
    """The collectives of the host level by name."""
    return {variant(call): call for call in _collectives(program)}


def variant(call) -> str:
    """The name of a collective: what it is, how it reduces or from where, the elements of its data."""
    name = call.op.name.removeprefix("comm.")
    parts = [f"{name}_ring" if call.kwargs.get("mode") == "ring" else name]
    if "reduce" in name:
        parts.append(getattr(call.kwargs.get("op"), "name", "Sum").lower())
    if "root" in call.kwargs:
        parts.append(f"root{call.kwargs['root']}")
    dtype = "fp32" if name == "barrier" else call.args[0].type.dtype.name.lower()  # a barrier has no data
    return "builtin.tensor." + "__".join([*parts, dtype])


def _config(call, program):
    """`kernel_config.py` of a collective: literals only."""
    names = ir.op_parameters(call.op.name, operands=True)
    lines = ["# A collective of the host level: each device launches it as a kernel of its own, which is in"]
    lines += [f"# ../../{program}.pto, or is made by the first call where extents are open.", ""]
    lines += ['RUNTIME_CONFIG = {"runtime": "pto_mlir"}', "", f"COLLECTIVE = {call.op.name.removeprefix('comm.')!r}"]
    words = {key: getattr(value, "name", value) for key, value in call.kwargs.items()}
    lines += [f"OPTIONS = {words!r}", "", "# Name and element type of each window.", "ARGUMENTS = ["]
    for name, arg in zip(names, call.args, strict=False):
        if isinstance(arg.type, ir.TensorType):
            lines.append(f"    {(name, arg.type.dtype.name)!r},")
    return "\n".join([*lines, "]", ""])
