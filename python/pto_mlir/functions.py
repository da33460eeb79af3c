"""Functions of ONNX, local to a model or the bodies of operators, where the importer has no better lowering; sequences
inside of a model."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import local_functions
from .errors import UserError
from .local_functions import title

if TYPE_CHECKING:
    import onnx

# How the importer names a node's operator in an error (Importer::reportNode).
_REFUSED = re.compile(r"\(([^()\s]+), opset (?:\d+|unknown)\): ")
# What is wrong with a value, which a body would compute with.
_HOPELESS = re.compile(r"must not be 0$")

Function = tuple[str, str]  # domain and name


def import_with_bodies(model_def: str, transform: Callable[[str], dict]) -> dict:
    """`transform` of the model; where that refuses operators that are functions, of a copy with their bodies in their
    place, which "remarks" of the result names, and without sequences, where these have known lengths."""
    try:
        return transform(model_def)
    except UserError as error:
        first = last = error
    functions: list[Function] = []
    path = model_def
    has_lists = "sequences, optionals" in str(first) and _has_tensor_ports(model_def)
    while True:
        more = [function for function in _refused(str(last), model_def) if function not in functions]
        if not more and not (has_lists and last is first):
            break
        functions += more
        try:
            with _rewritten(model_def, functions, has_lists) as path:
                result = transform(path)
        except UserError as error:
            now = UserError(str(error).replace(path, model_def))
            if str(now) == str(first):  # the inliner left the operators as they are
                break
            last = now
            continue
        except RuntimeError:  # onnx's inliner does not take this model
            break
        result["remarks"] += [f"{title(function)}: computed by its function's body" for function in functions]
        return result
    if str(last) != str(first):
        how = "by its function's body" if functions else "without its sequences"
        raise UserError(f"{first}\n  {how}: {last}")
    raise first


def _has_tensor_ports(model_def: str) -> bool:
    model = _load(model_def)
    return model is not None and all(p.type.HasField("tensor_type") for p in (*model.graph.input, *model.graph.output))


def _refused(errors: str, model_def: str) -> list[Function]:
    """The operators that the errors name and that are functions, of the model or of ONNX."""
    lines = [line for line in errors.splitlines() if not _HOPELESS.search(line)]
    refused = dict.fromkeys(name for line in lines for name in _REFUSED.findall(line))
    model = _load(model_def) if refused else None
    if not model:
        return []
    local = {title((function.domain, function.name)): (function.domain, function.name) for function in model.functions}
    if local:
        try:
            local_functions.check(model)
        except UserError as error:
            raise UserError(f"{model_def}: {error}") from None
    nodes = [node for node in local_functions.broken_nodes(model) if title((node.domain, node.op_type)) in refused]
    broken = {title((node.domain, node.op_type)) for node in nodes}
    opsets = {"" if entry.domain == "ai.onnx" else entry.domain: entry.version for entry in model.opset_import}
    found = []
    for shown in refused:
        if shown in broken:  # no body can help
            continue
        domain, _, name = shown.rpartition(".")
        if shown in local:
            found.append(local[shown])
        elif _has_body(name, domain, opsets.get(domain)):
            found.append((domain, name))
    return found


def _load(model_def: str) -> onnx.ModelProto | None:
    import onnx

    try:
        return onnx.load(model_def, load_external_data=False)
    except Exception:  # the importer has said what is wrong with the file
        return None


def _has_body(name: str, domain: str, opset: int | None) -> bool:
    from onnx import defs

    if opset is None or not defs.has(name, domain):
        return False
    try:
        schema: Any = defs.get_schema(name, opset, domain)
    except defs.SchemaError:
        return False
    return schema.has_function or schema.has_context_dependent_function


def _spell_defaults(model: onnx.ModelProto, functions: list[Function]) -> None:
    """Gives nodes the attributes that they leave out; the inliner drops references to these."""
    from onnx import defs

    opsets = {entry.domain: entry.version for entry in model.opset_import}
    for node in model.graph.node:
        if (node.domain, node.op_type) in functions and defs.has(node.op_type, node.domain):
            given = {attribute.name for attribute in node.attribute}
            schema: Any = defs.get_schema(node.op_type, opsets[node.domain], node.domain)
            for name, attribute in schema.attributes.items():
                if name not in given and attribute.default_value.name:
                    node.attribute.append(attribute.default_value)


def _with_local_bodies(model: onnx.ModelProto, functions: list[Function]) -> onnx.ModelProto:
    """A copy whose calls of ONNX's own `functions` are calls of functions local to the model, with bodies for the types
    at each call."""
    import onnx
    from onnx import defs

    model = onnx.shape_inference.infer_shapes(model)
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    types = {info.name: info.type for part in ("input", "value_info") for info in getattr(model.graph, part)}
    for weight in model.graph.initializer:
        types[weight.name] = onnx.helper.make_tensor_type_proto(weight.data_type, weight.dims)
    for number, node in enumerate(model.graph.node):
        if (node.domain, node.op_type) not in functions or not defs.has(node.op_type, node.domain):
            continue
        schema: Any = defs.get_schema(node.op_type, opsets[node.domain], node.domain)
        if not schema.has_context_dependent_function:
            continue
        kinds = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
        body = onnx.FunctionProto()
        version = opsets[node.domain]
        body.ParseFromString(
            schema.get_context_dependent_function_with_opset_version(version, node.SerializeToString(), kinds)
        )
        body.domain, body.name = node.domain, node.op_type = "pto_mlir.bodies", f"{node.op_type}_{number}"
        model.functions.append(body)
    model.opset_import.append(onnx.helper.make_opsetid("pto_mlir.bodies", 1))
    return model


def _expanded(model: onnx.ModelProto, functions: list[Function]) -> onnx.ModelProto:
    """The model with the bodies of `functions` in place of their calls."""
    import onnx.inliner

    _spell_defaults(model, functions)
    try:
        return onnx.inliner.inline_selected_functions(model, functions, inline_schema_functions=True)
    except RuntimeError:  # it has no type for an input that is left out
        return onnx.inliner.inline_local_functions(_with_local_bodies(model, functions))


@contextmanager
def _rewritten(model_def: str, functions: list[Function], has_lists: bool) -> Iterator[str]:
    """The path of a copy with the bodies of `functions`, and without sequences where it `has_lists`; beside a model
    whose weights are in files of their own."""
    import onnx

    from . import sequences

    made = onnx.load(model_def, load_external_data=False)
    if has_lists:
        made, _ = sequences.flatten(made, {})
    made = _expanded(made, functions) if functions else made
    outside = any(weight.data_location == onnx.TensorProto.EXTERNAL for weight in made.graph.initializer)
    with tempfile.NamedTemporaryFile(suffix=".onnx", dir=Path(model_def).parent if outside else None) as file:
        file.write(made.SerializeToString())
        file.flush()
        yield file.name
