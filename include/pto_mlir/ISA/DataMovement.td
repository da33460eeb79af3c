//===- DataMovement.td - Between global memory and tiles, and tile to tile -===//

#ifndef PTO_MLIR_ISA_DATAMOVEMENT
#define PTO_MLIR_ISA_DATAMOVEMENT

include "pto_mlir/ISA/Costs.td"
include "pto_mlir/ISA/ISABase.td"

def MovableTypes : SameType<[F32, F16, BF16, I8, U8, I16, U16, I32, U32, I64, U64], [F8E4M3FN, F8E5M2, HIF8, F8E8M0]>;

def A5Movable : SameType<[], [F32, F16, BF16, I8, U8, I16, U16, I32, U32, F8E4M3FN, F8E5M2, HIF8]>;

def TLOAD : Insn<0x40, "tload", PIPE_MTE2,
    (ops TileOut<"dst", [UB, L1], [ND, DN, NZ, ZN]>, ViewIn<"src">, Attr<"space", MemoryEnum>), MovableTypes>, Priced<RateGlobal>, Touches<[AccLoaded, AccTileExtent]> {
  let summary = "dst[i, j] = src[i, j] for the valid region of dst";
  let description = "Layout pairs (view, tile): ND-ND, DN-DN, DN-ND, ND-DN, NZ-NZ; to L1 also ND-NZ and DN-ZN. At most 4095 rows (of a DN or ZN tile: columns) into UB, 16384 into L1. In a boxed tile the rest of the last C0 "
                    "group of columns (NZ) or rows (ZN) of each valid row or column is zero-filled.";
}
def Atomic : Enum<"AtomicMode", ["none", "add"]>;
def TSTORE : Insn<0x41, "tstore", PIPE_MTE3,
    (ops ViewOut<"dst">, TileIn<"src", [UB, L1], [ND, DN, NZ, ZN]>, Packed<"attrs", [Field<"atomic", 8, Atomic>, Field<"space", 8, MemoryEnum>]>),
    MovableTypes>, Priced<RateGlobal>, Touches<[AccTileExtent, AccValid]> {
  let summary = "dst[i, j] = src[i, j] for the valid region of src";
}
def Relu : Enum<"ReluMode", ["none", "relu"]>;
def TSTORE_ACC : Insn<0x42, "tstore_acc", PIPE_FIX,
    (ops ViewOut<"dst">, TileIn<"src", [L0C], [NZ16]>, Packed<"attrs", [Field<"relu", 8, Relu>, Field<"atomic", 8, Atomic>]>),
    Types<[[F32, F32], [F16, F32], [BF16, F32], [I32, I32], [F32, I32], [F16, I32], [BF16, I32], [I32, F32]]>>, Priced<RateDrain>, Touches<[AccTileExtent, AccValid]> {
  let summary = "dst[i, j] = cast(relu(src[i, j])) for the valid region of src";
  let description = "To i32: rounded to nearest even and clamped.";
}
// (dst, src)
def QuantTypes : Types<[[I8, F32], [U8, F32], [I8, I32], [U8, I32], [F16, I32]],
    [[F16, F32], [BF16, F32], [F32, F32], [F8E4M3FN, F32], [HIF8, F32], [BF16, I32]]>;
