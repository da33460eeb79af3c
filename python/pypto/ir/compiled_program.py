"""A compiled program that is ready to run."""

import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

from pypto.ir import errors
from pypto.ir.dispatch import Dispatch, ParamInfo, made_type, read_meta  # noqa: F401
from pypto.ir.extents import open_names, shape_of, sizes_of, viewed_only
from pypto.pypto_core import DataType, ir
from pypto.pypto_core.passes import MemoryPlanner
from pypto.runtime import records

_MOST_SIZES = 256  # sets of sizes for which a program is kept compiled
_DIRECTIONS = {"in": ir.ParamDirection.In, "out": ir.ParamDirection.Out, "inout": ir.ParamDirection.InOut}


def main_of(program):
    """What a run of a program is: its orchestrator, else its only group or kernel. ValueError where there is none."""
    held = list(ir.with_orchestrators(program).functions.values())
    kinds = (ir.FunctionType.Orchestration, ir.FunctionType.Group)
    mains = next(filter(None, ([each for each in held if each.func_type == kind] for kind in kinds)), held)
    mains = [each for each in mains if each.level == ir.Level.HOST] or mains
    if len(mains) != 1:
        names = ", ".join(each.name for each in mains)
        raise ValueError(f"{program.name}: has no orchestrator, but {names or 'no function'}; mark one with type=")
    return mains[0]


def compile_to(program, file, processor, blocks=1, sizes=None, ranks=1):
    """Writes a `.pmodel`, `.pto` or `.cpp`. `sizes`: extents that the program leaves to the run, by name; `ranks`:
    devices of a program of the host level. ParserError with the place in the source."""
    from pto_mlir import _compiler

    for function in program.functions.values():
        if "external_source" in dict(function.attrs):
            raise errors.external(function)
    try:
        _compiler.compile_pypto(ir.serialize(program), str(file), processor, blocks, sizes or {}, ranks)
    except _compiler.CompileError as error:
        text = str(error)
    else:
        return
    raise errors.of_compiler(text)


def _is_run_config(value):
    from pypto.runtime import RunConfig

    return isinstance(value, RunConfig)


def check_slots(program, planner):
    """PartialCodegenError for slots of one allocation that the assembler, if it is to place tiles, does not keep
    apart."""
    from pypto.backend.pto_backend import PartialCodegenError

    if planner != MemoryPlanner.PTOAS:
        return
    try:
        ir.check_slot_regions(program)
    except ValueError as error:
        raise errors.of_compiler(str(error), PartialCodegenError) from None


