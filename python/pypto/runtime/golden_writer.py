"""golden.py and the tensors beside it: what a program is run on, and what it must give."""

import ast
import inspect
import textwrap

_IMPORTS = "import ctypes\nfrom pathlib import Path\n\nimport torch\n"
_CTYPES = {
    "int64": "c_int64",
    "int32": "c_int32",
    "uint64": "c_uint64",
    "uint32": "c_uint32",
    "float": "c_float",
    "double": "c_double",
}


def _is_input(spec):
    return not spec.is_output or spec.init_value is not None


def _data_dir_has_files(data_dir, tensor_specs) -> bool:
    """Whether all inputs lie in data/in and all outputs in data/out."""
    wanted = [data_dir / "in" / f"{spec.name}.pt" for spec in tensor_specs if _is_input(spec)]
    wanted += [data_dir / "out" / f"{spec.name}.pt" for spec in tensor_specs if spec.is_output]
    return all(each.is_file() for each in wanted)


def _materialize_tensors(tensor_specs):
    """The tensors by name."""
    return {spec.name: spec.create_tensor() for spec in tensor_specs}


def _save_data_files(data_files, data_dir):
    import torch

    data_dir.mkdir(parents=True, exist_ok=True)
    for name, tensor in data_files.items():
        torch.save(tensor, data_dir / f"{name}.pt")


def _extract_compute_golden(function) -> str:
    """The source of a function or method as `compute_golden(tensors, params)`. RuntimeError where there is none."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        raise RuntimeError(f"{getattr(function, '__name__', function)}: its source cannot be read") from error
    held = tree.body[0]
    if not isinstance(held, ast.FunctionDef):
        raise RuntimeError("expects a function")
    names = [each.arg for each in held.args.args if each.arg != "self"]
    used = {node.id for node in ast.walk(held) if isinstance(node, ast.Name)}
    if "self" in used:
        raise RuntimeError(f"{held.name}: reads attributes of its object")
    held.name, held.decorator_list, held.returns = "compute_golden", [], None
    held.args.args = [ast.arg(each) for each in (names + ["tensors", "params"])[:2]]
    return ast.unparse(ast.fix_missing_locations(held))


def generate_golden_source(
    tensor_specs, golden_fn, rtol, atol, *, compute_golden_src=None, scalar_specs=None, use_data_files=False
) -> str:
    """golden.py: `__outputs__`, `RTOL`, `ATOL`, `generate_inputs(params)`, `compute_golden(tensors, params)`. Inputs
    come from the files of data/in."""
    if not use_data_files:
        raise ValueError("generate_golden_source: inputs lie in files; use_data_files says so")
    lines = [_IMPORTS, f"__outputs__ = {[spec.name for spec in tensor_specs if spec.is_output]!r}"]
    lines += [f"RTOL = {rtol!r}", f"ATOL = {atol!r}", "", "", "def generate_inputs(params):"]
    lines += ['    data = Path(__file__).resolve().parent / "data" / "in"', "    return ["]
    for spec in tensor_specs:
        made = f"torch.zeros({tuple(spec.shape)!r}, dtype={spec.dtype})"
        stored = f"torch.load(data / {spec.name + '.pt'!r})"
        lines.append(f"        ({spec.name!r}, {stored if _is_input(spec) else made}),")
    for spec in scalar_specs or []:
        lines.append(f"        ({spec.name!r}, ctypes.{_CTYPES[spec.ctype]}({spec.value!r})),")
    lines += ["    ]", "", "", compute_golden_src or _extract_compute_golden(golden_fn), ""]
    return "\n".join(lines)
