#ifndef PTO_MLIR_DIALECT_VM_VMOPS_TD
#define PTO_MLIR_DIALECT_VM_VMOPS_TD

include "pto_mlir/Dialect/VM/IR/VMDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class VM_Op<string mnemonic, list<Trait> traits = []> : Op<VM_Dialect, mnemonic, traits>;

def VM_FuncOp : VM_Op<"func", [IsolatedFromAbove, Symbol, SingleBlock]> {
  let summary = "the host program of a net";
  let description = [{
    Block arguments are the slots bound at entry: `inputs` input buffers, then `outputs` output buffers, then the weights, then the state of a
    net that has the attribute `vm.state` (bytes, rows, limit; of each tensor name, output, type, axis, offset, places).

    ```mlir
    vm.func @main inputs 1 outputs 1 {
    ^bb0(%in: !vm.buffer, %out: !vm.buffer, %weights: !vm.buffer):
      vm.launch @device.relu(%in, %out) offsets = [0, 0] bytes = [64, 64]
      vm.wait
      vm.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$inputs, I64Attr:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `inputs` $inputs `outputs` $outputs attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def VM_AllocOp : VM_Op<"alloc"> {
  let summary = "allocate device memory";
  let description = [{ `bytes` of device memory, freed when the program returns.

    ```mlir
    %ws = vm.alloc 4096 : !vm.buffer
    ``` }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$bytes);
  let results = (outs VM_BufferType:$buffer);
  let assemblyFormat = "$bytes attr-dict `:` type($buffer)";
}

def VM_FreeOp : VM_Op<"free"> {
  let summary = "free a buffer allocated by vm.alloc";
  let arguments = (ins VM_BufferType:$buffer);
  let assemblyFormat = "$buffer attr-dict";
}

def VM_LaunchOp : VM_Op<"launch"> {
  let summary = "queue a launch of a net's kernel";
  let description = [{
    `@device.<kernel>` queues a launch: pointer argument i is `buffers[i] + offsets[i]`, of `bytes[i]` bytes. `@host.<op>` runs a
    host kernel after all earlier launches have ended; `reason` states why it falls back to the host. The callee is a name,
    resolved in the kernel table of the `.pmodel`.

    `scalars` are the kernel's other arguments, as sums of products of the function's symbols (docs/sizes.md); the
    buffers then have the bytes of the greatest sizes.

    ```mlir
    vm.launch @device.k0(%in, %ws) offsets = [0, 512] bytes = [4096, 4096]
    vm.launch @device.k1(%in, %ws) offsets = [0, 512] bytes = [4096, 4096] scalars affine_map<()[s0, s1] -> (s0 * s1)>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<VM_BufferType>:$buffers, DenseI64ArrayAttr:$offsets,
                   DenseI64ArrayAttr:$bytes, OptionalAttr<StrAttr>:$reason, OptionalAttr<AffineMapAttr>:$scalars);
  let builders = [OpBuilder<(ins "llvm::StringRef":$callee, "mlir::ValueRange":$buffers,
      "llvm::ArrayRef<int64_t>":$offsets, "llvm::ArrayRef<int64_t>":$bytes), [{
    build($_builder, $_state, callee, buffers, offsets, bytes, mlir::StringAttr(), mlir::AffineMapAttr());
  }]>];
  let assemblyFormat = "$callee `(` $buffers `)` `offsets` `=` $offsets `bytes` `=` $bytes "
                       "(`scalars` $scalars^)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Kernel name without the `device.` or `host.` prefix.
    llvm::StringRef getKernelName() { return getCallee().split('.').second; }
    bool isDevice() { return getCallee().starts_with("device."); }
  }];
}

def VM_WaitOp : VM_Op<"wait"> {
  let summary = "wait until all launches have ended";
  let assemblyFormat = "attr-dict";
}

def VM_ReturnOp : VM_Op<"return", [Terminator, ReturnLike]> {
  let summary = "return from a program or function";
  let description = [{ A net's program returns nothing; a function returns values of its result types.

    ```mlir
    vm.return %sum : i32
    ``` }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let hasVerifier = 1;
}

#endif