class CompiledProgram(Dispatch):
    """Callable with the arguments of the program. `program`, `platform`, `param_names`, `output_indices`, `has_return`;
    `pmodel`: the bytes of the file. `output_dir`, also as path: the folder of `ir.compile`, written when it is first
    asked for where the program was compiled in memory.

    `order`: the parameters, numbers that were folded (`numbers`) among them; by default those of the program. A program
    that leaves extents open (pl.dynamic) is compiled once for all sizes. Where its kernels depend on them it is
    compiled at the first call with each set of `sizes`; `pmodel` is None then.
    `file`: its .pmodel, where that is there already.
    `recording`: what runs leave (pypto.runtime.records).
    """

    def __init__(self, program, config, order=None, numbers=None, sizes=None, file=None):
        check_slots(program, config.memory_planner)
        main = main_of(program)
        types = {param.name_hint: param.type for param in main.params}
        words = {direction: word for word, direction in _DIRECTIONS.items()}
        directions = {name: words[each] for name, each in zip(types, main.param_directions, strict=True)}
        self._describe(program, main.name, config.platform, types, directions, bool(main.return_types))
        self._config, self._sizes, self._numbers = config, sizes or {}, numbers or {}
        self._order(order or types)
        self._find_open()
        self._viewed = viewed_only(main) if self._open else set()
        try:
            self._session, self.pmodel = _opened(file, config) if file else self._compile(config)
        except errors.PlacedError:
            if not self._open:
                raise
            return
        self._find_made()
        if self._open and any(None in each.shape for each in self._made.values()):
            self._session = self.pmodel = None  # memory for what it returns is made before the run

    def _describe(self, program, name, platform, types, directions, has_return):
        """What is known of it before it is compiled; `directions`: in, out or inout by parameter."""
        self.program, self.platform, self._name, self._types = program, platform, name, types
        self.has_return, self._numbers, self._sizes, self._sized = has_return, {}, {}, {}
        self._outputs = [name for name in types if directions[name] != "in"]
        self._fresh = [name for name in types if directions[name] == "out"]
        self.folder = self.recording = self._session = self.pmodel = self._kernels = None
        self._open, self._made, self._viewed = [], {}, ()
        self._launches = None  # their list, once it was asked for
        self._order(types)

    def _order(self, order):
        self.param_names = list(order)
        self.output_indices = [self.param_names.index(name) for name in self._outputs]

    def _find_open(self):
        self._open = [each for each in open_names(self._types.values()) if each not in self._sizes]

    def _find_made(self):
        outputs = {each.name: each for each in self._session.get_outputs()}
        self._made = {name: outputs[name] for name in outputs if name not in self._types}

    @classmethod
    def from_dir(cls, folder, *, platform=None):
        """The program that `ir.compile` wrote into a folder. One of one device that has a .pmodel is that and
        compiled_meta.json alone: `program` is None; others have the bytes of their IR as well, from which they are
        compiled again only where the folder has not their .pmodel. ValueError for other folders, and for another
        processor."""
        from pto_mlir import runtime

        from pypto.runtime import RunConfig

        meta = read_meta(folder)
        platform = platform or meta["platform"]
        if RunConfig(platform=platform).processor != RunConfig(platform=meta["platform"]).processor:
            raise ValueError(f"{folder}: was compiled for {meta['platform']}, not {platform}")
        if "ir" in meta:
            made = _of_ir(folder, meta, platform)
            made.output_dir = Path(folder)
            return made
        made, file = cls.__new__(cls), Path(folder) / meta["model"]
        made._describe(None, meta["name"], platform, meta["types"], meta["directions"], meta["has_return"])
        made._kernels, made.output_dir, made.pmodel = meta["kernels"], Path(folder), file.read_bytes()
        made._program_name = meta["program"]
        made._session = runtime.InferenceSession(file)
        made._find_open()
        made._find_made()
        return made

    @property
    def types(self):
        """The types of the parameters, by name."""
        return self._types

    @property
    def config(self):
        """The RunConfig that it was compiled for."""
        return self._config

    @property
    def sizes(self):
        """The extents that it was compiled for, by name, of those that the program leaves open."""
        return self._sizes

    @property
    def processor(self):
        """The processor that it was compiled for."""
        return self._config.processor

    @property
    def kernel_names(self):
        """The names of the kernels in the order of their numbers (func_id)."""
        from pypto.runtime.device_runner import kernel_names

        return self._kernels if self.program is None else kernel_names(self.program)

    @property
    def program_name(self):
        """The name of the program, which its files have."""
        return self._program_name if self.program is None else self.program.name

    @property
    def output_dir(self):
        """The folder of the program's files. ParserError, OSError where they cannot be written."""
        if self.folder is None:
            from pypto.ir.program_compile import write_files

            write_files(self, records.default_folder(self.program_name), dump_passes=self.config.dump_passes)
        return self.folder

    @output_dir.setter
    def output_dir(self, folder):
        self.folder = Path(folder)

    runtime_name = "pto_mlir"

    @property
    def name(self):
        """The name of what runs: the orchestrator's, or the kernel's."""
        return self._name

    @property
    def runtime_config(self):
        """The settings of the runtime: none."""
        return {}

    @property
    def chip_callable(self):
        """What a device runs: this."""
        return self

    def __fspath__(self):
        return str(self.output_dir)

    def __str__(self):
        return str(self.folder or f"<CompiledProgram {self._name}>")

    def _compile(self, config):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "k.pmodel"
            compile_to(self.program, file, config.processor, sizes=self._sizes, ranks=config.ranks)
            session, data = _opened(file, config)
        if config.save_kernels and config.save_kernels_dir:
            target = Path(config.save_kernels_dir)
            target.mkdir(parents=True, exist_ok=True)
            (target / f"{self.program.name}.pmodel").write_bytes(data)
        return session, data

    def __call__(self, *args, config=None, **keywords):
        """Runs with arguments of the kinds that it was compiled for; writes the outputs in place. With inputs only it
        makes the outputs, zeros, and returns them. `config`: what of the run is recorded; what was compiled is run."""
        if config is not None and "config" in self.param_names and not _is_run_config(config):
            keywords["config"] = config  # a parameter of that name
        elif (wanted := records.Wanted.from_run_config(config)).any():
            with records.recorded(self, wanted, config.save_kernels_dir):
                return self(*args, **keywords)
        inputs = [name for name in self.param_names if name not in self._fresh]
        sizes = self._sizes_of(args, keywords, inputs)
        # Extents that tensors of one name have for themselves are known ones.
        if self._open and (not self._leaves_open() or any("[" in each for each in sizes)):
            return self._of_sizes(sizes)(*args, **keywords)
        made = None
        if self._fresh and not keywords and len(args) == len(inputs):
            made = self._make_outputs(args, sizes)
            given = {**dict(zip(inputs, args, strict=True)), **made}
            args = [given[name] for name in self.param_names]
        returned = self.launch(self._read(args, keywords, sizes), args)
        results = [*(made or {}).values(), *returned]
        if made is None and not returned:
            return None
        return tuple(results) if len(results) > 1 else results[0]

    def _leaves_open(self):
        """Whether what was compiled runs whatever is left open, and not one program for what each call says of it."""
        return self._session is not None and not self.recording  # launches of known sizes are recorded

    def _sizes_of(self, args, keywords, inputs):
        """The extents that the program leaves open, as these arguments have them. ValueError."""
        if not self._open:
            return self._sizes
        from pypto.jit.arguments import Shaped, read

        names = self.param_names if keywords or len(args) != len(inputs) else inputs
        given = {**dict(zip(names, args, strict=False)), **keywords}
        held = {name: read(f"{self._name}: argument {name}", value) for name, value in given.items()}
        shapes = {name: value.shape for name, value in held.items() if isinstance(value, Shaped)}
        sizes = sizes_of(self._name, self._types, shapes, self._viewed) | self._read_by_host(held)
        missing = [each for each in self._open if each not in sizes]
        if missing:
            raise ValueError(f"{self._name}: no argument says the extent {missing[0]}")
        return sizes

    def _read_by_host(self, held):
        """What of the arguments decides which launches there are, beside extents, by names as those have."""
        return {}

    def _of_sizes(self, sizes):
        """The program for these sizes alone."""
        key = tuple(sorted(sizes.items()))
        if key not in self._sized:
            if len(self._sized) >= _MOST_SIZES:
                self._sized.pop(next(iter(self._sized)))
            self._sized[key] = type(self)(self.program, self._config, self.param_names, self._numbers, sizes)
        self._sized[key].recording = self.recording
        return self._sized[key]

    def _read(self, args, keywords, sizes):
        """What was passed by parameter name, of the types that the program was compiled for. TypeError, ValueError."""
        from pypto.jit.arguments import Shaped, bound, read, shown
        from pypto.jit.definition import fingerprint

        name = self._name
        given = bound(name, self.param_names, args, keywords)
        values = {each: read(f"{name}: argument {each}", value) for each, value in given.items()}
        for each, value in values.items():
            if isinstance(self._types.get(each), ir.ScalarType):
                values[each] = self._number(each, value)
                continue
            if each in self._types:
                shape, dtype = expected = self._key(each, sizes)
                key = value.key if isinstance(value, Shaped) else fingerprint(value)
                wanted = f"a tensor of {dtype} {list(shape)}"
            else:
                expected, key = fingerprint(self._numbers.get(each)), fingerprint(value)
                wanted = shown(self._numbers.get(each))
            if key != expected and not _same_bits(key, expected):
                raise ValueError(f"{name}: argument {each}: compiled for {wanted}, not {shown(value)}")
        return values

    def _number(self, name, value):
        """A number as the tensor of one element that the host program takes. TypeError, ValueError."""
        from pypto.jit.arguments import Buffer, Shaped, array_type, scalar

        where, dtype = f"{self._name}: argument {name}", self._types[name].dtype
        if isinstance(value, Shaped):
            raise TypeError(f"{where}: expects a number, not a tensor")
        dtype = DataType.INT64 if dtype == DataType.INDEX else dtype
        held = np.array([scalar(where, value, dtype)], array_type(dtype.name))
        return Buffer(held.shape, dtype, held, False)

    def _key(self, name, sizes):
        type_ = self._types[name]
        return shape_of(name, type_, sizes), type_.dtype.name

    def _make_outputs(self, args, sizes):
        from pypto.jit.arguments import array_type

        made = {}
        for name in self._fresh:
            shape, dtype = self._key(name, sizes)
            made[name] = _zeros(shape, array_type(dtype), args)
        return made

    def launch(self, values, args=()):
        """Runs once; `values` by parameter name, as the specialisation had them. Gives the tensors that the program
        returns besides its parameters; they are torch's where `args` are."""
        from pypto.jit.arguments import read

        buffers = {name: values[name] for name in self._types}
        for name in self._outputs:
            where = f"{self._name}: argument {name}"
            if not buffers[name].writable:
                raise ValueError(f"{where}: is an output, but read-only")
            for other, buffer in buffers.items():
                if other != name and buffers[name].overlaps(buffer):
                    raise ValueError(f"{where}: is an output and shares memory with {other}")
        memory = {name: buffer.data for name, buffer in buffers.items()}
        returned = []
        for name, made in self._made.items():
            returned.append(_zeros(made.shape, made_type(made), args))
            memory[name] = read(name, returned[-1]).data
        if self.recording:
            records.run(self, memory)
        else:
            shapes = {name: buffer.shape for name, buffer in buffers.items()}
            errors.of_run(self.program, self._session.run_in_place, memory, shapes)
        return returned


