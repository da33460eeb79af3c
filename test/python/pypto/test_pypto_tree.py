"""The output tree: orchestrations of both generations run to numpy's numbers, wrappers of kernels, configuration."""

import ctypes
import os
import shutil
import stat
import subprocess

import numpy as np
import pypto.language as pl
import pytest
from pto_mlir.config import include_dir
from pypto import ir
from pypto.backend import BackendType, output_tree
from pypto.backend.pto_backend import PartialCodegenError
from pypto.ir import pto_codegen
from pypto.pypto_core import codegen
from pypto.runtime.orchestration import OrchestrationTree, _Tensor, read_config
from random_numbers import numbers

GENERATIONS = [BackendType.PTO, BackendType.CCE, BackendType.Ascend910B, BackendType.Ascend950]
COMPILER = os.environ.get("CXX") or shutil.which("clang++-19") or shutil.which("g++")


def zeros(*shape):
    return np.zeros(shape, np.float32)


@pl.program
class Decides:
    @pl.function(type=pl.FunctionType.InCore)
    def add(
        self,
        a: pl.Tensor[[16, 64], pl.FP32],
        b: pl.Tensor[[16, 64], pl.FP32],
        c: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    ) -> pl.Tensor[[16, 64], pl.FP32]:
        return pl.store(pl.add(pl.load(a, [0, 0], [16, 64]), pl.load(b, [0, 0], [16, 64])), [0, 0], c)

    @pl.function(type=pl.FunctionType.InCore)
    def scale(
        self, a: pl.Tensor[[16, 64], pl.FP32], f: pl.Scalar[pl.FP32], c: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
    ) -> pl.Tensor[[16, 64], pl.FP32]:
        return pl.store(pl.mul(pl.load(a, [0, 0], [16, 64]), f), [0, 0], c)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[64, 64], pl.FP32],
        n: pl.Tensor[[4], pl.INT32],
        y: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        for r in pl.range(4):
            part = pl.slice(x, [16, 64], [r * 16, 0])
            here = pl.create_tensor([16, 64], dtype=pl.FP32)
            other = pl.create_tensor([16, 64], dtype=pl.FP32)
            here = self.add(part, part, here)
            other = self.scale(part, 0.5, other)
            for _ in pl.range(pl.tensor.read(n, [r])):
                if r % 2 == 1:
                    here = self.add(here, part, here)
                else:
                    here = self.scale(here, -2.0, here)
            self.add(here, other, pl.slice(y, [16, 64], [(3 - r) * 16, 0]))
        return y


def decided(x, n):
    y = zeros(64, 64)
    for r in range(4):
        part = x[r * 16 : r * 16 + 16]
        here = part + part
        for _ in range(n[r]):
            here = here + part if r % 2 else here * np.float32(-2)
        y[(3 - r) * 16 : (3 - r) * 16 + 16] = here + part * np.float32(0.5)
    return y


@pytest.mark.parametrize("backend", GENERATIONS, ids=lambda each: each.name)
def test_loops_branches_views_and_elements(tmp_path, backend):
    compiled = ir.compile(Decides, output_dir=tmp_path, backend_type=backend)
    assert compiled.left_out == {}
    x, n, y = numbers(64, 64), np.array([0, 1, 2, 5], np.int32), zeros(64, 64)
    OrchestrationTree(tmp_path, "a5" if backend == BackendType.Ascend950 else "a3")(x, n, y)
    np.testing.assert_array_equal(y, decided(x, n))
    again = zeros(64, 64)
    compiled(x, n, again)  # the host program of the .pmodel
    np.testing.assert_array_equal(y, again)


