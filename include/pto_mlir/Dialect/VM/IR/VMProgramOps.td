// Ops of SSA programs. An op corresponds to one or a few instructions of docs/vm.md.
#ifndef PTO_MLIR_DIALECT_VM_VMPROGRAMOPS_TD
#define PTO_MLIR_DIALECT_VM_VMPROGRAMOPS_TD

include "pto_mlir/Dialect/VM/IR/VMDialect.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class VM_ProgramOp<string mnemonic, list<Trait> traits = []> : Op<VM_Dialect, mnemonic, traits>;

def VM_Integer : AnyTypeOf<[I1, I8, I16, I32, I64, Index], "an integer of the VM">;
def VM_Float : AnyTypeOf<[F32, F64], "f32 or f64">;
def VM_Number : AnyTypeOf<[VM_Integer, VM_Float], "a number of the VM">;
def VM_Operand : AnyTypeOf<[VM_Number, AnyRankedTensor], "a number or a tensor">;
def VM_Value : AnyTypeOf<[VM_Number, AnyRankedTensor, VM_TaskType], "a number, a tensor or a task">;

// Constants.

class VM_ConstOp<string type, Type result, Attr value> : VM_ProgramOp<"const." # type, [Pure, ConstantLike]> {
  let summary = "a constant " # type;
  let arguments = (ins value:$value);
  let results = (outs result:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}
def VM_ConstI1Op : VM_ConstOp<"i1", I1, BoolAttr>;
def VM_ConstI8Op : VM_ConstOp<"i8", I8, I8Attr>;
def VM_ConstI16Op : VM_ConstOp<"i16", I16, I16Attr>;
def VM_ConstI32Op : VM_ConstOp<"i32", I32, I32Attr>;
def VM_ConstI64Op : VM_ConstOp<"i64", I64, I64Attr>;
def VM_ConstIndexOp : VM_ConstOp<"index", Index, IndexAttr>;
def VM_ConstF32Op : VM_ConstOp<"f32", F32, F32Attr>;
def VM_ConstF64Op : VM_ConstOp<"f64", F64, F64Attr>;

