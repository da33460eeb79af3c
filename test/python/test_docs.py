"""The documentation is consistent with the tree: quoted code is in the named file, links resolve, named passes
exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("third_party/*.md")])
QUOTE = re.compile(r"<!-- quote: (\S+) -->\n```[a-z+]*\n(.*?)```", re.DOTALL)


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_quoted_code_is_in_its_file(page):
    for source, code in QUOTE.findall(page.read_text()):
        assert code in (ROOT / source).read_text(), f"{page.name} quotes {source}, which no longer says:\n{code}"


def test_the_way_of_an_op_quotes_code():
    assert len(QUOTE.findall((ROOT / "docs" / "adding-an-op.md").read_text())) >= 6


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page):
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_passes_of_the_map_exist():
    text = (ROOT / "docs" / "map.md").read_text()
    listed = re.findall(r"`([a-z0-9-]+)`", text.split("Passes, in order")[1].split("The contracts")[0])
    options = subprocess.run([str(ROOT / "build" / "bin" / "pto-opt"), "--help"], capture_output=True, text=True).stdout
    known = set(re.findall(r"--([a-z0-9-]+)", options))
    assert len(listed) > 10 and not set(listed) - known - {"pto-opt"}


def test_options_that_the_readme_types_exist():
    from pto_mlir.tools import model_deploy, model_runner, model_transform

    script = re.search(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1).replace("\\\n", " ")
    for tool in (model_transform, model_deploy, model_runner):
        known = set(re.findall(r"--[a-z_]+", tool.parser().format_help()))
        lines = [line for line in script.splitlines() if line.startswith(tool.PROG)]
        assert lines
        for line in lines:
            assert not set(re.findall(r"--[a-z_]+", line)) - known, line


def test_the_table_of_operators_is_current():
    script = ROOT / "scripts" / "make_support_table.py"
    assert subprocess.run([sys.executable, str(script), "--check"]).returncode == 0, f"run {script}"


def test_the_page_of_pypto_operations_is_current():
    script = ROOT / "scripts" / "make_pypto_docs.py"
    assert subprocess.run([sys.executable, str(script), "--check"]).returncode == 0, f"run {script.name}"


def test_the_page_of_pto_ops_is_current():
    script = ROOT / "scripts" / "make_dialect_docs.py"
    assert subprocess.run([sys.executable, str(script), "--check"]).returncode == 0, f"run {script.name}"


@pytest.mark.parametrize("name", sorted(page.name for page in (ROOT / "docs").glob("*-checklist.md")))
def test_checklists_name_tests(name):
    page = (ROOT / "docs" / name).read_text()
    google = "\n".join(f.read_text() for f in (ROOT / "unittests").glob("*/*.c*"))
    for suite, test in re.findall(r"`([A-Z]\w*)\.(\w+)`", page):
        if test != "h":
            assert re.search(rf"^TEST(_F|_P)?\({suite}, {test}\)", google, re.MULTILINE), (
                f"there is no test {suite}.{test}"
            )
    for file, test in re.findall(r"`(test_\w+)::(\w+)`", page):
        paths = [ROOT / "test/python" / folder / f"{file}.py" for folder in ("", "pypto")]
        text = "".join(path.read_text() for path in paths if path.exists())
        assert f"def {test}(" in text, f"there is no test {file}::{test}"
    for path in re.findall(r"`(test/[\w/.-]+)`", page):
        assert (ROOT / path).exists(), f"there is no {path}"


def test_the_checklist_of_the_vm_has_every_row():
    page = (ROOT / "docs" / "vm-checklist.md").read_text()
    assert [int(row) for row in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)] == list(range(1, 21))


def test_the_checklist_of_pypto_has_every_row_of_the_benchmark():
    page = (ROOT / "docs" / "pypto-checklist.md").read_text()
    benchmark = (ROOT / "benchmarks" / "programs.py").read_text()
    added = re.findall(r'rows\.add\(\s*"([^"]+)"', benchmark)
    timed = re.findall(r'^        \("([^"]+)", [\d.]+, \[', benchmark, re.MULTILINE)
    assert len(added) >= 11 and len(timed) == 2
    assert sorted(re.findall(r"`programs\.py: ([^`]+)`", page)) == sorted(added + timed)


def test_the_checklist_of_the_task_runtime_is_complete():
    page = (ROOT / "docs" / "task-runtime-checklist.md").read_text()
    google = "\n".join(
        f.read_text() for folder in ("TaskRuntime", "Runtime") for f in (ROOT / "unittests" / folder).glob("*.c*")
    )
    rows = re.findall(r"^\| ([RH]-\d[^|]*) \|", page, re.MULTILINE)
    listed = {
        f"{kind}-{i:02}"
        for row in rows
        for kind, first, last in re.findall(r"([RH])-(\d+)(?: to [RH]-(\d+))?", row)
        for i in range(int(first), int(last or first) + 1)
    }
    assert listed == {f"R-{i:02}" for i in range(1, 61)} | {f"H-{i:02}" for i in range(1, 30)}
    for i in [*range(1, 12), *range(20, 36)]:
        assert re.search(rf"^TEST(_F|_P)?\(\w+, T{i:02}_", google, re.MULTILINE), f"no test is named T{i:02}"
