"""What would work instead of what is wrong: texts for people, with what to write in back quotes."""

import ast
import difflib

# Statements that a kernel lacks, and what to do instead; `_rewritten` has those whose text follows from the program's.
_STATEMENTS = {
    "Assert": "check it before the call, in Python",
    "AsyncFor": "use `for`",
    "AsyncFunctionDef": "define it outside, with `@pl.jit.inline`",
    "AsyncWith": "use `with`",
    "ClassDef": "define it outside",
    "Delete": "leave it out: a tile lives until its last use",
    "FunctionDef": "define it outside, with `@pl.jit.inline`",
    "Global": "pass the value as an argument",
    "Import": "import at the top of the file",
    "ImportFrom": "import at the top of the file",
    "Match": "use `if` and `elif`",
    "Nonlocal": "pass the value as an argument",
    "Raise": "check it before the call, in Python",
    "Try": "check before the call, in Python, what could fail",
}
_EXPRESSIONS = {
    "Dict": "use a list, or names",
    "DictComp": "use a loop over `pl.range`",
    "GeneratorExp": "use a loop over `pl.range`",
    "JoinedStr": "write the text out",
    "Lambda": "define a function outside, with `@pl.jit.inline`",
    "ListComp": "write the list out, or use a loop over `pl.range`",
    "Set": "use a list",
    "SetComp": "use a loop over `pl.range`",
}
# Operations that do on tensors and tiles what operators do on numbers.
_OPERATORS = {
    "Add": "add",
    "BitAnd": "and_",
    "BitOr": "or_",
    "BitXor": "xor",
    "Div": "div",
    "LShift": "shl",
    "MatMult": "matmul",
    "Mod": "rem",
    "Mult": "mul",
    "Pow": "pow",
    "RShift": "shr",
    "Sub": "sub",
}
# Functions of Python, and the nearest thing in a kernel.
_BUILTINS = {
    "abs": "use `pl.abs`",
    "float": "use `pl.cast`",
    "int": "use `pl.cast`",
    "len": "use `.shape[0]`",
    "max": "use `pl.max` on numbers, `pl.maximum` on tiles",
    "min": "use `pl.min` on numbers, `pl.minimum` on tiles",
    "print": "leave it out: the body is compiled, and prints nothing",
    "range": "use `pl.range`",
    "sum": "use `pl.row_sum` or `pl.col_sum`",
}


def split(text):
    """(what is wrong, what would work or None) of a text `what is wrong; what would work`."""
    message, _, hint = text.rpartition("; ")
    return (message, hint) if message else (text, None)


def nearest(name, names):
    """Asks for the name that `name` resembles; None where none does."""
    found = difflib.get_close_matches(name, [each for each in names if not each.startswith("_")], 1)
    return f"did you mean `{found[0]}`?" if found else None


def builtin(name):
    """For a call of a function that is not the language's."""
    return _BUILTINS.get(name, "operations begin with `pl.`")


def construct(node):
    """For a statement or expression that a kernel lacks; None where nothing is near."""
    kind = type(node).__name__
    return _rewritten(node) or _STATEMENTS.get(kind) or _EXPRESSIONS.get(kind)


def _rewritten(node):
    if isinstance(node, ast.AugAssign):
        target, value = ast.unparse(node.target), ast.BinOp(node.target, node.op, node.value)
        return f"write `{target} = {ast.unparse(value)}`"
    if isinstance(node, ast.IfExp):
        return f"assign in both arms of `if {ast.unparse(node.test)}:`"
    if isinstance(node, ast.NamedExpr):
        return f"write `{ast.unparse(node.target)} = {ast.unparse(node.value)}` before"
    return None


def operator(node):
    """The call that does what an operator was written for; None for operators without one."""
    name = _OPERATORS.get(type(node.op).__name__)
    return name and f"write `pl.{name}({ast.unparse(node.left)}, {ast.unparse(node.right)})`"


def comparisons(node):
    """A chained comparison as single ones."""
    terms = [node.left, *node.comparators]
    parts = (
        ast.unparse(ast.Compare(left, [op], [right]))
        for left, op, right in zip(terms, node.ops, terms[1:], strict=False)
    )
    return f"write `{' and '.join(parts)}`"
