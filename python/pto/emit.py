"""Kernels as functions of the pto dialect.

The function's arguments: a pointer for each tensor, then for each tile that passes through global memory (between the
cores, or between two loops; see `workspace`), then the scalar arguments: f32 for every float type, i32 or i64 for
integers, rounded in the kernel to the type that the builder names.
"""

from __future__ import annotations

from pto_as import Kernel, PTOError, Value

from .emit_cube import CubeEmitter
from .emit_vector import COMPUTE, SegmentEmitter
from .segments import Cube, Loop, Plan, Segment, is_product, of_shape, operations, shapes, split
from .text import Text

PROCESSORS = ("a3", "a5")


def workspace(kernel: Kernel) -> list[Value]:
    """The tiles for which the function has further pointers behind the tensors, in order. Their contents need not be
    set."""
    return split(kernel).workspace


def emit_module(kernels: list[Kernel], processor: str = "a3") -> str:
    """The text of a module with one function per kernel; PTOError says what has no instructions."""
    if processor not in PROCESSORS:
        raise PTOError(f"there is no processor '{processor}', expected one of {', '.join(PROCESSORS)}")
    functions = "".join(_Emitter(kernel, processor).function() for kernel in kernels)
    return f'module attributes {{pto.target_arch = "{processor}"}} {{\n{functions}}}\n'


class _Emitter:
    def __init__(self, kernel: Kernel, processor: str):
        self.kernel, self.processor = kernel, processor
        self.plan: Plan = split(kernel)
        self.text = Text()
        self.views: dict[tuple, tuple[str, str]] = {}
        self.view_lines: list[str] = []
        self.pointers = [value for value in kernel.values if value.kind == "tensor"] + self.plan.workspace
        self.scalars = [value for value in kernel.arguments() if value.kind == "scalar"]
        self.global_names = {value.name for value in self.pointers}

    def function(self) -> str:
        try:
            return self._function()
        except PTOError as error:
            text = str(error)
            raise PTOError(text if text.startswith("@") else f"@{self.kernel.name}: {text}") from None

    def _function(self) -> str:
        plan, text = self.plan, self.text
        outside = lambda value: value.name in self.global_names  # noqa: E731
        self.cube = CubeEmitter(text, self._view, plan.accumulators)
        names = self._scalars()
        self.segments = SegmentEmitter(text, self.processor, names, outside, self._view)
        kind = "" if plan.uses_cube and plan.uses_vector else "cube" if plan.uses_cube else "vector"
        if plan.uses_cube:
            # Products and what depends on them run on one block, whatever the launch has.
            block = text.define("pto.get_block_idx")
            first = text.define(f"arith.cmpi eq, {block}, {text.constant(0, 'i64')} : i64")
            with text.block(f"scf.if {first}"):
                self._accumulators()
                self._parts(plan.parts)
        else:
            self._parts(plan.parts)
        arguments = [f"%arg_{value.name}: !pto.ptr<{value.dtype}>" for value in self.pointers]
        arguments += [f"%arg_{value.name}: {_argument_type(value)}" for value in self.scalars]
        attributes = "pto.entry" + (f", pto.kernel_kind = #pto.kernel_kind<{kind}>" if kind else "")
        head = f"  func.func @{self.kernel.name}({', '.join(arguments)}) attributes {{{attributes}}} {{\n"
        constants = [f"    {name} = {value}" for name, value in text.constants.items()]
        return head + "\n".join([*constants, *self.view_lines, *text.lines, "    return", "  }"]) + "\n"

    def _accumulators(self) -> None:
        held = {value.name for value in self.plan.accumulators}
        sources = {
            op.operands[0].name: op.operands[1].dtype
            for op in operations(self.kernel.body)
            if is_product(op) and op.operands[0].name in held
        }
        self.cube.allocate(sources)

    def _parts(self, parts: list) -> None:
        for part in parts:
            if isinstance(part, Loop):
                count = part.repeat.count
                with self.text.loop(0, count if isinstance(count, int) else self.segments.scalars[count.name], 1):
                    self._parts(part.body)
            elif isinstance(part, Cube):
                self.cube.emit(part.op)
            elif isinstance(part, Segment):
                for shape in shapes(part.body):
                    self.segments.emit(of_shape(part.body, shape), spread=not self.plan.uses_cube)

    def _scalars(self) -> dict[str, str]:
        """The scalar arguments in the types that operations and loops take; loops take an index."""
        counts = {value.name for value in _counts(self.kernel.body)}
        used = {value.name for op in operations(self.kernel.body) for value in op.operands}
        names = {}
        for value in self.scalars:
            name = f"%arg_{value.name}"
            if value.name in counts and value.name in used:
                raise PTOError(f"%{value.name} is both a number of trips and an operand; make it two scalars")
            if value.name in counts:
                names[value.name] = self.text.define(f"arith.index_cast {name} : {_argument_type(value)} to index")
            elif value.name in used:
                names[value.name] = self._rounded(name, value.dtype)
        return names

    def _rounded(self, name: str, dtype: str) -> str:
        define = self.text.define
        if dtype in ("f16", "bf16"):
            name = define(f"arith.truncf {name} : f32 to {dtype}")
            return name if COMPUTE[dtype] == dtype else define(f"arith.extf {name} : {dtype} to f32")
        if dtype in ("i8", "i16"):
            name = define(f"arith.trunci {name} : i32 to {dtype}")
            return name if COMPUTE[dtype] == dtype else define(f"arith.extsi {name} : i8 to i16")
        return name

    def _view(self, value: Value, rows: int, cols: int) -> tuple[str, str]:
        """A view of a tensor as a matrix; stands at the head of the function, once."""
        key = (value.name, rows, cols)
        if key not in self.views:
            kind = f"!pto.tensor_view<{rows}x{cols}x{value.dtype}>"
            name = f"%view_{value.name}_{len(self.views)}"
            extents, one = [self.text.index(extent) for extent in (rows, cols)], self.text.index(1)
            self.view_lines.append(
                f"    {name} = pto.make_tensor_view %arg_{value.name}, shape = [{', '.join(extents)}], "
                f"strides = [{extents[1]}, {one}] : {kind}"
            )
            self.views[key] = (name, kind)
        return self.views[key]


def _argument_type(value: Value) -> str:
    if value.dtype in ("f32", "f16", "bf16"):
        return "f32"
    if value.dtype in ("i8", "i16", "i32"):
        return "i32"
    if value.dtype == "i64":
        return "i64"
    raise PTOError(f"the scalar %{value.name} is {value.dtype}, which has no instructions")


def _counts(body: list):
    for item in body:
        if hasattr(item, "count"):
            if isinstance(item.count, Value):
                yield item.count
            yield from _counts(item.body)
