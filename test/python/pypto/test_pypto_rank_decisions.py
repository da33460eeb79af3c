"""What a run decides on several devices: the order of launches, which device runs one, windows, what a failed run
leaves, traces. Expectations are numpy's."""

import json

import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from pto_mlir import runtime
from pypto.ir.distributed_compiled_program import DistributedCompiledProgram, DistributedConfig
from pypto.language.parser.diagnostics import PlacedError
from pypto.runtime import RunConfig

W = 16
MODES = ("functional", "checked")


def on(ranks, mode="functional"):
    return RunConfig(mode=mode, distributed_config=DistributedConfig(device_ids=list(range(ranks))))


def session_of(compiled, folder, **how):
    (folder / "k.pmodel").write_bytes(compiled.pmodel)
    return runtime.InferenceSession(folder / "k.pmodel", **how)


def row(*values):
    return np.array([values], np.int32)


# --- the order of launches -----------------------------------------------------------------------

ORDER = """
import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class Order:
    @pl.function(type=pl.FunctionType.InCore)
    def late(self, x: pl.Tensor[[1, 16], pl.FP32], y: pl.Out[pl.Tensor[[1, 16], pl.FP32]],
             cells: pld.DistributedTensor[[1, 1], pl.INT32]) -> pl.Tensor[[1, 16], pl.FP32]:
        pld.system.wait(signal=cells, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
        return pl.store(pl.add(pl.load(x, [0, 0], [1, 16]), 1.0), [0, 0], y)

    @pl.function(type=pl.FunctionType.InCore)
    def twice(self, x: pl.Tensor[[1, 16], pl.FP32], y: pl.Out[pl.Tensor[[1, 16], pl.FP32]],
              cells: pld.DistributedTensor[[1, 1], pl.INT32]) -> pl.Tensor[[1, 16], pl.FP32]:
        if pl.read(cells, [0, 0]) > 5:
            pl.write(cells, [0, 0], 0)
        return pl.store(pl.mul(pl.load(x, [0, 0], [1, 16]), 2.0), [0, 0], y)

    @pl.function(type=pl.FunctionType.InCore)
    def gives(self, x: pl.Tensor[[1, 16], pl.FP32], y: pl.Out[pl.Tensor[[1, 16], pl.FP32]],
              cells: pld.DistributedTensor[[1, 1], pl.INT32]) -> pl.Tensor[[1, 16], pl.FP32]:
        pld.system.notify(target=cells, peer=0, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)
        return pl.store(pl.load(x, [0, 0], [1, 16]), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[[1, 16], pl.FP32], way: pl.Tensor[[1, 2], pl.INT32],
             y: pl.Out[pl.Tensor[[1, 16], pl.FP32]], z: pl.Out[pl.Tensor[[1, 16], pl.FP32]],
             u: pl.Out[pl.Tensor[[1, 16], pl.FP32]]):
        buffer = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
        cells = pld.window(buffer, [1, 1], dtype=pl.INT32)
        self.late(x, y, cells, device=0)
        if {condition}:
            self.twice({source}, {target}, cells, device=1)
        self.gives(x, u, cells, device=2)
        return y
"""


@pytest.mark.parametrize("condition", ["1 > 0", "pl.tensor.read(way, [0, 1]) > 0"])
@pytest.mark.parametrize("mode", MODES)
def test_a_device_waits_for_another_one_that_is_blocked(mode, condition):
    """Device 0 waits for a signal of the last launch; meanwhile device 1 must not read what device 0 will write."""
    program = pl.parse_program(ORDER.format(condition=condition, source="y", target="z"))
    x = np.arange(W, dtype=np.float32)[None]
    y, z, u = (np.zeros_like(x) for _ in range(3))
    DistributedCompiledProgram(program, on(3, mode))(x, row(0, 1), y, z, u)
    np.testing.assert_array_equal([y, z, u], [x + 1, 2 * (x + 1), x])


@pytest.mark.parametrize("condition", ["1 > 0", "pl.tensor.read(way, [0, 1]) > 0"])
def test_a_device_overwrites_nothing_before_it_is_written(condition):
    program = pl.parse_program(ORDER.format(condition=condition, source="x", target="y"))
    x = np.arange(W, dtype=np.float32)[None]
    y, z, u = (np.zeros_like(x) for _ in range(3))
    DistributedCompiledProgram(program, on(3))(x, row(0, 1), y, z, u)
    np.testing.assert_array_equal([y, z, u], [2 * x, 0 * x, x])


