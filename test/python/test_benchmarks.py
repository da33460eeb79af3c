"""Verdicts of the benchmarks: a missed goal ends them with exit code 1 unless known_misses.toml lists it with a value and a reason."""

import sys

import pytest
from conftest import ROOT


@pytest.fixture
def goals(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import goals

    return goals


ENTRY = """
[[miss]]
benchmark = "zoo"
goal = "net F16: traffic / ideal"
value = 1.8
reason = "the third layer is read twice"
"""


@pytest.fixture
def known(tmp_path):
    file = tmp_path / "known.toml"
    file.write_text(ENTRY)
    return file


def test_goals_that_hold(goals, known, capsys):
    g = goals.Goals("zoo", known)
    assert g.verdict("a", 1.0, 1.5) == "ok" and g.verdict("b", 2.0, 1.5, least=True) == "ok"
    assert g.close() == 0
    assert "2 goals hold, 0 are missed for a known reason, 0 are missed" in capsys.readouterr().out


@pytest.mark.parametrize("value, least", [(1.6, False), (1.4, True), (float("nan"), False), (float("nan"), True)])
def test_an_unlisted_miss_fails(goals, known, capsys, value, least):
    g = goals.Goals("zoo", known)
    assert g.verdict("net F32: traffic / ideal", value, 1.5, least) == "MISSED"
    assert g.close() == 1
    assert "MISSED: net F32: traffic / ideal" in capsys.readouterr().out


def test_a_listed_miss_passes_with_its_reason(goals, known, capsys):
    g = goals.Goals("zoo", known)
    assert g.verdict("net F16: traffic / ideal", 1.75, 1.5) == "known miss"
    assert g.close() == 0
    assert "known: net F16: traffic / ideal: the third layer is read twice" in capsys.readouterr().out


def test_a_listed_miss_must_not_get_worse(goals, known, capsys):
    g = goals.Goals("zoo", known)
    assert g.verdict("net F16: traffic / ideal", 1.85, 1.5) == "MISSED"
    assert g.close() == 1
    assert "1.85, goal <= 1.5 (listed with 1.8)" in capsys.readouterr().out


def test_an_entry_is_for_one_benchmark_only(goals, known):
    assert goals.Goals("cmodel", known).verdict("net F16: traffic / ideal", 1.75, 1.5) == "MISSED"


def test_an_entry_whose_goal_holds_again_is_named(goals, known, capsys):
    g = goals.Goals("zoo", known)
    assert g.verdict("net F16: traffic / ideal", 1.2, 1.5) == "ok"
    assert g.close() == 0
    assert "holds again: net F16: traffic / ideal" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text, word",
    [
        (ENTRY.replace('reason = "the third layer is read twice"', ""), "reason"),
        (ENTRY.replace("the third layer is read twice", ""), "reason"),
        (ENTRY.replace("value = 1.8", 'value = "high"'), "value"),
        (ENTRY + 'why = "x"', "why"),
        (ENTRY + ENTRY, "twice"),
        ("[[miss]", "known.toml"),
    ],
)
def test_entries_need_a_value_and_a_reason(goals, known, text, word):
    known.write_text(text)
    with pytest.raises(SystemExit, match=word):
        goals.Goals("zoo", known)


def test_the_list_in_the_tree_is_well_formed(goals):
    for benchmark in ("zoo", "cmodel", "task_runtime"):
        goals.read_known(goals.KNOWN_MISSES, benchmark)


def test_the_zoo_table_uses_the_verdicts(goals, known, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "regression"))
    monkeypatch.delitem(sys.modules, "zoo", raising=False)
    import importlib.util

    spec = importlib.util.spec_from_file_location("zoo_benchmark", ROOT / "benchmarks" / "zoo.py")
    zoo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(zoo)
    table = zoo.Table(known)
    table.add("net", "F16", "traffic / ideal", 1.75, 1.5, ".2f")
    assert table.goals.close() == 0
    table.add("net", "F32", "traffic / ideal", 1.75, 1.5, ".2f")
    table.add("net", "F32", "kernels", 7, None, ".0f")
    assert table.goals.close() == 1
    assert [row["verdict"] for row in table.rows] == ["known miss", "MISSED", ""]
