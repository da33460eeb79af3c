"""Programs with one mistake each: the error, its place, and the edit that its hint names.

`^^` stands in front of the token that the caret must be under. An edit is (old text, new text); `{0}` in them is what
the error's hint has in back quotes. After all edits the program must compile and run.
"""

from typing import Any, NamedTuple

from pypto.language.parser.diagnostics import (
    InvalidOperationError,
    ParserSyntaxError,
    ParserTypeError,
    SSAViolationError,
    UndefinedVariableError,
    UnsupportedFeatureError,
)


class Broken(NamedTuple):
    name: str
    text: str
    error: Any
    message: str  # the first line of what people read, behind "Error: "
    hint: str
    edits: tuple  # ((old, new), ..)


HEAD = "import pypto.language as pl\n\n\n"
SIGNATURE = "def f(x: pl.Tensor[[64, 32], pl.FP32], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):\n"
SCOPE = "    with pl.at(level=pl.Level.CORE_GROUP):\n"
LOAD = "t = pl.load(x, [0, 0], [64, 32])"
STORE = "pl.store(t, [0, 0], y)"
KERNEL = """@pl.jit.incore
def g(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    return pl.store(pl.load(x, [0, 0], [64, 32]), [0, 0], y)


"""


def entry(*lines):
    """An entry of these lines."""
    return f"{HEAD}{KERNEL}@pl.jit\n{SIGNATURE}" + "".join(f"    {line}\n" for line in lines) + "    return y\n"


def kernel(*lines):
    """An entry of one kernel: t is loaded, then these lines, then t is stored."""
    body = "".join(f"        {line}\n" for line in (LOAD, *lines, STORE))
    return f"{HEAD}@pl.jit\n{SIGNATURE}{SCOPE}{body}    return y\n"


def headed(parameters, *lines):
    """An entry with parameters of its own."""
    body = "".join(f"        {line}\n" for line in lines)
    return f"{HEAD}@pl.jit\ndef f({parameters}):\n{SCOPE}{body}    return y\n"


def methods(*texts, options=""):
    return f"{HEAD}@pl.program{options}\nclass f:\n" + "\n".join(texts)


METHOD = """    @pl.function
    def {0}(self, x: pl.Tensor[[64, 32], pl.FP32], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
        {1}
        return y
"""
OUT = "y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]"
COPY = "pl.store(pl.load(x, [0, 0], [64, 32]), [0, 0], y)"

ANNOTATIONS = (
    Broken(
        "a parameter without annotation",
        headed(f"^^x, {OUT}", COPY),
        ParserTypeError,
        "missing type annotation of parameter x",
        "write `x: pl.Tensor`",
        (("f(x,", "f({0}[[64, 32], pl.FP32],"),),
    ),
    Broken(
        "a type of Python",
        headed(f"x: ^^int, {OUT}", COPY),
        ParserTypeError,
        "int is no type",
        "write `pl.Tensor[[64, 32], pl.FP32]`",
        (("int", "{0}"),),
    ),
    Broken(
        "a tile as parameter",
        headed(f"^^x: pl.Tile[[64, 32], pl.FP32], {OUT}", "pl.store(x, [0, 0], y)"),
        UnsupportedFeatureError,
        "parameter x must be a tensor or a scalar",
        "take a tensor and `pl.load` the tile",
        (("pl.Tile", "pl.Tensor"), ("pl.store(x,", "pl.store({0}(x, [0, 0], [64, 32]),")),
    ),
    Broken(
        "a layout that needs strides",
        headed(f"x: pl.Tensor[[64, 32], pl.FP32, ^^pl.DN], {OUT}", COPY),
        ParserTypeError,
        "pl.DN is no layout of a tensor: pl.Tensor[..., pl.DN] is not supported",
        "DN goes with its strides, `pl.TensorView(stride=[1, 64], layout=pl.DN)`",
        (("pl.DN", "{0}"),),
    ),
    Broken(
        "an extent without brackets",
        headed("x: pl.Tensor[^^64, pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]", "y[:] = pl.add(x, x)"),
        ParserTypeError,
        "a shape is a list of extents: it must be a list or tuple",
        "write `[64]`",
        (("[64, pl.FP32]", "[{0}, pl.FP32]"),),
    ),
    Broken(
        "a number as element type",
        headed(f"x: pl.Tensor[[64, 32], ^^32], {OUT}", COPY),
        ParserTypeError,
        "32 is no element type: it must be a DataType",
        "one is `pl.FP32`",
        (("32], 32]", "32], {0}]"),),
    ),
    Broken(
        "a constant that its type does not hold",
        kernel("t = pl.add(t, pl.cast(^^pl.const(1.5, pl.INT32), pl.FP32))"),
        ParserTypeError,
        "1.5 is no INT32",
        "write `pl.const(1.5, pl.FP32)`, or a whole number",
        (("pl.cast(pl.const(1.5, pl.INT32), pl.FP32)", "{0}"),),
    ),
)