# --- devices that the run chooses ----------------------------------------------------------------


@pl.program
class Raised:
    """Each entry of a table is a device, whose copy of a window is raised; `y` gets it and the number of the device."""

    @pl.function(type=pl.FunctionType.InCore)
    def raised(
        self, y: pl.InOut[pl.Tensor[[1, 2], pl.INT32]], cells: pld.DistributedTensor[[1, 1], pl.INT32]
    ) -> pl.Tensor[[1, 2], pl.INT32]:
        held = pl.read(cells, [0, 0]) + 1
        pl.write(cells, [0, 0], held)
        pl.write(y, [0, 0], held)
        pl.write(y, [0, 1], pl.cast(pld.rank(pld.get_comm_ctx(cells)), pl.INT32))
        return y

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(
        self,
        table: pl.Tensor[[1, 6], pl.INT32],
        count: pl.Tensor[[1, 1], pl.INT32],
        y: pl.InOut[pl.Tensor[[6, 2], pl.INT32]],
    ):
        buffer = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
        cells = pld.window(buffer, [1, 1], dtype=pl.INT32)
        for i in pl.range(pl.tensor.read(count, [0, 0])):
            self.raised(pl.slice(y, [1, 2], [i, 0]), cells, device=pl.tensor.read(table, [0, i]))
        return y


def raised(table, count):
    y = np.zeros((6, 2), np.int32)
    for i, device in enumerate(table[:count]):
        y[i] = table[: i + 1].count(device), device
    return y


def test_tables_of_devices(tmp_path):
    compiled = DistributedCompiledProgram(Raised, on(3))
    session = session_of(compiled, tmp_path)
    for table, count in (([2, 0, 2, 1, 1, 2], 6), ([1, 1, 1, 0, 0, 0], 4), ([0, 0, 0, 0, 0, 0], 0)):
        for run in (
            compiled,
            lambda *args: session.run_in_place(dict(zip(("table", "count", "y"), args, strict=True))),
        ):
            y = np.zeros((6, 2), np.int32)
            run(row(*table), row(count), y)
            np.testing.assert_array_equal(y, raised(table, count))


@pytest.mark.parametrize(
    "device, message", [(3, "there is no device of this number"), (-1, "device= is negative"), (1 << 30, "no device")]
)
def test_a_device_of_a_table_that_is_not_there(device, message, tmp_path):
    """The launches before it are of a run that failed: later ones do not make them."""
    compiled = DistributedCompiledProgram(Raised, on(3))
    session = session_of(compiled, tmp_path, mode="timing", trace=True)
    y = np.zeros((6, 2), np.int32)
    with pytest.raises(PlacedError, match=f"{message}.*: the program is compiled for 3 ranks"):
        compiled(row(2, 2, device, 0, 0, 0), row(4), y)
    held = {"table": row(2, 2, 2, device, 0, 0), "y": y}
    traces = []
    for count in (2, 4, 2):
        try:
            session.run_in_place({**held, "count": row(count)})
        except RuntimeError as error:
            assert count == 4 and message in str(error) and "\n" not in str(error)
            continue
        np.testing.assert_array_equal(y, raised([2, 2, 2, 0, 0, 0], 2))
        session.write_trace(tmp_path / "t.json")
        traces.append((tmp_path / "t.json").read_text())
    assert traces[0] == traces[1]


GROUPS = """
import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class Groups:
    @pl.function(type=pl.FunctionType.InCore)
    def place(self, y: pl.InOut[pl.Tensor[[1, 2], pl.INT32]],
              cells: pld.DistributedTensor[[1, 1], pl.INT32]) -> pl.Tensor[[1, 2], pl.INT32]:
        ctx = pld.get_comm_ctx(cells)
        pl.write(y, [0, 0], pl.cast(pld.rank(ctx), pl.INT32))
        pl.write(y, [0, 1], pl.cast(pld.nranks(ctx), pl.INT32))
        return y

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, way: pl.Tensor[[1, 1], pl.INT32], y: pl.InOut[pl.Tensor[[8, 2], pl.INT32]]):
        some = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
        cells = pld.window(some, [1, 1], dtype=pl.INT32)
        for r in pl.range(1, 7):
            if pl.tensor.read(way, [0, 0]) > r:
                self.place(pl.slice(y, [1, 2], [r, 0]), cells, device=r)
        {more}
        return y
"""


