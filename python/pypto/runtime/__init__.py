"""How programs run: RunConfig, run, ChipWorker."""

from dataclasses import dataclass
from typing import Any

_PROCESSORS = {"a2a3sim": "a3", "a2a3": "a3", "a5sim": "a5", "a5": "a5"}


def _each(name, value, check, wanted):
    """A ring's size, or one for each of four rings."""
    values = value if isinstance(value, (list, tuple)) else [value]
    if isinstance(value, (list, tuple)) and len(value) != 4:
        raise ValueError(f"{name}: a list has 4 entries, not {len(value)}")
    for each in values:
        if each is not None and not (isinstance(each, int) and not isinstance(each, bool) and check(each)):
            raise ValueError(f"{name}: expects {wanted}, not {each!r}")


def _level(name, value, greatest):
    level = greatest if value is True else value
    if not isinstance(level, int) or not 0 <= level <= greatest:
        raise ValueError(f"{name}: expects 0 to {greatest}, not {value!r}")
    return int(level)


@dataclass
class RunConfig:
    """Where and how a program runs. Without a device all platforms are simulated; ValueError for values that no
    platform takes. `mode` (ours): functional, or checked, where a run fails whose engines or tasks race, or read what
    nobody wrote."""

    platform: str = "a2a3sim"
    device_id: int = 0
    rtol: float = 1e-5
    atol: float = 1e-5
    strategy: Any = "Default"
    backend_type: Any = None
    dump_passes: bool = False
    dump_ptoas_passes: bool = False
    save_kernels: bool = False
    save_kernels_dir: Any = None
    codegen_only: bool = False
    enable_chip_swimlane: int = 0
    enable_dump_args: int = 0
    enable_pmu: int = 0
    enable_dep_gen: bool = False
    enable_scope_stats: bool = False
    enable_l2_swimlane: Any = None
    compile_profiling: bool = False
    diagnostic_phase: Any = None
    disabled_diagnostics: Any = None
    golden_data_dir: Any = None
    aicpu_thread_num: Any = None
    ring_task_window: Any = None
    ring_heap: Any = None
    ring_dep_pool: Any = None
    distributed_config: Any = None
    analyze_auto_scopes_for_deps: bool = False
    memory_planner: Any = None
    mode: str = "functional"

    def __post_init__(self):
        if self.platform not in _PROCESSORS:
            raise ValueError(f"platform: expects one of {', '.join(_PROCESSORS)}, not {self.platform!r}")
        if self.mode not in ("functional", "checked"):
            raise ValueError(f"mode: expects functional or checked, not {self.mode!r}")
        self.backend_type = "Ascend950" if self.processor == "a5" else "Ascend910B"
        if self.distributed_config is not None:
            from pypto.ir.distributed_compiled_program import DistributedConfig

            if not isinstance(self.distributed_config, DistributedConfig):
                kind = type(self.distributed_config).__name__
                raise TypeError(f"distributed_config: expects a DistributedConfig, not {kind}")
        if self.enable_l2_swimlane is not None:  # its older name
            self.enable_chip_swimlane = self.enable_l2_swimlane
        self.enable_chip_swimlane = _level("enable_chip_swimlane", self.enable_chip_swimlane, 4)
        self.enable_dump_args = _level("enable_dump_args", self.enable_dump_args, 2)
        self.enable_pmu = 2 if self.enable_pmu is True else self.enable_pmu
        if self.enable_pmu not in (0, 2, 4):
            told = "2 (PIPE_UTILIZATION) or 4 (MEMORY), which a simulated device counts"
            raise ValueError(f"enable_pmu: expects 0, {told}, not {self.enable_pmu!r}")
        power = lambda least: lambda value: value >= least and value & (value - 1) == 0
        _each("ring_task_window", self.ring_task_window, power(4), "a power of 2 from 4 on")
        _each("ring_heap", self.ring_heap, power(1024), "a power of 2 from 1024 on")
        _each("ring_dep_pool", self.ring_dep_pool, lambda value: value >= 4, "at least 4")

    def any_dfx_enabled(self) -> bool:
        """Whether anything of a run is recorded."""
        from pypto.runtime.records import Wanted

        return Wanted.from_run_config(self).any()

    @property
    def ranks(self) -> int:
        """Devices that programs of the host level are compiled for."""
        return 1 if self.distributed_config is None else len(self.distributed_config.device_ids)

    @property
    def processor(self) -> str:
        """The processor that programs are compiled for."""
        return _PROCESSORS[self.platform]


def run(program, *tensors, config=None):
    """Compiles a Program, runs it with these arguments, outputs in place, and gives the CompiledProgram. Without
    tensors, or with codegen_only, it is only compiled."""
    from pypto.ir.compiled_program import CompiledProgram
    from pypto.ir.program_compile import write_expanded

    config = config or RunConfig()
    compiled = CompiledProgram(program, config)
    write_expanded(program, config)
    if tensors and not config.codegen_only:
        compiled(*tensors, config=config)
    return compiled


def compile_program(
    program,
    work_dir,
    *,
    strategy=None,
    backend_type=None,
    dump_passes=False,
    analyze_auto_scopes_for_deps=False,
    memory_planner=None,
    enable_pypto_l0c_double_buffer=None,
    platform=None,
):
    """Writes a program with an orchestrator as a folder (pypto.runtime.device_runner). The strategy and how
    dependencies are found have no effect: there is one pipeline. Of the planner see ir.compile."""
    from pypto.ir.compiled_program import check_slots
    from pypto.runtime.device_runner import write_tree

    check_slots(program, memory_planner)
    write_tree(program, work_dir, platform or ("a5" if "950" in str(backend_type) else "a2a3"))


def ensure_pto_isa_root():
    """Real compilers need sources of the ISA; the simulator does not: None."""


def configure_log(*_, **__):
    """Levels of logging; there is no log."""


_LAZY = {
    "ChipWorker": "worker",
    "DeviceTensor": "worker",
    "BenchmarkStats": "measure",
    "DistributedWorker": "distributed_worker",
    "StackedDeviceTensor": "distributed_worker",
    "RegistrationHandle": "worker",
    "Worker": "worker",
    "TensorSpec": "tensor_spec",
    "ScalarSpec": "tensor_spec",
    "benchmark": "measure",
}


def __getattr__(name):
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(f"pypto.runtime.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'pypto.runtime' has no attribute {name!r}")


__all__ = [
    "BenchmarkStats",
    "ChipWorker",
    "DeviceTensor",
    "DistributedWorker",
    "RegistrationHandle",
    "RunConfig",
    "ScalarSpec",
    "StackedDeviceTensor",
    "TensorSpec",
    "Worker",
    "benchmark",
    "compile_program",
    "configure_log",
    "ensure_pto_isa_root",
    "run",
]
