"""JITFunction: specialise, compile, keep, run."""

import functools
import inspect
import sys
import types

from pypto.language.parser.diagnostics import ParserSyntaxError, UnsupportedFeatureError


class _Same:
    """An object as part of a key: equal to itself only."""

    def __init__(self, held):
        self.held = held

    def __hash__(self):
        return id(self.held)

    def __eq__(self, other):
        return isinstance(other, _Same) and self.held is other.held


def key_of(value):
    """What a specialisation depends on of an argument."""
    from pypto.jit.arguments import Buffer

    return value.key if isinstance(value, Buffer) else _fingerprint(value)


def _fingerprint(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return type(value).__name__, repr(value)
    if isinstance(value, (list, tuple)):
        return tuple(_fingerprint(each) for each in value)
    return _Same(value)


class JITFunction:
    """What `@pl.jit` gives: `f(*tensors, config=None)` runs it and writes its outputs in place.

    `_cache` holds a CompiledProgram for each specialisation. Wrong arguments: TypeError, ValueError that name the
    parameter. A ParserError says what of the language is wrong or not supported, with file, line and column.
    """

    _pypto_jit = "pl.jit"

    def __init__(self, held, names):
        functools.update_wrapper(self, held)
        self._held, self._names = held, names
        self._cache = {}
        self._definition = None
        self._order = held.__code__.co_varnames[: held.__code__.co_argcount]

    def __call__(self, *args, config=None, **keywords):
        config = _config(config)
        compiled, values = self._compiled(args, keywords, config)
        if not config.codegen_only:
            compiled.launch(values)

    def compile(self, *args, config=None, **keywords):
        """The CompiledProgram for such arguments, without running it."""
        return self._compiled(args, keywords, _config(config))[0]

    def lower(self, *args, config=None, **keywords):
        """The Program (`.functions`, `.get_function(name)`, `.as_python()`) for such arguments; nothing is kept."""
        _config(config)
        values = self.values(args, keywords)
        return self._program(values, self._closure())

    def values(self, args, keywords):
        """What was passed by parameter name: numbers and Buffers. TypeError, ValueError."""
        from pypto.jit.arguments import read

        name, order = self.__name__, self._order
        if len(args) > len(order):
            raise TypeError(f"{name}: expects {len(order)} arguments ({', '.join(order)}), not {len(args)}")
        given = dict(zip(order, args, strict=False))
        for key, value in keywords.items():
            if key not in order:
                raise TypeError(f"{name}: has no parameter {key}; it has {', '.join(order)}")
            if key in given:
                raise TypeError(f"{name}: argument {key} is given twice")
            given[key] = value
        missing = [each for each in order if each not in given]
        if missing:
            raise TypeError(f"{name}: expects {len(order)} arguments, {', '.join(missing)} is missing")
        return {each: read(f"{name}: argument {each}", given[each]) for each in order}

    def _closure(self):
        held = self._held
        names = {**held.__globals__, **self._names}
        for name, cell in zip(held.__code__.co_freevars, held.__closure__ or (), strict=True):
            try:
                names[name] = cell.cell_contents
            except ValueError:  # not bound yet
                continue
        return names

    def _source(self):
        from pypto.jit.specialise import references
        from pypto.language.parser.source import source_of

        if self._definition is None:
            node, source = source_of(self._held)
            if type(node).__name__ != "FunctionDef":
                raise ParserSyntaxError("@pl.jit takes a function defined with def", source.span(node))
            arguments = node.args
            if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
                message = "parameters have no defaults, stars or keywords"
                raise UnsupportedFeatureError(message, source.span(node), source_lines=source.lines)
            self._definition = node, source, references(node)
        return self._definition

    def _folded(self, closure):
        """The values around the function that a specialisation may fold."""
        found = []
        for first, *rest in self._source()[2]:
            value = closure.get(first)
            for name in rest:
                if not isinstance(value, types.ModuleType) or value.__name__.startswith("pypto"):
                    break
                value = getattr(value, name, None)
            found.append(_fingerprint(value))
        return tuple(found)

    def _program(self, values, closure):
        from pypto.jit.specialise import JitParser

        node, source, _ = self._source()
        return JitParser(source, closure, values).specialise(node)

    def _compiled(self, args, keywords, config):
        values, closure = self.values(args, keywords), self._closure()
        keys = tuple(key_of(value) for value in values.values())
        key = keys, self._folded(closure), config.platform, config.strategy
        compiled = self._cache.get(key)
        if compiled is None:
            from pypto.ir.compiled_program import CompiledProgram

            compiled = CompiledProgram(self._program(values, closure), config, self, values)
            self._cache[key] = compiled
        return compiled, values


class _Unsupported:
    """A helper of another kind: it may be defined, and is refused where it is used."""

    def __init__(self, held, kind):
        functools.update_wrapper(self, held)
        self._pypto_jit = f"pl.jit.{kind}"

    def __call__(self, *_, **__):
        raise UnsupportedFeatureError(f"calls of @{self._pypto_jit} are not supported yet", hint="use @pl.jit")


def _config(config):
    from pypto.runtime import RunConfig

    if config is None:
        return RunConfig()
    if not isinstance(config, RunConfig):
        raise TypeError(f"config: expects a RunConfig, not {type(config).__name__}")
    return config


def _helper(kind):
    def make(definition=None, **_):
        decorate = lambda held: _Unsupported(held, kind)
        return decorate(definition) if definition is not None else decorate

    return make


def jit(definition=None):
    """`@pl.jit` on a function with one scope `with pl.at(level=pl.Level.CORE_GROUP)`. Its body is never executed."""
    frame = sys._getframe(1)
    names = {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)

    def decorate(held):
        if not inspect.isfunction(held):
            raise TypeError(f"@pl.jit takes a function, not {type(held).__name__}")
        return JITFunction(held, names)

    return decorate(definition) if definition is not None else decorate


for _kind in ("incore", "inline", "opaque", "host", "extern"):
    setattr(jit, _kind, _helper(_kind))
