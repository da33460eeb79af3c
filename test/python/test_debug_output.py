"""Every pass of ours says something with --debug-only on some input of its own lit test, and nothing without."""

import re
import shlex
import subprocess

import pytest
from conftest import ROOT
from pto_mlir.tools.native import _program

PASSES = sorted(
    name
    for path in (ROOT / "include" / "pto_mlir").rglob("Passes.td")
    for name in re.findall(r'Pass<"([a-z0-9-]+)"', path.read_text())
)
# Pipelines that hold passes whose own tests do not name them.
PIPELINES = ("top-to-commands", "pto-text-to-functions", "pto-to-commands")


def run_lines():
    """The pto-opt commands of the lit tests, with their files."""
    for path in sorted((ROOT / "test").rglob("*")):
        if path.suffix in (".mlir", ".pto", ".test"):
            text = path.read_text().replace("\\\n// RUN:", " ").replace("\\\nRUN:", " ")
            for line in re.findall(r"^(?://\s*)?RUN: *(?:not )?(pto-opt [^|\n>]*)", text, re.M):
                yield path, line


LINES = list(run_lines())
# Passes that no lit test runs by name: those of weight files, and some of those of texts.
LINES += [
    (ROOT / "test" / "Dialect" / "Top" / "fold.mlir", f"pto-opt %s --split-input-file --top-{verb}-weights=file=%t")
    for verb in ("load", "save")
]
TEXTS = [
    (path, "pto-opt %s --pto-text-to-functions") for path in sorted((ROOT / "test/Tools/pto-compile").glob("*.pto"))
]


def debug_output(path, line, tmp_path, option):
    line = line.replace("%s", str(path)).replace("%S", str(path.parent)).replace("%t", str(tmp_path / "t"))
    words = shlex.split(line)
    if any("%" in word for word in words):
        return ""
    done = subprocess.run(
        [_program("pto-opt"), *words[1:], *option], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    return done.stderr


def test_the_passes_are_found():
    assert len(PASSES) > 40 and {"top-fold", "pto-insert-sync", "convert-scf-to-vm"} <= set(PASSES)


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_has_debug_output(name, tmp_path):
    own = [entry for entry in LINES if re.search(rf"(?<![a-z0-9]-)(?<![a-z0-9]){name}(?![\w-])", entry[1])]
    others = [entry for entry in LINES if re.search("|".join(PIPELINES), entry[1])]
    assert own or others, "no lit test runs it"
    for path, line in own + others + TEXTS:
        if f"[{name}] " in debug_output(path, line, tmp_path, [f"--debug-only={name}"]):
            assert f"[{name}] " not in debug_output(path, line, tmp_path, [])
            return
    pytest.fail(f"{name} says nothing with --debug-only in any of {len(own)} commands of its lit tests")


def test_folds_and_fusions_name_op_and_place(tmp_path):
    (tmp_path / "m.mlir").write_text(
        "func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {\n"
        "  %0 = top.reshape %x {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>\n"
        "  %1 = top.reshape %0 {shape = array<i64: 3, 2>} : (tensor<6xf32>) -> tensor<3x2xf32>\n"
        "  return %1 : tensor<3x2xf32>\n}\n"
    )
    done = subprocess.run(
        [_program("pto-opt"), str(tmp_path / "m.mlir"), "--top-fold", "--debug-only=top-fold"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"\[top-fold\] top\.reshape at .*m\.mlir.*:3:\d+.* becomes top\.reshape", done.stderr), done.stderr
