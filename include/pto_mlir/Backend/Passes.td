//===- Passes.td - Passes of code generation --------------------------------===//

#ifndef PTO_MLIR_BACKEND_PASSES
#define PTO_MLIR_BACKEND_PASSES

include "mlir/Pass/PassBase.td"

def PTOPrintCommands : Pass<"pto-print-commands", "::mlir::ModuleOp"> {
  let summary = "print the command streams of every sliced kernel";
  let description = [{
    Generates code for each nested module that pto-slice-engines made and prints the disassembly to stdout. The IR is not changed.

    ```
    kernel @k: 2 arguments, 3 events, UB 8192
    AIV MTE2:
      tload UB[0]<16x64xf32>, arg0[0]<16x64xf32 strides=64,1>, space=UB
    ```
  }];
  let options = [Option<"processor", "processor", "std::string", /*default=*/"\"a3\"", "processor to generate code for">];
}

#endif
