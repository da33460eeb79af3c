"""scripts/run_tidy.py: a finding fails, is printed once, and is looked for in the parts of a unity file."""

import importlib.util
import json
import shutil

import pytest
from conftest import ROOT

MOVED = "#pragma once\n#include <utility>\nstruct S { int *p; S(S &&); };\nvoid use(const S &);\nvoid take(S);\n"
BAD = '#include "moved.h"\nvoid {name}(S s) {{ take(std::move(s)); use(s); }}\n'
GOOD = '#include "moved.h"\nvoid {name}(S s) {{ take(std::move(s)); }}\n'
VIRTUAL = "struct Base { virtual ~Base(); };\nstruct Derived : Base { virtual ~Derived(); };\n"


@pytest.fixture
def tidy(tmp_path, monkeypatch):
    """run_tidy.py over a repository with one unity file of lib/a.cpp and lib/b.cpp, compiled twice, and lib/c.cpp."""
    if shutil.which("clang-tidy-19") is None:
        pytest.fail("clang-tidy-19 is not installed (third_party/apt-packages.txt)")
    spec = importlib.util.spec_from_file_location("run_tidy", ROOT / "scripts" / "run_tidy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    root = tmp_path / "repository"
    build = root / "build"
    units = [build / target / "Unity" / "unity_0_cxx.cxx" for target in ("one", "fuzz")] + [root / "lib" / "c.cpp"]
    (root / "lib").mkdir(parents=True)
    (root / "lib" / "moved.h").write_text(MOVED)
    for unit in units[:2]:
        unit.parent.mkdir(parents=True)
        unit.write_text(f'#include "{root}/lib/a.cpp"\n#include "{root}/lib/b.cpp"\n')
    shutil.copy(ROOT / ".clang-tidy", root)
    commands = [{"directory": str(build), "file": str(u), "command": f"clang++-19 -std=c++20 -c {u}"} for u in units]
    (build / "compile_commands.json").write_text(json.dumps(commands))
    monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setattr(module, "BUILD", build)
    monkeypatch.chdir(root)

    def run(*arguments: str, **texts: str) -> int:
        for name in "abc":
            (root / "lib" / f"{name}.cpp").write_text(texts.get(name, GOOD).format(name=name))
        if "header" in texts:
            (root / "lib" / "moved.h").write_text(MOVED + texts["header"])
        monkeypatch.setattr("sys.argv", ["run_tidy.py", *arguments])
        return module.main()

    return run


def test_clean(tidy, capsys):
    assert tidy() == 0
    assert capsys.readouterr().out.splitlines() == ["clang-tidy: 2 translation units, 0 with findings, 0 findings"]


def test_a_part_of_a_unity_file(tidy, capsys):
    assert tidy(b=BAD) == 1
    out = capsys.readouterr().out
    assert out.count("lib/b.cpp:2:39: error: 's' used after it was moved [bugprone-use-after-move") == 1
    assert "2 translation units, 1 with findings, 1 findings" in out


def test_a_header_once(tidy, capsys):
    assert tidy(header=VIRTUAL) == 1
    out = capsys.readouterr().out
    assert out.count("lib/moved.h:7:33: error: prefer using 'override'") == 1
    assert "2 translation units, 2 with findings, 1 findings" in out


def test_only_the_named_sources(tidy, capsys):
    assert tidy("lib/a.cpp", "docs/unknown.md", b=BAD, c=BAD) == 0
    assert "1 translation units, 0 with findings" in capsys.readouterr().out
    assert tidy("lib/b.cpp", b=BAD) == 1


def test_what_does_not_compile(tidy, capsys):
    assert tidy(c="int f( {{\n") == 1
    assert "lib/c.cpp:1:" in capsys.readouterr().out
