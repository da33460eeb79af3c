"""docs/pypto-rows.md names a test for each row of the generators' checklists, and no other."""

import re

import test_pypto_rows_a as rows_a
import test_pypto_rows_b as rows_b
import test_pypto_rows_c as rows_c
from row_kernels import ROOT

CPP_TESTS = "unittests/PyPTO/CodegenTest.cpp"


def test_the_table_names_a_test_for_each_row():
    cpp_tests = (ROOT / CPP_TESTS).read_text()
    table = (ROOT / "docs/pypto-rows.md").read_text()
    rows = {}
    for row, tests in re.findall(r"^\| ([ABK]\d+) \| .* \| (.*) \|$", table, re.M):
        rows[row] = re.findall(r"`([\w.]+)`", tests)
    tree = {row: rows.pop(row) for row in list(rows) if row[0] == "K"}
    assert list(rows) == [f"A{i}" for i in range(1, 22)] + [f"B{i}" for i in range(1, 27)]
    known = {name for module in (rows_a, rows_b, rows_c) for name in vars(module) if re.match(r"test_[AB]\d\d_", name)}
    assert {test for tests in rows.values() for test in tests if test.startswith("test_")} == known
    for row, tests in rows.items():
        assert tests, f"{row} has no test"
        for test in tests:
            assert f"{row[0]}{int(row[1:]):02}_" in test, f"{test} is of another row than {row}"
            suite, _, name = test.partition(".")
            assert test in known or f"TEST({suite}, {name})" in cpp_tests, f"{test} is not there"
    assert list(tree) == [f"K{i}" for i in range(1, 11)]
    there = (ROOT / "test/python/pypto/test_pypto_tree.py").read_text()
    assert all(tests and all(f"def {test}(" in there for test in tests) for tests in tree.values())
