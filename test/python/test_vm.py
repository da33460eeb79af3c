"""VM programs with Python kernels: lookup, construction by name, external tensors, faults."""

import base64
import zlib

import numpy as np
import pytest
from pto_mlir.vm import (
    VM,
    ByteCodeConverter,
    ByteCodeModule,
    KernelRegistry,
    OpCode,
    TypeCode,
    VMError,
    assemble,
    device_kernels,
)

SAMPLE = """.vm 1
.target "python"
.const 0 = 40 : i32
.const 1 = kernel @device.add (i32, i32) -> (i32)
.const 2 = kernel @python.print (i32)
.func @main() -> () slots(i32, i32, i32) {
  iconst_3
  ldc scalar, 0
  invokestatic 1
  istore_2
  iload_2
  invokestatic 2
}
"""

# Lookup in two tables and an addition: the sample of the format description.
EMBEDDING = """.vm 1
.target "python"
.const 0 = external "wte" : tensor<50257x768xf32>
.const 1 = external "wpe" : tensor<1024x768xf32>
.const 2 = dense [8897, 33125, 34028, 11310, 46496, 8936, 13422, 12673, 12521, 4655, 27264, 42624, 48419, 27095, 24398, 15221] : tensor<16xi32>
.const 3 = dense [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : tensor<16xi32>
.const 4 = kernel @device.gather (tensor<50257x768xf32>, tensor<16xi32>) -> (tensor<16x768xf32>)
.const 5 = kernel @device.gather (tensor<1024x768xf32>, tensor<16xi32>) -> (tensor<16x768xf32>)
.const 6 = kernel @device.add (tensor<16x768xf32>, tensor<16x768xf32>) -> (tensor<16x768xf32>)
.func @main() -> (tensor<16x768xf32>) {
  ldc tensor, 0
  ldc tensor, 2
  invokestatic 4
  ldc tensor, 1
  ldc tensor, 3
  invokestatic 5
  invokestatic 6
  return
}
"""


def test_the_sample_is_what_the_format_describes():
    module = assemble(SAMPLE)
    assert module.consts == [40, "device_add_sig_ii_i_ins_i32_i32_outs_i32", "python_print_sig_i_ins_i32"]
    assert module.code == [
        OpCode.iconst_3,
        OpCode.ldc,
        TypeCode.scalar,
        0,
        OpCode.invokestatic,
        1,
        OpCode.istore_2,
        OpCode.iload_2,
        OpCode.invokestatic,
        2,
    ]
    assert (module.target, module.variable_size) == ("python", 3)
    assert f"code={module.code}" in repr(module)
    printed = []
    VM(module, print=printed.append).run()
    assert printed == ["43"]
    assert ByteCodeModule.from_bytes(module.to_bytes()) == module
    assert assemble(module.disassemble()) == module


OLD = """.vm 1
.target "host", 1, 11
.const 0 = 1.5 : f32
.const 1 = dense [1, -2] : tensor<2xi32>
.const 2 = text "too large"
.const 3 = external "w" : tensor<2xi32>
.const 4 = kernel @device.add (tensor<2xi32>, tensor<?xi32>) -> (tensor<?xi32>) {"axis" = [1, 2], "scale" = 0.5}
.func @main(tensor<?xi32>, i64) -> (tensor<?xi32>, f32) slots(tensor<?xi32>, i64, f32) {
  ldc scalar, 0
  fstore_2
loop:
  .loc "here.py:3"
  iload_1
  iconst i64, 1000
  icmp 2
  assert 2
  ldc tensor, 3
  aload_0
  invokestatic 4
  astore_0
  call @less
  ifne loop
  aload_0
  fload_2
  return
}
.func @less() -> (i1) slots() {
  iconst i1, 0
  return
}
"""
# The bytes of OLD in version 1 of the instruction set, deflated.
OLD_BYTES = (
    "eNpNkM1Kw0AQx2eTaNM2tKX0EFQw9OJFpLb14kVBD70IHopIFdbQLjUQG+lGrSD06iP4AD6GD9FnEM+ePYhxZrNps/DbHebzP+sBwHn/4gzUqYMHFtjgQA0a"
    "4MIWegAY0tdvGWkhDcRCDOQNOUbWkF9MWiDvyAvistQfYuIp4iIW8sXS+ttIxjT5I0mSLr67iIe4iKNngH5tC+agdeT9oZCS7BrqzauvUX/kEukhXZWT1lCP"
    "G2STdmKwXbXNRbVnXBtlw2w61s4VGxjNjTmYekdTzzM0edvUPe/8YEJ+UkA6bB2nWJG0iKnYu38+7KD9ivtSiGInyEg8BkPB/dGIy2DM45jHPJhI3p4FnTaf"
    "qDt6iKU2/Vkg+T5vczn0Q8Fbg7Y4UHsX1FRH/R2NZ7l9n3SkAJlKdcxMXxxFXuhPxwIqy05UUUnzWNbL1v3+1A4l9acUKUF2fo7o/k53rFtLf0lPt7PcYhb7"
    "VLkFlmlN9FnVrStFad0qz8j1tnM6sr7/vy1TXA=="
)


