"""Programs as folders: `compile_program` writes one, `compile_and_assemble` makes it ready to run."""

import ctypes
import runpy
from pathlib import Path

_RUN = """\
// Runs {name}, whose orchestrator and kernels lie in ../{model}, through the C API of the runtime.
#include "pto_mlir/Runtime/CApi.h"

extern "C" int run_{name}(const pto_input *inputs, size_t num_inputs, const pto_output *outputs, size_t num_outputs) {{
  pto_session *session = nullptr;
  int failed = pto_session_open("{model}", nullptr, 0, nullptr, &session);
  if (!failed)
    failed = pto_session_run(session, inputs, num_inputs, outputs, num_outputs);
  pto_session_close(session);
  return failed;
}}
"""


def _kernels(program, main):
    """(name, kind of core) of each function that runs on a core, and of each scope of the orchestrator."""
    from pypto.language.parser.scopes import is_written_out
    from pypto.pypto_core import ir

    kinds = ir.FunctionType
    for each in program.functions.values():
        if each is not main and each.func_type in (kinds.InCore, kinds.AIC, kinds.AIV, kinds.Opaque):
            yield each.name, "aic" if each.func_type == kinds.AIC else "aiv"
    pending, found = [main.body], 0
    while pending:
        stmt = pending.pop(0)
        if isinstance(stmt, ir.SpmdScopeStmt) and is_written_out(stmt.body):
            stmt = stmt.body.stmts[0]
        if isinstance(stmt, (ir.InCoreScopeStmt, ir.SpmdScopeStmt)):
            yield stmt.name_hint or f"{main.name}_incore_{found}", "aiv"
            found += 1
            continue
        inner = [getattr(stmt, name, None) for name in ("body", "then_body", "else_body")]
        pending[:0] = [*getattr(stmt, "stmts", []), *(each for each in inner if each is not None)]


def kernel_names(program):
    """The names of a program's kernels in the order of their numbers (func_id)."""
    from pypto.ir.compiled_program import main_of

    return [name for name, _ in _kernels(program, main_of(program))]


def write_tree(program, folder, platform):
    """Writes NAME.pmodel, NAME.pypto (the program's bytes), kernels/NAME.pto, orchestration/NAME.cpp and
    kernel_config.py into a folder. ValueError for a program without an orchestrator; ParserError with the place."""
    from pypto.ir.compiled_program import compile_to, main_of
    from pypto.ir.extents import open_names
    from pypto.pypto_core import ir
    from pypto.runtime import RunConfig

    folder, main = Path(folder), main_of(program)
    if main.func_type != ir.FunctionType.Orchestration:
        raise ValueError(f"{program.name}: has no orchestrator; mark one with type=pl.FunctionType.Orchestration")
    processor, model = RunConfig(platform=platform).processor, f"{program.name}.pmodel"
    for each in ("kernels", "orchestration"):
        (folder / each).mkdir(parents=True, exist_ok=True)
    if not open_names(param.type for param in main.params):  # else it is compiled for the sizes of each call
        compile_to(program, folder / model, processor)
        compile_to(program, folder / "kernels" / f"{program.name}.pto", processor)
    (folder / f"{program.name}.pypto").write_bytes(ir.serialize(program))
    (folder / "orchestration" / f"{main.name}.cpp").write_text(_RUN.format(name=main.name, model=model))
    kernels = [
        f'    {{"func_id": {i}, "name": "{name}", "source": "kernels/{program.name}.pto", "core_type": "{core}"}},'
        for i, (name, core) in enumerate(_kernels(program, main))
    ]
    config = ['RUNTIME_CONFIG = {"runtime": "pto_mlir"}', f'MODEL = "{model}"', f'PROGRAM = "{program.name}.pypto"']
    source = f"orchestration/{main.name}.cpp"
    config += [f'ORCHESTRATION = {{"source": "{source}", "function_name": "run_{main.name}"}}', "KERNELS = ["]
    (folder / "kernel_config.py").write_text("\n".join([*config, *kernels, "]", ""]))


def compile_and_assemble(work_dir, platform):
    """(CompiledProgram, name of the runtime, its settings) of a folder of `compile_program`, or of one device of
    `ir.compile`. ValueError for others."""
    from pypto.ir.compiled_program import CompiledProgram
    from pypto.pypto_core import ir
    from pypto.runtime import RunConfig

    folder = Path(work_dir)
    if not (folder / "kernel_config.py").is_file():
        raise ValueError(f"{work_dir}: holds no kernel_config.py; pypto.runtime.compile_program writes one")
    config = runpy.run_path(str(folder / "kernel_config.py"))
    if "PROGRAM" in config:
        program = ir.deserialize((folder / config["PROGRAM"]).read_bytes())
        compiled = CompiledProgram(program, RunConfig(platform=platform))
        compiled.output_dir = folder
    else:
        compiled = CompiledProgram.from_dir(folder, platform=platform)
    return compiled, config["RUNTIME_CONFIG"]["runtime"], config["RUNTIME_CONFIG"]


def build_orch_args_from_inputs(inputs_result, output_names):
    """(arguments in order, all by name, the inputs, the outputs) of what golden.py's `generate_inputs` gives: tensors
    of torch, contiguous, and numbers of ctypes. Outputs have a name of `output_names`, or one that begins with out."""
    args, held, inputs, outputs = [], {}, {}, {}
    for name, value in inputs_result:
        if isinstance(value, ctypes._SimpleCData):
            args.append(value)
            held[name] = value.value
            continue
        held[name] = value.cpu().contiguous()
        args.append(held[name])
        (outputs if name in output_names or name.startswith("out") else inputs)[name] = held[name]
    return args, held, inputs, outputs


def execute_on_device(
    chip_callable, orch_args, platform, runtime_name, device_id, *, output_prefix=None, level=2, **others
):
    """Runs a program of `compile_and_assemble`, outputs in place. The records that `enable_..` ask for go to
    `output_prefix`. ValueError for another level than that of one device; other settings have no effect."""
    from pypto.runtime.records import Wanted, recorded

    if level != 2:
        raise ValueError(f"execute_on_device: expects level 2, one device, not {level}")
    wanted = Wanted(**{name: value for name, value in others.items() if name in Wanted.__dataclass_fields__})
    folder = Path(output_prefix) if output_prefix else None
    with recorded(chip_callable, wanted, folder.parent if folder and folder.name == "dfx_outputs" else folder):
        chip_callable(*orch_args)


def validate_golden(outputs, golden, rtol=1e-5, atol=1e-5):
    """AssertionError with the first elements of an output that differ from the expected ones. NaN expects nothing."""
    from pypto.runtime.runner import _compare

    for name, value in outputs.items():
        _compare(name, value.cpu(), golden[name].cpu(), rtol, atol)
