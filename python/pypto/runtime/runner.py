"""What a test harness runs compiled programs with: RunResult, and folders that hold a program, inputs and outputs."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pypto.runtime import RunConfig, run  # noqa: F401
from pypto.runtime.records import Wanted, recorded

_SWIMLANE_FULL_LEVEL = 4
_SWIMLANE_MAX_LEVEL = 4
_SWIMLANE_CLI_HELP = "How much of the cores' timeline is recorded: 0 nothing to 4 everything."


@dataclass
class RunResult:
    """How one test case ended."""

    passed: bool
    test_name: str = ""
    error: str | None = None
    execution_time: float | None = None
    profile: Any = None

    def __str__(self):
        time = "" if self.execution_time is None else f" ({self.execution_time:.2f} s)"
        name = f": {self.test_name}" if self.test_name else ""
        return f"PASS{name}{time}" if self.passed else f"FAIL{name}: {self.error}{time}"


_DfxOpts = Wanted  # as harnesses call it


def execute_compiled(work_dir, args, *, platform, device_id, dfx=_DfxOpts(), **_):  # noqa: B008  (frozen)
    """Runs the program in a folder of `ir.compile` or `compile_program`, outputs in place; the tensors that it returns
    are outputs behind its parameters. ValueError for folders of others, and for tensors of another shape or number."""
    from pypto.ir.compiled_program import CompiledProgram
    from pypto.ir.dispatch import META
    from pypto.jit.arguments import read
    from pypto.runtime.device_runner import compile_and_assemble

    if (Path(work_dir) / META).is_file():
        compiled = CompiledProgram.from_dir(work_dir, platform=platform)
    else:
        compiled = compile_and_assemble(work_dir, platform)[0]
    count = len(compiled.param_names)
    with recorded(compiled, dfx, work_dir):
        made = compiled(*args[:count])
    made, behind = made if isinstance(made, tuple) else () if made is None else (made,), args[count:]
    if behind and len(behind) != len(made):
        raise TypeError(f"{compiled.name}: expects {count} arguments and {len(made)} returned, not {len(args)}")
    for each, value in zip(behind, made, strict=False):
        target, source = (read("a returned tensor", held).data.reshape(-1).view(np.uint8) for held in (each, value))
        np.copyto(target, source)


def _load_golden(path):
    spec = importlib.util.spec_from_file_location("_golden", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compare(name, actual, expected, rtol, atol):
    """AssertionError with the first elements that differ. Where NaN is expected everything is right."""
    import torch

    if actual.shape != expected.shape:
        raise AssertionError(f"output {name}: has shape {list(actual.shape)}, expected {list(expected.shape)}")
    right = torch.isclose(actual, expected.to(actual.dtype), rtol=rtol, atol=atol) | torch.isnan(expected)
    wrong = torch.nonzero(~right.flatten()).flatten()
    if not len(wrong):
        return
    lines = [f"  [{i}] actual={actual.flatten()[i]}, expected={expected.flatten()[i]}" for i in wrong[:20].tolist()]
    head = f"output {name}: {len(wrong)} of {actual.numel()} elements differ (rtol={rtol}, atol={atol})"
    raise AssertionError("\n".join([head, *lines]))


def _stored(work_dir, golden):
    """The files with the expected outputs, by name."""
    return {name: Path(work_dir) / "data" / "out" / f"{name}.pt" for name in golden.__outputs__}


def _expected(work_dir, golden, values):
    """What outputs must be: the stored ones, else what golden.py computes of the inputs."""
    import torch

    files = _stored(work_dir, golden)
    if all(each.is_file() for each in files.values()):
        return {name: torch.load(file) for name, file in files.items()}
    golden.compute_golden(values, {})
    return {name: values[name] for name in golden.__outputs__}


def _execute_on_device(
    work_dir,
    golden_path,
    chip_callable,
    runtime_name,
    platform,
    device_id,
    dfx=_DfxOpts(),  # noqa: B008  (frozen)
    validate=True,
    actual_out_dir=None,
    enable_sdma=False,
):
    """Runs a program of `compile_and_assemble` on the inputs of golden.py; with `validate`, compares the outputs: an
    AssertionError names index, actual and expected. Otherwise they are stored, by default in data/actual."""
    import torch

    golden = _load_golden(golden_path)
    given = golden.generate_inputs({})
    tensors = {name: value for name, value in given if isinstance(value, torch.Tensor)}
    stored = validate and all(each.is_file() for each in _stored(work_dir, golden).values())
    before = {name: value.clone() for name, value in tensors.items()} if validate and not stored else {}
    names = chip_callable.param_names
    values = {name: value if name in tensors else value.value for name, value in given}
    missing = [name for name in names if name not in values]
    if missing:  # harnesses pass by position
        values = dict(zip(names, values.values(), strict=True))
    with recorded(chip_callable, dfx, work_dir):
        chip_callable(**{name: values[name] for name in names})
    outputs = {name: tensors[name] for name in golden.__outputs__}
    if validate:
        for name, expected in _expected(work_dir, golden, before).items():
            _compare(name, outputs[name], expected, golden.RTOL, golden.ATOL)
        return
    folder = Path(actual_out_dir or Path(work_dir) / "data" / "actual")
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in outputs.items():
        torch.save(value, folder / f"{name}.pt")


def validate_persisted_outputs(work_dir, rtol, atol):
    """Compares data/actual with data/out. AssertionError, FileNotFoundError."""
    import torch

    data = Path(work_dir) / "data"
    for file in sorted((data / "out").glob("*.pt")):
        _compare(file.stem, torch.load(data / "actual" / file.name), torch.load(file), rtol, atol)