def test_bytes_of_version_1_stay_readable():
    """Files stay readable: the numbers of opcodes, types and fields are fixed."""
    module = ByteCodeModule.from_bytes(zlib.decompress(base64.b64decode(OLD_BYTES)))
    assert module == assemble(OLD)
    assert assemble(module.disassemble()) == module


def test_kernels_are_looked_up_then_built_by_name():
    registry = KernelRegistry()
    registry.kernel("device_add_sig_ii_i_ins_i32_i32_outs_i32", lambda a, b: a * 100 + b)
    registry.factory("python.print", lambda operands, results, attributes: seen.append)
    seen = []
    VM(assemble(SAMPLE), registry).run()
    assert seen == [340]
    assert registry.built == ["python_print_sig_i_ins_i32"]
    function = device_kernels().find("device_reduce__sum_sig_t_t_ins_2x3xf32_outs_2x1xf32_axis_1")
    np.testing.assert_array_equal(function(np.arange(6, dtype=np.float32).reshape(2, 3)), [[3], [12]])
    assert device_kernels().find("device_add") is None


def test_embedding_lookup_with_external_tables():
    random = np.random.default_rng(42)
    tables = {
        "wte": random.standard_normal((50257, 768), np.float32),
        "wpe": random.standard_normal((1024, 768), np.float32),
    }
    module = assemble(EMBEDDING)
    (result,) = VM(module, rodata=tables).run()
    tokens = [
        8897,
        33125,
        34028,
        11310,
        46496,
        8936,
        13422,
        12673,
        12521,
        4655,
        27264,
        42624,
        48419,
        27095,
        24398,
        15221,
    ]
    np.testing.assert_array_equal(result, tables["wte"][tokens] + tables["wpe"][:16])
    with pytest.raises(VMError, match="no tensor 'wpe'"):
        VM(module, rodata={"wte": tables["wte"]})
    with pytest.raises(VMError, match=r"'wpe' is not of type tensor<1024x768xf32>"):
        VM(module, rodata={**tables, "wpe": tables["wpe"].T})


