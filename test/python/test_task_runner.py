"""Graphs on the task runtime from Python, against numpy."""

import json
import re
import subprocess
import threading

import numpy as np
import pytest
from conftest import ROOT
from pto import PTO
from pto_runtime import BinaryCompiler, CoreType, DeviceError, DeviceRunner, Graph


@pytest.fixture(params=[False, True], ids=["threads", "virtual_time"])
def runner(request):
    runner = DeviceRunner()
    runner.init(cube=1, vector=2, window=16, virtual_time=request.param, trace=True)
    yield runner
    runner.finalize()


def test_diamond_of_numpy_kernels(runner):
    add = runner.register_kernel(lambda x, y, out: np.add(x, y, out=out), name="add")
    adds = runner.register_kernel(lambda x, out, value: np.add(x, np.float32(value), out=out), name="adds")
    mul = runner.register_kernel(lambda x, y, out: np.multiply(x, y, out=out), name="mul")
    a, b = (np.random.default_rng(seed).standard_normal((8, 8)).astype(np.float32) for seed in (1, 2))
    da, db = runner.copyToDevice(a), runner.copyToDevice(b)
    s, p, q, m, f = (runner.alloc((8, 8)) for _ in range(5))
    graph = Graph("vector_example")
    t0 = graph.add_task([da, db, s], add, name="a+b")
    t1 = graph.add_task([s, p, 1.0], adds)
    t2 = graph.add_task([s, q, 2.0], adds, CoreType.CUBE)
    t3 = graph.add_task([p, q, m], mul, CoreType.AI_CPU)
    t4 = graph.add_task([m, s, f], add)
    for edge in [(t0, t1), (t0, t2), (t1, t3), (t2, t3), (t3, t4)]:
        graph.add_successor(*edge)
    for _ in range(3):
        assert runner.run(graph) == 0
        np.testing.assert_array_equal(runner.copyFromDevice(f), (a + b + 1) * (a + b + 2) + (a + b))
    assert runner.statistics()["completed"] == 5
    assert "task 0 ('a+b'): kernel 0 on VECTOR, 3 args -> 1, 2" in str(graph)


def test_compiled_kernels_in_a_batched_gemm(runner):
    """C[g] = sum over k of A[g, k] @ B[g, k]: matmuls on CUBE, sums on VECTOR, both compiled from PTO programs."""
    groups, steps, n = 3, 4, 16
    gemm = PTO("gemm")
    a, b, c = (gemm.tensor((n, n)) for _ in range(3))
    gemm.tile_matmul(c, a, b)
    accumulate = PTO("accumulate")
    x, y = (accumulate.tensor((n, n)) for _ in range(2))
    accumulate.tile_add(y, y, x)
    compiler = BinaryCompiler()
    matmul = runner.register_kernel(compiler.compile("host", gemm))
    add = runner.register_kernel(compiler.compile("aicpu", accumulate))
    random = np.random.default_rng(3)
    A, B = (random.standard_normal((groups, steps, n, n)).astype(np.float32) for _ in range(2))
    C = [runner.alloc((n, n)) for _ in range(groups)]
    graph = Graph("bgemm")
    for g in range(groups):
        last = None
        for k in range(steps):
            product = runner.alloc((n, n))
            multiply = graph.add_task([A[g, k], B[g, k], product], matmul, CoreType.CUBE)
            total = graph.add_task([product, C[g]], add, CoreType.VECTOR)
            graph.add_successor(multiply, total)
            if last is not None:
                graph.add_successor(last, total)
            last = total
    runner.run(graph)
    for g in range(groups):
        np.testing.assert_allclose(
            runner.copyFromDevice(C[g]), sum(A[g, k] @ B[g, k] for k in range(steps)), rtol=1e-4, atol=1e-4
        )


def test_simulated_kernel_in_a_graph(runner):
    """An aicore binary runs on the simulator as a task."""
    scale = PTO("scale")
    x, y = (scale.tensor((4, 32)) for _ in range(2))
    scale.tile_muls(y, x, 2.0)
    simulated = runner.register_kernel(BinaryCompiler(scale).compile("aicore"))
    data = np.arange(128, dtype=np.float32).reshape(4, 32)
    out, final = runner.alloc((4, 32)), runner.alloc((4, 32))
    graph = Graph()
    first = graph.add_task([data, out], simulated)
    graph.add_successor(first, graph.add_task([out, final], simulated, CoreType.CUBE))
    runner.run(graph)
    np.testing.assert_array_equal(final.array, data * 4)


