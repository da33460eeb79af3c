"""Functions that an entry of `@pl.jit` calls: kernels, specialised by their arguments, and inline functions."""

import ast

from pypto.jit.arguments import Shaped
from pypto.jit.definition import Definition, fingerprint
from pypto.language.parser import scalars
from pypto.language.parser.calls import calls_of
from pypto.language.parser.diagnostics import ParserTypeError, UndefinedVariableError, UnsupportedFeatureError
from pypto.language.typing import DynVar
from pypto.pypto_core import ir


class JitProgram:
    """Functions of one specialisation, by name."""

    def __init__(self):
        self.functions, self.made, self.scratches = {}, {}, {}
        self.open = []  # definitions that are being parsed

    def function(self, name, parser, node):
        parser.fail(UndefinedVariableError, f"self.{name}: a function under @pl.jit has no self", node)

    def include(self, function):
        """A function that is called."""
        held = self.functions.setdefault(function.name, function)
        if held is not function:
            raise ValueError(f"two functions are called {function.name}")
        for other in calls_of(function):
            self.include(other)

    def name(self, wanted):
        """A name that no function has."""
        number, name = 1, wanted
        while name in self.functions:
            name, number = f"{wanted}_{number}", number + 1
        return name


class Callees:
    """Mixed into JitParser: calls of `@pl.jit.incore`, `@pl.jit.inline` and `@pl.function`."""

    def value_Call(self, node):
        definition = self.definition(node.func)
        if definition is None:
            return super().value_Call(node)
        arguments, keywords = self.arguments(node)
        keywords.pop("attrs", None)
        device = {key: keywords.pop(key) for key in ("device",) if key in keywords and self.is_host}
        try:
            given = definition.given(arguments, keywords)
        except TypeError as error:
            hint = f"write `{definition.__name__}({', '.join(definition.order)})`"
            self.fail(ParserTypeError, str(error), node, hint)
        if definition in (*self.program.open, *self.inlined):
            self.fail(
                UnsupportedFeatureError, f"{definition.__name__} calls itself", node, "use a loop over `pl.range`"
            )
        if definition.kind == "inline":
            return self.inline(definition, given)
        if definition.kind == "" and self.is_host:
            return self.call_kernel(definition, given, node, device)
        if definition.kind not in ("incore", "opaque"):
            hint = "`@pl.jit.incore` makes a kernel, `@pl.jit.inline` a part of one"
            self.fail(UnsupportedFeatureError, f"calls of {definition.title} are not supported yet", node, hint)
        if self.in_kernel:
            hint = "`@pl.jit.inline` can be called in a kernel"
            self.fail(UnsupportedFeatureError, f"a kernel calls no kernel: {definition.__name__}", node, hint)
        return self.call_kernel(definition, given, node, device)

    def definition(self, node):
        if isinstance(node, ast.Name) and node.id not in self.env:
            value = self.closure.get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in self.env:
            value = getattr(self.closure.get(node.value.id), node.attr, None)
        else:
            value = None
        return value if isinstance(value, Definition) else None

    def calls_kernel(self, node):
        called = super().calls_kernel(node)
        definitions = [
            self.definition(each.value.func)
            for each in node.body
            if called and hasattr(each, "value") and isinstance(each.value, ast.Call)
        ]
        return called and not any(each is not None and each.kind == "inline" for each in definitions)

    def stmt_Expr(self, node):
        definition = self.definition(node.value.func) if isinstance(node.value, ast.Call) else None
        if definition is not None and definition.kind == "inline":
            self.value(node.value)  # its statements
        elif isinstance(node.value, ast.Call) and getattr(node.value.func, "attr", "") == "bind_dynamic":
            self.bind_dynamic(node.value)
        else:
            super().stmt_Expr(node)

    def bind_dynamic(self, node):
        """x.bind_dynamic(axis, M): M is the extent of x."""
        tensor = self.value(node.func.value)
        symbol = self.closure.get(getattr(node.args[1], "id", "")) if len(node.args) == 2 else None
        axis = self.value(node.args[0]) if node.args else None
        shape = tensor.type.shape if isinstance(getattr(tensor, "type", None), ir.TensorType) else []
        if not isinstance(symbol, DynVar) or not isinstance(axis, int) or not 0 <= axis < len(shape):
            self.fail(ParserTypeError, "bind_dynamic takes an axis of the tensor and a pl.dynamic", node)
        try:
            self.bind_size(symbol, getattr(shape[axis], "value", shape[axis]), "bind_dynamic")
        except ValueError as error:
            self.fail(ParserTypeError, str(error), node)

    # --- kernels -------------------------------------------------------------------------------

    def call_kernel(self, definition, given, node, keywords=None):
        values, passed = {}, []
        for name, value in given.items():
            if isinstance(value, ir.Expr) and isinstance(value.type, ir.TensorType):
                shape = [each.value if isinstance(each, ir.ConstInt) else each for each in value.type.shape]
                if not all(isinstance(each, (int, ir.Var)) for each in shape):
                    self.fail(UnsupportedFeatureError, f"{name} has an extent known at run time", node)
                values[name] = Shaped(tuple(shape), value.type.dtype)
                passed.append(value)
            elif isinstance(value, ir.ConstInt):
                values[name] = value.value
            elif scalars.is_number(value) or scalars.is_scalar(value):
                values[name] = value
                if isinstance(value, ir.Expr):
                    passed.append(value)
            else:
                self.fail(ParserTypeError, f"{definition.__name__}: argument {name} is no value of a kernel", node)
        function = self.kernel_of(definition, values, node)
        return self.call_function(function, passed, keywords or {}, node)

    def kernel_of(self, definition, values, node):
        """The specialisation of a kernel: parsed once for arguments of the same kinds."""
        keys = []
        for value in values.values():
            run_time = isinstance(value, ir.Expr)
            keys.append(value.key if isinstance(value, Shaped) else "scalar" if run_time else fingerprint(value))
        key = (definition, *keys)
        if key not in self.program.made:
            tree, source, _ = definition.source()
            parser = type(self)(source, definition.closure(), values, self.program)
            self.program.open.append(definition)
            try:
                read = parser.device_function if definition.kind == "" else parser.kernel
                made = read(tree, self.program.name(definition.__name__))
            except (TypeError, ValueError) as error:
                if hasattr(error, "span"):
                    raise
                hint = "pass a tensor, or a part of one, that is as the parameter declares it"
                self.fail(ParserTypeError, str(error), node, hint)
            self.program.open.pop()
            self.program.made[key] = made
            self.program.include(made)
        return self.program.made[key]
