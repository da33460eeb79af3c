"""The wheels that test.sh made, installed for each Python where none of our system packages can be seen: the whole way,
both spellings."""

import re
import subprocess
import zipfile

import numpy as np
import pytest
from conftest import ROOT
from pto_mlir import npz

WHEELS = ROOT / "build" / "wheels"
ENVIRONMENTS = sorted((ROOT / "build" / "wheel-test").glob("*")) if WHEELS.is_dir() else []
COMPILERS = [path for path in ENVIRONMENTS if not path.name.endswith("-runtime")]
RUNTIMES = [path for path in ENVIRONMENTS if path.name.endswith("-runtime")]
pytestmark = pytest.mark.skipif(
    not ENVIRONMENTS, reason="no wheel was made (scripts/make_wheels.sh and scripts/install_wheels.sh)"
)


def attempt(environment, folder, command, *arguments):
    """Runs an installed command outside the source tree, with our system packages hidden."""
    return subprocess.run(
        [
            "bash",
            str(ROOT / "scripts" / "without_packages.sh"),
            "env",
            "-i",
            "-C",
            str(folder),
            "PATH=/usr/bin:/bin",
            str(environment / "bin" / command),
            *map(str, arguments),
        ],
        capture_output=True,
        text=True,
    )


def run(environment, folder, command, *arguments):
    done = attempt(environment, folder, command, *arguments)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def by_name(path):
    return path.name


@pytest.fixture(params=COMPILERS, ids=by_name)
def environment(request):
    return request.param


def test_sizes():
    """Size limits: 60 MB for the whole wheel, 8 MB for the one without the compiler."""
    wheels = list(WHEELS.glob("*.whl"))
    assert wheels
    for wheel in wheels:
        limit = 8e6 if wheel.name.startswith("pto_mlir_runtime") else 60e6
        assert wheel.stat().st_size <= limit, wheel.name


