"""An architecture is a row of the table: nobody else names one, its page lists the row's columns, and one that tests
add touches few files."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "build" / "include" / "pto_mlir" / "ISA" / "ISA.json"

# Where code outside the encoders and the table names an architecture, and why.
NAMED = {
    "lib/ISA/gen_isa.py": "the type lists of the table have two columns, named for the rows that brought them",
    "lib/Dialect/PTO/IR/Target.cpp": "which of these two columns holds",
    "lib/Dialect/PTO/IR/PTOTraits.cpp": "the same two columns, of the ops' type traits",
    "include/pto_mlir/Dialect/PTO/IR/PTOTraits.h": "the same two columns, of the ops' type traits",
    "lib/Dialect/PTO/IR/ElementTypes.cpp": "the two columns of refused types (PTO_Refuses), chosen by the row's rules",
    "include/pypto/ir/op_registry.h": "the two generations of chips by which PyPTO's table says where an operation is",
    "lib/PyPTO/gen_ops.py": "the same two",
    "lib/Frontend/PyPTO/OrchestrationApi.cpp": "what the public runtimes of these two call the number of blocks",
    "lib/Dialect/PTO/IR/gen_insns.py": "the same columns and the table's two columns of types",
}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(?<=\n)\s*#(?! *(?:include|define|if|el|end|pragma))[^\n]*", re.S)
CODE = {".cpp", ".h", ".c", ".inc", ".py"}


@pytest.fixture(scope="module")
def table():
    return json.loads(TABLE.read_text())


def rows(table, kind):
    return [table[name] for name in table["!instanceof"].get(kind, [])]


def sources():
    """(path in the tree, code without comments) of the libraries and their headers, encoders and tables left out."""
    for folder in ("lib", "include"):
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in CODE and not name.startswith("lib/Encoder/"):
                yield name, COMMENT.sub("", path.read_text())


def test_no_code_names_an_architecture(table):
    names = "|".join(a["name"] for a in rows(table, "Arch"))
    named = re.compile(rf"(?<![0-9A-Za-z])(?i:{names})(?![0-9A-Za-z])|(?<=[a-z])(?:{names.upper()})(?![0-9A-Za-z])")
    found = {name: sorted(set(named.findall(code))) for name, code in sources() if named.search(code)}
    surplus = {name: words for name, words in found.items() if name not in NAMED}
    assert not surplus, f"ask pto::Target or isa::ArchInfo for what differs: {surplus}"
    assert sorted(found) == sorted(NAMED), "an entry of NAMED that is no longer needed"


def test_no_code_knows_the_size_of_a_memory(table):
    sizes = {table[m["def"]]["bytes"] for a in rows(table, "Arch") for m in a["memories"]}
    sizes |= {a["scratchBegin"] for a in rows(table, "Arch")}
    large = sorted(size for size in sizes if size > 1 << 16)
    spelt = {s for size in large for s in (str(size), f"{size >> 10} * 1024", f"{size >> 10} << 10", f"{size:#x}")}
    literal = re.compile(r"(?<![\w.])(?:" + "|".join(map(re.escape, sorted(spelt))) + r")(?![\w.])")
    found = {name: literal.findall(code) for name, code in sources() if literal.search(code)}
    assert not found


def test_the_scan_finds_names_and_sizes():
    """What the two tests above must not miss."""
    assert COMMENT.sub("", 'f("a3"); // on a5\n') == 'f("a3"); \n'
    assert not COMMENT.search("#include <x>\n#if 1\n")


def test_the_page_lists_the_columns_of_a_row(table):
    page = (ROOT / "docs" / "targets.md").read_text()
    base = {key for key in rows(table, "Arch")[0] if not key.startswith("!")}
    listed = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    features = {f["name"] for f in rows(table, "ArchFeature")}
    assert listed == base | features


def test_a_test_architecture_touches_only_its_own_files():
    """Files that name it, in the whole tree: its row and its encoder; tests may ask for it by name."""
    words = [r"\bt7\b", "T7", "TestArchs"]
    command = ["git", "grep", "-lwE", "|".join(words), "--", ":!*.npz", ":!test/python/test_vm.py"]
    files = set(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())
    files = {f for f in files if not re.search(r"%t7\b", (ROOT / f).read_text())}
    own = {
        "test/isa/TestArchs.td",  # the row
        "lib/ISA/CMakeLists.txt",  # in builds with tests the table is made from that file
        "lib/Encoder/CMakeLists.txt",  # the encoder library
    }
    tests = {
        "test/Dialect/PTO/missing-engine.mlir",
        "test/Dialect/PTO/missing-engine-events.mlir",
        "test/python/test_targets.py",
        "test/python/test_processors.py",
        "unittests/ISA/VerifyTest.cpp",
        "unittests/CModel/ControlTest.cpp",
    }
    assert files <= own | tests | {"docs/targets.md"}
    assert own <= files