def TSTORE_ACC_QUANT : Insn<0x4a, "tstore_acc_quant", PIPE_FIX,
    (ops ViewOut<"dst">, TileIn<"src", [L0C], [NZ16]>, Int<"descriptorLow">, Int<"descriptorHigh">,
         Packed<"attrs", [Field<"relu", 8, Relu>, Field<"atomic", 8, Atomic>]>), QuantTypes>, Priced<RateDrain>, Touches<[AccTileExtent, AccValid]> {
  let summary = "dst[i, j] = cast(relu(src[i, j] * scale + offset))";
  let description = "The descriptor (bits 0-31 in one operand, 32-63 in the other) holds the f32 scale in bits 0-31 and the signed offset in bits 37-45. Integers are rounded to nearest even and "
                    "clamped; f16 from i32 and the 8-bit floats are clamped to their finite range.";
}
def TSTORE_ACC_QUANTV : Insn<0x4b, "tstore_acc_quantv", PIPE_FIX,
    (ops ViewOut<"dst">, TileIn<"src", [L0C], [NZ16]>, TileIn<"scales", [FB], [ND], [U64, I64]>, Attr<"relu", Relu>), QuantTypes>, Priced<RateDrain>, Touches<[AccTileExtent, AccValid, AccSrcColStatistic]> {
  let summary = "dst[i, j] = cast(relu(src[i, j] * scale[j] + offset[j]))";
  let description = "One descriptor per column, as in tstore_acc_quant; only bits 13-31 of the scale are used.";
}
def TMOV : Insn<0x43, "tmov", PIPE_V, (ops TileOut<"dst", [UB], [ND, DN, NZ, ZN]>, TileIn<"src", [UB], [ND, DN, NZ, ZN]>), MovableTypes,
    ShapeSame>, Priced<RateCopy, CurveUnary> {
  let summary = "dst[i, j] = src[i, j]";
}
def CubeTypes : SameType<[F32, F16, BF16, I8], [F8E4M3FN, F8E5M2, HIF8]>;
def TEXTRACT_L0A : Insn<0x44, "textract_l0a", PIPE_MTE1,
    (ops TileOut<"dst", [L0A], [ZZ, NZ]>, TileIn<"src", [L1], [NZ, ZN, ND]>, Int<"row">, Int<"col">), CubeTypes>, Priced<RateToL0A>, Touches<[AccWholeBoxes, AccDstWindow]> {
  let summary = "dst[i, j] = src[row + i, col + j], left operand";
  let description = "Moves whole 16 x C0 groups: elements past dst's valid region, up to the end of the last group, are copied but undefined.";
}
def TEXTRACT_L0B : Insn<0x45, "textract_l0b", PIPE_MTE1,
    (ops TileOut<"dst", [L0B], [ZN]>, TileIn<"src", [L1], [NZ, ZN, ND]>, Int<"row">, Int<"col">), CubeTypes>, Priced<RateToL0B>, Touches<[AccWholeBoxes, AccDstWindow]> {
  let summary = "dst[i, j] = src[row + i, col + j], right operand";
}
def TMOV_BT : Insn<0x46, "tmov_bt", PIPE_MTE1, (ops TileOut<"dst", [BT]>, TileIn<"src", [L1]>, Int<"col">),
    Types<[[F32, F32], [F32, F16], [I32, I32]], [[F32, BF16]]>>, Priced<RateToBT>, Touches<[AccValid, AccDstWindow]> {
  let summary = "dst[0, j] = src[0, col + j], into the bias table";
}
def TMOV_FB : Insn<0x47, "tmov_fb", PIPE_FIX, (ops TileOut<"dst", [FB]>, TileIn<"src", [L1]>, Int<"col">), SameType<[U64, I64]>>, Priced<RateToFB>, Touches<[AccValid, AccDstWindow]> {
  let summary = "dst[0, j] = src[0, col + j], into the fixpipe buffer";
}
def TMOV_ACC : Insn<0x48, "tmov_acc", PIPE_FIX,
    (ops TileOut<"dst", [L1], [NZ, ND]>, TileIn<"src", [L0C], [NZ16]>, Attr<"relu", Relu>), Types<[[F16, F32], [BF16, F32]], [[F32, F32], [I32, I32]]>, ShapeSame>, Priced<RateFromL0C> {
  let summary = "dst[i, j] = cast(relu(src[i, j])), from L0C to L1";
}
def TINSERT_ACC : Insn<0x4c, "tinsert_acc", PIPE_FIX,
    (ops TileOut<"dst", [L1], [NZ]>, TileIn<"src", [L0C], [NZ16]>, Int<"row">, Int<"col">, Attr<"relu", Relu>),
    Types<[[F16, F32], [BF16, F32]], [[F32, F32], [I32, I32]]>>, Priced<RateFromL0C>, Touches<[AccSrcWindow, AccValid]> {
  let summary = "dst[row + i, col + j] = cast(relu(src[i, j])) for the valid region of src, from L0C to L1";
}
// (dst, src)
def QuantMoveTypes : Types<[[I8, F32], [U8, F32], [I8, I32], [U8, I32], [F16, I32], [I16, I32]],
    [[F16, F32], [BF16, F32], [F32, F32], [F8E4M3FN, F32], [HIF8, F32], [BF16, I32]]>;
