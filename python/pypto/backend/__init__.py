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
