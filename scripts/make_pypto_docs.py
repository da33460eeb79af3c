"""Writes docs/pypto-ops.md: PyPTO's operations, what they become and which tests run them.

    .venv/bin/python scripts/make_pypto_docs.py [--check]

Rows come from include/pypto/ir/ops/Ops.td, handlers from lib/Frontend/PyPTO/LowerCalls.cpp, operands of pto ops from
the dialect, tests from the calls in test/python/pypto. With --check nothing is written: exits 1 when the page is not
what the sources say.
"""

import re
import sys
from pathlib import Path

import generated_page
from make_dialect_docs import FOLDER as DIALECT
from make_dialect_docs import records

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "pypto-ops.md"
sys.path.insert(0, str(ROOT / "lib/Frontend/PyPTO"))
sys.path.insert(0, str(ROOT / "lib/PyPTO"))
import gen_forms  # noqa: E402
import gen_ops  # noqa: E402

HEAD = """# Operations of PyPTO

Made by `scripts/make_pypto_docs.py` from the table of operations (`include/pypto/ir/ops`); a test keeps it current.

What a call in a kernel becomes is an op of the pto dialect ([pto-ops.md](pto-ops.md)), `own` where several ops are
made, `-` where it is refused with its line. Operations on tensors become those on `tiles` first (`TileOps.cpp`), which
refuses what it does not know. `tested by` names the files of `test/python/pypto` (without `test_pypto_`) that run it
and compare numbers.
"""


def handlers():
    """Operations with a handler in the lowering."""
    source = (ROOT / "lib/Frontend/PyPTO/LowerCalls.cpp").read_text()
    return set(re.findall(r'\{"([\w.]+)", &Lowering::\w+\}', source))


def by_form():
    """pto ops that the lowering makes from their operands alone."""
    data = records(DIALECT / "PTOOps.td")
    return {
        data[name]["opName"]
        for name in data["!instanceof"]["PTO_Op"]
        if any(kind == "Dst" for _, kind, _ in gen_forms.operands(data, data[name]))
    }


def keywords():
    """Keywords that the lowering by form knows."""
    source = (ROOT / "lib/Frontend/PyPTO/LowerCalls.cpp").read_text()
    begin = source.index("attributeOf(")
    return set(re.findall(r'"(\w+)"', source[begin : source.index("is not lowered yet", begin)]))


def by_its_form(table, row, formed, known):
    for param, name in table.params(row):
        operand = param["kind"] in ("Data", "Scalar") or name in ("target", "shape")
        if not (operand if param["operand"] else name in known):
            return False
    return row["pto"] in formed


def becomes(table, name, row, handled, formed, known):
    if name not in handled and name.startswith("tensor."):
        return "tiles"
    if name not in handled and not by_its_form(table, row, formed, known):
        return "-"
    return f"`{row['pto']}`" if row["pto"] else "own"


def tests():
    """Operation -> files that call it and run kernels."""
    found = {}
    for path in sorted((ROOT / "test/python/pypto").glob("test_pypto_*.py")):
        text = path.read_text()
        if not re.search(r"\.run\(|\brun\(", text):
            continue
        for space, name in re.findall(r"\b(tile|block|tensor|system|array)\.(\w+)\(", text):
            space = "tile" if space == "block" else space
            found.setdefault(f"{space}.{name}", []).append(path.stem.removeprefix("test_pypto_"))
    # test_pypto_tensor_rows runs the rows of test_pypto_elementwise on tensors.
    for name in re.findall(r"\btile\.(\w+)\(", (ROOT / "test/python/pypto/test_pypto_elementwise.py").read_text()):
        found.setdefault(f"tensor.{name}", []).append("tensor_rows")
    return {name: sorted(set(files)) for name, files in found.items()}


def page():
    table = gen_ops.Table(records(ROOT / "include/pypto/ir/ops/Ops.td"))
    handled, formed, known, tested = handlers(), by_form(), keywords(), tests()
    other = {}
    for alias, name in table.aliases():
        other.setdefault(name, []).append(alias)
    lines, space = [HEAD], None
    counts = {}
    for name, own_space, row in table.rows:
        if own_space != space:
            space = own_space
            lines += [f"\n## {space}\n", "| name | call | archs | becomes | tested by |", "|---|---|---|---|---|"]
        signature = ", ".join(
            each + ("=" + param["value"] if param["optional"] and not param["operand"] else "?" * param["optional"])
            for param, each in table.params(row)
        )
        names = ", ".join(f"`{each}`" for each in [name, *other.get(name, [])])
        made = becomes(table, name, row, handled, formed, known)
        if space != "tensor":
            counts.setdefault(space, []).append(made != "-")
        call = f"`({signature})` " + row["summary"].replace("|", "\\|")
        cells = [names, call, ", ".join(row["archs"]), made, ", ".join(tested.get(name, [])) or "-"]
        lines.append(f"| {' | '.join(cells)} |")
    summary = ", ".join(f"{space} {sum(each)} of {len(each)}" for space, each in counts.items())
    lines.insert(1, f"\nLowered in kernels: {summary}.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(generated_page.main(PAGE, page))
