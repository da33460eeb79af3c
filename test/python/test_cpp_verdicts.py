"""docs/cpp-verdicts.md has a verdict of every kernel of scripts/compare_cpp.py; none differs without a reason."""

import re
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import cpp_kernels  # noqa: E402

PAGE = (ROOT / "docs/cpp-verdicts.md").read_text()
ROWS = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| ")][1:]
KERNELS = [
    *((kernel.file, kernel.name) for path in cpp_kernels.FILES for kernel in cpp_kernels.kernels_of(path)),
    *(("one op", op.name) for op in cpp_kernels.OPS),
]


def test_the_page_has_the_kernels_of_the_comparison():
    assert [tuple(row[:2]) for row in ROWS] == KERNELS
    assert len(KERNELS) >= 60 and len(set(KERNELS)) == len(KERNELS)
    assert re.search(r"\(commit [0-9a-f]{8}\)", PAGE)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_styles_agree_or_there_is_a_reason(row):
    reason = cpp_kernels.KNOWN.get((row[0], row[1]), "")
    assert row[4].replace("`", "") == reason.replace("`", "")
    for words in row[2:4]:
        assert reason or re.fullmatch(r"same bits|within \de-\d\d", words), row


def test_texts_of_one_op_hold_what_the_list_says():
    text, kernels = cpp_kernels.one_op_module([op for op in cpp_kernels.OPS if op.name == "axpy_f32"])
    assert kernels[0].arguments == ("f32*", "f32*", "f32*")
    assert "pto.taxpy ins(%a0, %a1 : !pto.tile_buf<vec, 16x64xf32>, f32) outs(%d :" in text
    assert text.count("pto.tload") == 2 and text.count("pto.tstore") == 1


def test_tasks_of_both_kinds_of_core_agree_with_numpy():
    """docs/task-verdicts.md, of scripts/compare_tasks.py."""
    page = (ROOT / "docs/task-verdicts.md").read_text()
    rows = [
        [cell.strip(" `") for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| `")
    ]
    names = re.findall(r'^    "(\w+)": \(', (ROOT / "scripts/task_programs.py").read_text(), re.M)
    assert [row[:2] for row in rows] == [[name, processor] for name in names for processor in ("a3", "a5")]
    for row in rows:
        assert all(re.fullmatch(r"within \de-0[5-9]", words) for words in row[2:]), row
