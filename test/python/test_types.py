"""The stubs of the native modules name exactly what the modules have, and both reach the user of the packages."""

import ast
import importlib
from pathlib import Path

import pto_mlir
import pytest
from conftest import ROOT

NATIVE = ("_compiler", "_runtime", "_tasks", "_vm")
PACKAGES = ("pto", "pto_as", "pto_mlir", "pto_runtime")


def public(names) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def declared(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """Functions, classes and values of a stub, or members of one of its classes, by name."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return found


def differences(module, text: str) -> list[str]:
    """What is in a module or in its stub only, members of classes included. Exceptions have what they inherit."""
    stub = declared(ast.parse(text).body)
    wrong = sorted(public(dir(module)) ^ public(stub))
    for name, node in stub.items():
        if isinstance(node, ast.ClassDef) and not issubclass(getattr(module, name, Exception), Exception):
            members = public(dir(getattr(module, name))) ^ public(declared(node.body))
            wrong += sorted(f"{name}.{member}" for member in members)
    return wrong


@pytest.mark.parametrize("name", NATIVE)
def test_stubs_name_what_the_modules_have(name):
    module = importlib.import_module(f"pto_mlir.{name}")
    text = (ROOT / "python" / "pto_mlir" / f"{name}.pyi").read_text()
    assert differences(module, text) == []


def test_every_native_module_has_a_stub():
    folder = Path(pto_mlir.__file__).parent
    assert {file.name.split(".")[0] for file in folder.glob("*.so") if file.name.startswith("_")} == set(NATIVE)


def test_a_difference_is_found():
    module = importlib.import_module("pto_mlir._tasks")
    text = (ROOT / "python" / "pto_mlir" / "_tasks.pyi").read_text()
    assert differences(module, text.replace("def finish", "def end")) == ["Runtime.end", "Runtime.finish"]
    assert differences(module, text.replace("NO_KERNEL: int\n", "")) == ["NO_KERNEL"]


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_say_that_they_are_typed(package):
    folder = Path(importlib.import_module(package).__file__).parent
    assert (folder / "py.typed").is_file()
    if package == "pto_mlir":
        assert {file.stem for file in folder.glob("*.pyi")} == set(NATIVE)
