"""Annotations: `pl.Tensor[[64, 32], pl.FP32]`, `pl.Tile[.., pl.Mem.Vec]`, `pl.Out[..]`, `pl.Scalar[..]`."""

import ast

from pypto.language import typing
from pypto.language.parser.diagnostics import (
    InvalidOperationError,
    ParserTypeError,
    UndefinedVariableError,
    UnknownShapeError,
    hints,
)
from pypto.language.typing import Allocation
from pypto.pypto_core import DataType, ir

_MARKERS = {
    id(getattr(typing, name)): name
    for name in ("Tensor", "Tile", "Scalar", "Array", "Tuple", "Ptr", "Out", "InOut", "DistributedTensor")
}
_HANDLES = (ir.PrefetchAsyncContextType, ir.AsyncEventType, ir.AsyncSessionType)
_VIEWS = {"TileView": ir.TileView, "TensorView": ir.TensorView, "MemRef": ir.MemRef}


_BARE_LAYOUTS = {name: getattr(ir.TensorLayout, name) for name in ("ND", "NZ", "DN")}


def is_padded(declared, deduced, axis):
    """Whether this is a tile of a buffer whose box is padded otherwise: no more is valid than the other box has."""
    if getattr(declared, "memref", None) is None:
        return False
    box, extent = declared.shape[axis].value, deduced.shape[axis].value
    larger, smaller = (declared, extent) if box > extent else (deduced, box)
    valid = getattr(larger.tile_view, "valid_shape", None)
    if not valid:
        return False
    return valid[axis].value <= smaller if isinstance(valid[axis], ir.ConstInt) else larger is declared


def type_difference(declared, deduced):
    """In what two types differ; empty where they agree. Extents known at run time agree with all."""
    if type(declared) is not type(deduced):
        return f"{type(declared).__name__}, not {type(deduced).__name__}"
    if not isinstance(declared, (ir.TileType, ir.TensorType, ir.ScalarType)):
        return ""
    if declared.dtype != deduced.dtype:
        return f"dtype {declared.dtype}, not {deduced.dtype}"
    if isinstance(declared, ir.ScalarType):
        return ""
    if len(declared.shape) != len(deduced.shape):
        return f"rank {len(declared.shape)}, not rank {len(deduced.shape)}"
    for axis, (one, other) in enumerate(zip(declared.shape, deduced.shape, strict=True)):
        known = isinstance(one, ir.ConstInt) and isinstance(other, ir.ConstInt)
        if known and one.value != other.value and not is_padded(declared, deduced, axis):
            return f"shape dimension {axis} = {one.value}, not {other.value}"
    return ""


