"""The IR from Python: nodes, builder, operations of each generation, text."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pypto
import pytest
from pypto import DataType, ir
from pypto.ir.builder import IRBuilder
from pypto.ir.op import block, system, tensor, tile

SPAN = ir.Span("k.py", 3, 5)


def tile_var(shape, dtype=DataType.FP32, space=ir.Mem.Vec, name="t"):
    return ir.Var(name, ir.TileType(shape, dtype, memory_space=space), SPAN)


def tensor_var(shape, dtype=DataType.FP32, name="x"):
    return ir.Var(name, ir.TensorType(shape, dtype), SPAN)


def test_nodes_have_the_fields_of_their_class():
    i = ir.Var("i", ir.ScalarType(DataType.INDEX), SPAN)
    total = ir.Add(i, 3, DataType.INDEX, SPAN)
    assert total.left is i and total.right.value == 3 and total.dtype == DataType.INDEX
    assert total.type.dtype == DataType.INDEX and str(total.span) == "k.py:3:5"
    assert i.name_hint == i.name == "i"
    loop = ir.ForStmt(i, 0, 4, 1, [], ir.YieldStmt([], SPAN), [], SPAN, kind=ir.ForKind.Parallel)
    assert loop.loop_var is i and loop.kind == ir.ForKind.Parallel and loop.stop.value == 4
    assert ir.IfStmt(ir.ConstBool(True), loop, None, [], SPAN).else_body is None


def test_types_hold_buffers_and_views():
    buffer = ir.MemRef(ir.MemorySpace.Vec, ir.ConstInt(0x100, DataType.INT64), 4096, 7)
    view = ir.TileView(valid_shape=[8, 32], pad=ir.PadValue.min)
    held = ir.TileType([32, 32], DataType.FP32, buffer, view)
    assert held.memref is buffer and held.memref.addr.value == 0x100 and held.memref.id == 7
    assert held.get_memory_space() == ir.MemorySpace.Vec and held.memory_space is None
    assert [e.value for e in held.tile_view.valid_shape] == [8, 32] and held.tile_view.pad == ir.PadValue.min
    assert ir.TensorType([4], DataType.FP16).memref is None


def test_the_first_generation_of_memory_names():
    assert ir.MemorySpace.UB is ir.MemorySpace.Vec and ir.MemorySpace.L0C is ir.MemorySpace.Acc


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ir.AssignStmt(None, 3, SPAN), "AssignStmt needs its var"),
        (lambda: ir.AssignStmt(var="x", value=3), "AssignStmt: var is an object of a wrong type"),
        (lambda: ir.Var("x"), "Var needs its type"),
        (lambda: ir.Var("x", ir.ScalarType(DataType.FP32), SPAN, 1), "Var has an argument too many"),
        (lambda: ir.Var("x", ir.ScalarType(DataType.FP32), colour=1), "Var has an argument too many"),
        (lambda: ir.ConstInt(300, DataType.INT8), "300 is out of the range of INT8"),
        (lambda: ir.TileType([0, 4], DataType.FP32), "an extent must be positive, not 0"),
        (
            lambda: tile.add(tile_var([8, 8]), tensor_var([8, 8])),
            "tile.add: rhs must be a tile; load it with `pl.load`",
        ),
        (lambda: tile.nothing(), "Unknown operation tile.nothing"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises((TypeError, ValueError)) as error:
        make()
    assert str(error.value) == message


def test_loads_and_stores_of_both_seeds_are_todays():
    x, t = tensor_var([128, 64]), tile_var([32, 64])
    loads = [block.load(x, 32, 0, 32, 64), block.load(x, [32, 0], [32, 64]), tile.load(x, [32, 0], [32, 64])]
    stores = [block.store(t, 0, 0, 32, 64, x), block.store(t, [0, 0], [32, 64], x), tile.store(t, [0, 0], x, [32, 64])]
    for calls in (loads, stores):
        assert len({str(call) for call in calls}) == 1
        assert all(ir.structural_equal(call, calls[0]) for call in calls)
    assert str(loads[0]) == "pl.tile.load(x, [32, 0], [32, 64])"
    assert stores[0].type is x.type


def test_operations_of_the_seeds():
    t = tile_var([32, 64])
    assert str(block.adds(t, 2)) == "pl.tile.adds(t, 2.0)"
    assert str(block.add(t, t, t)) == "pl.tile.addc(t, t, t)"
    assert block.sum(t, axis=1).op.name == "tile.row_sum"
    call = system.sync_src(set_pipe=ir.PipeType.MTE2, wait_pipe=ir.PipeType.V, event_id=0)
    assert call.kwargs["wait_pipe"] == ir.PipeType.V and isinstance(call.type, ir.UnknownType)
    product = tensor.matmul(tensor_var([8, 16]), tensor_var([32, 16]), b_trans=True)
    assert [e.value for e in product.type.shape] == [8, 32]


def scale(name="t"):
    ib = IRBuilder()
    with ib.function("scale") as f:
        x = f.param("x", ir.TensorType([64, 32], DataType.FP32))
        y = f.param("y", ir.TensorType([64, 32], DataType.FP32))
        f.return_type(ir.TensorType([64, 32], DataType.FP32))
        t = ib.let(name, block.load(x, [0, 0], [64, 32]))
        t = ib.let(name, block.muls(t, 3.0))
        ib.return_stmt(ib.let("r", block.store(t, [0, 0], [64, 32], y)))
    return f.get_result()


def test_the_builder_makes_a_function():
    function = scale()
    assert function.name == "scale" and [p.name for p in function.params] == ["x", "y"]
    assert (
        str(function)
        == """import pypto.language as pl