def VM_RodataOp : VM_ProgramOp<"rodata", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a read-only tensor";
  let description = [{ A `dense_resource` without a blob names a tensor that the environment of the program provides.

    ```mlir
    %w = vm.rodata dense<[1, 2]> : tensor<2xi32>
    %e = vm.rodata dense_resource<wte> : tensor<50257x768xf32>
    ``` }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

// Calls.

def VM_CallOp : VM_ProgramOp<"call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "call a kernel or a function";
  let description = [{
    `@device.<op>` is a kernel of the program's target, `@host.<op>` and `@python.<op>` run on the host; a callee without a dot is a
    function of the module. Attributes besides `callee` and `queue` are part of the kernel's name. With `queue` the call is a launch
    that may return before the kernel has run. Device kernels have no side effects, so an unused call is dead.

    ```mlir
    %y = vm.call @device.gather(%table, %rows) {axis = 0 : i64} : (tensor<9x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<VM_Value>:$operands, OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$queue);
  let results = (outs Variadic<VM_Value>:$results);
  let assemblyFormat = "$callee `(` $operands `)` (`queue` $queue^)? attr-dict `:` functional-type($operands, $results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// A kernel's name has a prefix (device, host, python) before its dot.
    bool isKernel() { return getCallee().contains('.'); }
  }];
}

def VM_WaitQueueOp : VM_ProgramOp<"wait_queue"> {
  let summary = "wait until all launches of a queue have ended";
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$queue);
  let assemblyFormat = "$queue attr-dict";
}

def VM_BarrierOp : VM_ProgramOp<"barrier"> {
  let summary = "order all earlier launches before all later ones";
  let assemblyFormat = "attr-dict";
}

// Numbers.

def VM_BinaryOp : VM_ProgramOp<"binary", [Pure, SameOperandsAndResultType]> {
  let summary = "a binary operation on two numbers of one type";
  let description = [{ `kind` is the instruction's name: iadd, .., ishru on integers, fadd, .., fmax on floats.

    ```mlir
    %c = vm.binary "iadd" %a, %b : i32
    ``` }];
  let arguments = (ins StrAttr:$kind, VM_Number:$lhs, VM_Number:$rhs);
  let results = (outs VM_Number:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def VM_CompareOp : VM_ProgramOp<"compare", [Pure, SameTypeOperands]> {
  let summary = "compare two numbers";
  let description = [{ The predicate is that of arith.cmpi for integers, of arith.cmpf for floats.

    ```mlir
    %less = vm.compare 2 %a, %b : i32
    ``` }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$predicate, VM_Number:$lhs, VM_Number:$rhs);
  let results = (outs I1:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def VM_NegateOp : VM_ProgramOp<"negate", [Pure, SameOperandsAndResultType]> {
  let summary = "negate a float";
  let arguments = (ins VM_Float:$operand);
  let results = (outs VM_Float:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def VM_ConvertOp : VM_ProgramOp<"convert", [Pure]> {
  let summary = "convert a number to another type";
  let description = [{ Integers are sign-extended, or zero-extended if `unsigned`; a float is truncated toward zero and must be in range.

    ```mlir
    %w = vm.convert %b unsigned : i8 to i32
    ``` }];
  let arguments = (ins VM_Number:$operand, UnitAttr:$isUnsigned);
  let results = (outs VM_Number:$result);
  let assemblyFormat = "$operand (`unsigned` $isUnsigned^)? attr-dict `:` type($operand) `to` type($result)";
  let hasFolder = 1;
}

def VM_SelectOp : VM_ProgramOp<"select", [Pure, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "select one of two values";
  let arguments = (ins I1:$condition, VM_Value:$lhs, VM_Value:$rhs);
  let results = (outs VM_Value:$result);
  let assemblyFormat = "$condition `,` $lhs `,` $rhs attr-dict `:` type($result)";
  let hasFolder = 1;
}

// Tensors.

def VM_NewOp : VM_ProgramOp<"new", [Pure]> {
  let summary = "create a tensor of zeros";
  let arguments = (ins Variadic<AnyTypeOf<[Index, I64]>>:$extents);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`(` $extents `)` attr-dict `:` functional-type($extents, $result)";
  let hasVerifier = 1;
}

def VM_DimOp : VM_ProgramOp<"dim", [Pure]> {
  let summary = "an extent of a tensor";
  let arguments = (ins AnyRankedTensor:$source, ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension);
  let results = (outs AnyTypeOf<[Index, I64]>:$result);
  let assemblyFormat = "$source `,` $dimension attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def VM_LoadOp : VM_ProgramOp<"load"> {
  let summary = "load an element of a tensor";
  let arguments = (ins AnyRankedTensor:$source, Variadic<AnyTypeOf<[Index, I64]>>:$indices);
  let results = (outs VM_Number:$result);
  let assemblyFormat = "$source `[` $indices `]` attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def VM_StoreOp : VM_ProgramOp<"store"> {
  let summary = "store an element of a tensor that the program created";
  let arguments = (ins VM_Number:$value, AnyRankedTensor:$target, Variadic<AnyTypeOf<[Index, I64]>>:$indices);
  let assemblyFormat = "$value `,` $target `[` $indices `]` attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

def VM_CopyOp : VM_ProgramOp<"copy"> {
  let summary = "copy the bytes of a tensor over another one";
  let arguments = (ins AnyRankedTensor:$target, AnyRankedTensor:$source);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `to` type($target)";
}

def VM_ReshapeOp : VM_ProgramOp<"reshape", [Pure]> {
  let summary = "the same elements in another shape";
  let arguments = (ins AnyRankedTensor:$source, Variadic<AnyTypeOf<[Index, I64]>>:$extents);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `(` $extents `)` attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def VM_CastOp : VM_ProgramOp<"cast", [Pure]> {
  let summary = "change which extents of a tensor type are static, checked at run time";
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasFolder = 1;
}

// Tasks.

def VM_SubmitOp : VM_ProgramOp<"submit", [AttrSizedOperandSegments]> {
  let summary = "submit a kernel of the file";
  let description = [{
    Returns at once. The task comes after those of `after`, and after tasks that access the memory of its tensors, as reads and writes
    demand. `directions` has a word for each tensor: `in`, `out`, `inout`; `none` for one whose accesses are not followed. The kernel
    writes the tensors themselves. Numbers are its scalars; a float goes as its bits. Where the task is `ranked`, the last number says which
    of several devices runs it; then all tasks are, and `none` is a window, whose accesses order no tasks of different devices.

    ```mlir
    %t = vm.submit @device.add(%a, %b, %n) after (%s) directions "in,inout" : (tensor<64xf32>, tensor<64xf32>, i64)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<VM_Operand>:$arguments, Variadic<VM_TaskType>:$after, StrAttr:$directions, UnitAttr:$ranked);
  let results = (outs VM_TaskType:$task);
  let assemblyFormat = "$callee `(` $arguments `)` (`after` `(` $after^ `)`)? `directions` $directions (`ranked` $ranked^)? attr-dict `:` `(` type($arguments) `)`";
  let hasVerifier = 1;
}

def VM_JoinOp : VM_ProgramOp<"join"> {
  let summary = "a task that completes with the last of several; of none, no task";
  let arguments = (ins Variadic<VM_TaskType>:$after);
  let results = (outs VM_TaskType:$task);
  let assemblyFormat = "`(` $after `)` attr-dict";
}

def VM_ReserveOp : VM_ProgramOp<"reserve"> {
  let summary = "create a tensor that tasks will write";
  let arguments = (ins Variadic<AnyTypeOf<[Index, I64]>>:$extents);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`(` $extents `)` attr-dict `:` functional-type($extents, $result)";
  let hasVerifier = 1;
}

def VM_ViewOp : VM_ProgramOp<"view"> {
  let summary = "elements of a tensor from an offset on, in the same memory";
  let description = [{ ```mlir
    %row = vm.view %all[%offset : i64] () : tensor<1024xf32> to tensor<64xf32>
    ``` }];
  let arguments = (ins AnyRankedTensor:$source, AnyTypeOf<[Index, I64]>:$offset, Variadic<AnyTypeOf<[Index, I64]>>:$extents);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `[` $offset `:` type($offset) `]` `(` ($extents^ `:` type($extents))? `)` attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

// Control.

def VM_BranchOp : VM_ProgramOp<"br", [Pure, Terminator, DeclareOpInterfaceMethods<BranchOpInterface>]> {
  let summary = "branch to a block";
  let arguments = (ins Variadic<VM_Value>:$operands);
  let successors = (successor AnySuccessor:$target);
  let assemblyFormat = "$target (`(` $operands^ `:` type($operands) `)`)? attr-dict";
}

def VM_CondBranchOp : VM_ProgramOp<"cond_br", [Pure, Terminator, AttrSizedOperandSegments, DeclareOpInterfaceMethods<BranchOpInterface>]> {
  let summary = "branch to one of two blocks";
  let arguments = (ins I1:$condition, Variadic<VM_Value>:$trueOperands, Variadic<VM_Value>:$falseOperands);
  let successors = (successor AnySuccessor:$trueTarget, AnySuccessor:$falseTarget);
  let assemblyFormat = "$condition `,` $trueTarget (`(` $trueOperands^ `:` type($trueOperands) `)`)? `,` $falseTarget (`(` $falseOperands^ `:` type($falseOperands) `)`)? attr-dict";
  let hasCanonicalizer = 1;
}

def VM_AssertOp : VM_ProgramOp<"assert"> {
  let summary = "fault with a message unless a condition holds";
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

#endif