def test_the_tree_has_the_files_of_the_seed(tmp_path):
    ir.compile(Decides, output_dir=tmp_path, backend_type=BackendType.PTO)
    files = {str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*") if each.is_file()}
    assert files >= {
        "passes_dump/00_frontend.py",
        "ptoas/add.pto",
        "ptoas/add.cpp",
        "ptoas/scale.pto",
        "ptoas/scale.cpp",
        "kernels/aiv/add.cpp",
        "kernels/aiv/scale.cpp",
        "orchestration/main.cpp",
        "kernel_config.py",
        "debug/run.py",
    }
    config = read_config(tmp_path)
    assert config["RUNTIME_CONFIG"] == {
        "runtime": "tensormap_and_ringbuffer",
        "aicpu_thread_num": 4,
        "block_dim": 24,
    }
    assert config["ORCHESTRATION"] == {
        "source": "orchestration/main.cpp",
        "function_name": "aicpu_orchestration_entry",
    }
    assert config["KERNELS"] == [
        {"func_id": 0, "source": "kernels/aiv/add.cpp", "core_type": "aiv"},
        {"func_id": 1, "source": "kernels/aiv/scale.cpp", "core_type": "aiv"},
    ]


def test_both_back_ends_have_the_same_orchestration(tmp_path):
    texts = []
    for backend in (BackendType.PTO, BackendType.CCE):
        ir.compile(Decides, output_dir=tmp_path / backend.name, backend_type=backend)
        texts.append((tmp_path / backend.name / "orchestration/main.cpp").read_text())
    assert texts[0] == texts[1]


def test_the_calls_of_march():
    made = codegen.generate_orchestration(Decides, Decides.get_function("main"))
    assert made.func_name_to_id == {"add": 0, "scale": 1}
    assert made.func_name_to_core_type == {"add": ir.CoreType.VECTOR, "scale": ir.CoreType.VECTOR}
    for line in (
        '#include "pto_orchestration_api.h"',
        "#define ARG_PTR_X 0",
        "PTO2OrchestrationConfig aicpu_orchestration_config(uint64_t* args, int arg_count) {",
        ".expected_arg_count = 3,",
        "void aicpu_orchestration_entry(PTO2Runtime* rt, uint64_t* args, int arg_count) {",
        "Tensor ext_x = make_tensor_external(arg_x_ptr, x_shapes, 2, DataType::FLOAT32);",
        "PTO2_SCOPE(rt) {",
        "Tensor here = make_tensor(here_shapes, 2, DataType::FLOAT32);",
        "// Task 0: add",
        "make_scalar_param(float_to_u64(0.5f)),",
        "pto2_rt_submit_task(rt, 1, PTO2_WORKER_VECTOR, params_t1, 3);",
    ):
        assert line in made.code


def test_the_calls_of_today():
    code = output_tree.orchestration_of(Decides, Decides.get_function("main"), today=True).code
    for line in (
        "void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {",
        "Tensor ext_x = orch_args.tensor(0).ref();",
        "PTO2_SCOPE() {",
        "TensorCreateInfo here_info(here_shapes, 2, DataType::FLOAT32);",
        "params_t0.add_input(part);",
        "rt_submit_aiv_task(0, params_t0);",
    ):
        assert line in code


@pl.jit.incore
def add_into(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
    h, w = a.shape
    pl.store(pl.add(pl.load(a, [0, 0], [h, w]), pl.load(b, [0, 0], [h, w])), [0, 0], out)
    return out


@pl.jit
def scopes(x: pl.Tensor, w: pl.Tensor, y: pl.Out[pl.Tensor]):
    t = pl.create_tensor([32, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="product"):
        t = pl.matmul(x, w)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="activation"):
        s = pl.maximum(t, 0.0)
        u = pl.mul(s, s)
    y = add_into(u, t, y)
    return y


@pl.jit
def turns(x: pl.Tensor, y: pl.InOut[pl.Tensor]):
    a = pl.create_tensor([16, 32], dtype=pl.FP32)
    b = pl.create_tensor([16, 32], dtype=pl.FP32)
    a = add_into(x, x, a)
    b = add_into(a, x, b)
    for _ in pl.range(5):
        c = pl.create_tensor([16, 32], dtype=pl.FP32)
        c = add_into(a, b, c)
        a = b
        b = c
    y = add_into(b, a, y)
    return y


def written(tmp_path, program, today):
    files, left_out = output_tree.tree_files(program, today)
    assert left_out == {}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return OrchestrationTree(tmp_path)


@pytest.mark.parametrize("today", [False, True])
def test_scopes_are_outlined(tmp_path, today):
    x, w, y = numbers(32, 128), numbers(128, 64, seed=1), zeros(32, 64)
    tree = written(tmp_path, scopes.lower(x, w, y), today)
    assert {row["core_type"] for row in tree.config["KERNELS"]} == {"aic", "aiv"}
    tree(x, w, y)
    t = x.astype(np.float64) @ w
    np.testing.assert_allclose(y, np.maximum(t, 0) ** 2 + t, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("today", [False, True])
def test_tensors_that_a_loop_hands_on(tmp_path, today):
    x, y = numbers(16, 32), zeros(16, 32)
    written(tmp_path, turns.lower(x, y), today)(x, y)
    a, b = x + x, x + x + x
    for _ in range(5):
        a, b = b, a + b
    np.testing.assert_array_equal(y, b + a)


@pl.program
class Returns:
    @pl.function(type=pl.FunctionType.InCore)
    def shift(
        self, a: pl.Tensor[[8, 32], pl.FP32], by: pl.Scalar[pl.FP32], c: pl.Out[pl.Tensor[[8, 32], pl.FP32]]
    ) -> pl.Tensor[[8, 32], pl.FP32]:
        return pl.store(pl.add(pl.load(a, [0, 0], [8, 32]), by), [0, 0], c)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[8, 32], pl.FP32], by: pl.Scalar[pl.FP32]) -> pl.Tensor[[8, 32], pl.FP32]:
        made = pl.create_tensor([8, 32], dtype=pl.FP32)
        made = self.shift(x, by + 1.0, made)
        return made


@pytest.mark.parametrize("today", [False, True])
def test_a_returned_tensor_is_an_argument_behind_the_parameters(tmp_path, today):
    tree = written(tmp_path, Returns, today)
    x, made = numbers(8, 32), zeros(8, 32)
    tree(x, 0.25, made)
    np.testing.assert_array_equal(made, x + np.float32(1.25))
    assert output_tree.orchestration_of(Returns, Returns.get_function("main"), today).returned == ["made"]


# Wrappers.

CODE = """#include "pto/pto-inst.hpp"
using namespace pto;
extern "C" __global__ AICORE void shift(__gm__ float* v1, __gm__ float* v2, float v3) {
  set_ffts_base_addr((unsigned long)nullptr);
  for (int i = 0; i < 256; ++i) v2[i] = v1[i] + v3;
}
"""


def test_what_the_assembler_gives_is_made_static():
    text = pto_codegen._preprocess_ptoas_output(CODE)
    assert text.splitlines()[0] == "static AICORE void shift(__gm__ float* v1, __gm__ float* v2, float v3) {"
    assert "#include" not in text and "set_ffts" not in text and "__global__" not in text


def test_arguments_are_unpacked_tensors_first():
    lines, names = pto_codegen._generate_arg_unpacking(Returns.get_function("shift"))
    assert names == ["a", "c", "by"]
    assert "__gm__ Tensor* c_tensor = reinterpret_cast<__gm__ Tensor*>(args[1]);" in lines
    assert "by_conv.u64 = static_cast<uint64_t>(args[2]);" in lines


def test_a_wrapper_calls_the_kernel(tmp_path):
    text = pto_codegen._generate_kernel_wrapper(Returns.get_function("shift"), CODE)
    assert 'extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args) {' in text
    (tmp_path / "pto").mkdir()
    (tmp_path / "pto/pto-inst.hpp").write_text("#define AICORE\n#define __aicore__\nnamespace pto {}\n")
    source = tmp_path / "k.cpp"
    source.write_text(text)
    flags = ["-std=c++20", "-shared", "-fPIC", f"-I{tmp_path}", f"-I{include_dir() / 'pto_orchestration'}"]
    subprocess.run([COMPILER, *flags, "-Wno-attributes", "-o", tmp_path / "k.so", source], check=True)
    from pypto.jit.arguments import read

    x, y = numbers(8, 32), zeros(8, 32)
    tensors = [_Tensor.of("x", read("x", x)), _Tensor.of("y", read("y", y))]
    words = [ctypes.addressof(each) for each in tensors] + [int(np.float32(0.5).view(np.uint32))]
    ctypes.CDLL(str(tmp_path / "k.so")).kernel_entry((ctypes.c_int64 * 3)(*words))
    np.testing.assert_array_equal(y, x + np.float32(0.5))


def assembler(tmp_path, body):
    folder = tmp_path / "root"
    folder.mkdir()
    script = folder / "ptoas"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


def test_a_named_assembler_makes_the_code(tmp_path):
    (tmp_path / "code.cpp").write_text(CODE)
    ptoas = assembler(tmp_path, f'test "$2" = --enable-insert-sync && cp {tmp_path}/code.cpp "$4"')
    files = pto_codegen.generate(Returns, tmp_path / "out", ptoas=ptoas)
    assert (tmp_path / "out/ptoas/shift.cpp").read_text() == CODE
    assert "v2[i] = v1[i] + v3;" in files["kernels/aiv/shift.cpp"]


def test_an_assembler_that_fails_leaves_the_rest(tmp_path):
    ptoas = assembler(
        tmp_path, 'case "$1" in *scale*) echo "bad tile" >&2; exit 1;; esac; echo "AICORE void add()" > "$4"'
    )
    with pytest.raises(PartialCodegenError, match="scale: ptoas: bad tile") as error:
        pto_codegen.generate(Decides, tmp_path / "out", ptoas=ptoas)
    assert error.value.failed == {"scale": "ptoas: bad tile"}
    assert "kernels/aiv/add.cpp" in error.value.files and "kernel_config.py" in error.value.files


def test_without_the_assembler_kernels_are_pto(tmp_path):
    files = pto_codegen.generate(Decides, tmp_path, skip_ptoas=True)
    assert "pto.tadd" in files["kernels/aiv/add.pto"] and "kernel_config.py" not in files


def test_an_assembler_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("PTOAS_ROOT", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="no such assembler"):
        ir.compile(Returns, output_dir=tmp_path / "out")


# What has no form.


def columns(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    y = add_into(pl.slice(x, [16, 16], [0, 8]), pl.slice(x, [16, 16], [0, 16]), y)
    return y


def test_a_view_with_strides_is_left_out(tmp_path):
    x, y = numbers(16, 32), zeros(16, 16)
    program = pl.jit(columns).lower(x, y)
    _, left_out = output_tree.tree_files(program)
    assert "a is a view with strides; a kernel of the output tree takes dense tensors" in left_out["orchestration"]
    assert "test_pypto_tree.py:" in left_out["orchestration"]
    with pytest.warns(UserWarning, match="the output tree has no orchestration"):
        compiled = ir.compile(program, output_dir=tmp_path)
    assert list(compiled.left_out) == ["orchestration"]


def test_a_function_that_is_no_orchestrator():
    with pytest.raises(ValueError, match="add is no orchestrator"):
        codegen.generate_orchestration(Decides, Decides.get_function("add"))


@pytest.mark.parametrize(
    "text",
    [
        "import os\nKERNELS = os.listdir()",
        "KERNELS = [",
        "KERNELS = []",
        "KERNELS = __import__('os')",
        "KERNELS = " + "[" * 5000,
    ],
)
def test_a_configuration_is_literals(tmp_path, text):
    (tmp_path / "kernel_config.py").write_text(text)
    with pytest.raises(ValueError, match="kernel_config.py"):
        read_config(tmp_path)


def test_a_kernel_that_fails_names_itself(tmp_path):
    tree = written(tmp_path, Decides, today=True)
    x, n, y = numbers(64, 64), np.array([0, 0, 0, 0], np.int32), zeros(64, 64)

    def fails(*_, **__):
        raise RuntimeError("out of order")

    tree._kernels[0].run = fails
    with pytest.raises(RuntimeError, match="kernel add: out of order"):
        tree(x, n, y)


def test_arguments_are_those_of_the_orchestrator(tmp_path):
    tree = written(tmp_path, Decides, today=False)
    with pytest.raises(ValueError, match=r"argument n: compiled for INT32 \[4\], not INT32 \[1\]"):
        tree(numbers(64, 64), np.zeros(1, np.int32), zeros(64, 64))
    with pytest.raises(TypeError, match="expects 3 arguments"):
        tree(numbers(64, 64))


@pl.program
class Reads:
    @pl.function(type=pl.FunctionType.InCore)
    def shift(
        self, a: pl.Tensor[[8, 32], pl.FP32], by: pl.Scalar[pl.FP32], c: pl.Out[pl.Tensor[[8, 32], pl.FP32]]
    ) -> pl.Tensor[[8, 32], pl.FP32]:
        return pl.store(pl.add(pl.load(a, [0, 0], [8, 32]), by), [0, 0], c)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[8, 32], pl.FP32], n: pl.Tensor[[4], pl.INT32], y: pl.Out[pl.Tensor[[8, 32], pl.FP32]]):
        where = pl.tensor.read(n, [0])
        if pl.tensor.read(n, [where]) > 0:
            y = self.shift(x, 1.0, y)
        else:
            y = self.shift(x, -1.0, y)
        return y


