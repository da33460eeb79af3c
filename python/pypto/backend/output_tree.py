"""The output tree of a program: kernels as `.pto` and C++, the orchestration, `kernel_config.py`.

    ptoas/F.pto, F.cpp                            each kernel, and its C++
    kernels/aiv/F.cpp, kernels/aic/F.cpp          that C++ behind `kernel_entry`
    ptoas/GROUP.pto, GROUP.cpp                    both functions of a task of both kinds of core
    orchestration/F.cpp                           what submits the kernels (pto_orchestration_api.h)
    kernel_config.py                              what a runtime has to know of them

The C++ of a kernel is printed by the compiler, or made by a `ptoas` where one is named.
"""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from pypto.ir.extents import open_names, solved_texts, stored
from pypto.language.parser.diagnostics import ParserError
from pypto.pypto_core import codegen, ir

_KERNELS = (ir.FunctionType.Opaque, ir.FunctionType.InCore, ir.FunctionType.AIC, ir.FunctionType.AIV)
_RUNTIME = "tensormap_and_ringbuffer"


@dataclass
class KernelFile:
    """A kernel of the tree."""

    name: str
    func_id: int
    core: str  # "aiv", "aic"
    function: object
    group: str = ""  # of functions that run together: the task
    queues: bool = False  # whether the task has memory for queues behind its tensors

    @property
    def source(self) -> str:
        return f"kernels/{self.core}/{self.name}.cpp"


@dataclass
class Orchestration:
    """An orchestrator as C++, and the kernels that it submits. `returned`: tensors that it makes and returns, its
    arguments behind the parameters; `extents`: variables of its extents, by name, in the order of the C++."""

    name: str
    code: str
    arguments: list[tuple] = field(default_factory=list)  # (name, type, shape); () for a number
    kernels: list[KernelFile] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)
    extents: list[str] = field(default_factory=list)

    @property
    def func_name_to_id(self) -> dict:
        return {kernel.name: kernel.func_id for kernel in self.kernels}

    @property
    def func_name_to_core_type(self) -> dict:
        kinds = {"aic": ir.CoreType.CUBE, "aiv": ir.CoreType.VECTOR}
        return {kernel.name: kinds[kernel.core] for kernel in self.kernels}


def orchestration_of(program, function, today=False, processor="") -> Orchestration:
    """The C++ of an orchestrator in today's calls, or in those of March 2026. ValueError begins with the place."""
    from pto_mlir import _compiler

    try:
        code, names, cube, queues, held, returned, extents = _compiler.orchestrate_pypto(
            ir.serialize(program), function.name, today, processor
        )
    except _compiler.CompileError as error:
        raise ValueError(str(error)) from None
    ports = [*function.params, *(each for each in ir.deserialize(returned).params)]
    functions = {each.name: each for each in ir.deserialize(held).functions.values()}
    group = {each: name for name, members in groups_of(program).items() for each in members}
    kernels = [
        KernelFile(name, number, "aic" if is_cube else "aiv", functions[name], group.get(name, ""), has_queues)
        for number, (name, is_cube, has_queues) in enumerate(zip(names, cube, queues, strict=True))
    ]
    return Orchestration(
        function.name,
        code,
        [_argument(each) for each in ports],
        kernels,
        [each.name for each in ports[len(function.params) :]],
        extents,
    )


def _argument(param):
    return param.name, param.type.dtype.name, [stored(extent, {}) for extent in getattr(param.type, "shape", ())]


def find_ptoas(ptoas=None):
    """The assembler to call: `ptoas`, else $PTOAS_ROOT/ptoas, else None. FileNotFoundError where it is not there."""
    if not ptoas and os.environ.get("PTOAS_ROOT"):
        ptoas = Path(os.environ["PTOAS_ROOT"]) / "ptoas"
    if not ptoas:
        return None
    if not shutil.which(str(ptoas)):
        raise FileNotFoundError(f"{ptoas}: no such assembler")
    return str(ptoas)