STATEMENTS = (
    Broken(
        "an assignment with an operator",
        kernel("n = 1", "^^n += 1"),
        UnsupportedFeatureError,
        "Unsupported: AugAssign is not supported in a kernel",
        "write `n = n + 1`",
        (("n += 1", "{0}"),),
    ),
    Broken(
        "try",
        kernel("^^try:", "    t = pl.exp(t)", "except ValueError:", "    t = pl.abs(t)"),
        UnsupportedFeatureError,
        "Unsupported: Try is not supported in a kernel",
        "check before the call, in Python, what could fail",
        (("try:\n            t", "t"), ("        except ValueError:\n            t = pl.abs(t)\n", "")),
    ),
    Broken(
        "a function inside",
        kernel("^^def half(t):", "    return pl.mul(t, 0.5)", "t = half(t)"),
        UnsupportedFeatureError,
        "Unsupported: FunctionDef is not supported in a kernel",
        "define it outside, with `@pl.jit.inline`",
        (
            ("        def half(t):\n            return pl.mul(t, 0.5)\n", ""),
            ("@pl.jit\n", "{0}\ndef half(t: pl.Tensor):\n    return pl.mul(t, 0.5)\n\n\n@pl.jit\n"),
        ),
    ),
    Broken(
        "an import inside",
        kernel("^^import math", "t = pl.mul(t, math.pi)"),
        UnsupportedFeatureError,
        "Unsupported: Import is not supported in a kernel",
        "import at the top of the file",
        (("        import math\n", ""), ("import pypto", "import math\n\nimport pypto")),
    ),
    Broken(
        "a return that is not the last statement",
        kernel("for i in pl.range(4):", "    ^^return y"),
        UnsupportedFeatureError,
        "return must be the last statement of the function",
        "end the function with `return y`",
        (("            return y", "            t = pl.exp(t)"),),
    ),
    Broken(
        "a statement behind return",
        entry("y = g(x, y)", "return y", "^^y = g(x, y)"),
        UnsupportedFeatureError,
        "nothing may follow return",
        "put it before, or leave it out",
        (("    return y\n    y = g(x, y)\n", ""),),
    ),
    Broken(
        "two targets",
        kernel("^^a = b = 1"),
        UnsupportedFeatureError,
        "one target at a time",
        "write a line for each",
        (("a = b = 1", "a = 1\n        b = 1"),),
    ),
    Broken(
        "an annotation that does not agree",
        kernel("u: ^^pl.Tile[[64, 64], pl.FP32] = pl.exp(t)"),
        ParserTypeError,
        "declared pl.Tile[[64, 64], pl.FP32], but the value is pl.Tile[[64, 32], pl.FP32, pl.Mem.Vec]: "
        "shape dimension 1 = 64, not 32",
        "declare `pl.Tile[[64, 32], pl.FP32, pl.Mem.Vec]`, or nothing",
        (("pl.Tile[[64, 64], pl.FP32]", "{0}"),),
    ),
    Broken(
        "an assignment to an element",
        kernel("^^t[0, 1] = 3.0"),
        UnsupportedFeatureError,
        "Element-write: an element of a tensor cannot be assigned",
        "write `pl.write(t, [0, 1], 3.0)`",
        (("t[0, 1] = 3.0", "t = {0}"),),
    ),
    Broken(
        "an expression without effect",
        kernel("^^t"),
        UnsupportedFeatureError,
        "an expression without an effect",
        "assign it, or leave it out",
        (("        t\n", ""),),
    ),
    Broken(
        "a second binding under strict_ssa",
        methods(
            METHOD.format("f", f"{LOAD}\n        ^^t = pl.exp(t)\n        y = {STORE}"), options="(strict_ssa=True)"
        ),
        SSAViolationError,
        "t is bound already",
        "give the value a name of its own, or leave `strict_ssa=True` out",
        (("({0})", ""),),
    ),
)

