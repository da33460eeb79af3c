"""The verdicts of the benchmarks: a missed goal ends them with 1 unless known_misses.toml lists it with a value and a
reason."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from conftest import ROOT
from onnx import helper
from pto_mlir.errors import UserError


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
    for benchmark in ("zoo", "cmodel", "task_runtime", "estimates", "silicon", "compiled attention", "pypto attention"):
        goals.read_known(goals.KNOWN_MISSES, benchmark)


@pytest.fixture
def zoo(goals, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import zoo

    return zoo


def test_every_network_has_a_goal_for_its_traffic(zoo):
    assert set(zoo.MODELS) - set(zoo.TRAFFIC) == {"resnet152"}, "docs/regression.md names what has no goal"


def test_counts_need_no_clock(zoo, monkeypatch, tmp_path, capsys):
    """With --counts nothing but conversions and counts; a network that cannot be converted is named and
    ends the run with 1."""
    calls = []

    def command(tool, *arguments):
        calls.append(tool)
        absent = "absent" in map(str, arguments)
        return SimpleNamespace(problem="no such file" if absent else "")

    monkeypatch.setattr(zoo, "command", command)
    monkeypatch.setattr(zoo.zoo, "read", lambda path: SimpleNamespace(file="m.onnx", shapes="[[1]]"))
    monkeypatch.setattr(zoo, "traffic", lambda file: 1.5)
    monkeypatch.setattr(zoo, "evenness", lambda file, trace: (1.1, "launch"))
    monkeypatch.setattr(zoo.regression, "main", lambda options: pytest.fail("the regression ran"))
    options = ["zoo.py", "--counts", "--work", str(tmp_path), "--modes", "F32,F16", "--json", str(tmp_path / "t.json")]
    monkeypatch.setattr(sys, "argv", [*options, "--models", "resnet18"])
    assert zoo.main() == 0
    assert calls == ["model_transform"] + ["model_deploy"] * 4
    assert [row["value"] for row in json.loads((tmp_path / "t.json").read_text())["rows"]] == [1.5, 1.1] * 2
    monkeypatch.setattr(sys, "argv", [*options, "--models", "absent"])
    assert zoo.main() == 1 and "no such file" in capsys.readouterr().out


def test_the_zoo_table_uses_the_verdicts(goals, known, zoo):
    table = zoo.Table(known)
    table.add("net", "F16", "traffic / ideal", 1.75, 1.5, ".2f")
    assert table.goals.close() == 0
    table.add("net", "F32", "traffic / ideal", 1.75, 1.5, ".2f")
    table.add("net", "F32", "kernels", 7, None, ".0f")
    assert table.goals.close() == 1
    assert [row["verdict"] for row in table.rows] == ["known miss", "MISSED", ""]


@pytest.fixture
def estimates(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import estimates

    return estimates


def test_estimates_are_those_that_the_compiler_wrote(estimates, tmp_path):
    kind = "pto.kernel_kind = #pto.kernel_kind<vector>"
    head = "  func.func private @"
    (tmp_path / "05-pto-synced.mlir").write_text(
        f"{head}k0_add(%arg0: !pto.ptr<f32>) attributes {{pto.estimate = 4.250000e+02 : f64, {kind}}} {{\n"
        f"{head}k1.vector(%arg0: !pto.ptr<f32>) attributes {{pto.estimate = 9.0e+03 : f64, {kind}, "
        f'pto.part_of = "k1"}} {{\n'
        f"{head}k2_gather(%arg0: !pto.ptr<f32>) attributes {{{kind}}} {{\n"
        "  func.func @main() {\n"
    )
    assert estimates.estimates(tmp_path) == {"k0_add": 425.0, "k1": 9000.0}


@pytest.mark.parametrize(
    "estimated, missed", [({"a": 102.0, "b": 95.0}, 0), ({"a": 150.0, "b": 100.0}, 2), ({"a": 100.0}, 1)]
)
def test_estimates_miss_by_median_worst_and_absence(estimates, goals, known, capsys, estimated, missed):
    verdicts = estimates.Goals("estimates", known)
    estimates.compare(verdicts, "net F32 1", estimated, {"a": 100.0, "b": 100.0}, rows=False)
    assert len(verdicts.missed) == missed
    assert ("no estimate" in capsys.readouterr().out) == ("b" not in estimated)


def test_shares_of_a_launch(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import shares

    def event(pid, tid, ts, dur, name="tadd"):
        return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": {}}

    def named(what, name, pid, tid=None):
        return {"ph": "M", "name": what, "pid": pid, "args": {"name": name}} | ({} if tid is None else {"tid": tid})

    events = [
        *(named("process_name", name, pid) for pid, name in enumerate(["device", "AIV0.0", "AIV1.0"])),
        *(named("thread_name", name, pid, tid) for pid in (1, 2) for tid, name in enumerate(["MTE2", "V", "MTE3"])),
        # A load of 2 us, then one beside the computation; nothing for 1 us; a store of 0.5 us at the end.
        event(1, 0, 10, 2), event(1, 0, 12, 3), event(1, 1, 12, 1), event(1, 1, 16, 4), event(1, 2, 19, 1.5),
        event(2, 0, 10, 2), event(2, 1, 12, 2.5),
        event(0, 0, 5, 15.5, "kernel"),
    ]  # fmt: skip
    (launch,) = shares.launches(events, 5)
    assert (launch.kernel, launch.begin, launch.end, len(launch.cores)) == ("kernel", 10, 20.5, 2)
    own, uneven = shares.shares(launch)
    assert own == {
        ("before", "load"): 2,
        ("between", "compute"): 5,
        ("between", "load"): 2,
        ("between", "idle"): 1,
        ("after", "store"): 0.5,
    }
    assert uneven == 3  # 0 of the one, 6 of the other


def test_the_cost_of_a_conversion(tmp_path, zoo):
    """Goals by the size of a model, the decoder that is made, and what cannot be converted."""
    cost = zoo.zoo_cost
    assert [cost.conversion_goal(size) for size in (1, 29_999_999, 30_000_000, 599_999_999, 600_000_000)] == [
        1.2,
        1.2,
        2.5,
        8.0,
        None,
    ]
    nodes = [cost.decoder(layers, tmp_path / f"{layers}.onnx", 32, 2, 8) for layers in (1, 3)]
    assert nodes[1] - nodes[0] == 2 * (nodes[0] - 1)
    onnx.checker.check_model(str(tmp_path / "3.onnx"), full_check=True)
    seconds, peak = cost.convert(tmp_path / "3.onnx", [], "F32", tmp_path / "m.pmodel", 1)
    assert seconds > 0 and 5 < peak < 1000
    with pytest.raises(UserError, match="model_transform: .*no such file"):
        cost.convert(tmp_path / "absent.onnx", [], "F32", tmp_path / "m.pmodel", 1)


def test_weights_of_branches_count(tmp_path, zoo):
    value = onnx.numpy_helper.from_array(np.ones(5, np.float32), "c")
    branch = helper.make_graph(
        [helper.make_node("Constant", [], ["b"], value=value)], "b", [], [onnx.ValueInfoProto(name="b")]
    )
    node = helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch)
    graph = helper.make_graph([node], "g", [], [], [onnx.numpy_helper.from_array(np.ones(3, np.float16), "w")])
    onnx.save(helper.make_model(graph), str(tmp_path / "m.onnx"))
    assert zoo.zoo_cost.weight_bytes(tmp_path / "m.onnx") == 2 * 20 + 6