@pl.function
def scale(x: pl.Tensor[[64, 32], pl.FP32], y: pl.Tensor[[64, 32], pl.FP32]) -> pl.Tensor[[64, 32], pl.FP32]:
    t: pl.Tile[[64, 32], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [64, 32])
    t_1: pl.Tile[[64, 32], pl.FP32, pl.Mem.Vec] = pl.tile.muls(t, 3.0)
    r: pl.Tensor[[64, 32], pl.FP32] = pl.tile.store(t_1, [0, 0], y, [64, 32])
    return r
"""
    )
    first = function.body.stmts[0]
    assert first.span.filename == __file__ and first.span.begin_line > 0


def test_the_builder_makes_loops_and_branches():
    ib = IRBuilder()
    with ib.function("f", type=ir.FunctionType.InCore) as f:
        n = f.param("n", ir.ScalarType(DataType.INDEX))
        i = ib.var("i", ir.ScalarType(DataType.INDEX))
        with ib.for_loop(i, 0, n, 1) as loop:
            total = loop.iter_arg("total", 0)
            loop.return_var("sum")
            with ib.if_stmt(ir.Lt(i, 3, DataType.BOOL)) as arms:
                chosen = arms.return_var("chosen", total.type)
                ib.yield_stmt(ir.Add(total, i, DataType.INDEX))
                with arms.else_():
                    ib.yield_stmt(total)
            ib.yield_stmt(chosen)
        with ib.while_loop(lambda loop: ir.Lt(loop.iter_args[0], 9, DataType.BOOL)) as again:
            more = again.iter_arg("more", loop.output())
            again.return_var("last")
            ib.yield_stmt(ir.Add(more, 1, DataType.INDEX))
        ib.return_stmt(again.output())
    assert str(f.get_result()).split("\n", 2)[2] == (
        """@pl.function(type=pl.FunctionType.InCore)
def f(n: pl.Scalar[pl.INDEX]):
    for i, (total,) in pl.range(n, init_values=(0,)):
        if i < 3:
            chosen = pl.yield_(total + i)
        else:
            chosen = pl.yield_(total)
        sum = pl.yield_(chosen)
    for (more,) in pl.while_(init_values=(sum,)):
        pl.cond(more < 9)
        last = pl.yield_(more + 1)
    return last
