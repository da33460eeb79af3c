"""Worker: runs compiled programs (level 2), or a function that submits them and Python functions (level 3)."""

from pypto.ir.compiled_program import CompiledProgram
from pypto.runtime import RunConfig
from pypto.runtime.call_config import CallConfig, TaskArgs
from pypto.runtime.worker import Worker as _Worker


class Worker(_Worker):
    """A device (level 2), or several under a function of Python (level 3), all simulated in this process. `runtime` and
    `num_sub_workers` say how processes of a real machine share the work, and change nothing. ValueError for other
    levels, platforms and devices; RuntimeError for use before `init` or after `close`."""

    def __init__(
        self,
        level=2,
        *,
        device_id=0,
        device_ids=None,
        num_sub_workers=0,
        platform="a2a3sim",
        runtime=None,
        chip_bootstrap_configs=None,
    ):
        if level not in (2, 3):
            raise ValueError(f"level: expects 2 or 3, not {level!r}")
        if chip_bootstrap_configs:
            raise ValueError("chip_bootstrap_configs: there are no processes to set up")
        super().__init__()
        self.level, self.platform = level, platform
        self._processor = RunConfig(platform=platform).processor
        self.device_ids = list(device_ids) if device_ids is not None else [device_id]
        if not self.device_ids:
            raise ValueError("device_ids: expects at least one device")
        self._callables, self._next, self._ready = {}, 0, False

    def init(self):
        """Makes it ready to run."""
        self._open("init")
        self._ready = True

    def register(self, target) -> int:
        """The number by which a program, or on level 3 a function on TaskArgs, is run. TypeError, ValueError."""
        self._open("register")
        if isinstance(target, CompiledProgram):
            if RunConfig(platform=target.platform).processor != self._processor:
                raise ValueError(f"register: {target.name} was compiled for {target.platform}, not {self.platform}")
        elif self.level == 2 or not callable(target):
            raise TypeError(f"register: expects a CompiledProgram, not {type(target).__name__}")
        self._next += 1
        self._callables[self._next] = target
        return self._next

    def unregister(self, number):
        """Forgets what `register` numbered. ValueError for other numbers."""
        self._held("unregister", number)
        del self._callables[number]

    def run(self, target, args=None, config=None):
        """Level 2: runs the program of that number on TaskArgs, outputs in place. Level 3: calls `target(self, args,
        config)`, which submits; all that it submitted has ended when this returns."""
        self._open("run")
        if not self._ready:
            raise RuntimeError("Worker.run called before init")
        if self.level == 3:
            target(self, args, config)
        else:
            self._run(self._program("run", target), args, config)

    def submit_next_level(self, number, args, config=None, worker=0):
        """Within a run of level 3: runs a program on the device `device_ids[worker]`."""
        program = self._program("submit_next_level", number)
        if not isinstance(worker, int) or not 0 <= worker < len(self.device_ids):
            raise ValueError(f"submit_next_level: worker {worker!r} is none of {len(self.device_ids)} devices")
        self._run(program, args, config)

    def submit_sub(self, number, args):
        """Within a run of level 3: calls a function on TaskArgs."""
        target = self._held("submit_sub", number)
        if isinstance(target, CompiledProgram):
            raise TypeError(f"submit_sub: {target.name} is a program; use submit_next_level")
        target(args)

    def close(self):
        super().close()
        self._callables, self._ready = {}, False

    def _held(self, where, number):
        self._open(where)
        if number not in self._callables:
            raise ValueError(f"{where}: {number!r} is not registered")
        return self._callables[number]

    def _program(self, where, number):
        target = self._held(where, number)
        if not isinstance(target, CompiledProgram):
            raise TypeError(f"{where}: {number} is a function; submit_sub calls it")
        return target

    @staticmethod
    def _run(program, args, config):
        if not isinstance(args, TaskArgs):
            raise TypeError(f"{program.name}: expects TaskArgs, not {type(args).__name__}")
        program(*program.in_order(args), config=config or CallConfig())