@pytest.mark.parametrize("today", [False, True])
def test_an_element_out_of_range_fails(tmp_path, today):
    tree = written(tmp_path, Reads, today)
    x, y = numbers(8, 32), zeros(8, 32)
    tree(x, np.array([2, 0, 7, 0], np.int32), y)
    np.testing.assert_array_equal(y, x + np.float32(1))
    for index in (4, -1):
        with pytest.raises(RuntimeError, match="the orchestration failed"):
            tree(x, np.array([index, 0, 7, 0], np.int32), y)


# --- several orchestrators ---------------------------------------------------------------------------


@pl.program
class Two:
    @pl.function(type=pl.FunctionType.InCore)
    def sums(
        self,
        a: pl.Tensor[[16, 32], pl.FP32],
        b: pl.Tensor[[16, 32], pl.FP32],
        y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        return pl.store(pl.add(pl.load(a, [0, 0], [16, 32]), pl.load(b, [0, 0], [16, 32])), [0, 0], y)

    @pl.function(type=pl.FunctionType.InCore)
    def squares(
        self, a: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        t = pl.load(a, [0, 0], [16, 32])
        return pl.store(pl.mul(t, t), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def first(
        self,
        a: pl.Tensor[[16, 32], pl.FP32],
        b: pl.Tensor[[16, 32], pl.FP32],
        y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        return self.sums(a, b, y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def second(
        self, a: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        return self.squares(a, y)


def test_several_orchestrators_are_chosen_by_name(tmp_path):
    compiled = ir.compile(Two, output_dir=tmp_path, skip_ptoas=True)
    assert compiled.orchestration_names == ["first", "second"]
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal((16, 32)).astype(np.float32) for _ in range(2))
    y = np.zeros_like(a)
    compiled["first"](a, b, y)
    np.testing.assert_array_equal(y, a + b)
    compiled.second(a, y)
    np.testing.assert_array_equal(y, a * a)
    for name, kernel in (("first", "sums"), ("second", "squares")):
        folder = tmp_path / "next_levels" / name
        assert compiled[name].name == name and compiled[name].output_dir == folder
        assert (folder / "orchestration" / f"{name}.cpp").is_file() and (folder / f"{name}.pmodel").is_file()
        assert [each.name for each in folder.glob("kernels/*/*.pto")] == [f"{kernel}.pto"]
    assert not (tmp_path / "orchestration").exists()
    with pytest.raises(TypeError, match=r"several orchestrators \(first, second\): select one explicitly"):
        compiled(a, b, y)
    with pytest.raises(KeyError, match="no orchestrator third; it has first, second"):
        compiled["third"]
    with pytest.raises(AttributeError, match="no attribute 'third'"):
        compiled.third  # noqa: B018
