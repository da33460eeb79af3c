"""DistributedWorker: programs of several ranks that are kept ready, with what their SubWorkers do."""

from pypto.ir.distributed_compiled_program import DistributedCompiledProgram


class DistributedWorker:
    """Runs programs of several ranks, as a context manager or closed by hand. `callbacks`: what SubWorkers do, by name;
    each gets a list of tensors (`pypto.runtime.distributed_runner._tensor_from_continuous`). ValueError for SubWorkers
    that are not bound, for names that no program calls, and for use after close."""

    def __init__(self, programs, callbacks=None):
        self._programs, self._callbacks, self._closed = list(programs), dict(callbacks or {}), False
        for program in self._programs:
            if not isinstance(program, DistributedCompiledProgram):
                raise TypeError(f"DistributedWorker: expects programs of several ranks, not {type(program).__name__}")
        called = {name for program in self._programs for name, _ in program.sub_workers}
        missing, unknown = sorted(called - set(self._callbacks)), sorted(set(self._callbacks) - called)
        if missing:
            raise ValueError(f"SubWorkers are not bound: {', '.join(missing)}; pass callbacks={{{missing[0]!r}: ..}}")
        if unknown:
            raise ValueError(f"no program calls a SubWorker {', '.join(unknown)}; they call {sorted(called) or 'none'}")

    def __enter__(self):
        self._open()
        return self

    def __exit__(self, *_):
        self.close()

    def _open(self):
        if self._closed:
            raise ValueError("the DistributedWorker is closed")

    def __call__(self, *args, **keywords):
        """Runs the only program."""
        if len(self._programs) != 1:
            raise ValueError(f"the DistributedWorker has {len(self._programs)} programs; use run(program, ..)")
        return self.run(self._programs[0], *args, **keywords)

    def run(self, program, *args, **keywords):
        """Runs one of the programs; its outputs are written in place, then its SubWorkers are called."""
        self._open()
        if not any(each is program for each in self._programs):
            raise ValueError("the program is none of this DistributedWorker")
        return program.run_with(self._callbacks, *args, **keywords)

    def close(self):
        self._closed = True
