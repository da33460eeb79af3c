#ifndef PTO_MLIR_CONVERSION_TOVM_PASSES_TD
#define PTO_MLIR_CONVERSION_TOVM_PASSES_TD

include "mlir/Pass/PassBase.td"

class ConvertToVMPass<string pass> : Pass<pass, "::mlir::ModuleOp"> {
  let dependentDialects = ["::pto_mlir::vm::VMDialect"];
}

def ConvertArithToVM : ConvertToVMPass<"convert-arith-to-vm"> {
  let summary = "arith: numbers to vm computations, tensors to kernels";
  let description = [{
    A constant becomes `vm.const.*` or `vm.rodata`; a computation on numbers becomes an instruction; one on tensors a call of
    `@device.<op>`. What the VM lacks (bitcasts, carries) stays.

    ```mlir
    %c = arith.addi %a, %b : i32       // vm.binary "iadd" %a, %b : i32
    %d = arith.addf %x, %y : tensor<4xf32> // vm.call @device.addf(%x, %y) : ..
    ```
  }];
}

def ConvertMathToVM : ConvertToVMPass<"convert-math-to-vm"> {
  let summary = "math: calls of @host.<op> on numbers, of @device.<op> on tensors";
}

def ConvertTensorToVM : ConvertToVMPass<"convert-tensor-to-vm"> {
  let summary = "tensor: extents, elements and shapes to instructions, movement to kernels";
  let description = [{
    `empty`, `dim`, `extract`, `from_elements`, `cast`, `expand_shape`, `collapse_shape` become instructions; `insert`,
    `extract_slice`, `insert_slice`, `concat` calls of `@device.<op>` whose numbers (offsets, sizes, strides) are attributes when known
    and operands when not.
  }];
}

def ConvertTosaToVM : ConvertToVMPass<"convert-tosa-to-vm"> {
  let summary = "tosa.const to vm.rodata, every other op to a call of @device.<op>";
  let description = [{
    Attributes of the op become attributes of the call, so that the kernel's name says everything. Control flow of TOSA is lowered by
    upstream's tosa-to-scf.

    ```mlir
    %0 = tosa.gather %t, %i : (tensor<1x9x4xf32>, tensor<1x2xi32>) -> tensor<1x2x4xf32>
    // vm.call @device.gather(%t, %i) : (..) -> tensor<1x2x4xf32>
    ```
  }];
}

def ConvertScfToVM : ConvertToVMPass<"convert-scf-to-vm"> {
  let summary = "scf, cf and func's control flow to vm blocks and branches";
  let description = [{
    Loops and conditions become blocks (their counters stay arith), `func.call` a `vm.call` of the function, `func.return` a
    `vm.return`.
  }];
  let dependentDialects = ["::pto_mlir::vm::VMDialect", "::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect"];
}

#endif
