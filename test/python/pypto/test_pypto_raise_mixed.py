"""Kernels of both kinds of cores as PyPTO programs: groups whose functions meet by events. Numbers against numpy."""

import subprocess
import sys

import numpy as np
import onnx
import pypto.language as pl
import pytest
from conftest import ROOT
from onnx import TensorProto, helper, numpy_helper
from pto_mlir.runtime import InferenceSession, Kernel
from pypto.ir.compiled_program import compile_to
from raise_kernels import BIN, raised

sys.path.insert(0, str(ROOT / "scripts"))
from compare_raised import compared, emitted  # noqa: E402

both = pytest.mark.parametrize("processor", ["a3", "a5"])

# A product that two vector cores finish. The cube core stores two tiles by rows, a vector core loads 256 elements in a
# row of each: one memory in two shapes.
FINISHED = """!G = !pto.partition_tensor_view<16x32xf16>
!W = !pto.partition_tensor_view<32x32xf16>
!S = !pto.partition_tensor_view<16x32xf32>
!P = !pto.partition_tensor_view<1x256xf32>
!A = !pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>
!B = !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
!L = !pto.tile_buf<left, 16x32xf16, LAYOUTslayout=row_major>
!R = !pto.tile_buf<right, 32x32xf16, slayout=col_major>
!C = !pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>
!V = !pto.tile_buf<vec, 1x256xf32>
module attributes {pto.target_arch = "ARCH"} {
  func.func @k(%x: !pto.ptr<f16>, %w: !pto.ptr<f16>, %ring: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    pto.section.cube {
      %xv = pto.make_tensor_view %x, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<32x32xf16>
      %wv = pto.make_tensor_view %w, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<32x32xf16>
      %sv = pto.make_tensor_view %ring, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<32x32xf32>
      %wp = pto.partition_view %wv, offsets = [%c0, %c0], sizes = [%c32, %c32] : !pto.tensor_view<32x32xf16> -> !W
      %a = pto.alloc_tile : !A
      %b = pto.alloc_tile : !B
      %l = pto.alloc_tile : !L
      %r = pto.alloc_tile : !R
      %c = pto.alloc_tile : !C
      pto.tload ins(%wp : !W) outs(%b : !B)
      pto.tmov ins(%b : !B) outs(%r : !R)
      scf.for %i = %c0 to %c2 step %c1 {
        %row = arith.muli %i, %c16 : index
        %xp = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c16, %c32] : !pto.tensor_view<32x32xf16> -> !G
        %sp = pto.partition_view %sv, offsets = [%row, %c0], sizes = [%c16, %c32] : !pto.tensor_view<32x32xf32> -> !S
        pto.tload ins(%xp : !G) outs(%a : !A)
        pto.tmov ins(%a : !A) outs(%l : !L)
        pto.tmatmul ins(%l, %r : !L, !R) outs(%c : !C)
        pto.tstore ins(%c : !C) outs(%sp : !S)
        pto.sync.set <PIPE_FIX>, 0
      }
    }
    pto.section.vector {
      %half = arith.constant 5.0e-01 : f32
      %t = pto.alloc_tile : !V
      %lane64 = pto.get_subblock_idx
      %lane = arith.index_cast %lane64 : i64 to index
      %mine = arith.muli %lane, %c256 : index
      scf.for %i = %c0 to %c2 step %c1 {
        %tile = arith.muli %i, %c512 : index
        %first = arith.addi %tile, %mine : index
        %sp = pto.addptr %ring, %first : !pto.ptr<f32> -> !pto.ptr<f32>
        %yp = pto.addptr %y, %first : !pto.ptr<f32> -> !pto.ptr<f32>
        %sv = pto.make_tensor_view %sp, shape = [%c1, %c256], strides = [%c1, %c1] : !pto.tensor_view<1x256xf32>
        %yv = pto.make_tensor_view %yp, shape = [%c1, %c256], strides = [%c1, %c1] : !pto.tensor_view<1x256xf32>
        %sw = pto.partition_view %sv, offsets = [%c0, %c0], sizes = [%c1, %c256] : !pto.tensor_view<1x256xf32> -> !P
        %yw = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c1, %c256] : !pto.tensor_view<1x256xf32> -> !P
        pto.sync.wait <PIPE_MTE2>, 0
        pto.tload ins(%sw : !P) outs(%t : !V)
        pto.tmuls ins(%t, %half : !V, f32) outs(%t : !V)
        pto.tstore ins(%t : !V) outs(%yw : !P)
      }
    }
    return
  }
}
"""


