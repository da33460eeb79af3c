"""A function that is specialised by its callers: its text, and the values around it."""

import functools
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


def fingerprint(value, open_=()):
    """What a specialisation depends on of a value around a function; `open_`: functions whose values are being read."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return type(value).__name__, repr(value)
    if isinstance(value, (list, tuple)):
        return tuple(fingerprint(each, open_) for each in value)
    if isinstance(value, Definition) and value not in open_:
        return _Same(value), value.folded(value.closure(), (*open_, value))
    return _Same(value)


class Definition:
    """A function of Python under `@pl.jit` or one of its kinds; `kind`: "" of an entry, else "incore", "inline", .."""

    def __init__(self, held, names, kind=""):
        functools.update_wrapper(self, held)
        self._held, self._names, self.kind = held, names, kind
        self._definition = None
        self.order = held.__code__.co_varnames[: held.__code__.co_argcount]

    @property
    def title(self):
        return f"@pl.jit.{self.kind}" if self.kind else "@pl.jit"

    def __call__(self, *_, **__):
        raise UnsupportedFeatureError(
            f"{self.__name__}: {self.title} is called from @pl.jit", hint="decorate with `@pl.jit`"
        )

    def closure(self):
        """Python's names around the function, as they are now."""
        held = self._held
        names = {**held.__globals__, **self._names}
        for name, cell in zip(held.__code__.co_freevars, held.__closure__ or (), strict=True):
            try:
                names[name] = cell.cell_contents
            except ValueError:  # not bound yet
                continue
        return names

    def source(self):
        """(syntax tree, Source, dotted names that it reads). ParserSyntaxError, UnsupportedFeatureError."""
        from pypto.jit.specialise import references
        from pypto.language.parser.source import source_of

        if self._definition is None:
            node, source = source_of(self._held)
            if type(node).__name__ != "FunctionDef":
                raise ParserSyntaxError(f"{self.title} takes a function defined with def", source.span(node))
            arguments = node.args
            if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
                message = "parameters have no defaults, stars or keywords; pass every argument"
                raise UnsupportedFeatureError(message, source.span(node), source_lines=source.lines)
            self._definition = node, source, references(node)
        return self._definition

    def folded(self, closure, open_=()):
        """The values around the function, and around those that it calls, that a specialisation may fold."""
        from pypto.language.parser.objects import has_attributes

        found = []
        for first, *rest in self.source()[2]:
            value = closure.get(first)
            for name in rest:
                is_module = isinstance(value, types.ModuleType) and not value.__name__.startswith("pypto")
                if not is_module and not has_attributes(value):
                    break
                value = getattr(value, name, None)
            found.append(fingerprint(value, open_))
        return tuple(found)

    def given(self, args, keywords):
        """Arguments by parameter name. TypeError for a wrong count or name."""
        from pypto.jit.arguments import bound

        return bound(self.__name__, self.order, args, keywords)
