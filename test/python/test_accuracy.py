"""Every function keeps the bound that docs/accuracy.md states (benchmarks/accuracy.py measures it over more values)."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("accuracy", ROOT / "benchmarks" / "accuracy.py")
accuracy = sys.modules["accuracy"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(accuracy)


def test_the_table_has_every_function():
    assert list(accuracy.bounds()) == [(name, mode) for name in accuracy.FUNCTIONS for mode in ("F32", "F16")]


def test_the_table_holds_its_own_bounds():
    rows = accuracy.ROW.findall(accuracy.TABLE.read_text())
    assert all(float(found.split(" at ")[0]) <= float(bound) for _, _, bound, found, _ in rows)


@pytest.mark.parametrize("mode", ["F32", "F16"])
@pytest.mark.parametrize("name", accuracy.FUNCTIONS)
def test_a_function_keeps_its_bound(name, mode, tmp_path):
    error = accuracy.measure(accuracy.FUNCTIONS[name], mode, 1 << 18, tmp_path)
    assert error.ulp <= accuracy.bounds()[name, mode], error.text()


def test_ulps():
    def ulps(got, exact, dtype=np.float32, **options):
        return accuracy.ulps(np.array([got], dtype), np.array([exact], np.float64), dtype, **options)[0]

    assert ulps(1, 1) == 0 and ulps(1, 1 + 2.0**-23) == 1
    assert ulps(0, 2.0**-149) == 1 and ulps(0, 3 * 2.0**-149, floor=2.0**-125) == 1.5
    assert ulps(np.inf, 1e39) == 0 and ulps(np.inf, 1e38) > 1e6
    assert ulps(np.nan, np.nan) == 0 and np.isinf(ulps(np.nan, 1.0)) and np.isinf(ulps(1.0, np.nan))
    assert ulps(1, 1 + 2.0**-10, np.float16) == 1 and ulps(-1, 1) > 1e6


def test_a_wrong_formula_is_found(tmp_path):
    """An error of 1e-6 is 8 ulp or more."""
    function = accuracy.FUNCTIONS["Sinh"]
    wrong = accuracy.Function(function.op, lambda x: np.sinh(x) * (1 + 1e-6))
    assert accuracy.measure(wrong, "F32", 1 << 12, tmp_path).ulp > accuracy.bounds()["Sinh", "F32"]