def written(folder, processor):
    layout = "blayout=col_major, " if processor == "a5" else ""
    (folder / "k.pto").write_text(FINISHED.replace("ARCH", processor).replace("LAYOUT", layout))
    done = raised(folder / "k.pto", folder / "k.py")
    assert done.returncode == 0, done.stderr
    return pl.loads_program(folder / "k.py")


def operands():
    rng = np.random.default_rng(3)
    x, w = (rng.standard_normal((32, 32)).astype(np.float16) for _ in range(2))
    return x, w, 0.5 * (x.astype(np.float64) @ w.astype(np.float64))


@both
def test_sections_are_a_group_that_is_one_kernel(tmp_path, processor):
    program = written(tmp_path, processor)
    text = (tmp_path / "k.py").read_text()
    assert [f.name for f in program.functions.values()] == ["k_aic", "k_aiv", "k"], text
    assert "pl.tensor.view(a2, [32, 32])" in text and "pl.system.sync_wait(event_id=0" in text, text
    compile_to(program, tmp_path / "k.pmodel", processor)
    x, w, expected = operands()
    for mode in ("functional", "checked"):
        ring, y = np.zeros((32, 32), np.float32), np.zeros((1, 1024), np.float32)
        Kernel(tmp_path / "k.pmodel", mode=mode).run(x, w, ring, y)
        np.testing.assert_allclose(y.reshape(32, 32), expected, rtol=1e-3, atol=1e-3)


@both
def test_a_group_runs_by_the_names_of_its_parameters(tmp_path, processor):
    """Alone in its program it is what a run is, as a kernel is."""
    compile_to(written(tmp_path, processor), tmp_path / "k.pmodel", processor)
    x, w, expected = operands()
    session = InferenceSession(tmp_path / "k.pmodel")
    outputs = session.run(None, {"a0": x, "a1": w, "a2": np.zeros((1, 1024), np.float32)})
    y = dict(zip((each.name for each in session.get_outputs()), outputs, strict=True))["a3"]
    np.testing.assert_allclose(y.reshape(32, 32), expected, rtol=1e-3, atol=1e-3)


