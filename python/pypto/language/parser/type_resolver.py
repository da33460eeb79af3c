"""Types of annotations, for tools that hold an annotation's syntax tree."""

from pypto.language.parser import source
from pypto.language.parser.annotations import type_difference
from pypto.language.parser.diagnostics import ParserTypeError
from pypto.language.parser.function_parser import FunctionParser
from pypto.pypto_core import DataType, ir


class TypeResolver:
    """Reads annotations as the parser does, with the names of an ExprEvaluator; `scope_lookup` gives variables of the
    program by name or None, `parse_expression` reads extents that are no constants."""

    def __init__(self, expr_evaluator, scope_lookup=None, span_tracker=None, parse_expression=None):
        import pypto.language as pl
        import pypto.language.distributed as pld

        held = {"pl": pl, "pld": pld, **expr_evaluator.closure_vars}
        tracker = span_tracker or expr_evaluator.span_tracker
        place = source.Source(getattr(tracker, "source_file", "<string>"), getattr(tracker, "source_lines", []))
        self._parser = FunctionParser(place, held)
        self._parser.env = _Scope(scope_lookup, held)
        self._parser.read_extent = parse_expression

    def resolve_type(self, node):
        """The type; of `tuple[..]` a list of types."""
        made = self._parser.type_of(node)
        spelled = getattr(getattr(node, "value", None), "id", None)
        return list(made.types) if spelled == "tuple" and isinstance(made, ir.TupleType) else made

    def resolve_dtype(self, node) -> DataType:
        return self._parser.element(node)

    def resolve_memref(self, node) -> ir.MemRef:
        return self._parser.part(node)

    def _parse_shape(self, node):
        """Extents: numbers and variables."""
        return self._parser.extents(node)

    def _to_ir_shape(self, shape):
        """Numbers alone as they are, else all as nodes."""
        if all(isinstance(each, int) for each in shape):
            return shape
        return [self._parser.as_expr(each, None) for each in shape]

    def validate_annotation_consistency(self, annotation, inferred, name, span):
        """A ParserTypeError where what is declared is not what was computed; what is not known agrees with all."""
        if isinstance(inferred, ir.UnknownType):
            return
        differs = type_difference(annotation, inferred)
        if differs:
            raise ParserTypeError(f"{name}: declared {annotation}, but the value is {inferred}: {differs}", span)


class _Scope(dict):
    """Names that a lookup knows, unless the closure has them."""

    def __init__(self, lookup, closure):
        super().__init__()
        self.lookup, self.closure = lookup or (lambda name: None), closure

    def __contains__(self, name):
        return name not in self.closure and self.lookup(name) is not None

    def __getitem__(self, name):
        return self.lookup(name)
