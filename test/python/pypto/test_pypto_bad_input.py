"""Bad input that other files of this folder do not have: processes that are killed, threads, ranks that differ."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pypto.language as pl
import pypto.language.distributed as pld
import pytest
from pto_mlir import pypto as package
from pypto import ir
from pypto.ir.distributed_compiled_program import DistributedConfig
from pypto.language.parser.diagnostics import ParserError
from pypto.runtime import ChipWorker, RunConfig
from test_pypto_jit import Torch

ON_TWO = RunConfig(distributed_config=DistributedConfig(device_ids=[0, 1]))
F32 = np.float32


@pl.jit
def added(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        h, w = a.shape
        pl.store(pl.add(pl.load(a, [0, 0], [h, w]), pl.load(b, [0, 0], [h, w])), [0, 0], c)
    return c


@pl.jit
def counted(x: pl.Tensor[[16, 32], pl.FP32], y: pl.InOut[pl.Tensor[[16, 32], pl.FP32]]):
    for _ in pl.range(2000):
        with pl.at(level=pl.Level.CORE_GROUP):
            pl.store(pl.add(pl.load(x, [0, 0], [16, 32]), pl.load(y, [0, 0], [16, 32])), [0, 0], y)
    return y


# --- calls -----------------------------------------------------------------------------------------


def test_tensors_of_torch_that_need_a_gradient():
    x, held = np.ones((16, 32), F32), Torch(np.ones((16, 32), F32))
    held.requires_grad = True
    for call in (lambda: added(x, held, np.zeros_like(x)), lambda: added(x, x, held)):
        with pytest.raises(ValueError, match=r"argument [bc]: requires_grad is set; pass x.detach\(\)"):
            call()


class Storage:
    def __init__(self, size):
        self.size = size

    def nbytes(self):
        return self.size


def odd_tensor(**members):
    held = Torch(np.ones((16, 32), F32))
    for name, value in members.items():
        setattr(held, name, value)
    return held


@pytest.mark.parametrize(
    "members, message",
    [
        ({"layout": "torch.sparse_csr"}, "must be a dense tensor, not a sparse_csr one"),
        ({"is_nested": True}, "must be a dense tensor, not a nested one"),
        ({"is_neg": lambda: True}, r"has the negative numbers; pass x\.resolve_neg\(\)"),
        ({"data_ptr": lambda: 0}, "the memory of the tensor is not there"),
        (
            {"untyped_storage": lambda: Storage(2047), "storage_offset": lambda: 0, "element_size": lambda: 4},
            "or was made smaller",
        ),
        ({"device": "meta"}, "must be a CPU tensor, not one on meta"),
    ],
)
def test_tensors_of_torch_whose_memory_is_something_else(members, message):
    x = np.ones((16, 32), F32)
    with pytest.raises(ValueError, match="argument a: .*" + message):
        added(odd_tensor(**members), x, np.zeros_like(x))


class NoTensor:
    def __dlpack__(self, **_):
        raise BufferError("not now")

    def __dlpack_device__(self):
        return 1, 0


@pytest.mark.parametrize(
    "value, message",
    [
        (7, "argument b: expects a tensor, not the number 7"),
        (10**500, "argument b: expects a tensor, not a number of 1661 bits"),
        (np.ndarray, "argument b: expects a numpy array, a torch tensor or a number, not type"),
        (NoTensor(), "argument b: a NoTensor gives no tensor by DLPack: not now"),
    ],
)
def test_what_is_no_tensor(value, message):
    x = np.ones((16, 32), F32)
    with pytest.raises(TypeError, match=message):
        added(x, value, np.zeros_like(x))


@pl.jit
def times(x: pl.Tensor[[16, 32], pl.FP32], s: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.mul(pl.load(x, [0, 0], [16, 32]), s), [0, 0], y)
    return y


@pytest.mark.parametrize("number, shown", [(10**400, "a number of 1329 bits"), (1e39, "1e[+]39"), (-(2**128), "-3402")])
def test_numbers_that_no_float_holds(number, shown):
    x = np.ones((16, 32), F32)
    with pytest.raises(ValueError, match=f"argument s: {shown}.*does not fit into FP32"):
        times(x, number, np.zeros_like(x))


def test_a_compiled_program_says_what_it_was_compiled_for():
    x = np.ones((16, 32), F32)
    compiled = times.compile(x, 2.0, np.zeros_like(x))
    for args, message in (
        ((x, 3.0, x), "argument s: compiled for the number 2.0, not the number 3.0"),
        ((x, x, x), r"argument s: compiled for the number 2.0, not a tensor of FP32 \[16, 32\]"),
        ((x[:8], 2.0, x), r"argument x: compiled for a tensor of FP32 \[16, 32\], not a tensor of FP32 \[8, 32\]"),
        ((2.0, 2.0, x), r"argument x: compiled for a tensor of FP32 \[16, 32\], not the number 2.0"),
    ):
        with pytest.raises(ValueError, match=message):
            compiled(*args)


def test_an_output_that_is_smaller_than_what_is_stored():
    """Also where its memory has as many bytes: a row would go on in the next one."""
    x = np.ones((16, 32), F32)
    for shape, message in (((8, 32), "0 [+] 16 of 8 on axis 0"), ((32, 16), "0 [+] 32 of 16 on axis 1")):
        with pytest.raises(ParserError, match="the window is not inside of the tensor: " + message):
            added(x, x, np.zeros(shape, F32))
    with pytest.raises(ParserError, match="pl.store expects source and destination elements of one size"):
        added(x, x, np.zeros((16, 32), np.float16))


def test_what_a_worker_does_not_free_or_copy():
    x = np.ones((16, 32), F32)
    with ChipWorker() as worker, ChipWorker() as other:
        held = worker.alloc_tensor((16, 32), F32)
        for call, error, message in (
            (lambda: worker.free_tensor(x), TypeError, "free_tensor: expects a DeviceTensor, not ndarray"),
            (lambda: other.free_tensor(held), ValueError, "belongs to another worker"),
            (lambda: worker.alloc_tensor((-1, 3), F32), ValueError, r"alloc_tensor: \(-1, 3\) is no shape"),
            (lambda: worker.alloc_tensor((1.5, 3), F32), TypeError, r"alloc_tensor: \(1.5, 3\) is no shape"),
            (lambda: worker.alloc_tensor((10**7, 10**7), F32), MemoryError, "alloc_tensor: .* is no shape"),
            (lambda: worker.copy_to(held.data_ptr, 0, 64), ValueError, "copy_to: 0 is no address of the host"),
            (lambda: worker.copy_from(None, held.data_ptr, 64), ValueError, "copy_from: None is no address"),
            (lambda: worker.copy_from(x.ctypes.data, None, 64), TypeError, "copy_from: expects an address"),
        ):
            with pytest.raises(error, match=message):
                call()
        worker.free_tensor(held)  # it was freed by none of these


@pytest.mark.parametrize("begin", [0, 1, 15])
def test_an_output_that_overlaps_an_input(begin):
    memory, x = np.ones((64, 32), F32), np.ones((16, 32), F32)
    with pytest.raises(ValueError, match="argument c: is an output and shares memory with a"):
        added(memory[:16], x, memory[begin : begin + 16])
    assert (memory == 1).all()
    added(memory[:16], memory[8:24], memory[24:40])  # inputs may; parts that do not touch may as well
    np.testing.assert_array_equal(memory[24:40], 2)


def test_threads_call_one_function_with_many_shapes():
    added._cache.clear()
    wrong = []

    def work(number):
        for turn in range(24):
            x = np.full((16 * (1 + (turn + number) % 4), 32), number, F32)
            y = np.zeros_like(x)
            try:
                added(x, x, y)
                if not (y == 2 * number).all():
                    wrong.append((number, turn))
            except Exception as error:  # noqa: BLE001 - whatever a thread meets is a failure of this test
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(added._cache) == 4


def test_a_worker_that_is_closed_while_it_runs():
    x, y = np.ones((16, 32), F32), np.zeros((16, 32), F32)
    compiled, ends = counted.compile(x, y), []
    worker = ChipWorker()
    handle = worker.register(compiled)

    def work():
        try:
            handle(x, y)
            ends.append("")
        except RuntimeError as error:
            ends.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    worker.close()
    thread.join()
    assert ends == [""] or "called after close" in ends[0]
    assert not ends[0] and (y == 2000).all() or not y.any()
    with ChipWorker() as other:  # the process stays usable
        y[:] = 0
        other.register(compiled)(x, y)
        assert (y == 2000).all()


KILLED = """
import numpy as np
import pypto.language as pl

