"""What goes wrong in a run is reported with the line of the program, for kernels and for graphs of tasks."""

import numpy as np
import pytest
import test_pypto_submit
from broken_tasks import RANKS
from pto_mlir.runtime import InferenceSession, RuntimeFailure
from pypto.language.parser.diagnostics import ErrorRenderer
from pypto.runtime import RunConfig, run
from source_file import imported

CHECKED = RunConfig(mode="checked")
KERNEL = """\
import pypto.language as pl


@pl.function(type=pl.FunctionType.InCore)
def add_number(
    x: pl.Tensor[[128, 64], pl.FP32],
    row: pl.Scalar[pl.INDEX],
    number: pl.Scalar[pl.FP32],
    out: pl.InOut[pl.Tensor[[128, 64], pl.FP32]],
) -> pl.Tensor[[128, 64], pl.FP32]:
    t = {LOAD}pl.load(x, [row, 0], [16, 64])
    return pl.store(pl.add(t, number), [row, 0], out)


@pl.program
class Main:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[128, 64], pl.FP32], out: pl.InOut[pl.Tensor[[128, 64], pl.FP32]]):
        with pl.manual_scope():
{BODY}
        return out
"""


def program(*body, load=""):
    """The text of a program whose manual scope has these statements."""
    return KERNEL.format(LOAD=load, BODY="\n".join("            " + each for each in body))


def marked(text):
    """The text without its mark, and the place that the mark stands at."""
    before, _, after = text.partition("^^")
    return before + after, before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1


def loaded(monkeypatch, folder, text):
    return imported(monkeypatch, folder / "faulty.py", text)


def faults(monkeypatch, folder, text, config=CHECKED):
    """The error of a run of the program, which is at the mark of its text."""
    text, line, column = marked(text)
    module = loaded(monkeypatch, folder, text)
    with pytest.raises(RuntimeFailure) as caught:
        run(module.Main, np.ones((128, 64), np.float32), np.zeros((128, 64), np.float32), config=config)
    shown = ErrorRenderer().render(caught.value).splitlines()
    assert shown[1] == f"  --> {folder}/faulty.py:{line}:{column}"
    assert shown[3].endswith(" | " + text.splitlines()[line - 1])
    assert shown[4].index("^") - shown[3].index("|") == column + 1
    return str(caught.value)


FIRST = "out, a = pl.submit(add_number, x, 0, 1.0, out)"
SECOND = "out, b = pl.submit(add_number, x, 16, 1.0, out)"


@pytest.mark.parametrize("between", ("", "c = pl.system.task_dummy(deps=[b])"))
def test_a_race_where_a_dependency_was_deleted(between, monkeypatch, tmp_path):
    waits = "c" if between else "b"
    last = f"out, d = ^^pl.submit(add_number, x, 8, 1.0, out, deps=[{waits}, a])"
    body = [FIRST, SECOND, between or "pass", last]
    text = faults(monkeypatch, tmp_path, program(*body).replace(", a])", "])"))
    place = marked(program(*body))[0].splitlines().index("            " + FIRST) + 1
    assert f"task-race: writes byte 2048 of argument 1 (out), which the task of faulty.py:{place}:" in text
    assert "pto.tstore at faulty.py:12:12" in text and "no dependency orders the tasks; launched at faulty.py" in text
    held = loaded(monkeypatch, tmp_path, marked(program(*body))[0])
    out = np.zeros((128, 64), np.float32)
    run(held.Main, np.ones((128, 64), np.float32), out, config=CHECKED)
    np.testing.assert_array_equal(out[:, 0], [2.0] * 32 + [0.0] * 96)


def test_only_manual_scopes_need_dependencies(monkeypatch, tmp_path):
    text = program(FIRST, SECOND, "out, d = pl.submit(add_number, x, 0, 1.0, out)")
    text = text.replace("pl.manual_scope()", "pl.scope()").replace("Orchestration)", "Orchestration, auto_scope=False)")
    held = loaded(monkeypatch, tmp_path, text)
    run(held.Main, np.ones((128, 64), np.float32), np.zeros((128, 64), np.float32), config=CHECKED)


