"""`debug/run.py` of a folder of `ir.compile`: arguments to edit, and a call of pypto.runtime.debug.replay."""

from pathlib import Path

from pypto.pypto_core import ir

_SCRIPT = '''"""Runs the program in the folder above again: python debug/run.py [INPUTS.npz OUTPUTS.npz]

Edit `_inline_inputs` and `_user_compare`, kernels in ptoas/*.pto and the code in orchestration/ as you like. The
arguments are those of golden.py, where there is one (then outputs are compared with it), else of INPUTS.npz, in the
order of the parameters, else of `_inline_inputs`.

  --platform PLAT          what it runs on (default: {platform})
  --device-id N            number of the device (default: 0)
  --pmu LEVEL              counters of the engines
  --swimlane, --swimlane-level N
                           timeline of the cores
  --dump-args [LEVEL]      arguments of each task: 1 those that are marked, 2 all
  --dep-gen, --scope-stats dependencies of tasks; tasks in flight
  --no-recompile, --no-rebuild-from-pto
                           runs the program as it was compiled, without edits
  --log-level LEVEL, --log-sync-pypto
                           have no effect: there is no log
  --validate, --no-validate
                           whether outputs are compared with golden.py
"""

import sys
from pathlib import Path

from pto_mlir import pypto as _package

_package.enable()

from pypto.runtime.debug.replay import _main  # noqa: E402

_WORK_DIR = Path(__file__).resolve().parent.parent


def _inline_inputs():
    """The arguments, in order."""
    import torch

{inputs}
    return [{names}]


def _user_compare({names}):
    """What is checked behind a run that golden.py does not check; outputs are as the run left them."""


if __name__ == "__main__":
    sys.exit(
        _main(
            [str(_WORK_DIR), *sys.argv[1:]],
            inline_inputs=_inline_inputs,
            user_compare=_user_compare,
            default_platform="{platform}",
        )
    )
'''


def write_run_script(work_dir, param_infos, *, platform=None):
    """Writes `work_dir`/debug/run.py for a program with these parameters (pypto.ir.dispatch.ParamInfo); its path."""
    inputs = "\n".join(f"    {_argument(each)}" for each in param_infos) or "    pass"
    names = ", ".join(each.name for each in param_infos)
    file = Path(work_dir) / "debug" / "run.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_SCRIPT.format(inputs=inputs, names=names, platform=platform or "a2a3sim"))
    return file


def _argument(param):
    """The line that makes an argument: random inputs, outputs of zeros."""
    if param.shape is None:
        return f"{param.name} = None  # TODO: a scalar; write its value"
    name = _torch_name(str(param.dtype))
    if name is None:
        return f"{param.name} = None  # TODO: a tensor of {param.dtype}, a type that torch does not have"
    shape = tuple(1 if extent < 0 else extent for extent in param.shape)
    if param.direction == ir.ParamDirection.Out:
        made = f"torch.zeros({shape}, dtype=torch.{name})"
    elif name.startswith("float8"):
        made = f"torch.randn({shape}).to(torch.{name})"
    elif name == "bool" or "int" in name:
        made = f"torch.randint(0, {2 if name == 'bool' else 8}, {shape}, dtype=torch.{name})"
    else:
        made = f"torch.randn({shape}, dtype=torch.{name})"
    note = "  # NOTE: 1 stands for each dynamic dimension" if shape != tuple(param.shape) else ""
    return f"{param.name} = {made}{note}"


def _torch_name(dtype):
    """torch's name of an element type; None where it has none."""
    from pypto.jit.arguments import ELEMENT_TYPES

    names = {ours.lower(): theirs for theirs, ours in ELEMENT_TYPES.items()}
    return dtype if dtype in ELEMENT_TYPES else {**names, "index": "int64"}.get(dtype)
