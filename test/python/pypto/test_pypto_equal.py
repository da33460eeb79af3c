"""Equality of programs."""

import re

import pypto.language as pl
import pytest
from pypto import ir
from two_functions import DOUBLE, MAIN, PROGRAM


def test_the_order_of_functions_says_nothing():
    one, other = (
        pl.parse_program(PROGRAM.format(a + b)) for a, b in ((DOUBLE, MAIN.format("x")), (MAIN.format("x"), DOUBLE))
    )
    assert ir.structural_equal(one, other) and ir.structural_hash(one) == ir.structural_hash(other)
    third = pl.parse_program(PROGRAM.format(DOUBLE.replace("2.0", "3.0") + MAIN.format("x")))
    assert not ir.structural_equal(one, third)
    with pytest.raises(ValueError, match=re.escape(".functions[0].body")):
        ir.assert_structural_equal(one, third)
