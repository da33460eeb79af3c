"""Directions of arguments in printed calls."""

from pypto.pypto_core.ir import ArgDirection

NAME_TO_DIRECTION = dict(ArgDirection.__members__)
DIRECTION_TO_NAME = {direction: name for name, direction in NAME_TO_DIRECTION.items()}
