"""Broken programs: which error, its first line, where, and that its hint works when it is followed."""

import re
import subprocess
import sys

import broken_programs
import broken_tasks
import numpy as np
import pytest
from pypto.ir.compiled_program import CompiledProgram
from pypto.jit.arguments import array_type
from pypto.jit.function import JITFunction
from pypto.language.parser.diagnostics import ErrorRenderer, PlacedError
from pypto.runtime import RunConfig
from source_file import imported

CASES = [
    *broken_programs.ANNOTATIONS,
    *broken_programs.STATEMENTS,
    *broken_programs.EXPRESSIONS,
    *broken_programs.FLOW,
    *broken_tasks.OPERANDS,
    *broken_tasks.TASKS,
    *broken_tasks.SCOPES,
    *broken_tasks.PROCESSOR,
    *broken_tasks.RANKS,
]


def run_text(monkeypatch, folder, text):
    """Imports a file of this text, compiles its `f`, and runs it on ones."""
    path = folder / f"broken_{len(list(folder.iterdir()))}.py"
    module = imported(monkeypatch, path, text)
    config = getattr(module, "CONFIG", RunConfig())
    if isinstance(module.f, JITFunction):
        compiled = module.f.compile(config=config)
    else:
        compiled = CompiledProgram(module.f, config)
    arrays = []
    for name in compiled.param_names:
        kind = compiled._types[name]
        arrays.append(np.ones([each.value for each in kind.shape], array_type(kind.dtype.name)))
    compiled(*arrays)


def marked(text):
    """The text without its mark, and the line and column that the mark stands at."""
    before, _, after = text.partition("^^")
    return before + after, before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1


def mended(case, text, hint):
    quoted = re.findall("`([^`]*)`", hint)
    for old, new in case.edits:
        old, new = (each.replace("{0}", quoted[0]) if quoted else each for each in (old, new))
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in\n{text}"
        text = text.replace(old, new)
    return text


def test_there_is_a_program_for_each_kind_of_mistake():
    assert len(CASES) >= 40 and len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_what_people_read_and_that_its_hint_works(case, monkeypatch, tmp_path):
    text, line, column = marked(case.text)
    with pytest.raises(case.error) as caught:
        run_text(monkeypatch, tmp_path, text)
    error = caught.value
    assert isinstance(error, PlacedError)
    shown = ErrorRenderer().render(error).splitlines()
    assert shown[0] == f"Error: {case.message or str(error)[: len(shown[0]) - 7]}"
    assert shown[1] == f"  --> {tmp_path}/broken_0.py:{line}:{column}"
    assert shown[3].endswith(" | " + text.splitlines()[line - 1])
    assert shown[4].index("^") - shown[3].index("|") == column + 1
    assert shown[5] == f"  = help: {case.hint}" and len(shown) == 6
    run_text(monkeypatch, tmp_path, mended(case, text, error.hint))


def test_a_script_ends_without_a_traceback(tmp_path):
    case = broken_programs.FLOW[0]
    script = tmp_path / "script.py"
    script.write_text(marked(case.text)[0] + "\n\nf.compile()\n")
    done = subprocess.run([sys.executable, "-m", "pto_mlir.pypto", str(script)], capture_output=True, text=True)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith(f"Error: {case.message}\n  --> {script}:") and "Traceback" not in done.stderr