def test_faults_are_told_with_their_place():
    def run(kernel):
        registry = KernelRegistry()
        registry.factory("device.f", lambda *key: kernel)
        text = '.vm 1\n.target "python"\n.const 0 = kernel @device.f (tensor<?xf32>) -> (tensor<2xf32>)\n'
        text += ".func @main(tensor<?xf32>) -> (tensor<2xf32>) {\naload_0\ninvokestatic 0\nreturn\n}\n"
        return VM(assemble(text), registry).run(np.ones(2, np.float32))

    np.testing.assert_array_equal(run(lambda x: x + 1)[0], [2, 2])
    with pytest.raises(
        VMError, match=r"@main, instruction 1 \(invokestatic\): device_f_.*: its result 0 is not of type tensor<2xf32>"
    ):
        run(lambda x: np.ones(3, np.float32))
    with pytest.raises(VMError, match="ZeroDivisionError"):
        run(lambda x: 1 // 0)
    with pytest.raises(VMError, match="no kernel device_nothing_sig_v_v is known"):
        VM(assemble('.vm 1\n.target "python"\n.const 0 = kernel @device.nothing ()\n.func @main() {\n}\n'))
    with pytest.raises(VMError, match="is for target 'host'"):
        VM(assemble('.vm 1\n.target "host"\n.func @main() {\n}\n'))
    with pytest.raises(VMError, match="takes 0 arguments, got 1"):
        VM(assemble(SAMPLE)).run(1)
    with pytest.raises(VMError, match="ran longer than 10 jumps"):
        VM(assemble('.vm 1\n.target "python"\n.func @main() {\nL:\ngoto L\n}\n'), max_jumps=10).run()


LAUNCHES = """.vm 1
.target "python"
.const 0 = kernel @device.meet (tensor<2xf32>) -> (tensor<2xf32>)
.const 1 = kernel @device.add (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>)
.func @main(tensor<2xf32>) -> (tensor<2xf32>) slots(tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  aload_0
  launch 0, 1
  astore_1
  aload_0
  launch 0, 2
  astore_2
  aload_1
  aload_2
  launch 1, 3
  return
}
"""


def test_launches_of_two_queues_overlap():
    """Each waits for the other: alone neither would end. A third, in a queue of its own, comes after what makes its
    operands."""
    import threading

    meeting = threading.Barrier(2, timeout=20)
    registry = device_kernels()
    registry.factory("device.meet", lambda *key: lambda x: (meeting.wait(), x * 2)[1])
    machine = VM(assemble(LAUNCHES), registry)
    for _ in range(20):
        np.testing.assert_array_equal(machine.run(np.float32([1, 2]))[0], [4, 8])
    registry.kernel("device_meet_sig_t_t_ins_2xf32_outs_2xf32", lambda x: x * 2)
    np.testing.assert_array_equal(VM(assemble(LAUNCHES), registry, threads=0).run(np.float32([1, 2]))[0], [4, 8])


def test_a_launch_that_fails_is_told_and_the_machine_goes_on():
    registry = device_kernels()
    answers = iter(
        [
            ValueError("no answer"),
            np.ones(2, np.float32),
            np.ones(2, np.int64),
            np.ones(2, np.float32),
            *[np.ones(2, np.float32)] * 2,
        ]
    )

    def meet(x):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    registry.kernel("device_meet_sig_t_t_ins_2xf32_outs_2xf32", meet)
    machine = VM(assemble(LAUNCHES), registry)
    with pytest.raises(VMError, match="ValueError: no answer"):
        machine.run(np.float32([1, 2]))
    with pytest.raises(VMError, match="result 0 has another type than the program says"):
        machine.run(np.float32([1, 2]))
    np.testing.assert_array_equal(machine.run(np.float32([1, 2]))[0], [2, 2])


@pytest.mark.parametrize(
    "name, arguments, expected",
    [
        (
            "device_gather_sig_tt_t_ins_1x4x2xf32_1x3xi32_outs_1x3x2xf32",
            (np.arange(8, dtype=np.float32).reshape(1, 4, 2), np.array([[3, 0, 3]], np.int32)),
            [[[6, 7], [0, 1], [6, 7]]],
        ),
        ("device_cast_sig_t_t_ins_3xf32_outs_3xi8", (np.array([2.5, -300, 3.5], np.float32),), [2, -128, 4]),
        ("device_slice_sig_t_t_ins_4xi32_outs_2xi32_size_Zl1_2_start_Zl1_1", (np.arange(4, dtype=np.int32),), [1, 2]),
        (
            "device_clamp_sig_t_t_ins_3xf32_outs_3xf32_max__fp_6Z2e0_max__int_6_min__fp_0Z2e0_min__int_0",
            (np.array([-1, 3, 9], np.float32),),
            [0, 3, 6],
        ),
        (
            "device_int__div_sig_tt_t_ins_2xi32_2xi32_outs_2xi32",
            (np.array([-7, 7], np.int32), np.array([2, 2], np.int32)),
            [-3, 3],
        ),
        (
            "device_max__pool2d_sig_t_t_ins_1x2x2x1xf32_outs_1x1x1x1xf32_kernel_2_2_pad_0_0_0_0_stride_2_2",
            (np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1),),
            [[[[3]]]],
        ),
    ],
)
def test_tosa_kernels(name, arguments, expected):
    result = device_kernels().find(name)(*arguments)
    np.testing.assert_array_equal(result, expected)


def test_convolution_is_that_of_its_definition():
    random = np.random.default_rng(0)
    x, w, bias = (random.standard_normal(shape, np.float32) for shape in ((1, 5, 6, 2), (3, 2, 3, 2), (3,)))
    name = (
        "device_conv2d_sig_ttt_t_ins_1x5x6x2xf32_3x2x3x2xf32_3xf32_outs_1x5x2x3xf32_dilation_2_1_pad_1_1_0_1_stride_1_3"
    )
    result = device_kernels().find(name)(x, w, bias)
    padded = np.pad(x, ((0, 0), (1, 1), (0, 1), (0, 0)))
    expected = np.zeros((1, 5, 2, 3), np.float32)
    for oy, ox, f in np.ndindex(5, 2, 3):
        expected[0, oy, ox, f] = bias[f] + sum(
            np.dot(padded[0, oy + 2 * ky, 3 * ox + kx], w[f, ky, kx]) for ky in range(2) for kx in range(3)
        )
    np.testing.assert_allclose(result, expected, rtol=1e-5)


TOKENS = [8897, 33125, 34028, 11310, 46496, 8936, 13422, 12673, 12521, 4655, 27264, 42624, 48419, 27095, 24398, 15221]

