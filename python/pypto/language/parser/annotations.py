"""Annotations: `pl.Tensor[[64, 32], pl.FP32]`, `pl.Tile[.., pl.Mem.Vec]`, `pl.Out[..]`, `pl.Scalar[..]`."""

import ast

from pypto.language import typing
from pypto.language.parser.diagnostics import ParserTypeError
from pypto.pypto_core import DataType, ir

_MARKERS = {
    id(getattr(typing, name)): name
    for name in ("Tensor", "Tile", "Scalar", "Array", "Tuple", "Ptr", "Out", "InOut", "DistributedTensor")
}
_VIEWS = {"TileView": ir.TileView, "TensorView": ir.TensorView, "MemRef": ir.MemRef}


class Annotations:
    """Needs Expressions, and `self.buffers`: buffers of this function by their text."""

    def annotation(self, node):
        """(type, direction) of a parameter; the direction is None where it says none."""
        direction = None
        base, items = self.marker(node)
        if base in ("Out", "InOut"):
            direction = getattr(ir.ParamDirection, base)
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
            return ir.ScalarType(items)
        try:
            made = getattr(self, f"type_{name}")(node, items)
        except (TypeError, ValueError, IndexError) as error:
            self.fail(ParserTypeError, f"{ast.unparse(node)}: {error}", node)
        return made

    def element(self, node):
        dtype = self.value(node)
        if not isinstance(dtype, DataType):
            self.fail(ParserTypeError, f"{ast.unparse(node)} is no element type; one is `pl.FP32`", node)
        return dtype

    def shaped(self, node, items):
        if len(items) < 2:
            self.fail(ParserTypeError, f"{ast.unparse(node)} needs a shape and an element type", node)
        shape = self.value(items[0])
        if not isinstance(shape, list):
            hint = f"write `[{ast.unparse(items[0])}]`"
            self.fail(ParserTypeError, "a shape is a list of extents", items[0], hint)
        return [self.as_expr(each, items[0]) for each in shape], self.element(items[1])

    def type_Tensor(self, node, items, make=ir.TensorType):
        shape, dtype = self.shaped(node, items)
        memref, view = None, None
        for item in items[2:]:
            value = self.part(item)
            if isinstance(value, ir.MemRef):
                memref = value
            elif isinstance(value, ir.TensorView):
                view = value
            elif isinstance(value, ir.TensorLayout) and value != ir.TensorLayout.DN:
                view = None if value == ir.TensorLayout.ND else ir.TensorView(layout=value)
            else:
                hint = "DN goes with its strides, `pl.TensorView(stride=[1, 64], layout=pl.DN)`"
                self.fail(ParserTypeError, f"{ast.unparse(item)} is no layout of a tensor", item, hint)
        return make(shape, dtype, memref, view)

    def type_DistributedTensor(self, node, items):
        return self.type_Tensor(node, items, lambda shape, dtype, *_: ir.DistributedTensorType(shape, dtype))

    def type_Tile(self, node, items):
        shape, dtype = self.shaped(node, items)
        parts = {ir.MemRef: None, ir.TileView: None, ir.MemorySpace: None}
        for item in items[2:]:
            value = self.part(item)
            if type(value) not in parts:
                self.fail(ParserTypeError, f"{ast.unparse(item)} says nothing about a tile", item)
            parts[type(value)] = value
        return ir.TileType(shape, dtype, parts[ir.MemRef], parts[ir.TileView], parts[ir.MemorySpace])

    def type_Scalar(self, node, items):
        if len(items) != 1:
            self.fail(ParserTypeError, "pl.Scalar needs an element type", node)
        return ir.ScalarType(self.element(items[0]))

    def type_Array(self, node, items):
        return ir.ArrayType(self.element(items[1]), self.expr(items[0]))

    def type_Ptr(self, node, items):
        return ir.PtrType(self.element(items[0]))

    def type_Tuple(self, node, items):
        return ir.TupleType([self.type_of(item) for item in items])

    def part(self, node):
        """A buffer, a view, a memory space or a layout."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _VIEWS:
            return self.value(node)
        make = _VIEWS[node.func.attr]
        text = ast.unparse(node)
        if make is ir.MemRef and text in self.buffers:
            return self.buffers[text]
        positional = [self.value(each) for each in node.args]
        keywords = {each.arg: self.value(each.value) for each in node.keywords if each.arg}
        if make is ir.MemRef and positional and isinstance(positional[0], str):  # pl.MemRef("name", slots=2)
            keywords.setdefault("name", positional[0])
            positional = [ir.MemorySpace.Vec]
        made = make(
            *(self.plain(each, node) for each in positional), **{k: self.plain(v, node) for k, v in keywords.items()}
        )
        if make is ir.MemRef:
            self.buffers[text] = made
        return made

    def plain(self, value, node):
        if isinstance(value, list):
            return [self.as_expr(each, node) for each in value]
        return self.symbol(value, node) if isinstance(value, typing.DynVar) else value
