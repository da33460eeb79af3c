// Attributes of the top dialect.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPATTRS_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "pto_mlir/Dialect/Top/IR/TopBase.td"

// The values match Region in lib/PModel/PModel.fbs.
def Top_Region : I32EnumAttr<"Region", "global memory region of a kernel operand", [
    I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Output", 1, "output">,
    I32EnumAttrCase<"Weights", 2, "weights">, I32EnumAttrCase<"Workspace", 3, "workspace">,
    I32EnumAttrCase<"State", 4, "state">]> {
  let cppNamespace = "::pto_mlir::top";
  let genSpecializedAttr = 0;
}

def Top_PlaceAttr : AttrDef<Top_Dialect, "Place"> {
  let mnemonic = "place";
  let summary = "location of a kernel operand in global memory";
  let description = [{
    `offset` is in bytes for the weights section, the workspace and the state; for `input` and `output` it is the index of that input or output,
    which the operand covers from its first byte. `span`: bytes from its first to its last one, of an operand whose rows
    lie apart (0: it is dense).

    Example: `#top.place<workspace, 4096>`, `#top.place<input, 0>`, `#top.place<workspace, 128, 602048>`
  }];
  let parameters = (ins EnumParameter<Top_Region>:$region, "int64_t":$offset, DefaultValuedParameter<"int64_t", "0">:$span);
  let builders = [AttrBuilder<(ins "::pto_mlir::top::Region":$region, "int64_t":$offset), [{
    return $_get($_ctxt, region, offset, 0);
  }]>];
  let assemblyFormat = "`<` $region `,` $offset (`,` $span^)? `>`";
}

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPATTRS_TD
