"""Differences of index expressions that are constant."""

from pypto.pypto_core import ir


def _terms(value, factor, found):
    """Adds `value` times `factor` to `found`: [(expression, factor)], and gives the constant part."""
    if isinstance(value, (int, ir.ConstInt)):
        return factor * (value if isinstance(value, int) else value.value)
    if isinstance(value, (ir.Add, ir.Sub)):
        sign = 1 if isinstance(value, ir.Add) else -1
        return _terms(value.left, factor, found) + _terms(value.right, factor * sign, found)
    if isinstance(value, ir.Mul):
        for number, other in ((value.left, value.right), (value.right, value.left)):
            if isinstance(number, ir.ConstInt):
                return _terms(other, factor * number.value, found)
    for index, (known, times) in enumerate(found):
        if ir.structural_equal(known, value):
            found[index] = known, times + factor
            return 0
    found.append((value, factor))
    return 0


def difference(a, b):
    """a - b where it is a constant; None where it is not. Numbers and expressions."""
    found = []
    constant = _terms(a, 1, found) + _terms(b, -1, found)
    return constant if all(times == 0 for _, times in found) else None
