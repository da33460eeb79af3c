"""Values of expressions of names that are known, for tools that read annotations."""

from pypto.language.parser.calls import Calls
from pypto.language.parser.diagnostics import ParserError, ParserTypeError, UndefinedVariableError
from pypto.language.parser.expressions import Expressions
from pypto.language.parser.source import Source


class ExprEvaluator(Calls, Expressions):
    """What the parser does with known values: arithmetic, subscripts, `len`, `min`, ..; it executes nothing."""

    program = None

    def __init__(self, closure_vars, span_tracker=None):
        self.closure, self.env, self.ended, self.trusted = dict(closure_vars), {}, set(), True
        self.source = Source(getattr(span_tracker, "source_file", "<string>"), [])
        self.span_tracker = span_tracker

    @property
    def closure_vars(self):
        return self.closure

    def closure_value(self, value, node):
        return value

    def eval_expr(self, node):
        """The value; a ParserTypeError where a name is unknown or the expression has none."""
        try:
            return self.value(node)
        except UndefinedVariableError as error:
            name = getattr(error, "message", str(error))
            raise ParserTypeError(f"Cannot resolve expression: {name}", self.span(node)) from error
        except (ParserError, TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            reason = getattr(error, "message", str(error))
            known = "Cannot resolve" if "Unknown operation" in reason else "Failed to evaluate"
            raise ParserTypeError(f"{known} expression: {reason}", self.span(node)) from error

    def try_eval_expr(self, node):
        """(True, the value), or (False, None)."""
        try:
            return True, self.eval_expr(node)
        except ParserTypeError:
            return False, None