def _opened(file, config):
    from pto_mlir import runtime

    return runtime.InferenceSession(file, mode=config.mode), file.read_bytes()


def _of_ir(folder, meta, platform):
    """A program of from_dir with its IR. ValueError for bytes that are no program."""
    from pypto.ir.distributed_compiled_program import DistributedCompiledProgram, DistributedConfig
    from pypto.runtime import RunConfig

    program = ir.deserialize(meta["ir"])
    if not isinstance(program, ir.Program):
        raise ValueError(f"{folder}: {meta['program']}.ir holds a {type(program).__name__}, not a Program")
    file = Path(folder) / meta["model"]
    if not file.is_file() or zlib.crc32(file.read_bytes()) != meta.get("model_checksum"):
        file = None  # what else wrote it is not this program's
    if "device_ids" not in meta:
        return CompiledProgram(program, RunConfig(platform=platform), file=file)
    distributed = DistributedConfig(device_ids=meta["device_ids"])
    return DistributedCompiledProgram(program, RunConfig(platform=platform, distributed_config=distributed), file=file)


def _same_bits(key, expected):
    """Whether two (shape, element type) differ in the sign of integers only: torch 1 has but one unsigned type. INDEX
    is INT64 in memory."""
    if not all(isinstance(each, tuple) and len(each) == 2 for each in (key, expected)):
        return False
    expected = (expected[0], "INT64" if expected[1] == "INDEX" else expected[1])
    return key[0] == expected[0] and "INT" in expected[1] and key[1].removeprefix("U") == expected[1].removeprefix("U")


def _zeros(shape, kind, args):
    """Zeros; a tensor of torch where the arguments are."""
    torch = sys.modules.get("torch")
    if torch is not None and any(isinstance(each, torch.Tensor) for each in args):
        return torch.zeros(tuple(shape), dtype=getattr(torch, kind))
    return np.zeros(tuple(shape), np.dtype(kind))
