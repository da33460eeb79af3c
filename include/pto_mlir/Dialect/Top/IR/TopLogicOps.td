// Comparisons, boolean logic, selection.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPLOGICOPS_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPLOGICOPS_TD

include "pto_mlir/Dialect/Top/IR/TopBase.td"

// i1, or i32 after top-storage-types has chosen the storage of booleans (0 is false, 1 is true).
def Top_BoolTensor : StaticShapeTensorOf<[I1, I32]>;

def Top_CompareModeAttr : ConfinedAttr<StrAttr, [AttrConstraint<CPred<
    "::llvm::is_contained({\"eq\", \"lt\", \"le\", \"gt\", \"ge\"}, ::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "is eq, lt, le, gt or ge">]>;

def Top_CompareOp : Top_TensorOp<"compare"> {
  let summary = "output = lhs mode rhs";
  let description = [{
    For every element whether `lhs mode rhs` holds; operands have one element type and broadcast as in `top.add`. Comparisons with NaN are false.

    Example:
    ```mlir
    %r = top.compare %a, %b {mode = "lt"} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    ```
  }];
  let arguments = (ins Top_Tensor:$lhs, Top_Tensor:$rhs, Top_CompareModeAttr:$mode);
  let extraClassDeclaration = [{
    /// Booleans are i1 in a model and i32 after top-storage-types.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual);
  }];
}

class Top_LogicOp<string mnemonic, string expr> : Top_TensorOp<mnemonic, [SameOperandsAndResultElementType, Commutative]> {
  let summary = "output = " # expr;
  let description = "For every element `output = " # expr # [{` of booleans; operands broadcast as in `top.add`.

    Example:
    ```mlir
    %r = top.}] # mnemonic # [{ %a, %b : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
    ```}];
  let arguments = (ins Top_BoolTensor:$lhs, Top_BoolTensor:$rhs);
}
def Top_AndOp : Top_LogicOp<"and", "lhs and rhs">;
def Top_OrOp : Top_LogicOp<"or", "lhs or rhs">;
def Top_XorOp : Top_LogicOp<"xor", "lhs != rhs">;

def Top_NotOp : Top_Op<"not", [Pure, SameOperandsAndResultType]> {
  let summary = "output = not input";
  let description = [{
    For every element the negated boolean.

    Example:
    ```mlir
    %r = top.not %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
    ```
  }];
  let arguments = (ins Top_BoolTensor:$input);
  let results = (outs Top_BoolTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Top_WhereOp : Top_TensorOp<"where"> {
  let summary = "output = condition ? lhs : rhs";
  let description = [{
    For every element; all three operands broadcast as in `top.add`, `lhs` and `rhs` have the same element type.

    Example:
    ```mlir
    %r = top.where %c, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Top_BoolTensor:$condition, Top_Tensor:$lhs, Top_Tensor:$rhs);
}

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPLOGICOPS_TD