def test_a_long_loop_over_devices_says_their_group():
    compiled = DistributedCompiledProgram(pl.parse_program(GROUPS.format(more="")), on(8))
    for count in (7, 3):
        y, expected = np.full((8, 2), -1, np.int32), np.full((8, 2), -1, np.int32)
        compiled(row(count), y)
        expected[1:count] = [[rank, 6] for rank in range(count - 1)]
        np.testing.assert_array_equal(y, expected)


def test_a_device_that_the_run_chooses_of_a_group():
    """All devices may launch with the window then: it is of all of them."""
    more = "self.place(pl.slice(y, [1, 2], [7, 0]), cells, device=pl.tensor.read(way, [0, 0]))"
    compiled = DistributedCompiledProgram(pl.parse_program(GROUPS.format(more=more)), on(8))
    y = np.full((8, 2), -1, np.int32)
    compiled(row(3), y)
    np.testing.assert_array_equal(y, [[-1, -1], [1, 8], [2, 8]] + [[-1, -1]] * 4 + [[3, 8]])


# --- windows of loops ----------------------------------------------------------------------------

WINDOWS = """
import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class Windows:
    @pl.function(type=pl.FunctionType.InCore)
    def raised(self, y: pl.InOut[pl.Tensor[[1, 1], pl.INT32]],
               cells: pld.DistributedTensor[[1, 1], pl.INT32]) -> pl.Tensor[[1, 1], pl.INT32]:
        held = pl.read(cells, [0, 0]) + 1
        pl.write(cells, [0, 0], held)
        pl.write(y, [0, 0], held)
        return y

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, count: pl.Tensor[[1, 1], pl.INT32], y: pl.InOut[pl.Tensor[[6, 1], pl.INT32]]):
        one = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
        two = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
        cells = pld.window(one, [1, 1], dtype=pl.INT32)
        for i in pl.range(pl.tensor.read(count, [0, 0])):
            {turn}
        return y
"""


@pytest.mark.parametrize(
    "turn, values",
    [
        ("self.raised(y[i : i + 1], cells, device=i % 2)", [1, 1, 2, 2, 3]),
        # Memory of one turn, which is zero at its beginning.
        (
            "made = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)\n"
            "            self.raised(y[i : i + 1], pld.window(made, [1, 1], dtype=pl.INT32), device=0)",
            [1, 1, 1, 1, 1],
        ),
        # A window that the next turn has.
        (
            "self.raised(y[i : i + 1], cells, device=0)\n            cells = pld.window(two, [1, 1], dtype=pl.INT32)",
            [1, 1, 2, 3, 4],
        ),
    ],
)
def test_windows_of_turns(turn, values):
    compiled = DistributedCompiledProgram(pl.parse_program(WINDOWS.format(turn=turn)), on(2))
    for count in (5, 2):
        y = np.zeros((6, 1), np.int32)
        compiled(row(count), y)
        assert y.ravel().tolist() == values[:count] + [0] * (6 - count)


