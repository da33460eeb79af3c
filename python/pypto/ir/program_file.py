"""A program in a file of its own: which of its functions, with which shapes, to which files."""

import re
import runpy

from pypto.ir.compiled_program import compile_to, main_of
from pypto.ir.errors import TYPES
from pypto.ir.extents import sizes_of, viewed_only
from pypto.jit.arguments import Shaped
from pypto.jit.function import JITFunction
from pypto.language.parser.diagnostics import ParserError  # noqa: F401
from pypto.pypto_core import DataType, ir


def compile_file(file, output, entry="", shapes=(), processor="", blocks=1):
    """Imports the file and compiles one of its programs to `output`: a `.pmodel`, `.pto` or `.cpp`, else a folder for
    all of them. `shapes`: texts such as a=128x128xf32 and n=3. ParserError, ValueError; ImportError, SyntaxError of the
    file."""
    names = runpy.run_path(str(file), run_name="__pypto__")
    values = _values(shapes)
    program = _program(_entry(names, entry, file), values, file)
    sizes = _sizes(program, values)
    for each in _outputs(output, program.name):
        compile_to(program, each, processor, blocks, sizes)


def _values(texts):
    """Shapes and numbers by parameter name."""
    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        tensor = re.fullmatch(r"((?:\d{1,9}x)+)([a-z]+\d+)", value)
        number = re.fullmatch(r"-?\d{1,18}(\.\d*)?(e-?\d{1,3})?", value)
        if name and tensor and tensor[2] in TYPES:
            extents = tuple(int(extent) for extent in tensor[1].split("x")[:-1])
            values[name] = Shaped(extents, getattr(DataType, TYPES[tensor[2]]))
        elif name and number:
            values[name] = float(value) if number[1] or number[2] else int(value)
        else:
            raise ValueError(f"--shape: expects a=128x128xf32 or n=3, got {text!r}; types: {', '.join(TYPES)}")
    return values


def _entry(names, wanted, file):
    found = {name: held for name, held in names.items() if isinstance(held, (JITFunction, ir.Program))}
    if wanted and wanted not in found:
        raise ValueError(f"{file}: has no entry {wanted}; it has {', '.join(found) or 'none'}")
    if not wanted and len(found) != 1:
        raise ValueError(f"{file}: has {', '.join(found) or 'no @pl.jit or @pl.program'}; choose one with --entry")
    return found[wanted] if wanted else next(iter(found.values()))


def _program(entry, values, file):
    if not isinstance(entry, JITFunction):
        main = _main(entry)
        extents = [each for param in main.params for each in getattr(param.type, "shape", ())] if main else []
        if values and not any(isinstance(each, ir.Var) for each in extents):
            raise ValueError(f"--shape: {entry.name} says all its shapes itself")
        return entry
    unknown = [name for name in values if name not in entry.order]
    if unknown:
        raise ValueError(f"--shape: {entry.__name__} has no parameter {unknown[0]}; it has {', '.join(entry.order)}")
    try:
        return entry.program({name: values.get(name) for name in entry.order})
    except TypeError as error:
        raise ValueError(f"{file}: {error}; --shape NAME=SHAPE says it") from None


def _sizes(program, values):
    """The extents that a class leaves open, as `--shape` says them."""
    shapes = {name: value.shape for name, value in values.items() if isinstance(value, Shaped)}
    main = _main(program) if shapes else None
    types = {param.name_hint: param.type for param in main.params} if main else {}
    return sizes_of("--shape", types, shapes, viewed_only(main)) if main else {}


def _main(program):
    """Its entry; none where it is only kernels."""
    try:
        return main_of(program)
    except ValueError:
        return None


def _outputs(output, name):
    if output.suffix in (".pmodel", ".pto", ".cpp"):
        return [output]
    if output.suffix:
        raise ValueError(f"{output}: expects a .pmodel, .pto or .cpp, or a folder")
    output.mkdir(parents=True, exist_ok=True)
    return [output / f"{name}{suffix}" for suffix in (".pmodel", ".pto", ".cpp")]
