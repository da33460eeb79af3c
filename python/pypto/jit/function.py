"""JITFunction: specialise, compile, keep, run."""

import inspect
import sys

from pypto.ir.extents import sizes_of
from pypto.jit.definition import Definition, fingerprint
from pypto.runtime.records import Wanted, recorded


def key_of(value):
    """What a specialisation depends on of an argument."""
    from pypto.jit.arguments import Shaped

    return value.key if isinstance(value, Shaped) else fingerprint(value)


class JITFunction(Definition):
    """What `@pl.jit` gives: `f(*tensors, config=None)` runs it and writes its outputs in place.

    `_cache` holds a CompiledProgram for each specialisation; what pl.dynamic names is no part of it where kernels do
    not depend on it. Wrong arguments: TypeError, ValueError that name the parameter. A
    ParserError says what of the language is wrong or not supported, with file, line and column.
    """

    def __init__(self, held, names, kind=""):
        super().__init__(held, names, kind)
        self._cache = {}
        self._sized = set()  # keys of what is compiled for each size

    def __call__(self, *args, config=None, **keywords):
        config = _config(config)
        compiled, values = self._compiled(args, keywords, config)
        if not config.codegen_only:
            with recorded(compiled, Wanted.from_run_config(config), config.save_kernels_dir):
                compiled.launch(values)

    def compile(self, *args, config=None, **keywords):
        """The CompiledProgram for such arguments, without running it. Without any: for what the annotations say."""
        if args or keywords or not self.order:
            return self._compiled(args, keywords, _config(config))[0]
        return self._made(self.program(dict.fromkeys(self.order)), _config(config))

    def lower(self, *args, config=None, **keywords):
        """The Program (`.functions`, `.get_function(name)`, `.as_python()`) for such arguments as it is compiled
        (PassManager.run_passes), or as captured where a kernel cannot be divided, which is then compiled as several
        tasks; nothing is kept. Without any: for what the annotations say. Tensors that are written without being
        declared as Out, which a call refuses, are InOut. QueueError, a ValueError, for values that queues do not divide
        as the program says."""
        from pypto.ir.pass_manager import expanded_or_captured

        given = args or keywords or not self.order
        values = self.values(args, keywords) if given else dict.fromkeys(self.order)
        program = self.program(values, promotes=True)
        return expanded_or_captured(program, _config(config).processor)

    def values(self, args, keywords):
        """What was passed by parameter name: numbers and Buffers. TypeError, ValueError."""
        from pypto.jit.arguments import read

        given = self.given(args, keywords)
        return {each: read(f"{self.__name__}: argument {each}", value) for each, value in given.items()}

    def program(self, values, closure=None, promotes=False):
        """The Program for values by parameter name: Shaped, or None for a tensor whose annotation says it all, and
        numbers. `promotes`: tensors that are written, but not declared as Out, are InOut. ParserError; TypeError and
        ValueError for what does not fit the annotations."""
        from pypto.jit.specialise import JitParser

        node, source, _ = self.source()
        return JitParser(source, closure or self.closure(), values).specialise(node, self.kind == "host", promotes)

    def _made(self, program, config, numbers=None):
        from pypto.ir.program_compile import write_expanded

        write_expanded(program, config)
        if self.kind == "host":
            from pypto.ir.distributed_compiled_program import DistributedCompiledProgram as Compiled
        else:
            from pypto.ir.compiled_program import CompiledProgram as Compiled
        return Compiled(program, config, self.order, numbers)

    def _compiled(self, args, keywords, config):
        values, closure = self.values(args, keywords), self.closure()
        compiled = None if Wanted.from_run_config(config).any() else self._for_all_sizes(values, closure, config)
        return compiled or self._specialised(values, values, closure, config), values

    def _specialised(self, values, known, closure, config):
        """The CompiledProgram for what is `known` of values."""
        from pypto.jit.arguments import Shaped

        keys = tuple(key_of(value) for value in known.values())
        settings = config.platform, config.strategy, config.ranks, config.mode, config.memory_planner
        key = keys, self.folded(closure, (self,)), *settings
        compiled = self._cache.get(key)
        if compiled is None:
            numbers = {name: value for name, value in values.items() if not isinstance(value, Shaped)}
            compiled = self._made(self.program(known, closure), config, numbers)
            self._cache[key] = compiled
        return compiled

    def _for_all_sizes(self, values, closure, config):
        """The CompiledProgram that takes every size of what is left to pl.dynamic; None where nothing is, or where
        what is compiled depends on the sizes. ValueError for arguments that differ in one of them."""
        from pypto.jit.arguments import Shaped
        from pypto.jit.specialise import open_axes, opened
        from pypto.language.parser.diagnostics import PlacedError

        axes = open_axes(self.source()[0], closure)
        if not axes or self.kind == "host":
            return None
        known = opened(values, axes)
        key = tuple(key_of(value) for value in known.values()), self.folded(closure, (self,)), config.platform
        if key in self._sized:
            return None
        try:
            compiled = self._specialised(values, known, closure, config)
        except PlacedError:
            compiled = None
        if compiled is None or compiled.pmodel is None:
            self._sized.add(key)
            return None
        shapes = {name: value.shape for name, value in values.items() if isinstance(value, Shaped)}
        sizes_of(self.__name__, compiled.types, shapes)
        return compiled


def _config(config):
    from pypto.runtime import RunConfig

    if config is None:
        return RunConfig()
    if not isinstance(config, RunConfig):
        raise TypeError(f"config: expects a RunConfig, not {type(config).__name__}")
    return config


def _names(frame):
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def _helper(kind):
    def make(definition=None, **_):
        names = _names(sys._getframe(1))
        decorate = lambda held: Definition(held, names, kind)
        return decorate(definition) if definition is not None else decorate

    return make


def jit(definition=None):
    """`@pl.jit` on a function of scopes `with pl.at(level=pl.Level.CORE_GROUP)` and calls of kernels. Its body is never
    executed."""
    names = _names(sys._getframe(1))

    def decorate(held):
        if not inspect.isfunction(held):
            raise TypeError(f"@pl.jit takes a function, not {type(held).__name__}")
        return JITFunction(held, names)

    return decorate(definition) if definition is not None else decorate


def _host(definition=None, **_):
    """`@pl.jit.host` on a function of the host level, which calls functions under `@pl.jit` with `device=r`."""
    names = _names(sys._getframe(1))
    decorate = lambda held: JITFunction(held, names, "host")
    return decorate(definition) if definition is not None else decorate


jit.host = _host
for _kind in ("incore", "inline", "opaque", "extern"):
    setattr(jit, _kind, _helper(_kind))
