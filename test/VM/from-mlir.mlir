// The sample of the format description, as MLIR: ops directly in the module.
// RUN: pto-opt --vm-to-bytecode %s > %t.vm
// RUN: %python -m pto_mlir.vm %t.vm --list | FileCheck %s --check-prefix=LIST
// RUN: %python -m pto_mlir.vm %t.vm | FileCheck %s --check-prefix=ANSWER
// RUN: pto-opt --vm-to-bytecode %s --reuse-slots | FileCheck %s --check-prefix=REUSE
// RUN: pto-opt --vm-to-bytecode %s --locations | FileCheck %s --check-prefix=LOC
// LOC: .loc "{{.*}}from-mlir.mlir:[[#]]"
// LOC-NEXT: iconst_3
// LOC: .loc
// LOC-NEXT: iload_2
// LIST: ByteCodeModule(
// LIST-NEXT: consts=[40, 'device_add_sig_ii_i_ins_i32_i32_outs_i32', 'python_print_sig_i_ins_i32'],
// LIST-NEXT: code=[<OpCode.iconst_3: 5>, <OpCode.ldc: 11>, <TypeCode.scalar: 1>, 0, <OpCode.invokestatic: 12>, 1, <OpCode.istore_2: 21>, <OpCode.iload_2: 16>, <OpCode.invokestatic: 12>, 2],
// LIST-NEXT: target='python',
// LIST-NEXT: variable_size=3)
// ANSWER: {{^}}43{{$}}
// REUSE: .func @main() -> () slots(i32) {
%a = vm.const.i32 3
%b = vm.const.i32 40
%c = vm.call @device.add(%a, %b) : (i32, i32) -> i32
vm.call @python.print(%c) : (i32) -> ()