def run_ptoas(ptoas, source, target):
    """Makes the C++ of a `.pto` with the assembler. RuntimeError with its first line where it fails."""
    done = subprocess.run(
        [ptoas, str(source), "--enable-insert-sync", "-o", str(target)],
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(f"ptoas: {lines[0] if lines else f'exit code {done.returncode}'}")
    return Path(target).read_text()


def preprocess_ptoas_output(text) -> str:
    """The C++ of an assembler as a part of a wrapper: functions are static, what the wrapper has itself goes."""
    kept = []
    for line in text.splitlines():
        if re.match(r"\s*(#include\b|using namespace pto;|set_ffts_base_addr\()", line):
            continue  # the wrapper has its own
        kept.append(re.sub(r'(?:extern\s+"C"\s+)?__global__\s+AICORE\b', "static AICORE", line))
    return "\n".join(kept).strip() + "\n"


def _parts(function):
    """The parameters in the order of a task's arguments: tensors, then numbers."""
    tensors = [each for each in function.params if isinstance(each.type, ir.TensorType)]
    numbers = [each for each in function.params if not isinstance(each.type, ir.TensorType)]
    return tensors, numbers


def open_extents(function):
    """The variables of extents that are arguments of a kernel behind its parameters, by name: each as C++, from the
    first tensor that says it. RuntimeError where none does."""
    tensors, numbers = _parts(function)
    found = solved_texts(tensors, lambda param, axis: f"static_cast<int64_t>({param.name}_tensor->shapes[{axis}])", "/")
    given = {each.name for each in numbers}
    names = [each for each in open_names(param.type for param in tensors) if each not in given]
    for name in names:
        if name not in found:
            raise RuntimeError(f"extent {name} follows from no argument of the kernel")
    return {name: found[name] for name in names}


_QUEUES = "gm_pipe_buffer"


def generate_arg_unpacking(function, queues=False):
    """(lines of C++ that read the arguments of `kernel_entry`, the names that they give): tensors, numbers, extents.
    `queues`: memory for queues is a tensor behind all others, and the last argument of the function."""
    lines, names = [], []
    tensors, numbers = _parts(function)
    read = [(each.name, each.type.dtype.to_c_type_string()) for each in tensors]
    read += [(_QUEUES, "float")] if queues else []
    for index, (name, kind) in enumerate(read):
        lines += [
            f"    // Unpack tensor: {name}",
            f"    __gm__ Tensor* {name}_tensor = reinterpret_cast<__gm__ Tensor*>(args[{index}]);",
            f"    __gm__ {kind}* {name} =",
            f"        reinterpret_cast<__gm__ {kind}*>({name}_tensor->buffer.addr) + {name}_tensor->start_offset;",
            "",
        ]
        names.append(name)
    names = names[: len(tensors)]
    for index, param in enumerate(numbers, len(read)):
        name, dtype = param.name, param.type.dtype
        kind = dtype.to_c_type_string()
        held = "float" if dtype.is_float() else kind  # numbers of 16-bit floats are f32 in a task
        lines += [
            f"    // Unpack scalar: {name}",
            "    union {",
            "        uint64_t u64;",
            f"        {held} val;",
            f"    }} {name}_conv;",
            f"    {name}_conv.u64 = static_cast<uint64_t>(args[{index}]);",
            f"    {kind} {name} = static_cast<{kind}>({name}_conv.val);",
            "",
        ]
        names.append(name)
    for extent, text in open_extents(function).items():
        name = extent if extent not in names else f"{extent}_extent"
        lines.append(f"    int64_t {name} = {text};")
        names.append(name)
    names += [_QUEUES] if queues else []
    return "\n".join(lines), names


_HEADER = """// Kernel {name}: its code, and the entry that reads the arguments of a task.
#include <cstdint>
#include <pto/pto-inst.hpp>
#include "tensor.h"

using namespace pto;

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__ [aicore]
#endif

// --- code of the assembler ---
"""


def generate_kernel_wrapper(function, ptoas_text, queues=False) -> str:
    """The file of a kernel: the assembler's C++, then `kernel_entry(__gm__ int64_t* args)` that calls it."""
    unpack, names = generate_arg_unpacking(function, queues)
    code = preprocess_ptoas_output(ptoas_text)
    if not re.search(rf"\b{re.escape(function.name)}\s*\(", code):
        raise RuntimeError(f"the C++ has no function {function.name}")
    return (
        _HEADER.format(name=function.name).replace("[aicore]", "__attribute__((aicore))")
        + code
        + "\n// --- entry ---\n"
        + 'extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {\n'
        + unpack
        + f"    {function.name}({', '.join(names)});\n}}\n"
    )


def kernel_texts(functions, processor, folder, ptoas=None, slots=False):
    """(.pto, C++) of one kernel, or of both functions of a task, through files in `folder`. `slots`: those of one
    allocation stay one in the `.pto`. ParserError, RuntimeError."""
    from pypto.ir.compiled_program import compile_to

    name = functions[0].name
    program = ir.Program(functions, name, functions[0].span)
    source, target = Path(folder) / f"{name}.pto", Path(folder) / f"{name}.cpp"
    # Queues of a task are those of the processor.
    printer = codegen.PTOCodegen(processor=processor) if processor and len(functions) > 1 else codegen.PTOCodegen()
    source.write_text(printer.generate(program, "today", slots))
    if ptoas:
        try:
            return source.read_text(), run_ptoas(ptoas, source, target)
        except RuntimeError:
            if not slots:
                raise
            return kernel_texts(functions, processor, folder, ptoas)  # it may be one that has no slots
    compile_to(program, target, processor)
    text = target.read_text()
    if len(re.findall(r"__global__\s+AICORE", text)) != len(functions):
        raise RuntimeError("the kernel is one of cube and vector cores together, which has no single entry")
    return source.read_text(), text


def config_text(orchestration, today) -> str:
    """`kernel_config.py`: literals only; paths are relative to the file."""
    runtime = {"runtime": _RUNTIME, "aicpu_thread_num": 4, **({} if today else {"block_dim": 24})}
    source = f"orchestration/{orchestration.name}.cpp"
    entry = {
        "source": source,
        "function_name": "aicpu_orchestration_entry",
        **({"signature": "today"} if today else {}),
    }
    lines = ["# What a runtime has to know of these files. Paths are relative to this one.", ""]
    lines += [f"RUNTIME_CONFIG = {runtime!r}", "", f"ORCHESTRATION = {entry!r}", ""]
    lines += [
        "# Name, type and shape of each argument; a number has no shape. A name is an extent of each run, a list an"
    ]
    lines += ["# operator with its operands.", "ARGUMENTS = ["]
    lines += [f"    {argument!r}," for argument in orchestration.arguments] + ["]", ""]
    if orchestration.extents and not today:
        lines += ["# Extents that are arguments behind these.", f"EXTENTS = {orchestration.extents!r}", ""]
    lines += ["KERNELS = ["]
    for kernel in orchestration.kernels:
        row = {"func_id": kernel.func_id, **({"name": kernel.name} if today else {}), "source": kernel.source}
        if kernel.group:
            row |= {"group": kernel.group, **({"queues": True} if kernel.queues else {})}
        if open_extents(kernel.function):  # of the tensors, which say the extents
            row["shapes"] = [_argument(each)[2] for each in _parts(kernel.function)[0]]
        lines.append(f"    {row | {'core_type': kernel.core}!r},")
    return "\n".join([*lines, "]", ""])


def orchestrators(program):
    return [each for each in program.functions.values() if each.func_type == ir.FunctionType.Orchestration]


def formed_groups(program, today, processor):
    """The program with scopes of both kinds of core as groups, where they are one task of today's calls; the program
    itself where the compiler reports an error, which its orchestration has as well."""
    from pto_mlir import _compiler

    if not today:
        return program
    try:
        return ir.deserialize(_compiler.form_pypto(ir.serialize(program), processor))
    except _compiler.CompileError:
        return program


def _orchestrated(program, today, processor):
    """(the orchestration of the only orchestrator, the program that it is of). With groups where their launches allow
    it. ValueError."""
    formed = formed_groups(program, today, processor)
    if formed is not program:
        try:
            return orchestration_of(formed, orchestrators(formed)[0], today, processor), formed
        except ValueError:
            pass  # some launch does not allow it
    return orchestration_of(program, orchestrators(program)[0], today, processor), program


def orchestration_files(program, today=False, processor=""):
    """Path -> text of what is beside the kernels; nothing where the program has no orchestrator."""
    program = ir.with_orchestrators(program)
    return _around(_orchestrated(program, today, processor)[0], today) if orchestrators(program) else {}


def tree_files(program, today=False, processor="", ptoas=None, slots=False):
    """(path -> text, what is left out by name -> the reason). Without an orchestrator there are the kernels only.
    `slots`: those of one allocation stay one in the `.pto`, for an assembler that places them."""
    files, left_out = {}, {}
    program = ir.with_orchestrators(program)
    mains = orchestrators(program)
    kernels = _alone(program)
    if len(mains) > 1:
        left_out["orchestration"] = f"several orchestrators: {', '.join(each.name for each in mains)}"
    elif mains:
        try:
            orchestration, program = _orchestrated(program, today, processor)
        except ValueError as error:
            left_out["orchestration"] = str(error).splitlines()[0]
        else:
            kernels = orchestration.kernels
            files |= _around(orchestration, today)
    groups = groups_of(program)
    together = {each for members in groups.values() for each in members}
    parts = [(name, [program.functions[each] for each in members]) for name, members in groups.items()]
    parts += [(each.name, [each.function]) for each in kernels if each.name not in together]
    rows = {each.name: each for each in [*_alone(program), *kernels]}
    with tempfile.TemporaryDirectory() as folder:
        for name, functions in parts:
            try:
                made = _kernel_files(name, functions, rows, processor, folder, ptoas, slots)
            except (ParserError, ValueError, RuntimeError) as error:
                left_out[name] = str(error).splitlines()[0]
            else:
                files |= made
    return files, left_out


def _kernel_files(name, functions, rows, processor, folder, ptoas, slots):
    """The files of a kernel, or of both functions of a task. ParserError, ValueError, RuntimeError."""
    pto, cpp = kernel_texts(functions, processor, folder, ptoas, slots)
    files = {f"ptoas/{name}.pto": pto, f"ptoas/{name}.cpp": cpp}
    for function in functions:
        files[rows[function.name].source] = generate_kernel_wrapper(function, cpp, "gm_slot_buffer" in pto)
    return files


def groups_of(program) -> dict:
    """Of each Group with queues: its function of type AIC and that of type AIV, by name."""
    found = {}
    for group in program.functions.values():
        if group.func_type != ir.FunctionType.Group:
            continue
        called = [name for name in re.findall(r"self\.(\w+)\(", ir.python_print(group)) if name in program.functions]
        kinds = {program.functions[name].func_type: name for name in called}
        sides = [kinds.get(kind) for kind in (ir.FunctionType.AIC, ir.FunctionType.AIV)]
        if all(sides) and has_queues(program.functions[sides[0]]):
            found[group.name] = sides
    return found


def has_queues(function) -> bool:
    return "initialize_pipe(" in ir.python_print(function)


def before_assembler(files):
    """kernels/CORE/F.pto, what an assembler would get, for each kernels/CORE/F.cpp, of this tree and those inside."""
    texts, found = {}, {}
    for path, text in files.items():
        if parts := re.fullmatch(r"(.*/|)ptoas/\w+\.pto", path):
            for name in re.findall(r"func\.func @(\w+)\(", text):
                texts.setdefault((parts[1], name), text)
    for path in files:
        if parts := re.fullmatch(r"(.*/|)kernels/(\w+)/(\w+)\.cpp", path):
            folder, core, name = parts.groups()
            found[f"{folder}kernels/{core}/{name}.pto"] = texts[folder, name]
    return found


def _alone(program):
    """The kernels of a program, each by itself."""
    held = [each for each in program.functions.values() if each.func_type in _KERNELS]
    cube = ir.CoreType.CUBE
    cores = ["aic" if codegen.infer_function_core_type(each) == cube else "aiv" for each in held]
    return [
        KernelFile(each.name, number, core, each) for number, (each, core) in enumerate(zip(held, cores, strict=True))
    ]


def _around(orchestration, today):
    """The files beside the kernels."""
    return {
        f"orchestration/{orchestration.name}.cpp": orchestration.code,
        "kernel_config.py": config_text(orchestration, today),
    }
