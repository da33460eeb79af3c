"""`ir.compile`: a program as files and ready to run."""

import os
import time
import warnings
from pathlib import Path

from pypto.ir.compiled_program import CompiledProgram, compile_to
from pypto.ir.distributed_compiled_program import DistributedCompiledProgram
from pypto.pypto_core import ir


def compile_program(
    program, output_dir=None, strategy=None, dump_passes=True, backend_type=None, platform=None, **others
):
    """The CompiledProgram of a Program (or of a Function, alone in one), and in `output_dir` its NAME.pmodel, NAME.pto
    (unless it leaves extents open: then each call compiles for the sizes that it has), with `dump_passes` NAME.py, and
    the output tree (pypto.backend.output_tree; of several ranks next_levels): in the calls of March 2026 where
    `backend_type` is PTO or CCE, else in today's. By default the folder is build_output/NAME_TIME, or under
    $PYPTO_PROG_BUILD_DIR. `platform` or else `backend_type` says the processor; $PTOAS_ROOT/ptoas, if set, makes the
    kernels' C++. ParserError with the place; ValueError, TypeError.

    What the tree lacks is in `left_out` of the result, by name with the reason, and warned of where the program has one
    device: the `.pmodel` has it.
    """
    from pypto.runtime import RunConfig

    if isinstance(program, ir.Function):
        program = ir.Program([program], program.name, program.span)
    if not isinstance(program, ir.Program):
        raise TypeError(f"ir.compile: expects a Program, not {type(program).__name__}")
    for name in others:
        if name not in ("skip_ptoas", "distributed_config", "memory_planner", "verification_level", "profiling"):
            raise TypeError(f"ir.compile: has no parameter {name}")
    distributed = others.pop("distributed_config", None)
    platform = platform or ("a5sim" if "950" in str(backend_type) else "a2a3sim")
    config = RunConfig(platform=platform, distributed_config=distributed)
    compiled = (CompiledProgram if distributed is None else DistributedCompiledProgram)(program, config)
    if output_dir is None:
        base = os.environ.get("PYPTO_PROG_BUILD_DIR", "build_output")
        output_dir = Path(base) / f"{program.name}_{time.strftime('%Y%m%d_%H%M%S')}"
    folder = Path(output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    if compiled.pmodel is not None:  # no extent is left to the calls
        compile_to(program, folder / f"{program.name}.pto", config.processor, ranks=config.ranks)
        (folder / f"{program.name}.pmodel").write_bytes(compiled.pmodel)
    if dump_passes:
        (folder / f"{program.name}.py").write_text(ir.python_print(program))
    compiled.left_out = write_tree(program, folder, backend_type, config.processor, dump_passes, others)
    compiled.output_dir = folder
    return compiled


def write_tree(program, folder, backend_type, processor, dump_passes, others) -> dict:
    """Writes the output tree; gives what it lacks by name, with the reasons."""
    from pypto.backend import next_levels, output_tree

    seed = getattr(backend_type, "value", backend_type) in ("PTO", "CCE")
    ptoas = None if others.get("skip_ptoas") else output_tree.find_ptoas()
    quiet = False
    if ir.Level.HOST in {each.level for each in program.functions.values()}:
        files, left_out = next_levels.next_levels(program, not seed, processor, ptoas)
        left_out["orchestration"] = "the host level has no C++; the .pmodel has it"
        quiet = True  # kernels with windows are no files of their own
    else:
        files, left_out = output_tree.tree_files(program, not seed, processor, ptoas, dump_passes)
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    for name, reason in [] if quiet else left_out.items():
        warnings.warn(f"{program.name}: the output tree has no {name}: {reason}", stacklevel=4)
    return left_out
