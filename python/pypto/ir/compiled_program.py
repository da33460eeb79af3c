"""A compiled program that is ready to run."""

import re
import sys
import tempfile
from pathlib import Path

import numpy as np

from pypto.language.parser.diagnostics import InvalidOperationError, UnsupportedFeatureError
from pypto.pypto_core import ir

_OUT = (ir.ParamDirection.Out, ir.ParamDirection.InOut)
_PLACE = re.compile(r"(.+?):(\d+):(\d+): (.*)", re.DOTALL)


def _raise(text):
    """The compiler's error as one of the parser's, with its place."""
    kind = UnsupportedFeatureError if "not lowered yet" in text else InvalidOperationError
    found = _PLACE.match(text)
    if found is None:
        raise kind(text)
    file, line, column, message = found.groups()
    span = {"filename": file, "file": file}
    for name, value in (("line", int(line)), ("column", int(column))):
        span[name] = span[f"begin_{name}"] = value
    raise kind(message, span)


class CompiledProgram:
    """Callable with the arguments of the entry. `program`, `platform`, `param_names`, `output_indices`, `has_return`;
    `pmodel`: the bytes of the file."""

    def __init__(self, program, config, entry, values):
        from pypto.jit.function import key_of

        self.program, self.platform = program, config.platform
        self.param_names = list(values)
        self.has_return = False
        self._entry = entry
        self._keys = {name: key_of(value) for name, value in values.items()}
        main = program.get_function(program.name)
        self._tensors = [param.name_hint for param in main.params]
        pairs = zip(self._tensors, main.param_directions, strict=True)
        self._outputs = [name for name, direction in pairs if direction in _OUT]
        only_out = [p.name_hint for p, d in zip(main.params, main.param_directions, strict=True) if d == _OUT[0]]
        self._fresh = {name: self._keys[name] for name in only_out}
        self.output_indices = [self.param_names.index(name) for name in self._outputs]
        self._session, self.pmodel = self._compile(config)

    def _compile(self, config):
        from pto_mlir import _compiler, runtime

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "k.pmodel"
            try:
                _compiler.compile_pypto(ir.serialize(self.program), str(file), config.processor)
            except _compiler.CompileError as error:
                text = str(error)
            else:
                session, data = runtime.InferenceSession(file), file.read_bytes()
                text = None
        if text is not None:
            _raise(text)
        if config.save_kernels and config.save_kernels_dir:
            target = Path(config.save_kernels_dir)
            target.mkdir(parents=True, exist_ok=True)
            (target / f"{self.program.name}.pmodel").write_bytes(data)
        return session, data

    def __call__(self, *args, config=None, **keywords):
        """Runs with arguments of the kinds that it was compiled for; writes the outputs in place. With inputs only it
        makes the outputs, zeros, and returns them. `config`: for callers that pass one; what was compiled is run."""
        from pypto.jit.function import key_of

        inputs = [name for name in self.param_names if name not in self._fresh]
        made = None
        if self._fresh and not keywords and len(args) == len(inputs):
            made = self._make_outputs(args)
            given = {**dict(zip(inputs, args, strict=True)), **made}
            args = [given[name] for name in self.param_names]
        values = self._entry.values(args, keywords)
        for name, value in values.items():
            if key_of(value) != self._keys[name]:
                where = f"{self.program.name}: argument {name}"
                raise ValueError(f"{where}: compiled for {self._keys[name]}, not {key_of(value)}")
        self.launch(values)
        if made is None:
            return None
        return tuple(made.values()) if len(made) > 1 else next(iter(made.values()))

    def _make_outputs(self, args):
        """Zeros for the pure outputs: tensors of torch where the arguments are."""
        from pypto.jit.arguments import array_type

        torch = sys.modules.get("torch")
        made = {}
        for name, (shape, dtype) in self._fresh.items():
            kind = array_type(dtype)
            if torch is not None and any(isinstance(each, torch.Tensor) for each in args):
                made[name] = torch.zeros(shape, dtype=getattr(torch, kind))
            else:
                made[name] = np.zeros(shape, np.dtype(kind))
        return made

    def launch(self, values):
        """Runs once; `values` by parameter name, as the specialisation had them."""
        buffers = {name: values[name] for name in self._tensors}
        for name in self._outputs:
            where = f"{self.program.name}: argument {name}"
            if not buffers[name].writable:
                raise ValueError(f"{where}: is an output, but read-only")
            for other, buffer in buffers.items():
                if other != name and buffers[name].overlaps(buffer):
                    raise ValueError(f"{where}: is an output and shares memory with {other}")
        self._session.run_in_place({name: buffer.data for name, buffer in buffers.items()})