@both
def test_its_text_is_compiled_by_itself(tmp_path, processor):
    """Both functions are sections of one kernel there, too."""
    compile_to(written(tmp_path, processor), tmp_path / "again.pto", processor)
    text = (tmp_path / "again.pto").read_text()
    assert "pto.section.cube" in text and "pto.section.vector" in text, text
    assert ("pto.set_ffts" in text) == (processor == "a3"), text
    command = [BIN / "pto-compile", tmp_path / "again.pto", "--level", "3", "-o", tmp_path / "again.pmodel"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    x, w, expected = operands()
    y = np.zeros((1, 1024), np.float32)
    Kernel(tmp_path / "again.pmodel").run(x, w, np.zeros((32, 32), np.float32), y)
    np.testing.assert_allclose(y.reshape(32, 32), expected, rtol=1e-3, atol=1e-3)


def network(folder, nodes, weights, shape):
    """The .mlir of an ONNX graph from x to y."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy")
    initialisers = [numpy_helper.from_array(each, name) for name, each in weights.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], initialisers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    transform = [sys.executable, "-m", "pto_mlir.tools.model_transform", "--model_name", "m"]
    transform += ["--model_def", folder / "m.onnx", "--mlir", folder / "m.mlir"]
    subprocess.run(transform, check=True, capture_output=True)
    return folder / "m.mlir"


def residual_block(folder):
    """A product with a vector kernel behind it."""
    rng = np.random.default_rng(1)
    weights = {"w": rng.standard_normal((256, 256)), "b": rng.standard_normal(256)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["q"]),
        helper.make_node("Sigmoid", ["q"], ["s"]),
        helper.make_node("Mul", ["q", "s"], ["r"]),
        helper.make_node("Add", ["r", "x"], ["y"]),
    ]
    return network(folder, nodes, {n: w.astype(np.float32) for n, w in weights.items()}, [256, 256])


def convolution(folder):
    """A window of an image as the left operand."""
    w = np.random.default_rng(2).standard_normal((32, 32, 3, 3)).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])]
    return network(folder, nodes, {"w": w}, [1, 32, 12, 16])


@both
@pytest.mark.parametrize("quantize", ["F32", "F16"])
@pytest.mark.parametrize("make, op", [(residual_block, "sync_wait"), (convolution, "img2col")])
def test_kernels_of_a_network_come_back_with_the_same_bits(tmp_path, processor, quantize, make, op):
    sources = emitted(make(tmp_path), quantize, processor, tmp_path)
    found = False
    for source in sources:
        assert compared(source, tmp_path, processor) == ("same bits", ""), source.name
        found |= op in (tmp_path / "k.py").read_text()
    assert found


@both
@pytest.mark.parametrize("event", [-1, 99])
def test_an_event_that_no_core_has(tmp_path, processor, event):
    text = written(tmp_path, processor) and (tmp_path / "k.py").read_text()
    program = pl.parse_program(text.replace("sync_wait(event_id=0", f"sync_wait(event_id={event}"))
    with pytest.raises(Exception, match=r"Event ID must be in range \[0, (15|31)\]"):
        compile_to(program, tmp_path / "k.pmodel", processor)


@both
def test_a_wait_that_is_left_out_is_a_race(tmp_path, processor):
    text = written(tmp_path, processor) and (tmp_path / "k.py").read_text()
    without = "\n".join(line for line in text.splitlines() if "sync_wait" not in line)
    assert len(without) < len(text) - 1
    program = pl.parse_program(without)
    compile_to(program, tmp_path / "k.pmodel", processor)
    x, w, _ = operands()
    with pytest.raises(Exception, match="race|never waited|not waited"):
        Kernel(tmp_path / "k.pmodel", mode="checked").run(
            x, w, np.zeros((32, 32), np.float32), np.zeros((1, 1024), np.float32)
        )


def test_functions_that_take_other_parameters_are_no_group(tmp_path):
    text = written(tmp_path, "a3") and (tmp_path / "k.py").read_text()
    head, tail = text.split("def k_aiv(self, ")
    other = tail.replace("a3: ", "a4: pl.Scalar[pl.INDEX], a3: ", 1)
    with pytest.raises(Exception, match="k_aiv"):
        compile_to(pl.parse_program(head + "def k_aiv(self, " + other), tmp_path / "k.pmodel", "a3")


@both
def test_windows_of_an_image_are_rows_of_columns(tmp_path, processor):
    """Each point of a filter of 3x3 is 16 columns: the image that is moved by it, zero outside."""

    @pl.program
    class Columns:
        @pl.function(type=pl.FunctionType.InCore)
        def k(
            self,
            x: pl.Tensor[[32, 16], pl.FP16],
            one: pl.Tensor[[16, 16], pl.FP16],
            y: pl.Out[pl.Tensor[[9, 32, 16], pl.FP32]],
        ):
            image = pl.load(x, [0, 0], [32, 16], target_memory=pl.Mem.Mat)
            right = pl.move(pl.load(one, [0, 0], [16, 16], target_memory=pl.Mem.Mat), pl.Mem.Right)
            rows = pl.tensor.view(y, [288, 16])
            for i in pl.range(9):
                left = pl.tile.img2col(
                    image, 0, i * 16, [32, 16], [3, 3], [1, 1], [1, 1], [1, 1, 1, 1], [4, 8], channels=16
                )
                pl.store(pl.matmul(left, right), [i * 32, 0], rows)

    compile_to(Columns, tmp_path / "k.pmodel", processor)
    x = np.random.default_rng(0).standard_normal((4, 8, 16)).astype(np.float16)
    y = np.zeros((9, 32, 16), np.float32)
    Kernel(tmp_path / "k.pmodel").run(x.reshape(32, 16), np.eye(16, dtype=np.float16), y)
    around = np.pad(x, ((1, 1), (1, 1), (0, 0)))
    for i in range(9):
        moved = around[i // 3 : i // 3 + 4, i % 3 : i % 3 + 8].reshape(32, 16)
        np.testing.assert_array_equal(y[i], moved.astype(np.float32))


TOOLS = ROOT / "test" / "Tools" / "pto-compile"


def raised_queues(name, folder, processor, blocks=1):
    """The kernel of a text with queues, raised and compiled again; its program's text."""
    done = raised(TOOLS / f"{name}.pto", folder / "k.py")
    assert done.returncode == 0, done.stderr
    program = pl.loads_program(folder / "k.py")
    compile_to(program, folder / "k.pmodel", processor, blocks)
    return Kernel(folder / "k.pmodel", mode="checked"), (folder / "k.py").read_text()


def test_functions_that_share_a_queue_are_a_group(tmp_path):
    """The memory of its slots is the compiler's, behind the other arguments."""
    kernel, text = raised_queues("queue-whole", tmp_path, "a3")
    assert "self.cube_side(a0, a1, a3)" in text and "= pl.tile.tpop_from_aic()" in text, text
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-3, 4, (16, 16)).astype(np.float16) for _ in range(2))
    out = np.zeros((16, 16), np.float32)
    kernel.run(a, b, out, np.zeros(8 * 256, np.float32))
    expected = 3 * np.abs(a.astype(np.float32) @ b)
    np.testing.assert_array_equal(out, expected)
    by_name = InferenceSession(tmp_path / "k.pmodel").run(None, {"a0": a, "a1": b})
    np.testing.assert_array_equal(by_name[0], expected)


