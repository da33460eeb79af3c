"""The pto dialect as a whole: every op is parsed and printed, every diagnostic is expected by a test."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import make_dialect_docs  # noqa: E402

OPT = ROOT / "build" / "bin" / "pto-opt"
FOLDER = ROOT / "test" / "Dialect" / "PTO"
FILES = sorted(FOLDER.glob("*ops.mlir"))
CALL = re.compile(r"\b(?:emitOpError|emitError|emitWarning)\(")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def printed(text: str, *options: str) -> str:
    run = subprocess.run([str(OPT), "-", *options], input=text, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def defined() -> set[str]:
    return {op["opName"] for _, ops in make_dialect_docs.families() for op in ops}


def used(text: str) -> set[str]:
    """Ops of a text in the generic form, where a name is a string before its operands."""
    return set(re.findall(r'"pto\.([a-z0-9_.]+)"\s*[(<]', text))


@pytest.fixture(scope="module")
def generic() -> dict[Path, str]:
    return {path: printed(path.read_text(), "--mlir-print-op-generic") for path in FILES}


def test_every_op_is_in_a_file_that_is_read_and_printed(generic):
    found = set().union(*(used(text) for text in generic.values()))
    assert len(found) >= 186 and found == defined(), f"without a sample: {sorted(defined() - found)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_round_trip(path, generic):
    """Both forms print to the same text, and that text round-trips; nothing of an op is lost."""
    custom = printed(path.read_text())
    assert printed(custom) == custom
    assert printed(generic[path]) == custom
    assert printed(custom, "--mlir-print-op-generic") == generic[path]
    # Ops printed in their custom form do not use the generic one.
    assert not used(custom)


def messages():
    """(place, words) of every diagnostic of the dialect and its passes: its long pieces, otherwise the longest."""
    folders = [ROOT / "lib" / "Dialect" / "PTO", ROOT / "lib" / "Frontend" / "PTO"]
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if path.suffix not in (".cpp", ".h"):
            continue
        text = path.read_text()
        for call in CALL.finditer(text):
            end = text.index(";", call.end())
            while text[call.start() : end].count('"') % 2:
                end = text.index(";", end + 1)
            pieces = [
                literal.replace('\\"', '"').strip(" ;:,'\"()").removesuffix(", got")
                for literal in LITERAL.findall(text[call.start() : end])
            ]
            pieces = [words for words in pieces if len(words.split()) > 5] or sorted(pieces, key=len)[-1:]
            for words in pieces:
                yield f"{path.name}:{text.count(chr(10), 0, call.start()) + 1}", words


def test_every_message_is_expected_by_a_test():
    """The text after `emitError`; a test may quote only its first words."""
    folders = [FOLDER, *(ROOT / "test" / name for name in ("Backend", "Frontend", "Tools"))]
    files = [path for folder in folders for path in folder.rglob("*")]
    tests = "\n".join(path.read_text(errors="replace") for path in files if path.is_file())
    missing = [
        f"{place}: {words}"
        for place, words in messages()
        if words not in tests and " ".join(words.split()[:4]) not in tests
    ]
    assert not missing, "\n".join(missing)
    assert sum(1 for _ in messages()) > 250