@pytest.mark.parametrize("wheel", sorted(WHEELS.glob("*.whl")), ids=by_name)
def test_types_are_in_the_wheel(wheel):
    """A stub beside each native module, and the marker in each package."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    modules = {match[1] for name in names if (match := re.fullmatch(r"(pto_mlir/_\w+)\.[\w.-]*so", name))}
    packages = {name.split("/")[0] for name in names if name.endswith("/__init__.py")}
    assert len(modules) >= 3 and {f"{module}.pyi" for module in modules} <= names
    assert {f"{package}/py.typed" for package in packages} <= names


@pytest.mark.parametrize("wheel", sorted(WHEELS.glob("*.whl")), ids=by_name)
def test_libraries_need_the_c_and_cxx_runtime_alone(tmp_path, wheel):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    own = {path.name for path in tmp_path.rglob("*.so*")}
    allowed = re.compile(r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.\d+|ld-linux-.*")
    for file in [*tmp_path.rglob("*.so*"), *(tmp_path / "pto_mlir" / "bin").glob("*")]:
        dynamic = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
        assert all(name in own or allowed.fullmatch(name) for name in needed), (file.name, needed)


@pytest.mark.parametrize("processor", ["a3", "a5"])
def test_from_onnx_to_numbers(environment, tmp_path, awkward, processor):
    feed = {"x": np.random.default_rng(8).standard_normal((3, 3, 13, 29)).astype(np.float32)}
    npz.save(tmp_path / "in.npz", feed)
    suffix = ".py" if environment == COMPILERS[0] else ""
    run(
        environment,
        tmp_path,
        f"model_transform{suffix}",
        "--model_name",
        "m",
        "--model_def",
        awkward,
        "--mlir",
        "m.mlir",
        "--test_input",
        "in.npz",
        "--test_result",
        "ref.npz",
    )
    run(
        environment,
        tmp_path,
        f"model_deploy{suffix}",
        "--mlir",
        "m.mlir",
        "--model",
        "m.pmodel",
        "--quantize",
        "F16",
        "--processor",
        processor,
    )
    assert processor in run(environment, tmp_path, f"pmodel_tool{suffix}", "--info", "m.pmodel")
    for mode in ("functional", "timing", "checked"):
        run(
            environment,
            tmp_path,
            f"model_runner{suffix}",
            "--model",
            "m.pmodel",
            "--input",
            "in.npz",
            "--output",
            "out.npz",
            "--mode",
            mode,
        )
        assert "passed: 1 of 1" in run(environment, tmp_path, f"npz_tool{suffix}", "compare", "out.npz", "ref.npz")


KERNEL = """module {
  func.func @double(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %xv = pto.make_tensor_view %x, shape = [%c8, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %yv = pto.make_tensor_view %y, shape = [%c8, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
    %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x64xf32>
    %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x64xf32>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>
    pto.tload ins(%xp : !pto.partition_tensor_view<8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
    pto.tadd ins(%t, %t : !pto.tile_buf<vec, 8x64xf32>, !pto.tile_buf<vec, 8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)
    pto.tstore ins(%t : !pto.tile_buf<vec, 8x64xf32>) outs(%yp : !pto.partition_tensor_view<8x64xf32>)
    return
  }
}
"""


@pytest.mark.parametrize("processor", ["a3", "a5"])
def test_hand_written_kernels(environment, tmp_path, processor):
    (tmp_path / "k.pto").write_text(KERNEL)
    x = np.random.default_rng(3).standard_normal((8, 64)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    run(environment, tmp_path, "pto-compile", "k.pto", "--processor", processor, "-o", "k.pmodel")
    for mode in ("functional", "timing", "checked"):
        run(
            environment,
            tmp_path,
            "pto-run",
            "k.pmodel",
            "--kernel",
            "double",
            "--arg",
            "x.npy",
            "--out",
            "y.npy:8x64xf32",
            "--mode",
            mode,
        )
        assert np.array_equal(np.load(tmp_path / "y.npy"), x + x)


def test_native_tools_are_there(environment, tmp_path):
    assert "pto-insert-sync" in run(environment, tmp_path, "pto-opt", "--help")
    assert "--kernel" in run(environment, tmp_path, "pto-run", "--help")
    assert "--level" in run(environment, tmp_path, "pto-compile", "--help")


def test_builder_and_runner_come_with_the_extra(environment, tmp_path):
    """`pip install pto-mlir[pto]`: the names of the overview, a program from text to the simulator, the example of the
    whole stack."""
    code = (
        "import importlib.metadata as m; assert 'pto' in m.metadata('pto-mlir').get_all('Provides-Extra')\n"
        "from pto import PTO, PTOFunctionBuilder, PTOModule, ast_frontend, generate_ascend_code, scalar\n"
        "import pto_as\nfrom pto_runtime import BinaryCompiler, DeviceRunner, Graph\n"
        "p = PTO('k'); a = p.tensor((4, 8)); p.tile_add(a, a, a); t = p.build()\n"
        "assert pto_as.print_kernel(pto_as.parse(t)[0]) == t; print('good')"
    )
    assert run(environment, tmp_path, "python", "-c", code) == "good\n"
    printed = run(
        environment, tmp_path, "python", "-m", "pto.examples.bgemm", "--groups", "2", "--steps", "2", "--size", "16"
    )
    assert "aicore_done=1" in printed and "largest error against numpy" in printed


def test_a_model_of_the_zoo(tmp_path):
    """The regression command with the installed package: the environment that has nothing of the build tree on its
    path."""
    done = attempt(
        COMPILERS[-1],
        tmp_path,
        "python",
        str(ROOT / "regression" / "run.py"),
        "--models",
        "cls",
        "--modes",
        "F32",
        "--no-metric",
        "--work",
        str(tmp_path / "work"),
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def model(tmp_path, awkward):
    """A small .pmodel with its input and output, made by the first environment that has a compiler."""
    feed = {"x": np.random.default_rng(8).standard_normal((3, 3, 13, 29)).astype(np.float32)}
    npz.save(tmp_path / "in.npz", feed)
    run(
        COMPILERS[0],
        tmp_path,
        "model_transform",
        "--model_name",
        "m",
        "--model_def",
        awkward,
        "--mlir",
        "m.mlir",
        "--test_input",
        "in.npz",
        "--test_result",
        "ref.npz",
    )
    run(COMPILERS[0], tmp_path, "model_deploy", "--mlir", "m.mlir", "--model", "m.pmodel", "--quantize", "F32")
    return tmp_path


@pytest.mark.parametrize("environment", RUNTIMES, ids=by_name)
def test_without_the_compiler(environment, model):
    run(environment, model, "model_runner", "--model", "m.pmodel", "--input", "in.npz", "--output", "out.npz")
    assert "passed: 1 of 1" in run(environment, model, "npz_tool", "compare", "out.npz", "ref.npz")
    assert "a3" in run(environment, model, "pmodel_tool", "--info", "m.pmodel")
    assert not (environment / "bin" / "pto-opt").exists()
    refused = attempt(
        environment, model, "model_runner", "--model", "m.mlir", "--input", "in.npz", "--output", "out.npz"
    )
    assert refused.returncode == 1 and "pip install pto-mlir" in refused.stderr and "Traceback" not in refused.stderr


C_PROGRAM = """#include "pto_mlir/Runtime/CApi.h"
#include <stdio.h>
int main(int argc, char **argv) {
  pto_session *session;
  if (pto_session_open(argv[1], NULL, 1, NULL, &session)) return puts(pto_last_error()), 1;
  pto_tensor_info info;
  pto_session_input_info(session, 0, &info);
  printf("%s %s\\n", info.name, info.type);
  pto_session_close(session);
}
"""
CXX_PROGRAM = """#include "pto_mlir/Runtime/Session.h"
#include <iostream>
int main(int argc, char **argv) {
  auto session = pto_mlir::runtime::Session::open(argv[1]);
  if (!session) return std::cout << session.error() << "\\n", 1;
  std::cout << (*session)->inputs()[0].name << " " << (*session)->deviceName() << "\\n";
}
"""


@pytest.mark.parametrize("language", ["c", "cxx"])
def test_programs_link_the_installed_library(model, language):
    environment = RUNTIMES[0]
    compiler, source, text = ("clang-19", "p.c", C_PROGRAM) if language == "c" else ("clang++-19", "p.cpp", CXX_PROGRAM)
    (model / source).write_text(text)
    config = [str(environment / "bin" / "python"), "-m", "pto_mlir.config"]
    cflags, libs = (
        subprocess.run([*config, flag], cwd=model, capture_output=True, text=True, check=True).stdout.split()
        for flag in ("--cflags", "--libs")
    )
    standard = [] if language == "c" else ["-std=c++20"]
    subprocess.run([compiler, *standard, *cflags, source, *libs, "-o", "program"], cwd=model, check=True)
    printed = subprocess.run(["./program", "m.pmodel"], cwd=model, capture_output=True, text=True, check=True).stdout
    assert printed.startswith("x ")