def test_each_of_a_parallel_loop_is_waited_for(monkeypatch, tmp_path):
    loop = ["last = None", "for i in pl.parallel(4):", "    out, last = pl.submit(add_number, x, i * 16, 1.0, out)"]
    behind = "out, d = ^^pl.submit(add_number, x, 0, 1.0, out, deps=[last])"
    held = loaded(monkeypatch, tmp_path, marked(program(*loop, behind))[0])
    run(held.Main, np.ones((128, 64), np.float32), np.zeros((128, 64), np.float32), config=CHECKED)
    in_turn = [each.replace("pl.parallel", "pl.range") for each in loop]  # `last` is the last one only
    assert "task-race" in faults(monkeypatch, tmp_path, program(*in_turn, behind))


def test_a_scope_with_a_task_hands_on_what_it_waits_for(monkeypatch, tmp_path):
    scope = [
        "with pl.at(level=pl.Level.CORE_GROUP, deps=[{}]) as c:",
        "    pl.store(pl.load(x, [64, 0], [8, 64]), [64, 0], out)",
    ]
    behind = "out, d = ^^pl.submit(add_number, x, 0, 1.0, out, deps=[c])"
    body = [FIRST, SECOND, *(each.format("a") for each in scope), behind]
    held = loaded(monkeypatch, tmp_path, marked(program(*body))[0])
    run(held.Main, np.ones((128, 64), np.float32), np.zeros((128, 64), np.float32), config=CHECKED)
    assert "task-race" in faults(monkeypatch, tmp_path, program(*body).replace("deps=[a]", "deps=[b]"))


@pytest.mark.parametrize("mode", ("functional", "checked"))
def test_a_tile_out_of_range(mode, monkeypatch, tmp_path):
    text = program(FIRST, "out, b = pl.submit(add_number, x, 120, 1.0, out, deps=[a])", load="^^")
    error = faults(monkeypatch, tmp_path, text, RunConfig(mode=mode))
    assert "out-of-range" in error and "pto.tload at faulty.py:11:9" in error
    assert "; launched at faulty.py:21:22" in error


def test_a_wait_that_nobody_satisfies(monkeypatch, tmp_path):
    text, line, column = marked(RANKS[0].text)
    module = loaded(monkeypatch, tmp_path, text)
    with pytest.raises(RuntimeFailure, match="deadlock") as caught:
        module.f.compile(config=module.CONFIG)(np.zeros((2, 4, 1), np.int32))
    assert ErrorRenderer().render(caught.value).splitlines()[1] == f"  --> {tmp_path}/faulty.py:{line}:{column}"


def test_what_waits_as_it_should_is_not_reported():
    x, out = np.ones((128, 64), np.float32), np.zeros((128, 64), np.float32)
    run(test_pypto_submit.Phases, x, out, config=CHECKED)


def test_the_places_of_launches_are_in_the_file(monkeypatch, tmp_path):
    held = loaded(monkeypatch, tmp_path, program(FIRST, "out, b = pl.submit(add_number, x, 0, 1.0, out)"))
    file = tmp_path / "k.pmodel"
    file.write_bytes(run(held.Main, config=RunConfig(codegen_only=True)).pmodel)
    feed = {"x": np.ones((128, 64), np.float32), "out": np.zeros((128, 64), np.float32)}
    InferenceSession(file).run(None, feed)
    with pytest.raises(RuntimeFailure, match="task-race.*; launched at faulty.py:21:22"):
        InferenceSession(file, mode="checked").run(None, feed)


def test_a_mode_that_is_none():
    with pytest.raises(ValueError, match="mode: expects functional or checked, not 'fast'"):
        RunConfig(mode="fast")
