"""Writes docs/pto-ops.md from the definitions of the pto dialect and from its tests.

    .venv/bin/python scripts/make_dialect_docs.py [--check]

Summary, engine and limits of an op come from its TableGen record, the example is a line of test/Dialect/PTO that the
tests parse. With --check nothing is written: exits 1 when the page is not what the sources say.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import generated_page

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "pto-ops.md"
FOLDER = ROOT / "include/pto_mlir/Dialect/PTO/IR"
HEAD = """# Ops of the pto dialect

Made by `scripts/make_dialect_docs.py` from the TableGen definitions; a test keeps it current. Engine
`*`: it depends on the operands; none: no engine executes the op. Every example is parsed by a test.
"""
TRAITS = {
    "RowMajorTiles": "row-major tiles",
    "SameElementTypeTiles": "one element type",
    "SameValidTiles": "one valid shape",
    "OnlyOnA5": "a5 only",
    "DistinctDestination": "the destination is not a source",
}


def records(path: Path) -> dict:
    llvm = next(Path("/usr/lib").glob("llvm-19"), None)
    tool = shutil.which("llvm-tblgen-19") or (llvm and llvm / "bin" / "llvm-tblgen")
    include = f"{llvm}/include" if llvm else "/usr/include"
    run = subprocess.run(
        [str(tool), "--dump-json", "-I", str(ROOT / "include"), "-I", include, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


def examples() -> dict[str, str]:
    """The first line of the tests that uses each op, type aliases spelt out."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "test/Dialect/PTO").glob("*ops.mlir")):
        text = path.read_text()
        aliases = dict(re.findall(r"^!(\w+) = (.+)$", text, re.MULTILINE))
        for line in text.splitlines():
            match = re.match(r"\s*(?:%\w+ = )?pto\.([a-z0-9_.]+)", line)
            if match and match.group(1) not in found:
                found[match.group(1)] = re.sub(
                    r"!(\w+)(?![\w.])", lambda m: aliases.get(m.group(1), m.group(0)), line.strip()
                )
    return found


def families():
    """(heading, records of its ops) of each file of definitions, in the order of the umbrella file."""
    everything = records(FOLDER / "PTOOps.td")
    ops = [everything[name] for name in everything["!instanceof"]["Op"]]
    for name in re.findall(r'include "[^"]*/(\w+Ops)\.td"', (FOLDER / "PTOOps.td").read_text()):
        text = (FOLDER / f"{name}.td").read_text()
        title = re.sub(r"\s*-*\s*=*//$", "", text.splitlines()[0].split(" - ", 1)[1]).strip()
        yield title, [op for op in ops if re.search(rf"\bdef {op['!name']}\b", text)]


def limits(op: dict) -> str:
    names = [trait["def"] for trait in op["traits"]]
    known = []
    for name in names:
        key = {
            "PTO_RowMajor": "RowMajorTiles",
            "PTO_SameDType": "SameElementTypeTiles",
            "PTO_SameValid": "SameValidTiles",
            "PTO_OnlyA5": "OnlyOnA5",
            "PTO_DistinctDst": "DistinctDestination",
        }.get(name)
        if key:
            known.append(TRAITS[key])
    return ", ".join(known)


def engine(op: dict) -> str:
    if "PTO_PipeOpInterface" not in [trait["def"] for trait in op["traits"]]:
        return "none"
    match = re.search(r"Pipe::PIPE_(\w+); \}", op["extraClassDeclaration"] or "")
    return match.group(1) if match else "*"


def text() -> str:
    shown = examples()
    page = HEAD
    for title, ops in families():
        page += f"\n## {title[0].upper()}{title[1:]}\n"
        for op in ops:
            name = op["opName"]
            page += (
                f"\n**`pto.{name}`** ({engine(op)}): {op['summary'].strip()}."
                + (f" Needs {limits(op)}." if limits(op) else "")
                + "\n"
            )
            description = "\n".join(line.strip() for line in (op["description"] or "").strip().splitlines())
            if description:
                page += f"\n{description}\n"
            page += f"\n```mlir\n{shown[name]}\n```\n"
    return page


if __name__ == "__main__":
    sys.exit(generated_page.main(PAGE, text))