@pl.jit
def step(x: pl.Tensor, y: pl.InOut[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.add(pl.load(x, [0, 0], [16, 32]), pl.load(y, [0, 0], [16, 32])), [0, 0], y)
    return y

x, y = np.ones((16, 32), np.float32), np.zeros((16, 32), np.float32)
while True:
    step(x, y)
    print("ran", flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_killed_in_a_run_leaves_nothing(how, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(KILLED)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    paths = os.pathsep.join([str(Path(package.__file__).resolve().parents[1]), package.PATH])
    for _ in range(2):  # what the first one left would meet the second one
        process = subprocess.Popen(
            [sys.executable, str(file)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths, "TMPDIR": str(scratch)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            # A background job of a shell ignores SIGINT, and what it starts does, too.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert process.stdout.readline() == "ran\n"
        process.send_signal(how)
        process.stdout.read()
        assert process.wait(20) != 0
        assert [each.name for each in tmp_path.iterdir() if each.name != "__pycache__"] == ["program.py", "scratch"]
        assert not list(scratch.iterdir())


# --- texts -----------------------------------------------------------------------------------------

TEXT = "@pl.function\ndef f(x: pl.Tensor[[4, 8], pl.FP32]):\n    y = pl.mul(x, {})\n    return y\n"


@pytest.mark.parametrize("number, value", [("float('nan')", "nan"), ("1e999", "inf"), ("-1e999", "-inf")])
def test_constants_that_are_no_numbers_print_and_read_back(number, value):
    function = pl.parse(TEXT.format(number))
    held = function.body.stmts[0].value.args[1]
    assert repr(float(held.value)) == value
    ir.assert_structural_equal(pl.parse(ir.python_print(function)), function)


@pytest.mark.parametrize(
    "head, message",
    [
        ("N = float('nan')\n@pl.function\ndef f(x: pl.Tensor[[N, 8], pl.FP32]):\n    return x\n", "must be int"),
        ("@pl.function\ndef f(x: pl.Tensor[[1e999, 8], pl.FP32]):\n    return x\n", "must be int"),
        ("@pl.function\ndef f(x: pl.Tensor[[-4, 8], pl.FP32]):\n    return x\n", "must be positive, not -4"),
        ("@pl.function\ndef f(n: pl.INDEX):\n    return f(n)\n", "Unknown operation 'f'"),
        (TEXT.format("x)\n    t = pl.tile.create([1000000, 1000000], dtype=pl.FP32"), "at most 2^36 elements"),
        (TEXT.format("().__class__.__base__"), "__base__"),
        (TEXT.format("(lambda: 1)()"), "Lambda is not supported"),
        (TEXT.format("__import__('os').system('true')"), "Unknown operation '__import__'"),
    ],
)
def test_texts_that_are_refused_at_once(head, message):
    begin = time.perf_counter()
    with pytest.raises(ParserError) as caught:
        pl.parse(head)
    assert message in caught.value.message and "\n" not in caught.value.message
    assert time.perf_counter() - begin < 1


@pytest.mark.parametrize(
    "line, message",
    [
        ("t = pl.load(x, [0, 0], [4, 8], valid_shapes=[-5, 8])", "an extent of valid_shape must be positive, not -5"),
        ("t = pl.load(x, [0, 0], [4, 8], valid_shapes=[4, 0])", "an extent of valid_shape must be positive, not 0"),
        ("pl.store(pl.load(x, [0, 0], [4, 8]), [1, 0], x)", "1 + 4 of 4 on axis 0"),
        ("pl.store(pl.load(x, [0, 0], [4, 8]), [0, 4], x)", "4 + 8 of 8 on axis 1"),
        ("pl.store(pl.load(x, [0, 0], [4, 8]), [0, -8], x)", "offset -8 is negative"),
        ("y = pl.mul(x, ...)", "expects a number or an expression, not a ellipsis"),
    ],
)
def test_windows_that_are_known_to_be_wrong(line, message):
    with pytest.raises(ParserError) as caught:
        pl.parse(f"@pl.function\ndef f(x: pl.Tensor[[4, 8], pl.FP32]):\n    {line}\n    return x\n")
    assert message in caught.value.message


def test_texts_that_are_none(tmp_path):
    for wrong in (None, 3, b"x"):
        with pytest.raises(TypeError, match="expects the text of a program, not a"):
            pl.parse(wrong)
    with pytest.raises(ParserError, match="half of a character"):
        pl.parse(TEXT.format("'\ud800'"))
    with pytest.raises(ParserError) as caught:
        pl.parse(TEXT.format("a" * 1000000))
    assert "Undefined variable 'aaa" in str(caught.value) and len(str(caught.value)) < 5000
    file = tmp_path / "k.py"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.format("2.0").encode())  # as some editors begin a file
    assert pl.loads(file).name == "f"


# --- ranks -----------------------------------------------------------------------------------------


@pl.jit.incore
def to_a_peer(
    x: pl.Tensor[[4, 64], pl.FP32],
    y: pl.Out[pl.Tensor[[4, 64], pl.FP32]],
    data: pld.DistributedTensor[[4, 64], pl.FP32],
    peer: pl.Scalar[pl.INT32],
):
    pld.tile.remote_store(pl.load(x, [0, 0], [4, 64]), data, peer=peer, offsets=[0, 0])
    return pl.store(pl.load(data, [0, 0], [4, 64]), [0, 0], y)


@pl.jit
def to_a_peer_of_device(
    x: pl.Tensor[[4, 64], pl.FP32],
    y: pl.Out[pl.Tensor[[4, 64], pl.FP32]],
    data: pld.DistributedTensor[[4, 64], pl.FP32],
    peer: pl.Scalar[pl.INT32],
):
    return to_a_peer(x, y, data, peer)


@pl.jit.host
def to_rank_seven(x: pl.Tensor[[2, 4, 64], pl.FP32], y: pl.Out[pl.Tensor[[2, 4, 64], pl.FP32]]):
    memory = pld.alloc_window_buffer([4, 64], dtype=pl.FP32)
    for r in pl.range(pld.world_size()):
        to_a_peer_of_device(x[r], y[r], pld.window(memory, [4, 64], dtype=pl.FP32), 7, device=r)


def test_a_rank_that_is_not_there():
    x = np.ones((2, 4, 64), F32)
    with pytest.raises(
        RuntimeError, match="out-of-range: rank [01]: offset 28672 in argument 2.* of 8192 bytes"
    ) as caught:
        to_rank_seven(x, np.zeros_like(x), config=ON_TWO)
    assert f"{__file__.rsplit('/', 1)[1]}:" in str(caught.value)


def test_more_ranks_than_the_arguments_have():
    x, three = np.ones((3, 4, 64), F32), RunConfig(distributed_config=DistributedConfig(device_ids=[0, 1, 2]))
    with pytest.raises(ValueError, match=r"argument x: expects shape \[2, 4, 64\], not \[3, 4, 64\]"):
        to_rank_seven(x, np.zeros_like(x), config=three)
    with pytest.raises(ParserError, match=r"the view is not inside its tensor: 2 \+ 1 of 2"):
        to_rank_seven(x[:2], np.zeros_like(x[:2]), config=three)


@pl.jit.incore
def without_rank_one(
    x: pl.Tensor[[4, 64], pl.FP32],
    y: pl.Out[pl.Tensor[[4, 64], pl.FP32]],
    signal: pld.DistributedTensor[[8, 1], pl.INT32],
):
    if pld.rank(pld.get_comm_ctx(signal)) != 1:
        signal = pld.tensor.barrier(signal)
    return pl.store(pl.load(x, [0, 0], [4, 64]), [0, 0], y)


@pl.jit
def without_rank_one_of_device(
    x: pl.Tensor[[4, 64], pl.FP32],
    y: pl.Out[pl.Tensor[[4, 64], pl.FP32]],
    signal: pld.DistributedTensor[[8, 1], pl.INT32],
):
    return without_rank_one(x, y, signal)


@pl.jit.host
def unequal(x: pl.Tensor[[2, 4, 64], pl.FP32], y: pl.Out[pl.Tensor[[2, 4, 64], pl.FP32]]):
    cells = pld.alloc_window_buffer([8, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        without_rank_one_of_device(x[r], y[r], pld.window(cells, [8, 1], dtype=pl.INT32), device=r)


def test_collectives_that_one_rank_leaves_out():
    x = np.ones((2, 4, 64), F32)
    compiled = unequal.compile(x, np.zeros_like(x), config=ON_TWO)
    begin = time.perf_counter()
    with pytest.raises(RuntimeError, match="deadlock: rank 0 in kernel 'without_rank_one'") as caught:
        compiled(x, np.zeros_like(x))
    assert time.perf_counter() - begin < 1
    assert "rank 1 has ended" in str(caught.value) and "waits for the cell 4 bytes into" in str(caught.value)


SIGNAL = """@pl.function(type=pl.FunctionType.InCore)
def f(x: pl.Tensor[[1, 16], pl.FP32], cells: pld.DistributedTensor[[8, 1], pl.INT32]):
    {line}
    return x
"""


@pytest.mark.parametrize(
    "line, message",
    [
        ("pld.system.notify(target=cells, peer=-1, offsets=[0, 0], value=1)", "there is no rank -1"),
        ("pld.system.notify(target=cells, peer=4611686018427387904, offsets=[0, 0], value=1)", "there is no rank 4611"),
        ("pld.system.notify(target=cells, peer=0, offsets=[2000, 0], value=1)", "no cell 2000 on axis 0, which has 8"),
        ("pld.system.notify(target=cells, peer=0, offsets=[0, 1], value=1)", "no cell 1 on axis 1, which has 1"),
        ("pld.system.notify(target=cells, peer=0, offsets=[0, 0], value=4294967297)", "out of the range of INT32"),
        ("pld.system.wait(signal=cells, offsets=[-1, 0], expected=1)", "no cell -1 on axis 0"),
        ("pld.system.wait(signal=cells, offsets=[0, 0], expected=-4294967296)", "out of the range of INT32"),
    ],
)
def test_signals_that_are_known_to_be_wrong(line, message):
    """The copies of a window lie one behind another: without a check the cell would be another rank's."""
    with pytest.raises(ParserError) as caught:
        pl.parse("import pypto.language.distributed as pld\n" + SIGNAL.format(line=line))
    assert message in caught.value.message


@pytest.mark.parametrize("ids", [3, None])
def test_devices_that_are_no_list(ids):
    with pytest.raises(TypeError, match="device_ids: expects a list of numbers, not"):
        DistributedConfig(device_ids=ids)