class Annotations:
    """Needs Expressions, and of this function `self.buffers`, its buffers by their text, and `self.slotted`, the
    numbers of its allocations with slots."""

    def annotation(self, node):
        """(type, direction) of a parameter; the direction is None where it says none."""
        direction = None
        base, items = self.marker(node)
        if base in ("Out", "InOut"):
            direction = getattr(ir.ParamDirection, base)
            if len(items) != 1:
                hint = f"write `pl.{base}[pl.Tensor[[64, 32], pl.FP32]]`"
                self.fail(ParserTypeError, f"pl.{base} takes one type, not {len(items)}", node, hint)
            node = items[0]
            base, items = self.marker(node)
        return self.type(node, base, items), direction

    def type_of(self, node):
        """The type of a variable or a result."""
        return self.type(node, *self.marker(node))

    def marker(self, node):
        """The marker's name and what is in its brackets; (None, value) for another value."""
        items = []
        if isinstance(node, ast.Constant) and isinstance(node.value, str):  # from __future__ import annotations
            node = ast.parse(node.value, mode="eval").body
        head = node
        if isinstance(node, ast.Subscript):
            head = node.value
            items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        elif isinstance(node, ast.Call):  # pl.Tensor((64, 128), pl.FP16)
            head, items = node.func, node.args
        if isinstance(head, ast.Name) and head.id == "tuple":
            return "Tuple", items
        value = self.closure.get(head.id) if isinstance(head, ast.Name) else self.marker_value(head)
        name = _MARKERS.get(id(value))
        if isinstance(value, type) and value in _HANDLES:
            return None, value()
        if name is None and not isinstance(value, DataType):
            self.fail(ParserTypeError, f"{ast.unparse(node)} is no type", node, "write `pl.Tensor[[64, 32], pl.FP32]`")
        return (name, items) if name else (None, value)

    def marker_value(self, node):
        if not isinstance(node, ast.Attribute) or node.attr.startswith("_"):
            return None
        if node.attr in ("Tensor", "Tile", "Scalar", "Array", "Tuple", "Ptr", "Out", "InOut", "DistributedTensor"):
            return getattr(typing, node.attr)
        return self.value(node)

    def type(self, node, name, items):
        if name is None:
            return items if isinstance(items, ir.Type) else ir.ScalarType(items)
        if name in ("Out", "InOut"):
            self.fail(
                ParserTypeError, f"pl.{name} stands around the type of a parameter only", node, "leave it out here"
            )
        try:
            made = getattr(self, f"type_{name}")(node, items)
        except IndexError:
            self.fail(ParserTypeError, f"{ast.unparse(node)}: its brackets say too little", node)
        except (TypeError, ValueError) as error:
            self.fail(ParserTypeError, f"{ast.unparse(node)}: {error}", node)
        return made

    read_extent = None  # what reads an extent of a view that is no constant, where the caller has its own way

    def element(self, node):
        shown = ast.unparse(node)
        try:
            dtype = self.value(node)
        except InvalidOperationError as error:
            self.fail(ParserTypeError, f"Unknown dtype: {shown} is no element type", node, error.hint)
        if not isinstance(dtype, DataType):
            message = f"{shown} is no element type: it must be a DataType; one is `pl.FP32`"
            self.fail(ParserTypeError, message, node)
        return dtype

    def shaped(self, node, items):
        if len(items) < 2:
            message = f"{ast.unparse(node)} needs a shape and an element type: it requires both"
            self.fail(ParserTypeError, message, node)
        return [self.as_expr(each, items[0]) for each in self.extents(items[0])], self.element(items[1])

    def extents(self, node):
        """The extents of a shape: numbers and scalars of the IR."""
        shape = self.known(node)
        if isinstance(shape, tuple):
            shape = list(shape)
        if not isinstance(shape, list):
            hint = f"write `[{ast.unparse(node)}]`"
            self.fail(ParserTypeError, "a shape is a list of extents: it must be a list or tuple", node, hint)
        parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node] * len(shape)
        return [self.extent(each, at, i) for i, (each, at) in enumerate(zip(shape, parts, strict=False))]

    def extent(self, value, node, axis):
        value = self.plain(value, node)
        scalar = isinstance(value, ir.Expr) and isinstance(value.type, ir.ScalarType)
        if not scalar and (isinstance(value, bool) or not isinstance(value, int)):
            message = f"shape element {axis} must be int or pl.dynamic, not {ast.unparse(node)}"
            self.fail(ParserTypeError, message, node, "extents are whole numbers")
        return value

    def known(self, node):
        try:
            return self.value(node)
        except UndefinedVariableError as error:
            self.fail(UnknownShapeError, f"Unknown shape variable: {error.message}", node, error.hint)

    def type_Tensor(self, node, items, make=ir.TensorType):
        shape, dtype = self.shaped(node, items)
        memref, view = None, None
        for item in items[2:]:
            value = self.layout_part(item)
            if isinstance(value, ir.MemRef):
                memref = value
            elif isinstance(value, ir.TensorView):
                view = value
            elif isinstance(value, ir.TensorLayout) and value != ir.TensorLayout.DN:
                view = None if value == ir.TensorLayout.ND else ir.TensorView(layout=value)
            else:
                shown = ast.unparse(item)
                hint = "DN goes with its strides, `pl.TensorView(stride=[1, 64], layout=pl.DN)`"
                message = f"{shown} is no layout of a tensor: "
                if value == ir.TensorLayout.DN:
                    message += f"pl.Tensor[..., {shown}] is not supported"
                else:
                    message += "it must be a TensorLayout, a TensorView or a MemRef"
                self.fail(ParserTypeError, message, item, hint)
        return make(shape, dtype, memref, view)

    def layout_part(self, node):
        """A layout, also by its bare name, a view or a buffer."""
        if isinstance(node, ast.Name) and node.id in _BARE_LAYOUTS:
            return _BARE_LAYOUTS[node.id]
        try:
            return self.part(node)
        except InvalidOperationError:
            of_view = isinstance(node, ast.Call)
            names = ", ".join(f"`pl.{name}`" for name in ("ND", "NZ", "DN")[: 3 if of_view else 2])
            self.fail(ParserTypeError, f"Unknown layout in {ast.unparse(node)}", node, f"layouts are {names}")

    def type_DistributedTensor(self, node, items):
        return self.type_Tensor(node, items, lambda shape, dtype, *_: ir.DistributedTensorType(shape, dtype))

    def type_Tile(self, node, items):
        shape, dtype = self.shaped(node, items)
        parts = {ir.MemRef: None, ir.TileView: None, ir.MemorySpace: None}
        slot = None
        for item in items[2:]:
            value = self.stated_slot(item) or self.allocation(item) or self.part(item)
            if isinstance(value, Allocation):
                slot = item if isinstance(item, ast.Subscript) else None
                continue
            if type(value) not in parts:
                message = f"{ast.unparse(item)} says nothing about a tile"
                if isinstance(value, ir.TensorLayout):
                    message += f": Tile does not accept layouts like {ast.unparse(item)}"
                self.fail(ParserTypeError, message, item)
            parts[type(value)] = value
        if slot is not None and parts[ir.MemorySpace] is not None:
            parts[ir.MemRef] = self.slot(slot, parts[ir.MemorySpace])
        return ir.TileType(shape, dtype, parts[ir.MemRef], parts[ir.TileView], parts[ir.MemorySpace])

    def allocation(self, node):
        """What `pair`, `pair[i % 2]` and `pl.MemRef("pair", slots=2)[i % 2]` say of a tile; None of anything else."""
        slotted = isinstance(node, ast.Subscript)
        named = node.value if slotted else node
        if slotted and isinstance(named, ast.Call) and isinstance(named.func, ast.Attribute):
            if named.func.attr != "MemRef":
                return None
            keywords = {each.arg: self.value(each.value) for each in named.keywords}
            found = self.construct(node, Allocation, *map(self.value, named.args), **keywords)
        else:
            found = self.closure.get(named.id) if isinstance(named, ast.Name) else None
        if slotted and isinstance(found, Allocation) and isinstance(node.slice, ast.Constant):
            self.construct(node, found.__getitem__, node.slice.value)
        return found if isinstance(found, Allocation) else None

    def slot(self, node, space):
        """The MemRef of `pair[i % 2]`."""
        found, named = self.allocation(node), node.value
        if isinstance(named, ast.Call):
            name, key = found.name or "", ast.unparse(named)
        else:
            name, key = named.id, id(found)
        number = self.slotted.setdefault(key, len(self.slotted))
        index = self.as_expr(self.value(node.slice), node.slice)
        return self.construct(node, ir.MemRef, space, None, 0, number, name, found.slots, index)

    def stated_slot(self, node):
        """The same of `pl.MemRef(pl.Mem.Vec, None, 0, 1, slots=2)[i % 2]`, which is how it is printed."""
        whole = node.value if isinstance(node, ast.Subscript) else None
        if not isinstance(whole, ast.Call) or len(whole.args) < 2 or getattr(whole.func, "attr", None) != "MemRef":
            return None
        held = self.part(whole)
        index = self.as_expr(self.value(node.slice), node.slice)
        fields = (held.memory_space, held.addr, held.size, held.id, held.name, held.slots)
        return self.construct(node, ir.MemRef, *fields, index)

    def construct(self, node, make, *args, **keywords):
        try:
            return make(*args, **keywords)
        except (IndexError, TypeError, ValueError) as error:
            self.fail(ParserTypeError, str(error), node)

    def type_Scalar(self, node, items):
        if len(items) != 1:
            self.fail(ParserTypeError, "pl.Scalar needs an element type", node)
        return ir.ScalarType(self.element(items[0]))

    def type_Array(self, node, items):
        return ir.ArrayType(self.element(items[1]), self.expr(items[0]))

    def type_Ptr(self, node, items):
        return ir.PtrType(self.element(items[0]))

    def type_Tuple(self, node, items):
        if len(items) == 1 and isinstance(items[0], ast.Tuple):  # pl.Tuple[()]
            items = items[0].elts
        if any(self.marker(item)[0] == "Tuple" for item in items):
            self.fail(ParserTypeError, "Nested tuple types are not supported; list the parts", node)
        return ir.TupleType([self.type_of(item) for item in items])

    def part(self, node):
        """A buffer, a view, a memory space or a layout."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _VIEWS:
            return self.value(node)
        make = _VIEWS[node.func.attr]
        text = ast.unparse(node)
        if make is ir.MemRef and text in self.buffers:
            return self.buffers[text]
        if make is not ir.MemRef and node.args:
            self.fail(ParserTypeError, f"{node.func.attr} does not accept positional arguments", node)
        if make is not ir.MemRef:
            self.check_view(node, make)
        read = self.value if make is ir.MemRef else self.view_field
        positional = [self.value(each) for each in node.args]
        keywords = {each.arg: read(each.value) for each in node.keywords if each.arg}
        if make is ir.MemRef and positional and isinstance(positional[0], str):  # pl.MemRef("name", slots=2)
            keywords.setdefault("name", positional[0])
            positional = [ir.MemorySpace.Vec]
        made = make(
            *(self.plain(each, node) for each in positional), **{k: self.plain(v, node) for k, v in keywords.items()}
        )
        if make is ir.MemRef:
            self.buffers[text] = made
        return made

    def check_view(self, node, make):
        for each in node.keywords:
            if each.arg is None or each.arg.startswith("_") or not hasattr(make(), each.arg):
                message = f"Unknown {node.func.attr} keyword {each.arg}"
                self.fail(ParserTypeError, message, each, hints.nearest(each.arg or "", dir(make)))
            for part in ast.walk(each.value):
                if self.is_call(part, "yield_"):
                    self.fail(ParserTypeError, f"a {node.func.attr} cannot contain pl.yield_", part)

    def view_field(self, node):
        """A field of a view; extents that are no constants are read by `read_extent` where there is one."""
        if self.read_extent is None or not isinstance(node, (ast.List, ast.Tuple)):
            return self.value(node)
        simple = (ast.Constant, ast.Name, ast.UnaryOp)
        return [self.value(each) if isinstance(each, simple) else self.own_extent(each) for each in node.elts]

    def own_extent(self, node):
        made = self.read_extent(node)
        if not isinstance(made, ir.Expr) or not isinstance(made.type, ir.ScalarType) or not made.type.dtype.is_int():
            self.fail(ParserTypeError, f"{ast.unparse(node)} must be an index expression", node)
        return made

    def plain(self, value, node):
        if isinstance(value, list):
            return [self.as_expr(each, node) for each in value]
        return self.symbol(value, node) if isinstance(value, typing.DynVar) else value