EXPRESSIONS = (
    Broken(
        "a name that nothing binds",
        kernel("t = pl.exp(^^tt)"),
        UndefinedVariableError,
        "Undefined variable 'tt'",
        "did you mean `t`?",
        (("tt", "{0}"),),
    ),
    Broken(
        "an operation that is not there",
        kernel("t = ^^pl.expp(t)"),
        InvalidOperationError,
        "Unknown operation 'pl.expp'",
        "did you mean `exp`?",
        (("expp", "{0}"),),
    ),
    Broken(
        "an operator on tiles",
        kernel("t = ^^t * t"),
        ParserTypeError,
        "operators are for scalars",
        "write `pl.mul(t, t)`",
        (("t * t", "{0}"),),
    ),
    Broken(
        "an operator that is not there",
        kernel("t = ^^t @ t"),
        ParserSyntaxError,
        "the operator MatMult is not supported",
        "write `pl.matmul(t, t)`",
        (("t = t @ t", "y[0:32, :] = pl.matmul(x, x, a_trans=True)"), (LOAD, ""), (STORE, "")),
    ),
    Broken(
        "a chain of comparisons",
        kernel("for i in pl.range(4):", "    if ^^0 < i < 3:", "        t = pl.exp(t)"),
        UnsupportedFeatureError,
        "comparisons cannot be chained",
        "write `0 < i and i < 3`",
        (("0 < i < 3", "{0}"),),
    ),
    Broken(
        "a conditional expression",
        kernel("for i in pl.range(4):", "    n = ^^1 if i > 1 else 2", "    t = pl.add(t, pl.cast(n, pl.FP32))"),
        UnsupportedFeatureError,
        "Unsupported: IfExp is not supported in a kernel",
        "assign in both arms of `if i > 1:`",
        (
            (
                "            n = 1 if i > 1 else 2\n",
                "            {0}\n                n = 1\n            else:\n                n = 2\n",
            ),
        ),
    ),
    Broken(
        "a comprehension",
        kernel("n = ^^[t.shape[i] for i in (0, 1)]"),
        UnsupportedFeatureError,
        "Unsupported: ListComp is not supported in a kernel",
        "write the list out, or use a loop over `pl.range`",
        (("[t.shape[i] for i in (0, 1)]", "[t.shape[0], t.shape[1]]"),),
    ),
    Broken(
        "an index from the end",
        headed(f"x: pl.Tensor[[64, 32], pl.FP32], {OUT}", "y[:] = x[0:64, 0:32]", "y[0:3, :] = x[^^-3:, :]"),
        UnsupportedFeatureError,
        "indices from the end are not supported",
        "write `61`",
        (("-3", "{0}"),),
    ),
    Broken(
        "a slice with a step",
        headed(f"x: pl.Tensor[[64, 32], pl.FP32], {OUT}", "y[:] = pl.exp(x[^^::2])"),
        UnsupportedFeatureError,
        "slices have no step",
        "take all of it, or loop over `pl.range(start, stop, step)`",
        (("x[::2]", "x[:]"),),
    ),
    Broken(
        "an axis that is not there",
        kernel("n = t.shape[^^2]"),
        ParserTypeError,
        "this list needs a constant index below 2",
        "the last one is `1`",
        (("[2]", "[{0}]"),),
    ),
    Broken(
        "an attribute that is not there",
        kernel("n = ^^t.size"),
        UnsupportedFeatureError,
        "a value has no attribute size here",
        "`t.shape` and `.dtype` exist",
        (("t.size", "{0}"),),
    ),
    Broken(
        "a function of Python",
        kernel("t = ^^abs(t)"),
        InvalidOperationError,
        "Unknown operation 'abs'",
        "use `pl.abs`",
        (("= abs", "= {0}"),),
    ),
    Broken(
        "starred arguments",
        kernel("both = [t, t]", "t = pl.add(^^*both)"),
        UnsupportedFeatureError,
        "starred arguments are not supported",
        "write them out",
        (("*both", "both[0], both[1]"),),
    ),
    Broken(
        "an object of Python",
        kernel("t = pl.mul(t, ^^SCALE)").replace(HEAD, HEAD + "SCALE = {'a': 2}\n\n\n"),
        ParserTypeError,
        "a dict cannot be used in a kernel",
        "numbers, texts, types, functions and lists of them can",
        (("{'a': 2}", "2.0"),),
    ),
)

