#ifndef PTO_MLIR_CONVERSION_TOVM_PASSES_TD
#define PTO_MLIR_CONVERSION_TOVM_PASSES_TD

include "mlir/Pass/PassBase.td"

class ConvertToVMPass<string pass> : Pass<pass, "::mlir::ModuleOp"> {
  let dependentDialects = ["::pto_mlir::vm::VMDialect"];
}

def ConvertArithToVM : ConvertToVMPass<"convert-arith-to-vm"> {
  let summary = "convert arith on scalars to vm instructions, on tensors to kernel calls";
  let description = [{
    Constants become `vm.const.*` or `vm.rodata`; ops on scalars become instructions, ops on tensors calls of
    `@device.<op>`. Ops without a VM counterpart (bitcasts, carries) are left unchanged.

    ```mlir
    %c = arith.addi %a, %b : i32       // vm.binary "iadd" %a, %b : i32
    %d = arith.addf %x, %y : tensor<4xf32> // vm.call @device.addf(%x, %y) : ..
    ```
  }];
}

def ConvertMathToVM : ConvertToVMPass<"convert-math-to-vm"> {
  let summary = "convert math on scalars to calls of @host.<op>, on tensors to calls of @device.<op>";
}

def ConvertTensorToVM : ConvertToVMPass<"convert-tensor-to-vm"> {
  let summary = "convert tensor ops to vm instructions, data movement to kernel calls";
  let description = [{
    `empty`, `dim`, `extract`, `from_elements`, `cast`, `expand_shape`, `collapse_shape` become instructions; `insert`,
    `extract_slice`, `insert_slice`, `concat` become calls of `@device.<op>` with static offsets, sizes and strides as
    attributes and dynamic ones as operands.
  }];
}

def ConvertTosaToVM : ConvertToVMPass<"convert-tosa-to-vm"> {
  let summary = "convert tosa.const to vm.rodata, other ops to calls of @device.<op>";
  let description = [{
    Attributes of the op become attributes of the call, and so part of the kernel's key. TOSA control flow is lowered by upstream's
    tosa-to-scf.

    ```mlir
    %0 = tosa.gather %t, %i : (tensor<1x9x4xf32>, tensor<1x2xi32>) -> tensor<1x2x4xf32>
    // vm.call @device.gather(%t, %i) : (..) -> tensor<1x2x4xf32>
    ```
  }];
}

def ConvertScfToVM : ConvertToVMPass<"convert-scf-to-vm"> {
  let summary = "convert control flow of scf, cf and func to vm blocks and branches";
  let description = [{
    Loops and conditions become blocks (arithmetic on their counters is left in arith), `func.call` a `vm.call` of the function, `func.return` a
    `vm.return`.
  }];
  let dependentDialects = ["::pto_mlir::vm::VMDialect", "::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect"];
}

#endif