def test_kernels_of_files(runner, tmp_path):
    """Kernels of pto-compile and of a compiled model run as tasks by path and name, with scalar arguments and in-out
    arrays."""
    builder = PTO("axpy")
    x, y = (builder.tensor((40, 24), name=name) for name in "xy")
    factor, trips = builder.scalar(name="factor"), builder.scalar(dtype="int32", name="trips")
    product = builder.tile((40, 24))
    builder.tile_muls(product, x, factor)
    with builder.repeat(trips):
        builder.tile_add(y, y, product)
    (path,) = builder.compile(tmp_path / "axpy.pmodel")
    axpy = runner.register_kernel(path)
    model = tmp_path / "sample.pmodel"
    subprocess.run([ROOT / "build" / "bin" / "pto-sample-model", model, "40", "24"], check=True)
    relu = runner.register_kernel(str(model), "k1_y")
    total = runner.register_kernel(model, "k0_sum")
    a, b = (np.random.default_rng(seed).standard_normal((40, 24)).astype(np.float32) for seed in (1, 2))
    da, db = runner.copyToDevice(a), runner.copyToDevice(b)
    positive, result = runner.alloc((40, 24)), runner.alloc((40, 24))
    graph = Graph()
    first = graph.add_task([da, db, 0.5, np.int32(3)], axpy, CoreType.VECTOR, blocks=2)
    second = graph.add_task([db, positive], relu)
    third = graph.add_task([positive, da, result], total, CoreType.CUBE)
    graph.add_successor(first, second)
    graph.add_successor(second, third)
    runner.run(graph)
    expected = b.copy()
    for _ in range(3):
        expected += a * np.float32(0.5)
    np.testing.assert_array_equal(db.array, expected)
    np.testing.assert_array_equal(da.array, a)
    np.testing.assert_array_equal(result.array, np.maximum(expected, 0) + a)


def test_wrong_kernels_of_files(runner, tmp_path):
    model = tmp_path / "sample.pmodel"
    subprocess.run([ROOT / "build" / "bin" / "pto-sample-model", model, "40", "24"], check=True)
    for args, message in (
        ((model, "k9"), "has no kernel 'k9'; it has k0_sum, k1_y"),
        ((model,), "choose a kernel; it has k0_sum, k1_y"),
        ((tmp_path / "absent.pmodel", "k"), "absent.pmodel: cannot open"),
        ((5,), "a kernel is a callable, a Binary or the path of a .pmodel, got int"),
    ):
        with pytest.raises(DeviceError, match=message):
            runner.register_kernel(*args)
    relu = runner.register_kernel(model, "k1_y")
    x, y = runner.alloc((40, 24)), runner.alloc((40, 24))
    for args, message in (
        ([x], "failed on VECTOR core .*: kernel 'k1_y' takes 2 arguments, got 1"),
        ([x, runner.alloc((2, 24))], "failed on VECTOR core .*out-of-range"),
        ([np.zeros((40, 48), np.float32)[:, ::2], y], "a compiled kernel reads dense arrays, this one is strided"),
    ):
        graph = Graph()
        graph.add_task(args, relu)
        with pytest.raises(DeviceError, match=message):
            runner.run(graph)
    after = Graph()
    after.add_task([x, y], relu)
    assert runner.run(after) == 0


def test_blocks_and_scalars(runner):
    seen, lock = [], threading.Lock()

    def kernel(out, value, block, blocks):
        with lock:
            seen.append(block)
        out[block] = value * blocks

    out = runner.alloc((5,), "int64")
    graph = Graph()
    graph.add_task([out, -7], runner.register_kernel(kernel), blocks=5)
    runner.run(graph)
    assert sorted(seen) == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(out.array, -35)


def test_failing_kernel_is_reported_and_the_device_stays_usable(runner):
    ran = []

    def broken(x):
        raise ValueError("division of apples by pears")

    bad, good = (
        runner.register_kernel(broken, name="broken"),
        runner.register_kernel(lambda x: ran.append(1), name="good"),
    )
    x = runner.alloc((4,))
    graph = Graph()
    first = graph.add_task([x], bad)
    graph.add_successor(first, graph.add_task([x], good))
    graph.add_task([x], good)
    with pytest.raises(
        DeviceError, match=r"task 1 \('broken'\) failed on VECTOR core \d: ValueError: division of apples by pears"
    ) as error:
        runner.run(graph)
    assert error.value.code == 200
    assert ran == [1]
    after = Graph()
    after.add_task([x], good)
    assert runner.run(after) == 0


def test_graph_mistakes():
    graph = Graph("loop")
    for name in ("load", "scale", "store"):
        graph.add_task([], 0, name=name)
    graph.add_successor(2, 0)
    graph.add_successor(0, 1)
    assert graph.order() == [2, 0, 1]
    graph.add_successor(1, 2)
    with pytest.raises(
        ValueError, match=r"loop has a cycle: 0 \('load'\) -> 1 \('scale'\) -> 2 \('store'\) -> 0 \('load'\)"
    ):
        graph.order()
    with pytest.raises(ValueError, match="there is no task 9, loop has 3"):
        graph.add_successor(0, 9)
    with pytest.raises(ValueError, match=r"task 0 \('load'\) cannot wait for itself"):
        graph.add_successor(0, 0)
    with pytest.raises(ValueError, match="func_id is what register_kernel returned"):
        graph.add_task([], "add")
    with pytest.raises(ValueError):
        graph.add_task([], 0, core_type=7)