def TMOV_ACC_QUANT : Insn<0x4d, "tmov_acc_quant", PIPE_FIX,
    (ops TileOut<"dst", [L1], [NZ, ND]>, TileIn<"src", [L0C], [NZ16]>, Int<"row">, Int<"col">, Int<"srcRow">, Int<"srcCol">, Int<"rows">,
         Int<"cols">, Int<"descriptorLow">, Int<"descriptorHigh">, Attr<"relu", Relu>), QuantMoveTypes>, Priced<RateFromL0C>, Touches<[AccPart, AccSrcPart]> {
  let summary = "dst[row + i, col + j] = cast(relu(quantise(src[srcRow + i, srcCol + j]))) for i < rows, j < cols, from L0C to L1";
  let description = "quantise is that of tstore_acc_quant. To i16 the value is shifted right by bits 32-35 of the descriptor plus 1 and truncated to 16 bits.";
}
def TMOV_ACC_QUANTV : Insn<0x4e, "tmov_acc_quantv", PIPE_FIX,
    (ops TileOut<"dst", [L1], [NZ, ND]>, TileIn<"src", [L0C], [NZ16]>, TileIn<"scales", [FB], [ND], [U64, I64]>, Int<"row">, Int<"col">,
         Int<"srcRow">, Int<"srcCol">, Int<"rows">, Int<"cols">, Attr<"relu", Relu>), QuantMoveTypes>, Priced<RateFromL0C>, Touches<[AccPart, AccSrcPart, AccPartColStatistic]> {
  let summary = "dst[row + i, col + j] = cast(relu(quantise(src[srcRow + i, srcCol + j]))) with a descriptor per column j, from L0C to L1";
  let description = "As tmov_acc_quant; only bits 13-31 of the scale are used.";
}
def TIMG2COL : Insn<0x49, "timg2col", PIPE_MTE1,
    (ops TileOut<"dst", [L0A], [ZZ, NZ]>, TileIn<"src", [L1], [NZ]>, Int<"posM">, Int<"posK">, Int<"height">, Int<"padTop">, Int<"padBottom">,
         Packed<"image", [Field<"width", 16>, Field<"channels", 16>]>,
         Packed<"window", [Field<"kernelH", 8>, Field<"kernelW", 8>, Field<"strideH", 8>, Field<"strideW", 8>]>,
         Packed<"border", [Field<"dilationH", 8>, Field<"dilationW", 8>, Field<"padLeft", 8>, Field<"padRight", 8>]>), CubeTypes>, Priced<RateToL0A>, Touches<[AccWholeGroups, AccImage]> {
  let summary = "dst[i, j] = the image element at output pixel posM + i, kernel position and channel posK + j; 0 outside the image";
  let description = "src is a slab [C1][height * width][C0]: an NZ tile of height * width rows. m = posM + i gives (oh, ow), ow fastest, with "
                    "OW = (width + padLeft + padRight - dilationW * (kernelW - 1) - 1) / strideW + 1 and OH alike. k = posK + j gives "
                    "c1 = k / (C0 * kernelH * kernelW), (kh, kw) = (k / C0) mod (kernelH * kernelW) row-major, c0 = k mod C0. The pixel is "
                    "h = oh * strideH + kh * dilationH - padTop, w alike with padLeft. Channels c1 * C0 + c0 >= channels read as 0.";
}

// --- fills of L1 ---------------------------------------------------------------

def TEXPANDS_L1 : Insn<0x50, "texpands_l1", PIPE_MTE2, (ops TileOut<"dst", [L1], [ND, NZ, ZN]>, Scalar<"scalar">), MovableTypes>, Priced<RateFillL1> {
  let summary = "dst[i, j] = scalar, in L1";
}
def TFILLPAD_L1 : Insn<0x51, "tfillpad_l1", PIPE_MTE2, (ops TileOut<"dst", [L1], [NZ]>, TileIn<"src", [L1], [NZ]>), MovableTypes>, Priced<RateFillL1>, Touches<[AccBox, AccValid]> {
  let summary = "dst[i, j] = src[i, j] in the valid region of src, 0 in the rest of the box of dst";
}

