"""`ir.compile`: a program as files and ready to run."""

import os
import warnings
from pathlib import Path

from pypto.ir.compiled_program import CompiledProgram, compile_to
from pypto.ir.dispatch import param_infos, write_meta
from pypto.ir.distributed_compiled_program import DistributedCompiledProgram
from pypto.ir.program_set import ProgramSet
from pypto.pypto_core import ir
from pypto.pypto_core.passes import MemoryPlanner
from pypto.runtime.debug.run_script_writer import write_run_script
from pypto.runtime.records import default_folder


def compile_program(
    program, output_dir=None, strategy=None, dump_passes=True, backend_type=None, platform=None, **others
):
    """The CompiledProgram of a Program (or of a Function, alone in one; a ProgramSet where there are several
    orchestrators), and in `output_dir` its NAME.pmodel, NAME.pto
    (unless it leaves extents open: then each call compiles for the sizes that it has), with `dump_passes` NAME.py and
    passes_dump, and
    the output tree (pypto.backend.output_tree; of several ranks next_levels): in the calls of March 2026 where
    `backend_type` is PTO or CCE, else in today's. By default the folder is build_output/NAME_TIME, or under
    $PYPTO_PROG_BUILD_DIR. `platform` or else `backend_type` says the processor; $PTOAS_ROOT/ptoas, if set, makes the
    kernels' C++. ParserError with the place; ValueError, TypeError; with `memory_planner=MemoryPlanner.PTOAS` a
    PartialCodegenError for slots that this assembler does not keep apart; in the kernels' `.pto` those of one
    allocation are then slots of a pto.alloc_multi_tile, which newer assemblers take, and else tiles of their own.

    What the tree lacks is in `left_out` of the result, by name with the reason, and warned of where the program has one
    device: the `.pmodel` has it.
    """
    from pypto.backend import next_levels
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
    config = RunConfig(platform=platform, distributed_config=distributed, memory_planner=others.get("memory_planner"))
    parts = next_levels.independent_parts(program) if distributed is None else []
    if parts:
        compiled = ProgramSet(program, parts, config)
    else:
        compiled = (CompiledProgram if distributed is None else DistributedCompiledProgram)(program, config)
    write_files(compiled, output_dir or default_folder(program.name), backend_type, dump_passes, others)
    return compiled


def write_files(compiled, folder, backend_type=None, dump_passes=False, others=None):
    """Writes the files of a CompiledProgram or ProgramSet into its `output_dir`, which `folder` becomes."""
    from pypto.ir import pass_manager

    program, config, folder = compiled.program, compiled.config, Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(compiled, ProgramSet):
        parts = {folder / "next_levels" / name: compiled[name] for name in compiled.orchestration_names}
    else:
        parts = {folder: compiled}
    for inside, each in parts.items():
        each.output_dir = inside
        _write_binaries(each, inside)
    if dump_passes:
        (folder / f"{program.name}.py").write_text(ir.python_print(program))
        pass_manager.write_dumps(program, config.processor, folder / "passes_dump")
    compiled.left_out = write_tree(program, folder, backend_type, config.processor, others or {}, config.ranks)
    compiled.output_dir = folder
    for inside, each in parts.items():
        write_meta(each, inside)


def _write_binaries(compiled, folder):
    """NAME.pto and NAME.pmodel, where these are not of one set of sizes, and debug/run.py."""
    program, config = compiled.program, compiled.config
    folder.mkdir(parents=True, exist_ok=True)
    if compiled.pmodel is not None:
        compile_to(program, folder / f"{program.name}.pto", config.processor, sizes=compiled.sizes, ranks=config.ranks)
        (folder / f"{program.name}.pmodel").write_bytes(compiled.pmodel)
    if os.environ.get("PYPTO_EMIT_DEBUG_RUNNER", "").strip().lower() not in ("0", "false", "no"):
        write_run_script(folder, param_infos(compiled), platform=config.platform)


def write_expanded(program, config):
    """Writes the output tree of a program as its kernels are compiled, where `config` asks for files and no run."""
    if not (config.codegen_only and config.save_kernels and config.save_kernels_dir):
        return
    from pypto.ir import pass_manager

    folder = Path(config.save_kernels_dir)
    divided = pass_manager.expanded_or_captured(program, config.processor)
    write_tree(divided, folder, None, config.processor, {"skip_ptoas": True})
    if config.dump_passes:
        pass_manager.write_dumps(program, config.processor, folder / "passes_dump")


def write_tree(program, folder, backend_type, processor, others, ranks=1) -> dict:
    """Writes the output tree; gives what it lacks by name, with the reasons."""
    from pypto.backend import host_writer, next_levels, output_tree

    seed = getattr(backend_type, "value", backend_type) in ("PTO", "CCE")
    ptoas = None if others.get("skip_ptoas") else output_tree.find_ptoas()
    slots = not seed and others.get("memory_planner") == MemoryPlanner.PTOAS
    is_host = ir.Level.HOST in {each.level for each in program.functions.values()}
    if is_host or next_levels.independent_parts(program):
        files, left_out = next_levels.next_levels(program, not seed, processor, ptoas, slots)
    else:
        files, left_out = output_tree.tree_files(program, not seed, processor, ptoas, slots)
    if is_host:
        try:
            files |= host_writer.host_files(program, ranks)
        except ValueError as error:
            left_out["orchestration"] = str(error)
    if others.get("skip_ptoas"):
        files |= output_tree.before_assembler(files)
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    for name, reason in [] if is_host else left_out.items():  # kernels with windows are no files of their own
        warnings.warn(f"{program.name}: the output tree has no {name}: {reason}", stacklevel=4)
    return left_out