@both
def test_queues_in_both_directions(tmp_path, processor):
    kernel, text = raised_queues("queues" if processor == "a3" else "queues-a5", tmp_path, processor, blocks=2)
    assert "def attend(" in text and "split=1" in text, text
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-3, 4, (rows, 32)).astype(np.float16) for rows in (64, 352, 352))
    out = np.zeros((704, 32), np.float32)
    kernel.run(a, b, c, out, *([np.zeros(2 * 8192, np.float32)] if processor == "a3" else []))
    rows = lambda x, i: x[i * 32 : i * 32 + 32].astype(np.float32)  # noqa: E731
    expected = [rows(a, k) @ rows(b, t) * 0.5 @ rows(c, t) for k in range(2) for t in range(11)]
    np.testing.assert_array_equal(out, np.concatenate(expected))


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("slot_size = 1024}", "slot_size = 1024, nosplit = false}", "says nosplit, for which PyPTO has no keyword"),
        ("%t = pto.tpop_from_aic {split = 0} -> !V", "pto.tfree_from_aic {split = 0}", "taken elsewhere"),
        ("vector_side(%pa: !pto.ptr<f16>", "vector_side(%pa: !pto.ptr<f32>", "but not their arguments"),
    ],
)
def test_queues_that_have_no_form_are_refused(tmp_path, old, new, message):
    text = (TOOLS / "queue-whole.pto").read_text()
    kernel = text[text.index("\n!G") :]
    if "tpop" in old:
        kernel = kernel.replace("pto.tabs ins(%t : !V) outs(%t : !V)", "").replace("(%sum, %t :", "(%sum, %sum :")
    assert old in kernel
    (tmp_path / "k.pto").write_text(kernel.replace(old, new))
    done = raised(tmp_path / "k.pto", tmp_path / "k.py")
    assert done.returncode == 1 and message in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