FLOW = (
    Broken(
        "a loop over Python's range",
        kernel("for i in ^^range(4):", "    t = pl.exp(t)"),
        ParserSyntaxError,
        "a loop must use pl.range()",
        "write `pl.range(4)`",
        (("in range(4)", "in {0}"),),
    ),
    Broken(
        "else of a loop",
        kernel("for i in pl.range(4):", "    t = pl.exp(t)", "else:", "    ^^t = pl.abs(t)"),
        UnsupportedFeatureError,
        "for .. else is not supported",
        "put it behind the loop",
        (("else:\n            ", ""),),
    ),
    Broken(
        "a number as condition",
        kernel("for i in pl.range(4):", "    if ^^i:", "        t = pl.exp(t)"),
        ParserTypeError,
        "if condition must be a Bool-typed scalar",
        "compare it: `i != 0`",
        (("if i:", "if {0}:"),),
    ),
    Broken(
        "a name that a body keeps",
        kernel("if pl.tile.get_block_idx() > 0:", "    u = pl.exp(t)", "t = pl.abs(^^u)"),
        UndefinedVariableError,
        "Undefined variable 'u'",
        "u is bound only inside a body that has ended: bind it before as well",
        (("        if", "        u = t\n        if"),),
    ),
    Broken(
        "a pipeline without its depth",
        kernel("for i in ^^pl.pipeline(4):", "    t = pl.exp(t)"),
        ParserSyntaxError,
        "pl.pipeline() requires stage=, how many turns overlap",
        "write `pl.pipeline(4, stage=2)`",
        (("pl.pipeline(4)", "{0}"),),
    ),
    Broken(
        "a keyword of another loop",
        kernel("for i in pl.range(4, ^^chunk=2):", "    t = pl.exp(t)"),
        ParserSyntaxError,
        "pl.range does not accept 'chunk='",
        "leave `chunk=2` out",
        ((", {0}", ""),),
    ),
    Broken(
        "values that an unrolled loop carries",
        kernel("for i, (n,) in pl.unroll(4, ^^init_values=(1,)):", "    n = pl.yield_(n)"),
        ParserSyntaxError,
        "pl.unroll does not accept 'init_values='",
        "carry values with `pl.range`",
        (("pl.unroll", "{0}"),),
    ),
    Broken(
        "a step of zero",
        kernel("for i in pl.range(0, 4, ^^0):", "    t = pl.exp(t)"),
        ParserTypeError,
        "the step must not be 0",
        "leave it out for 1",
        ((", 0):", "):"),),
    ),
    Broken(
        "a bound that is no integer",
        kernel("for i in pl.range(^^4.0):", "    t = pl.exp(t)"),
        ParserTypeError,
        "bounds of a loop must be integers",
        "write `4`",
        (("4.0", "{0}"),),
    ),
    Broken(
        "carried values without names",
        kernel("for ^^i in pl.range(4, init_values=(1,)):", "    n = pl.yield_(2)"),
        ParserSyntaxError,
        "target must be i, (a, b) beside init_values",
        "write `for i, (a,) in`",
        (("for i in", "{0}"),),
    ),
    Broken(
        "a yield in one arm",
        kernel(
            "for i in pl.range(4):",
            "    if i > 1:",
            "        n = ^^pl.yield_(i)",
            "    else:",
            "        t = pl.exp(t)",
        ),
        ParserSyntaxError,
        "pl.yield_ must end both arms",
        "let the other one yield the values of before",
        (("                t = pl.exp(t)\n", "                n = pl.yield_(i)\n"),),
    ),
    Broken(
        "another type behind a loop",
        kernel("for i in pl.range(2):", "    ^^t = pl.cast(t, pl.FP16)"),
        ParserTypeError,
        "t is pl.Tile[[64, 32], pl.FP32, pl.Mem.Vec] before and pl.Tile[[64, 32], pl.FP16, pl.Mem.Vec] after: "
        "the types must match",
        "give what is computed inside a name of its own",
        (("            t =", "            u ="),),
    ),
    Broken(
        "a scope without level",
        kernel().replace("pl.at(level=pl.Level.CORE_GROUP)", "^^pl.at()"),
        ParserTypeError,
        "pl.at needs a level",
        "write `pl.at(level=pl.Level.CORE_GROUP)`",
        (("pl.at()", "{0}"),),
    ),
    Broken(
        "a scope inside a kernel",
        kernel("^^with pl.at(level=pl.Level.CORE_GROUP):", "    t = pl.exp(t)"),
        UnsupportedFeatureError,
        "scopes inside a kernel are not supported yet",
        "leave the inner scope out: its statements belong to the kernel",
        (("        with pl.at(level=pl.Level.CORE_GROUP):\n            t", "        t"),),
    ),
    Broken(
        "no block",
        entry("for i in pl.spmd(^^0):", "    y[:] = pl.exp(x)"),
        ParserSyntaxError,
        "core_num must be a positive integer, not 0: a launch needs at least one block",
        "write `1`",
        (("pl.spmd(0)", "pl.spmd({0})"),),
    ),
)
