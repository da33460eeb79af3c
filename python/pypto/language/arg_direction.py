"""Directions of arguments in printed calls."""

from pypto.pypto_core.ir import ArgDirection

NAME_TO_DIRECTION = {direction.name: direction for direction in ArgDirection}
DIRECTION_TO_NAME = {direction: name for name, direction in NAME_TO_DIRECTION.items()}
