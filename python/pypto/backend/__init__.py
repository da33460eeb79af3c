"""Targets of the compiler."""

import enum


class BackendType(enum.Enum):
    Ascend910B = "Ascend910B"
    Ascend950 = "Ascend950"
    PTO = "PTO"  # names of the seeds
    CCE = "CCE"


_chosen = [BackendType.Ascend910B]


def set_backend_type(backend):
    """The back end of programs that name none; kept for harnesses that ask for it."""
    _chosen[0] = BackendType(backend)


def get_backend_type() -> BackendType:
    return _chosen[0]


def reset_for_testing():
    _chosen[0] = BackendType.Ascend910B


class _Counted:
    """What a chip has, as programs count it: each part with its number."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


class Backend:
    """A target with its cores: `soc.die_counts` -> `cluster_counts` -> `core_counts`, whose `core_type` is
    ir.CoreType."""

    _instances: dict = {}

    @classmethod
    def instance(cls):
        """The only one of its class."""
        return Backend._instances.setdefault(cls, cls())

    @property
    def soc(self):
        """One die of clusters, each a cube core and two vector cores."""
        from pto_mlir import _compiler

        from pypto.pypto_core import ir

        clusters = next(blocks for name, blocks, _ in _compiler.processors() if name == self.processor)
        cores = {_Counted(core_type=ir.CoreType.CUBE): 1, _Counted(core_type=ir.CoreType.VECTOR): 2}
        return _Counted(die_counts={_Counted(cluster_counts={_Counted(core_counts=cores): clusters}): 1})


class Backend910B(Backend):
    """Ascend 910B (a2a3)."""

    processor = "a3"


class Backend950(Backend):
    """Ascend 950 (a5)."""

    processor = "a5"