TOSA = f"""
func.func @main() -> tensor<1x16x768xf32> {{
  %tokens = "tosa.const"() {{value = dense<[{TOKENS}]> : tensor<1x16xi32>}} : () -> tensor<1x16xi32>
  %positions = "tosa.const"() {{value = dense<[{list(range(16))}]> : tensor<1x16xi32>}} : () -> tensor<1x16xi32>
  %wte = "tosa.const"() {{value = dense_resource<wte> : tensor<1x50257x768xf32>}} : () -> tensor<1x50257x768xf32>
  %wpe = "tosa.const"() {{value = dense_resource<wpe> : tensor<1x1024x768xf32>}} : () -> tensor<1x1024x768xf32>
  %0 = tosa.gather %wte, %tokens : (tensor<1x50257x768xf32>, tensor<1x16xi32>) -> tensor<1x16x768xf32>
  %1 = tosa.gather %wpe, %positions : (tensor<1x1024x768xf32>, tensor<1x16xi32>) -> tensor<1x16x768xf32>
  %2 = tosa.add %0, %1 : (tensor<1x16x768xf32>, tensor<1x16x768xf32>) -> tensor<1x16x768xf32>
  return %2 : tensor<1x16x768xf32>
}}
"""


@pytest.mark.parametrize("reuse", [False, True])
def test_tosa_module_runs_with_numpy_kernels(reuse):
    module = ByteCodeConverter(TOSA, passes=("convert-tosa-to-vm", "canonicalize"), reuse_slots=reuse).convert()
    assert [name for name in module.consts if str(name).startswith("device_")] == [
        "device_gather_sig_tt_t_ins_1x50257x768xf32_1x16xi32_outs_1x16x768xf32",
        "device_gather_sig_tt_t_ins_1x1024x768xf32_1x16xi32_outs_1x16x768xf32",
        "device_add_sig_tt_t_ins_1x16x768xf32_1x16x768xf32_outs_1x16x768xf32",
    ]
    assert module.variable_size == (2 if reuse else 7)
    random = np.random.default_rng(42)
    tables = {
        "wte": random.standard_normal((1, 50257, 768), np.float32),
        "wpe": random.standard_normal((1, 1024, 768), np.float32),
    }
    (result,) = VM(module, rodata=tables).run()
    np.testing.assert_array_equal(result, tables["wte"][:, TOKENS] + tables["wpe"][:, :16])


def test_converter_prints_the_sample():
    text = """%a = vm.const.i32 3
%b = vm.const.i32 40
%c = vm.call @device.add(%a, %b) : (i32, i32) -> i32
vm.call @python.print(%c) : (i32) -> ()
"""
    assert ByteCodeConverter(text).convert() == assemble(SAMPLE)


def test_dynamic_shapes_and_tensor_arithmetic():
    """Upstream dialects with run-time sizes: every pass, then the kernels of arith, math and tensor."""
    text = """
func.func @main(%x: tensor<?x4xf32>, %n: i64) -> (tensor<?x2xf32>, f32, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c0 : tensor<?x4xf32>
  %rows = arith.index_cast %n : i64 to index
  %m = arith.minsi %d, %rows : index
  %s = tensor.extract_slice %x[0, 1] [%m, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %t = math.tanh %s : tensor<?x2xf32>
  %y = arith.addf %t, %s : tensor<?x2xf32>
  %v = tensor.extract %x[%c0, %c1] : tensor<?x4xf32>
  %e = math.exp %v : f32
  %sum = scf.for %i = %c0 to %d step %c1 iter_args(%acc = %e) -> (f32) {
    %z = tensor.extract %x[%i, %c0] : tensor<?x4xf32>
    %more = arith.addf %acc, %z : f32
    scf.yield %more : f32
  }
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %w = tensor.insert %sum into %flat[%c1] : tensor<?xf32>
  return %y, %sum, %w : tensor<?x2xf32>, f32, tensor<?xf32>
}
"""
    passes = ("convert-scf-to-vm", "convert-arith-to-vm", "convert-math-to-vm", "convert-tensor-to-vm", "canonicalize")
    machine = VM(ByteCodeConverter(text, passes=passes, reuse_slots=True).convert())
    for rows in (3, 7):
        x = np.random.default_rng(rows).standard_normal((rows, 4)).astype(np.float32)
        y, total, flat = machine.run(x, 5)
        part = x[: min(rows, 5), 1:3]
        np.testing.assert_allclose(y, np.tanh(part) + part, rtol=1e-6)
        expected = np.float32(np.exp(np.float64(x[0, 1])))
        for value in x[:, 0]:
            expected = np.float32(expected + value)
        assert total == expected
        np.testing.assert_array_equal(flat, [x[0, 0], expected, *x.reshape(-1)[2:]])