"""
    )


def test_programs_compare_and_hash_by_structure():
    one, other = IRBuilder().program([scale()], "P"), IRBuilder().program([scale("u")], "P")
    assert list(one.functions) == ["scale"] and one.get_function("scale").name == "scale"
    assert one.get_function("none") is None
    assert ir.structural_equal(one, other) and ir.structural_hash(one) == ir.structural_hash(other)
    with pytest.raises(ValueError, match=r"differ at \.functions: 1 and 0 elements"):
        ir.assert_structural_equal(one, ir.Program([], "P", SPAN))


def test_nesting_is_bounded():
    value = ir.Var("i", ir.ScalarType(DataType.INDEX), SPAN)
    with pytest.raises(ValueError, match="nests deeper than 1000 levels"):
        for _ in range(100000):
            value = ir.Add(value, 1, DataType.INDEX)
    assert str(value).count("+") > 900


def test_element_types():
    assert DataType.FP32.get_bit() == 32 and DataType.INT4.get_byte() == 1
    assert DataType.BF16.to_c_type_string() == "bfloat16" and repr(DataType.UINT8) == "DataType.UINT8"
    assert len({DataType.FP32, DataType.FP32, DataType.FP16}) == 2 and DataType.FP32 != "FP32"


def run(*arguments, **kwargs):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60, **kwargs)


def test_the_package_is_found_only_when_it_is_asked_for(tmp_path):
    program = tmp_path / "p.py"
    program.write_text("import sys, pypto\nprint(pypto.__version__, sys.argv[1:])\n")
    assert "No module named 'pypto'" in run(str(program)).stderr
    ours = run("-m", "pto_mlir.pypto", str(program), "--fast", "3")
    assert ours.stdout.endswith("+pto_mlir ['--fast', '3']\n") and ours.stderr == ""
    path = run("-m", "pto_mlir.pypto", "--path").stdout.strip()
    paths = os.pathsep.join([path, os.environ.get("PYTHONPATH", "")])
    assert "+pto_mlir" in run(str(program), env={**os.environ, "PYTHONPATH": paths}).stdout
    assert run("-m", "pto_mlir.pypto", "missing.py").returncode == 1
    assert run("-m", "pto_mlir.pypto").returncode == 2


def test_of_two_packages_one_line_names_both(tmp_path):
    (tmp_path / "pypto").mkdir()
    (tmp_path / "pypto" / "__init__.py").write_text("__version__ = '0.2.0'\n")
    program = tmp_path / "p.py"
    program.write_text("import pypto\nprint(pypto.__version__)\n")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    both = run("-m", "pto_mlir.pypto", str(program), env={**os.environ, "PYTHONPATH": paths})
    assert both.stdout.endswith("+pto_mlir\n")
    assert "is active" in both.stderr and str(Path("pypto") / "__init__.py") in both.stderr
    loaded = "import pypto, pto_mlir.pypto as p\ntry: p.enable()\nexcept RuntimeError as e: print(e)"
    late = run("-c", loaded, env={**os.environ, "PYTHONPATH": paths})
    assert late.stdout.startswith("another pypto is imported already")


def test_the_stubs_have_every_operation():
    stubs = Path(pypto.__file__).parent / "language" / "_ops.pyi"
    classes = {node.name: node for node in ast.parse(stubs.read_text()).body if isinstance(node, ast.ClassDef)}
    found = {f"{name}.{f.name}": f for name, node in classes.items() for f in node.body}
    assert sorted(found) == sorted(ir.op_names())
    assert all(ast.get_docstring(f) for f in found.values())
    for name, stub in found.items():
        arguments = [a.arg for a in stub.args.args + stub.args.kwonlyargs]
        assert arguments == ir.op_parameters(name), name
    load = ast.unparse(found["tile.load"])
    assert "target_memory: MemorySpace=MemorySpace.Vec, clamp: bool=False) -> Tile" in load
