"""`ir.compile`: a program as files and ready to run."""

import os
import time
from pathlib import Path

from pypto.ir.compiled_program import CompiledProgram, compile_to
from pypto.pypto_core import ir


def compile_program(
    program, output_dir=None, strategy=None, dump_passes=True, backend_type=None, platform=None, **others
):
    """The CompiledProgram of a Program (or of a Function, alone in one), and in `output_dir` its NAME.pmodel, NAME.pto
    and, with `dump_passes`, NAME.py. By default the folder is build_output/NAME_TIME, or under $PYPTO_PROG_BUILD_DIR.
    `platform` or else `backend_type` says the processor. ParserError with the place; ValueError, TypeError.
    """
    from pypto.runtime import RunConfig

    if isinstance(program, ir.Function):
        program = ir.Program([program], program.name, program.span)
    if not isinstance(program, ir.Program):
        raise TypeError(f"ir.compile: expects a Program, not {type(program).__name__}")
    for name in others:
        if name not in ("skip_ptoas", "distributed_config", "memory_planner", "verification_level", "profiling"):
            raise TypeError(f"ir.compile: has no parameter {name}")
    if others.get("distributed_config") is not None:
        raise ValueError("distributed_config: programs of several ranks are not supported yet")
    config = RunConfig(platform=platform or ("a5sim" if "950" in str(backend_type) else "a2a3sim"))
    compiled = CompiledProgram(program, config)
    if output_dir is None:
        base = os.environ.get("PYPTO_PROG_BUILD_DIR", "build_output")
        output_dir = Path(base) / f"{program.name}_{time.strftime('%Y%m%d_%H%M%S')}"
    folder = Path(output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{program.name}.pmodel").write_bytes(compiled.pmodel)
    compile_to(program, folder / f"{program.name}.pto", config.processor)
    if dump_passes:
        (folder / f"{program.name}.py").write_text(ir.python_print(program))
    compiled.output_dir = folder
    return compiled