// --- parts of tiles in UB --------------------------------------------------------

def PartTypes : SameType<[F32, F16, BF16, I8, U8, I16, U16, I32, U32], [F8E4M3FN, F8E5M2, HIF8]>;
def TEXTRACT_UB : Insn<0x52, "textract_ub", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, Int<"row">, Int<"col">), PartTypes>, Touches<[AccValid, AccDstWindow]> {
  let summary = "dst[i, j] = src[row + i, col + j], in UB";
}
def TINSERT_UB : Insn<0x53, "tinsert_ub", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, Int<"row">, Int<"col">), PartTypes>, Touches<[AccSrcWindow, AccValid]> {
  let summary = "dst[row + i, col + j] = src[i, j] for the valid region of src, in UB";
}

// --- between the cores of a block ------------------------------------------------------

// Both vector cores hold the tile at the same address. halfRows, halfCols: each gets one half of src's valid rows or columns.
def TargetCores : Enum<"TargetCores", ["first", "second", "halfRows", "halfCols"]>;
def ToCores : Packed<"attrs", [Field<"relu", 8, Relu>, Field<"cores", 8, TargetCores>]>;
def TMOV_ACC_UB : Insn<0x58, "tmov_acc_ub", PIPE_FIX, (ops TileOut<"dst", [UB], [ND, DN, NZ]>, TileIn<"src", [L0C], [NZ16]>, ToCores),
    Types<[[F32, F32], [F16, F32], [BF16, F32], [I32, I32], [F32, I32], [F16, I32], [BF16, I32], [I32, F32]]>>, Priced<RateFromL0C>, Touches<[AccVectorCores, AccValid]> {
  let summary = "dst[i, j] = cast(relu(src[i, j])), from L0C to the UB of the block's vector cores";
  let description = "`cores` selects one of the two, or splits src: the first half of its valid rows (columns) to the first core, the rest to the second. "
                    "dst describes the tile of each core.";
}
def TMOV_ACC_UB_QUANT : Insn<0x59, "tmov_acc_ub_quant", PIPE_FIX,
    (ops TileOut<"dst", [UB], [ND, DN, NZ]>, TileIn<"src", [L0C], [NZ16]>, Int<"descriptorLow">, Int<"descriptorHigh">, ToCores), QuantMoveTypes>, Priced<RateFromL0C>, Touches<[AccVectorCores, AccValid]> {
  let summary = "dst[i, j] = cast(relu(quantise(src[i, j]))), from L0C to the UB of the block's vector cores";
  let description = "As tmov_acc_ub and tmov_acc_quant.";
}
def TMOV_ACC_UB_QUANTV : Insn<0x5a, "tmov_acc_ub_quantv", PIPE_FIX,
    (ops TileOut<"dst", [UB], [ND, DN, NZ]>, TileIn<"src", [L0C], [NZ16]>, TileIn<"scales", [FB], [ND], [U64, I64]>, ToCores), QuantMoveTypes>, Priced<RateFromL0C>, Touches<[AccVectorCores, AccValid, AccSrcColStatistic]> {
  let summary = "dst[i, j] = cast(relu(quantise(src[i, j]))) with a descriptor per column j, from L0C to the UB of the block's vector cores";
  let description = "As tmov_acc_ub and tmov_acc_quantv.";
}
def TINSERT_L1 : Insn<0x5b, "tinsert_l1", PIPE_MTE3,
    (ops TileOut<"dst", [L1], [ND, NZ, ZN]>, TileIn<"src", [UB], [ND, DN, NZ, ZN]>, Int<"row">, Int<"col">, Int<"srcRow">, Int<"srcCol">,
         Int<"rows">, Int<"cols">), MovableTypes>, Priced<RateToL1>, Touches<[AccPeerPart, AccSrcPart]> {
  let summary = "dst[row + i, col + j] = src[srcRow + i, srcCol + j] for i < rows, j < cols, from UB to the L1 of the block's cube core";
}

// --- scales of MX operands ---------------------------------------------------------