def test_runner_mistakes():
    runner = DeviceRunner()
    with pytest.raises(DeviceError, match="not initialised"):
        runner.alloc((4,))
    with pytest.raises(DeviceError, match="window.*expected a power of two"):
        runner.init(window=17)
    with pytest.raises(DeviceError, match="not negative"):
        runner.init(cube=-1)
    runner.init(cube=0, vector=1)
    runner.init(cube=0, vector=1)
    with pytest.raises(DeviceError, match="another configuration"):
        runner.init(cube=2)
    kernel = runner.register_kernel(lambda *args: None)
    buffer = runner.alloc((4,))
    with pytest.raises(DeviceError, match=r"the buffer is float32 \(4,\), the data float64 \(3,\)"):
        runner.copyToDevice(np.zeros(3), buffer)
    runner.free(buffer)
    cases = [
        ([buffer], kernel, CoreType.VECTOR, "the buffer was freed"),
        (["text"], kernel, CoreType.VECTOR, "expects an array, a DeviceBuffer or a number, got str"),
        ([1 << 70], kernel, CoreType.VECTOR, "does not fit into 64 bits"),
        ([1] * 60, kernel, CoreType.VECTOR, "more than 48 arguments"),
        ([], 5, CoreType.VECTOR, "there is no kernel 5, 1 are registered"),
        ([], kernel, CoreType.CUBE, "there is no CUBE core"),
    ]
    for args, func_id, core_type, message in cases:
        graph = Graph()
        graph.add_task(args, func_id, core_type)
        with pytest.raises(DeviceError, match=message):
            runner.run(graph)
    with pytest.raises(DeviceError, match="init\\(trace=True\\)"):
        runner.report()
    runner.finalize()
    runner.finalize()


def test_handshake_trace_and_profile(runner, tmp_path, capsys):
    work = runner.register_kernel(lambda: None, name="work", cost_ns=2000)
    graph = Graph()
    first = graph.add_task([], work, CoreType.CUBE, name="first")
    graph.add_successor(first, graph.add_task([], work))
    runner.run(graph)
    runner.print_handshake_results()
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4 and printed[0].split()[:4] == ["core", "0", "CUBE", "aicpu_ready=1"]
    assert "aicore_done=1 control=0 task_status=0 tasks=1" in printed[0]
    runner.write_trace(tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert {"first", "work"} <= {event["name"] for event in events if event["ph"] == "X"}
    assert sum(event["ph"] == "s" for event in events) == 1
    assert "through 2 tasks" in runner.report()
    with pytest.raises(DeviceError, match="cannot be written"):
        runner.write_trace(tmp_path / "missing" / "t.json")


def test_virtual_time_gives_the_makespan():
    """24 cube and 48 vector cores: 48 matmuls of 10 us in two waves, each followed by a 3 us vector kernel."""
    runner = DeviceRunner()
    runner.init(cube=24, vector=48, virtual_time=True, trace=True)
    matmul, relu = runner.register_kernel(lambda: None, cost_ns=10000), runner.register_kernel(lambda: 3000)
    graph = Graph()
    for _ in range(48):
        first = graph.add_task([], matmul, CoreType.CUBE)
        graph.add_successor(first, graph.add_task([], relu))
    runner.run(graph)
    assert runner.makespan_ns() == 23000
    runner.finalize()


@pytest.mark.parametrize(
    "options", [["--kind", "host"], ["--kind", "aicore", "--steps", "2", "--size", "32", "--virtual-time"]]
)
def test_batched_gemm_example(options, tmp_path, capsys):
    from pto.examples import bgemm

    assert bgemm.main([*options, "--trace", str(tmp_path / "t.json")]) == 0
    printed = capsys.readouterr().out
    assert "tile_matmul %c, %a, %b" in printed and "largest error against numpy" in printed
    assert json.loads((tmp_path / "t.json").read_text())["traceEvents"]


def test_nothing_in_the_task_runtime_is_volatile():
    """State shared between threads is atomic, so that the thread sanitizer can check it."""
    for folder in ("lib/TaskRuntime", "include/pto_mlir/TaskRuntime"):
        for file in (ROOT / folder).iterdir():
            assert not re.search(r"\bvolatile\b", file.read_text()), file


def test_c_example(tmp_path):
    """A C program needs only a C compiler, the header and the shared library."""
    program, library = tmp_path / "diamond", ROOT / "build" / "lib"
    compiler = ["clang-19", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(
        [
            *compiler,
            "-I",
            ROOT / "include",
            ROOT / "docs" / "diamond.c",
            "-L",
            library,
            "-lpto_tasks",
            f"-Wl,-rpath,{library}",
            "-o",
            program,
        ],
        check=True,
    )
    a, b = 3.0, 4.0
    assert (
        subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()[0]
        == f"{(a + b + 1) * (a + b + 2):g}"
    )
    exported = subprocess.run(
        ["nm", "-D", "--defined-only", library / "libpto_tasks.so"], capture_output=True, text=True, check=True
    ).stdout
    assert all(line.split()[-1].startswith("pto_tasks_") for line in exported.splitlines()), exported
