//===- PTOEnums.td - enumerations of the pto dialect --------------------------===//
//
// Spelling and numbers are those of the PTO assembler. Two families of attributes wrap them (PTOAttrs.td):
// `#pto.NAME<VALUE>` and `#pto<NAME VALUE>`; which enum belongs to which is part of the language.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOENUMS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOENUMS_TD

include "mlir/IR/EnumAttr.td"

def PTO_AddressSpaceEnum : I32EnumAttr<"AddressSpace", "Memory of a tile", [
    I32EnumAttrCase<"zero", 0, "zero">, I32EnumAttrCase<"gm", 1, "gm">, I32EnumAttrCase<"mat", 2, "mat">,
    I32EnumAttrCase<"left", 3, "left">, I32EnumAttrCase<"right", 4, "right">, I32EnumAttrCase<"acc", 5, "acc">,
    I32EnumAttrCase<"vec", 6, "vec">, I32EnumAttrCase<"bias", 7, "bias">, I32EnumAttrCase<"scaling", 8, "scaling">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_PipeEnum : I32EnumAttr<"Pipe", "Engine of a core", [
    I32EnumAttrCase<"PIPE_S", 0, "PIPE_S">, I32EnumAttrCase<"PIPE_V", 1, "PIPE_V">, I32EnumAttrCase<"PIPE_M", 2, "PIPE_M">,
    I32EnumAttrCase<"PIPE_MTE1", 3, "PIPE_MTE1">, I32EnumAttrCase<"PIPE_MTE2", 4, "PIPE_MTE2">,
    I32EnumAttrCase<"PIPE_MTE3", 5, "PIPE_MTE3">, I32EnumAttrCase<"PIPE_ALL", 6, "PIPE_ALL">,
    I32EnumAttrCase<"PIPE_MTE4", 7, "PIPE_MTE4">, I32EnumAttrCase<"PIPE_MTE5", 8, "PIPE_MTE5">, I32EnumAttrCase<"PIPE_V2", 9, "PIPE_V2">,
    I32EnumAttrCase<"PIPE_FIX", 10, "PIPE_FIX">, I32EnumAttrCase<"VIRTUAL_PIPE_MTE2_L1A", 11, "VIRTUAL_PIPE_MTE2_L1A">,
    I32EnumAttrCase<"VIRTUAL_PIPE_MTE2_L1B", 12, "VIRTUAL_PIPE_MTE2_L1B">, I32EnumAttrCase<"PIPE_NUM", 13, "PIPE_NUM">,
    I32EnumAttrCase<"PIPE_UNASSIGNED", 99, "PIPE_UNASSIGNED">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_EventEnum : I32EnumAttr<"Event", "Flag number", [
    I32EnumAttrCase<"EVENT_ID0", 0, "EVENT_ID0">, I32EnumAttrCase<"EVENT_ID1", 1, "EVENT_ID1">,
    I32EnumAttrCase<"EVENT_ID2", 2, "EVENT_ID2">, I32EnumAttrCase<"EVENT_ID3", 3, "EVENT_ID3">,
    I32EnumAttrCase<"EVENT_ID4", 4, "EVENT_ID4">, I32EnumAttrCase<"EVENT_ID5", 5, "EVENT_ID5">,
    I32EnumAttrCase<"EVENT_ID6", 6, "EVENT_ID6">, I32EnumAttrCase<"EVENT_ID7", 7, "EVENT_ID7">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_LayoutEnum : I32EnumAttr<"Layout", "Layout of a global view", [
    I32EnumAttrCase<"nd", 0, "nd">, I32EnumAttrCase<"dn", 1, "dn">, I32EnumAttrCase<"nz", 2, "nz">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_KernelKindEnum : I32EnumAttr<"KernelKind", "Core kind of a kernel", [
    I32EnumAttrCase<"cube", 0, "cube">, I32EnumAttrCase<"vector", 1, "vector">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_FuncCoreTypeEnum : I32EnumAttr<"FuncCoreType", "Core type of a function", [
    I32EnumAttrCase<"AIC", 1, "AIC">, I32EnumAttrCase<"AIV", 2, "AIV">, I32EnumAttrCase<"MIX", 3, "MIX">,
    I32EnumAttrCase<"AIC_OR_AIV", 4, "AIC_OR_AIV">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_ModuleCoreTypeEnum : I32EnumAttr<"ModuleCoreType", "Core type of a module", [
    I32EnumAttrCase<"AIC", 1, "AIC">, I32EnumAttrCase<"AIV", 2, "AIV">, I32EnumAttrCase<"MIX", 3, "MIX">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_PadModeEnum : I32EnumAttr<"PadMode", "How tload pads", [
    I32EnumAttrCase<"PadNull", 0, "PadNull">, I32EnumAttrCase<"PadFirstElem", 1, "PadFirstElem">,
    I32EnumAttrCase<"PadValue", 2, "PadValue">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_MaskPatternEnum : I32EnumAttr<"MaskPattern", "Lanes of a mask gather", [
    I32EnumAttrCase<"P0101", 1, "P0101">, I32EnumAttrCase<"P1010", 2, "P1010">, I32EnumAttrCase<"P0001", 3, "P0001">,
    I32EnumAttrCase<"P0010", 4, "P0010">, I32EnumAttrCase<"P0100", 5, "P0100">, I32EnumAttrCase<"P1000", 6, "P1000">,
    I32EnumAttrCase<"P1111", 7, "P1111">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_BLayoutEnum : I32EnumAttr<"BLayout", "Order of the boxes of a tile", [
    I32EnumAttrCase<"row_major", 0, "row_major">, I32EnumAttrCase<"col_major", 1, "col_major">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_SLayoutEnum : I32EnumAttr<"SLayout", "Order inside a box", [
    I32EnumAttrCase<"none_box", 0, "none_box">, I32EnumAttrCase<"row_major", 1, "row_major">, I32EnumAttrCase<"col_major", 2, "col_major">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_PadValueEnum : I32EnumAttr<"PadValue", "What the invalid part of a tile holds", [
    I32EnumAttrCase<"Null", 0, "null">, I32EnumAttrCase<"zero", 1, "zero">, I32EnumAttrCase<"max", 2, "max">,
    I32EnumAttrCase<"min", 3, "min">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_CompactModeEnum : I32EnumAttr<"CompactMode", "Compaction of a boxed tile", [
    I32EnumAttrCase<"Null", 0, "null">, I32EnumAttrCase<"normal", 1, "normal">, I32EnumAttrCase<"row_plus_one", 2, "row_plus_one">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_AccToVecModeEnum : I32EnumAttr<"AccToVecMode", "Split of an acc to vec move", [
    I32EnumAttrCase<"single_mode_vec0", 0, "single_mode_vec0">, I32EnumAttrCase<"single_mode_vec1", 1, "single_mode_vec1">,
    I32EnumAttrCase<"dual_mode_split_m", 2, "dual_mode_split_m">, I32EnumAttrCase<"dual_mode_split_n", 3, "dual_mode_split_n">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_SyncOpTypeEnum : I32EnumAttr<"SyncOpType", "Operation class that records or awaits an event", [
    I32EnumAttrCase<"TLOAD", 0, "TLOAD">, I32EnumAttrCase<"TSTORE_ACC", 1, "TSTORE_ACC">, I32EnumAttrCase<"TSTORE_VEC", 2, "TSTORE_VEC">,
    I32EnumAttrCase<"TMOV_M2L", 3, "TMOV_M2L">, I32EnumAttrCase<"TMOV_M2S", 4, "TMOV_M2S">, I32EnumAttrCase<"TMOV_M2B", 5, "TMOV_M2B">,
    I32EnumAttrCase<"TMOV_M2V", 6, "TMOV_M2V">, I32EnumAttrCase<"TMOV_V2M", 7, "TMOV_V2M">, I32EnumAttrCase<"TMATMUL", 8, "TMATMUL">,
    I32EnumAttrCase<"TVEC", 9, "TVEC">, I32EnumAttrCase<"TVECWAIT_EVENT", 10, "TVECWAIT_EVENT">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_CmpModeEnum : I32EnumAttr<"CmpMode", "Comparison", [
    I32EnumAttrCase<"eq", 0, "eq">, I32EnumAttrCase<"ne", 1, "ne">, I32EnumAttrCase<"lt", 2, "lt">, I32EnumAttrCase<"le", 3, "le">,
    I32EnumAttrCase<"gt", 4, "gt">, I32EnumAttrCase<"ge", 5, "ge">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_RoundModeEnum : I32EnumAttr<"RoundMode", "Rounding of tcvt", [
    I32EnumAttrCase<"NONE", 0, "NONE">, I32EnumAttrCase<"RINT", 1, "RINT">, I32EnumAttrCase<"ROUND", 2, "ROUND">,
    I32EnumAttrCase<"FLOOR", 3, "FLOOR">, I32EnumAttrCase<"CEIL", 4, "CEIL">, I32EnumAttrCase<"TRUNC", 5, "TRUNC">,
    I32EnumAttrCase<"ODD", 6, "ODD">, I32EnumAttrCase<"CAST_RINT", 7, "CAST_RINT">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_SaturationModeEnum : I32EnumAttr<"SaturationMode", "Saturation of tcvt", [
    I32EnumAttrCase<"ON", 0, "ON">, I32EnumAttrCase<"OFF", 1, "OFF">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_STPhaseEnum : I32EnumAttr<"STPhase", "Unit-flag phase of a store", [
    I32EnumAttrCase<"unspecified", 0, "unspecified">, I32EnumAttrCase<"partial", 2, "partial">, I32EnumAttrCase<"Final", 3, "final">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_AtomicTypeEnum : I32EnumAttr<"AtomicType", "Atomic mode of a store", [
    I32EnumAttrCase<"atomic_none", 0, "atomic_none">, I32EnumAttrCase<"atomic_add", 1, "atomic_add">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_NotifyOpEnum : I32EnumAttr<"NotifyOp", "What a notification does to a signal cell", [
    I32EnumAttrCase<"set", 0, "set">, I32EnumAttrCase<"atomic_add", 1, "atomic_add">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_WaitCmpEnum : I32EnumAttr<"WaitCmp", "What a signal cell is waited to be", [
    I32EnumAttrCase<"eq", 0, "eq">, I32EnumAttrCase<"ge", 1, "ge">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_ReluPreModeEnum : I32EnumAttr<"ReluPreMode", "Relu of the fixpipe", [
    I32EnumAttrCase<"no_relu", 0, "no_relu">, I32EnumAttrCase<"normal_relu", 1, "normal_relu">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_GatherOOBEnum : I32EnumAttr<"GatherOOB", "Out-of-range indices of mgather", [
    I32EnumAttrCase<"undefined", 0, "undefined">, I32EnumAttrCase<"clamp", 1, "clamp">, I32EnumAttrCase<"wrap", 2, "wrap">,
    I32EnumAttrCase<"zero", 3, "zero">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_ScatterAtomicOpEnum : I32EnumAttr<"ScatterAtomicOp", "Atomic mode of mscatter", [
    I32EnumAttrCase<"none", 0, "none">, I32EnumAttrCase<"add", 1, "add">, I32EnumAttrCase<"max", 2, "max">,
    I32EnumAttrCase<"min", 3, "min">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_ScatterOOBEnum : I32EnumAttr<"ScatterOOB", "Out-of-range indices of mscatter", [
    I32EnumAttrCase<"undefined", 0, "undefined">, I32EnumAttrCase<"skip", 1, "skip">, I32EnumAttrCase<"clamp", 2, "clamp">,
    I32EnumAttrCase<"wrap", 3, "wrap">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

def PTO_QuantTypeEnum : I32EnumAttr<"QuantType", "Kind of tquant", [
    I32EnumAttrCase<"INT8_SYM", 0, "INT8_SYM">, I32EnumAttrCase<"INT8_ASYM", 1, "INT8_ASYM">]> {
  let cppNamespace = "::pto_mlir::pto";
  let genSpecializedAttr = 0;
}

#endif