def ScaleTypes : SameType<[], [F8E8M0]>;
def TEXTRACT_SA : Insn<0x54, "textract_sa", PIPE_MTE1, (ops TileOut<"dst", [SA], [ZZ]>, TileIn<"src", [L1], [ND, DN, NZ, ZN, ZZ, NN]>, Int<"row">, Int<"col">),
    ScaleTypes>, Priced<RateToL0B>, Touches<[AccValid, AccDstWindow]> {
  let summary = "dst[i, j] = src[row + i, col + j], scales of the left operand: one per row and group of 32 columns";
}
def TEXTRACT_SB : Insn<0x55, "textract_sb", PIPE_MTE1, (ops TileOut<"dst", [SB], [NN]>, TileIn<"src", [L1], [ND, DN, NZ, ZN, ZZ, NN]>, Int<"row">, Int<"col">),
    ScaleTypes>, Priced<RateToL0B>, Touches<[AccValid, AccDstWindow]> {
  let summary = "dst[i, j] = src[row + i, col + j], scales of the right operand: one per group of 32 rows and column";
}

// --- gather and scatter of global memory ---------------------------------------------

def IndexUnit : Enum<"IndexUnit", ["element", "row"]>;
def GatherBounds : Enum<"GatherBounds", ["undefined", "clamp", "wrap", "zero"]>;
def MGATHER : Insn<0x56, "mgather", PIPE_MTE2,
    (ops TileOut<"dst", [UB]>, ViewIn<"src">, TileIn<"indices", [UB], [ND, DN], [I32, U32]>,
         Packed<"attrs", [Field<"unit", 8, IndexUnit>, Field<"bounds", 8, GatherBounds>]>), MovableTypes>, Priced<RateGlobal>, Touches<[AccValid, AccUnknown, AccValid]> {
  let summary = "dst[i, j] = element number indices[i, j] of src; by rows: src[indices[i], j]";
  let description = "By element, an index is an element offset from the base of src, regardless of strides; by rows, the i-th index of the tile selects a row. "
                    "Indices are unsigned. Out of bounds: clamp takes the last element or row, wrap the remainder, zero gives 0, undefined is a fault.";
}
// Into L1, on the cube core: indices come from global memory, since no engine of that core reads local tiles as numbers.
class Indexed<list<ElementType> types> {
  list<list<ElementType>> combinations = !listconcat(!foreach(t, types, [t, t, I32]), !foreach(t, types, [t, t, U32]));
}
def MGATHER_L1 : Insn<0x5c, "mgather_l1", PIPE_MTE2,
    (ops TileOut<"dst", [L1], [NZ]>, ViewIn<"src">, ViewIn<"indices">, Packed<"attrs", [Field<"unit", 8, IndexUnit>, Field<"bounds", 8, GatherBounds>]>),
    Types<Indexed<[F32, F16, BF16, I8, U8, I16, U16, I32, U32]>.combinations, Indexed<[F8E4M3FN, F8E5M2, HIF8]>.combinations>>, Priced<RateGlobal>, Touches<[AccWholeGroups, AccUnknown, AccTileIndices]> {
  let summary = "dst[i, j] = element number indices[i, j] of src; by rows: src[indices[i], j]";
  let description = "As mgather. The rest of the last C0 group of columns of each valid row is zero-filled, as by tload.";
}
def ScatterBounds : Enum<"ScatterBounds", ["undefined", "skip", "clamp", "wrap"]>;
def ScatterOp : Enum<"ScatterOp", ["none", "add", "max", "min"]>;
def MSCATTER : Insn<0x57, "mscatter", PIPE_MTE3,
    (ops ViewOut<"dst">, TileIn<"src", [UB]>, TileIn<"indices", [UB], [ND, DN], [I32, U32]>,
         Packed<"attrs", [Field<"unit", 8, IndexUnit>, Field<"bounds", 8, ScatterBounds>, Field<"atomic", 8, ScatterOp>]>), MovableTypes>, Priced<RateGlobal>, Touches<[AccWholeView, AccValid, AccValid]> {
  let summary = "element number indices[i, j] of dst = src[i, j]; by rows: dst[indices[i], j] = src[i, j]";
  let description = "As mgather. With `atomic` the element becomes the sum, maximum or minimum of both. Elements are written in row-major order, so the last one remains.";
}

#endif
