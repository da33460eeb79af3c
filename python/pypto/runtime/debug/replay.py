"""Runs the program in a folder of `ir.compile` again: `python -m pto_mlir.pypto -m pypto.runtime.debug.replay FOLDER`.

By default the files run as they are: kernels of ptoas/*.pto, and the C++ of orchestration/. Where the folder has no
such files (its program has several ranks, or `left_out` names some), where records of the run are wanted, and without
`recompile` or `rebuild_from_pto`, the program runs as it was compiled.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from pypto.ir.dispatch import META, checksums, read_meta
from pypto.runtime import RunConfig
from pypto.runtime.runner import (
    _SWIMLANE_CLI_HELP,
    _SWIMLANE_FULL_LEVEL,
    _SWIMLANE_MAX_LEVEL,
    _compare,
    _DfxOpts,
    _load_golden,
    execute_compiled,
)


def replay(work_dir, *tensors, config=None, recompile=True, rebuild_from_pto=True, validate=False):
    """Runs on these arguments, in the order of the parameters, outputs in place; tensors that the program returns are
    outputs behind them. `validate`: outputs are compared with golden.py (AssertionError).

    FileNotFoundError for a folder without a program or golden.py; ValueError, TypeError for other arguments, and for
    records of files that were edited; RuntimeError where the files do not compile.
    """
    config, folder = config or RunConfig(), Path(work_dir)
    wanted = _DfxOpts.from_run_config(config)
    if not (folder / "kernel_config.py").is_file() and not (folder / META).is_file():
        raise FileNotFoundError(f"{folder}: has neither kernel_config.py nor {META}; ir.compile writes them")
    golden = _golden(folder) if validate else None
    named = _named(golden, tensors) if validate else {}
    edited = _edited(folder) if recompile and rebuild_from_pto else []
    if edited and wanted.any():
        raise ValueError(
            f"{edited[0]}: was edited, and records are of the program as it was compiled; run with --no-recompile"
        )
    print("[execute] running on the simulated device...")
    if recompile and rebuild_from_pto and not wanted.any() and _has_tree(folder):
        from pypto.runtime.orchestration import OrchestrationTree

        OrchestrationTree(folder, config.processor)(*tensors)
    else:
        execute_compiled(folder, tensors, platform=config.platform, device_id=config.device_id, dfx=wanted)
    if validate:
        _validate(golden, named)


def _has_tree(folder):
    """Whether the files of a folder can run by themselves."""
    from pypto.runtime.orchestration import kernel_files, read_config

    try:
        files = kernel_files(folder, read_config(folder))
    except ValueError:  # of a program that compile_program wrote
        return False
    return all(file.is_file() for _, file in files)


def _edited(folder):
    """The files that run and are not as they were written."""
    if not (folder / META).is_file():
        return []
    written = read_meta(folder).get("files", {})
    return [folder / name for name, check in checksums(folder).items() if written.get(name) != check]


def _golden(folder):
    file = folder / "golden.py"
    if not file.is_file():
        raise FileNotFoundError(f"{file}: no such file, so there is nothing to compare outputs with")
    return _load_golden(file)


def _named(golden, tensors):
    """The arguments by name, as golden.py has them in order. ValueError for another number."""
    names = [name for name, _ in golden.generate_inputs({"name": "Default"})]
    if len(names) != len(tensors):
        raise ValueError(f"replay: expected {len(names)} tensors, {', '.join(names)}, not {len(tensors)}")
    return dict(zip(names, tensors, strict=True))


def _validate(golden, named):
    outputs = {name: named[name] for name in getattr(golden, "__outputs__", [])}
    expected = {name: value.clone() for name, value in outputs.items()}
    golden.compute_golden({**named, **expected}, {})
    for name, value in outputs.items():
        _compare(name, value, expected[name], getattr(golden, "RTOL", 1e-5), getattr(golden, "ATOL", 1e-5))


def _load_named_inputs_from_golden(work_dir):
    """(name, value) of each argument as golden.py has them, in order. FileNotFoundError."""
    return list(_golden(Path(work_dir)).generate_inputs({"name": "Default"}))


def _parser(default_platform, validates):
    parser = argparse.ArgumentParser(prog="python -m pypto.runtime.debug.replay", description="Runs a folder again.")
    parser.add_argument("work_dir", type=Path, help="a folder of ir.compile")
    parser.add_argument("inputs", nargs="?", help="an .npz with the arguments in the order of the parameters")
    parser.add_argument("outputs", nargs="?", help="the .npz that gets them all as they are after the run")
    parser.add_argument("--platform", default=default_platform)
    parser.add_argument("--device-id", type=int, default=0, metavar="N")
    parser.add_argument("--pmu", type=int, default=0, metavar="LEVEL")
    # Two options: one with an optional value would take the folder for it.
    parser.add_argument("--swimlane", action="store_const", const=_SWIMLANE_FULL_LEVEL, default=0)
    levels = range(_SWIMLANE_MAX_LEVEL + 1)
    parser.add_argument("--swimlane-level", type=int, choices=levels, metavar="LEVEL", help=_SWIMLANE_CLI_HELP)
    parser.add_argument("--dump-args", nargs="?", type=int, const=1, default=0, metavar="LEVEL")
    parser.add_argument("--dep-gen", action="store_true")
    parser.add_argument("--scope-stats", action="store_true")
    parser.add_argument("--no-recompile", action="store_true", help="runs the program as it was compiled")
    parser.add_argument("--no-rebuild-from-pto", action="store_true", help="the same")
    parser.add_argument("--log-level", metavar="LEVEL", help="has no effect: there is no log")
    parser.add_argument("--log-sync-pypto", action="store_true", help="has no effect")
    parser.add_argument("--validate", action=argparse.BooleanOptionalAction, default=validates)
    return parser


def _main(argv=None, *, inline_inputs=None, user_compare=None, default_platform="a2a3sim"):
    """The command line of a replay, and of debug/run.py, which gives `inline_inputs` and `user_compare`: what there is
    without golden.py or with --no-validate."""
    args = _parser(default_platform, inline_inputs is not None).parse_args(argv)
    config = RunConfig(
        platform=args.platform,
        device_id=args.device_id,
        enable_pmu=args.pmu,
        enable_chip_swimlane=args.swimlane if args.swimlane_level is None else args.swimlane_level,
        enable_dump_args=args.dump_args,
        enable_dep_gen=args.dep_gen,
        enable_scope_stats=args.scope_stats,
    )
    arrays, validates = {}, False
    if args.inputs:
        with np.load(args.inputs) as held:
            arrays = {name: np.array(held[name]) for name in held.files}
        tensors = [array if array.ndim else array.item() for array in arrays.values()]
    elif inline_inputs is not None and not (args.validate and (args.work_dir / "golden.py").is_file()):
        tensors = list(inline_inputs())
    else:
        validates, tensors = args.validate, [value for _, value in _load_named_inputs_from_golden(args.work_dir)]
    replay(
        args.work_dir,
        *tensors,
        config=config,
        recompile=not args.no_recompile,
        rebuild_from_pto=not args.no_rebuild_from_pto,
        validate=validates,
    )
    if args.outputs:
        np.savez(args.outputs, **arrays)
    print(f"Replay finished. Records, if any, are in {args.work_dir / 'dfx_outputs'}")
    if validates:
        print("Golden validation: PASSED")
    elif user_compare is not None and not args.inputs:
        user_compare(*tensors)
    return 0


if __name__ == "__main__":
    sys.exit(_main())