@pl.program
class Halves:
    """A window as bytes of its buffer: other elements than it was allocated with."""

    @pl.function(type=pl.FunctionType.InCore)
    def filled(
        self, x: pl.Tensor[[1, W], pl.FP32], data: pld.DistributedTensor[[1, W], pl.FP32]
    ) -> pld.DistributedTensor[[1, W], pl.FP32]:
        return pl.store(pl.load(x, [0, 0], [1, W]), [0, 0], data)

    @pl.function(type=pl.FunctionType.InCore)
    def taken(
        self, data: pld.DistributedTensor[[1, W], pl.INT32], y: pl.Out[pl.Tensor[[1, W], pl.INT32]]
    ) -> pl.Tensor[[1, W], pl.INT32]:
        return pl.store(pl.load(data, [0, 0], [1, W]), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(
        self,
        x: pl.Tensor[[1, W], pl.FP32],
        count: pl.Tensor[[1, 1], pl.INT32],
        y: pl.InOut[pl.Tensor[[1, W], pl.INT32]],
    ):
        memory = pld.alloc_window_buffer([1, W], dtype=pl.FP32)
        self.filled(x, pld.window(memory, [1, W], dtype=pl.FP32), device=1)
        for _ in pl.range(pl.tensor.read(count, [0, 0])):
            self.taken(pld.window(memory, [1, W], dtype=pl.INT32), y, device=1)
        return y


def test_windows_with_other_elements():
    x = np.linspace(-2, 9, W, dtype=np.float32)[None]
    compiled = DistributedCompiledProgram(Halves, on(2))
    for count in (1, 0, 2):
        y = np.zeros((1, W), np.int32)
        compiled(x, row(count), y)
        np.testing.assert_array_equal(y, x.view(np.int32) if count else 0 * y)


DEFERRED = """
import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class Deferred:
    @pl.function(type=pl.FunctionType.Orchestration)
    def of_device(self, x: pl.Tensor[[1, 16], pl.INT32], y: pl.Out[pl.Tensor[[1, 16], pl.INT32]],
                  data: pl.InOut[pld.DistributedTensor[[1, 16], pl.INT32]],
                  cells: pl.InOut[pld.DistributedTensor[[1, 1], pl.INT32]], peer: pl.Scalar[pl.INT32]):
        with pl.manual_scope():
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="waits") as waited:
                pld.system.defer_wait(signal=cells, offsets=[0, 0], expected=7, cmp=pld.WaitCmp.Ge)
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="takes", deps=[waited]):
                y = pl.store(pl.load(data, [0, 0], [1, 16]), [0, 0], y)
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="gives"):
                pld.tile.remote_store(pl.load(x, [0, 0], [1, 16]), target=data, peer=peer, offsets=[0, 0])
                pld.system.notify(target=cells, peer=peer, offsets=[0, 0], value=7, op=pld.NotifyOp.Set)
        return y

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[[2, 1, 16], pl.INT32], way: pl.Tensor[[1, 1], pl.INT32],
             y: pl.Out[pl.Tensor[[2, 1, 16], pl.INT32]]):
        memory, signals = pld.alloc_window_buffer(64), pld.alloc_window_buffer(4)
        if pl.tensor.read(way, [0, 0]) > 0:
            for r in pl.range(pld.world_size()):
                data = pld.window(memory, [1, 16], dtype=pl.INT32)
                self.of_device(x[r], y[r], data, pld.window(signals, [1, 1], dtype=pl.INT32), 1 - r, device=r)
        return y
"""


def test_a_deferred_wait_that_the_run_decides():
    """Such a program is compiled for each set of what the host level reads: in order the launches are a deadlock."""
    compiled = DistributedCompiledProgram(pl.parse_program(DEFERRED), on(2))
    x = np.arange(2 * W, dtype=np.int32).reshape(2, 1, W)
    y = np.zeros_like(x)
    compiled(x, row(1), y)
    np.testing.assert_array_equal(y, x[::-1])


# --- traces --------------------------------------------------------------------------------------


@pl.program
class Twice:
    @pl.function(type=pl.FunctionType.InCore)
    def doubled(
        self, x: pl.Tensor[[1, W], pl.INT32], y: pl.Out[pl.Tensor[[1, W], pl.INT32]]
    ) -> pl.Tensor[[1, W], pl.INT32]:
        t = pl.load(x, [0, 0], [1, W])
        return pl.store(pl.add(t, t), [0, 0], y)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def main(
        self,
        x: pl.Tensor[[1, W], pl.INT32],
        y: pl.InOut[pl.Tensor[[1, W], pl.INT32]],
        z: pl.InOut[pl.Tensor[[3, W], pl.INT32]],
    ):
        y = self.doubled(x, y, device=0)
        if pl.tensor.read(y, [0, 0]) > 2:
            for r in pl.range(3):
                self.doubled(y, pl.slice(z, [1, W], [r, 0]), device=r)
        return z


def test_a_trace_has_what_ran_before_and_after_the_host_read(tmp_path):
    session = session_of(DistributedCompiledProgram(Twice, on(3)), tmp_path, mode="timing", trace=True)
    for first, launches in ((1, 1), (2, 4), (1, 1)):
        x, y, z = row(*[first] * W), np.zeros((1, W), np.int32), np.zeros((3, W), np.int32)
        session.run_in_place({"x": x, "y": y, "z": z})
        np.testing.assert_array_equal(z, np.full((3, W), 4 * first if launches > 1 else 0))
        session.write_trace(tmp_path / "t.json")
        events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
        names = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
        ran = sorted((each["ts"], names[each["tid"]], each["dur"]) for each in events if each["name"] == "doubled")
        assert [name for _, name, _ in ran] == [f"VECTOR of rank {rank}" for rank in (0, 0, 1, 2)[:launches]], ran
        assert all(begin >= ran[0][0] + ran[0][2] for begin, _, _ in ran[1:])  # behind the one that the host waited for
