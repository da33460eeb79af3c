//===- PTOAttrs.td - attributes of the pto dialect -----------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOATTRS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "pto_mlir/Dialect/PTO/IR/PTOBase.td"
include "pto_mlir/Dialect/PTO/IR/PTOEnums.td"

/// `#pto.NAME<VALUE>`; inside custom op syntax just `<VALUE>`.
class PTO_AngleAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<PTO_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

/// `#pto<NAME VALUE>`.
class PTO_SpaceAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<PTO_Dialect, info, mnemonic>;

def PTO_AddressSpaceAttr : PTO_AngleAttr<PTO_AddressSpaceEnum, "address_space">;
def PTO_PipeAttr : PTO_AngleAttr<PTO_PipeEnum, "pipe">;
def PTO_EventAttr : PTO_AngleAttr<PTO_EventEnum, "event">;
def PTO_LayoutAttr : PTO_AngleAttr<PTO_LayoutEnum, "layout">;
def PTO_KernelKindAttr : PTO_AngleAttr<PTO_KernelKindEnum, "kernel_kind">;
def PTO_FuncCoreTypeAttr : PTO_AngleAttr<PTO_FuncCoreTypeEnum, "func_core_type">;
def PTO_PadModeAttr : PTO_AngleAttr<PTO_PadModeEnum, "padmode">;
def PTO_MaskPatternAttr : PTO_AngleAttr<PTO_MaskPatternEnum, "mask_pattern">;
def PTO_BLayoutAttr : PTO_AngleAttr<PTO_BLayoutEnum, "blayout">;
def PTO_SLayoutAttr : PTO_AngleAttr<PTO_SLayoutEnum, "slayout">;
def PTO_PadValueAttr : PTO_AngleAttr<PTO_PadValueEnum, "pad_value">;
def PTO_CompactModeAttr : PTO_AngleAttr<PTO_CompactModeEnum, "compact_mode">;
def PTO_AccToVecModeAttr : PTO_AngleAttr<PTO_AccToVecModeEnum, "acc_to_vec_mode">;

def PTO_ModuleCoreTypeAttr : PTO_AngleAttr<PTO_ModuleCoreTypeEnum, "module_core_type">;

// One enum under two attribute names: events take either, barrier_sync takes only sync_op_type.
def PTO_SyncOpTypeAttr : PTO_AngleAttr<PTO_SyncOpTypeEnum, "sync_op_type">;
def PTO_PipeEventTypeAttr : PTO_AngleAttr<PTO_SyncOpTypeEnum, "pipe_event_type"> {
  let cppClassName = "PipeEventTypeAttr";
  let storageClass = "PipeEventTypeAttrStorage";
}

def PTO_CmpModeAttr : PTO_SpaceAttr<PTO_CmpModeEnum, "cmp">;
def PTO_RoundModeAttr : PTO_SpaceAttr<PTO_RoundModeEnum, "round_mode">;
def PTO_SaturationModeAttr : PTO_SpaceAttr<PTO_SaturationModeEnum, "saturation_mode">;
def PTO_STPhaseAttr : PTO_SpaceAttr<PTO_STPhaseEnum, "st_phase">;
def PTO_AtomicTypeAttr : PTO_SpaceAttr<PTO_AtomicTypeEnum, "atomic_type">;
def PTO_NotifyOpAttr : PTO_SpaceAttr<PTO_NotifyOpEnum, "notify_op">;
def PTO_WaitCmpAttr : PTO_SpaceAttr<PTO_WaitCmpEnum, "wait_cmp">;
def PTO_ReluPreModeAttr : PTO_SpaceAttr<PTO_ReluPreModeEnum, "relu_pre_mode">;
def PTO_GatherOOBAttr : PTO_SpaceAttr<PTO_GatherOOBEnum, "gather_oob">;
def PTO_ScatterAtomicOpAttr : PTO_SpaceAttr<PTO_ScatterAtomicOpEnum, "scatter_atomic_op">;
def PTO_ScatterOOBAttr : PTO_SpaceAttr<PTO_ScatterOOBEnum, "scatter_oob">;
def PTO_QuantTypeAttr : PTO_SpaceAttr<PTO_QuantTypeEnum, "quant_type">;

/// `#pto.tile_buf_config<blayout=#pto.blayout<..>, slayout=.., s_fractal_size=512, pad=.., compact=..>`; keys optional, in any
/// order, each an attribute or its number.
def PTO_TileBufConfigAttr : AttrDef<PTO_Dialect, "TileBufConfig"> {
  let mnemonic = "tile_buf_config";
  let summary = "Layout, pad value and compaction of a tile";
  let parameters = (ins "BLayout":$bLayout, "SLayout":$sLayout, "int32_t":$fractal, "PadValue":$pad, "CompactMode":$compact);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def PTO_VectorFunctionAttr : AttrDef<PTO_Dialect, "VectorFunction"> {
  let mnemonic = "vector_function";
  let summary = "Marks a function of vector code; nothing reads it";
}

#endif
