"""docs/pypto-verdicts.md has a row for each kernel that scripts/compare_pypto.py shows to the public tools."""

import re
import sys

import pytest
from pypto import codegen, ir
from row_kernels import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import pypto_kernels  # noqa: E402


def test_the_page_has_every_kernel():
    page = (ROOT / "docs/pypto-verdicts.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, re.M) == list(pypto_kernels.KERNELS)


@pytest.mark.parametrize("name", pypto_kernels.KERNELS)
def test_the_kernels_have_both_texts(name):
    function, _ = pypto_kernels.KERNELS[name]
    for style in ("seed", "today"):
        assert f"@{name}(" in codegen.PTOCodegen().generate(ir.Program([function], "P"), style=style)
        assert "TSTORE(" in codegen.CodeGenerator(today=style == "today", plan=True).Generate(function)
