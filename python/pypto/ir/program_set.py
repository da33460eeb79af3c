"""A program with several orchestrators, compiled: each of them is ready to run by its name."""

from pypto.ir.compiled_program import CompiledProgram


class ProgramSet:
    """`compiled["name"]` and `compiled.name` are the CompiledProgram of an orchestrator; `orchestration_names`: all of
    them, in the program's order; `output_dir`: the folder of `ir.compile`. Called itself it raises a TypeError."""

    def __init__(self, program, parts, config):
        """`parts`: a program for each orchestrator, which has it and what it calls."""
        self.program, self.platform, self.output_dir, self.left_out = program, config.platform, None, {}
        self.config = config
        self._parts = {part.name: CompiledProgram(part, config) for part in parts}

    @property
    def orchestration_names(self):
        return list(self._parts)

    def __getitem__(self, name):
        if name not in self._parts:
            raise KeyError(f"{self.program.name} has no orchestrator {name}; it has {', '.join(self._parts)}")
        return self._parts[name]

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._parts:
            raise AttributeError(f"{type(self).__name__} of {self.program.name} has no attribute {name!r}")
        return self._parts[name]

    def __call__(self, *_, **__):
        names = ", ".join(self._parts)
        raise TypeError(f"{self.program.name} has several orchestrators ({names}): select one explicitly, by its name")

    def __fspath__(self):
        return str(self.output_dir)
