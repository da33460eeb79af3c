#ifndef PTO_MLIR_CONVERSION_CONTROLTOVM_PASSES_TD
#define PTO_MLIR_CONVERSION_CONTROLTOVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertControlToVM : Pass<"convert-control-to-vm", "::mlir::ModuleOp"> {
  let summary = "split a net with control flow into nets and a program";
  let description = [{
    A `@main` with `top.if`, `top.loop` or `top.scan` becomes a function of vm ops that branches, loops and calls nets as kernels
    `@device.<module>_<n>`: each sequence of ops between control flow becomes a nested module of that name with its own `@main`.
    Integers and booleans of one element (counters, conditions) are computed by the program. A module without control flow is left unchanged.

    ```mlir
    %r = top.loop %trips, %go, %x : (..) -> tensor<4xf32> { .. }
    // becomes
      vm.br ^bb1(%zero, %x : i64, tensor<4xf32>)
    ^bb1(%i: i64, %h: tensor<4xf32>):
      %more = vm.compare 2 %i, %n : i64
      vm.cond_br %more, ^bb2, ^bb3
    ^bb2:
      %next = vm.call @device.net_0(%h) queue 0 : (tensor<4xf32>) -> tensor<4xf32>
      ..
    ```
  }];
}

#endif
