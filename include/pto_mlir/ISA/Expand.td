//===- Expand.td - Operands broadcast along rows or columns ----------------===//

#ifndef PTO_MLIR_ISA_EXPAND
#define PTO_MLIR_ISA_EXPAND

include "pto_mlir/ISA/Costs.td"
include "pto_mlir/ISA/ISABase.td"
include "pto_mlir/ISA/Elementwise.td"

def ExpandTypes : SameType<[F16, F32, I16, I32], [I8, U8, U16, U32, BF16, I64, U64]>;

def CopyExpandTypes : SameType<[F16, F32, BF16, I8, U8, I16, U16, I32, U32], [I64, U64]>;

// The broadcast operand holds one value per row: a DN tile with one valid column, or an ND tile whose rows hold a 32-byte block of copies. Where the block's
// values differ, an instruction with two operands repeats it along the row; TROWEXPAND takes the first one.
def TROWEXPAND : Insn<0xd0, "trowexpand", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB], [DN, ND]>), CopyExpandTypes, ShapeRowExpand>, Priced<RateRowexpand> {
  let summary = "dst[i, j] = src[i, 0]";
}
class RowExpand<int op, string m, string expr, Types t = ExpandTypes>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB], [DN, ND]>), t, ShapeRowExpand> {
  let summary = "dst[i, j] = " # expr;
}
def TROWEXPANDADD : RowExpand<0xd1, "trowexpandadd", "src0[i, j] + src1[i, 0]">, Priced<RateRowExpandAdd, CurveAdd>;
def TROWEXPANDSUB : RowExpand<0xd2, "trowexpandsub", "src0[i, j] - src1[i, 0]">, Priced<RateRowExpandAdd, CurveAdd>;
def TROWEXPANDMUL : RowExpand<0xd3, "trowexpandmul", "src0[i, j] * src1[i, 0]">, Priced<RateRowExpandMul, CurveMul>;
def TROWEXPANDDIV : RowExpand<0xd4, "trowexpanddiv", "src0[i, j] / src1[i, 0]", FloatTypes>, Priced<RateRowExpandDiv, CurveDiv>;
def TROWEXPANDMAX : RowExpand<0xd5, "trowexpandmax", "max(src0[i, j], src1[i, 0])">, Priced<RateRowExpandAdd, CurveAdd>;
def TROWEXPANDMIN : RowExpand<0xd6, "trowexpandmin", "min(src0[i, j], src1[i, 0])">, Priced<RateRowExpandAdd, CurveAdd>;
def TROWEXPANDEXPDIF : RowExpand<0xd7, "trowexpandexpdif", "exp(src0[i, j] - src1[i, 0])", FloatTypes>, Priced<RateRowExpandExpdif>;

def TCOLEXPAND : Insn<0xe0, "tcolexpand", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>), CopyExpandTypes, ShapeColExpand>, Priced<RateCopy, CurveUnary> {
  let summary = "dst[i, j] = src[0, j]";
}
class ColExpand<int op, string m, string expr, Types t = ExpandTypes>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>), t, ShapeColExpand> {
  let summary = "dst[i, j] = " # expr;
}
def TCOLEXPANDADD : ColExpand<0xe1, "tcolexpandadd", "src0[i, j] + src1[0, j]">, Priced<RateAdd, CurveAdd>;
def TCOLEXPANDSUB : ColExpand<0xe2, "tcolexpandsub", "src0[i, j] - src1[0, j]">, Priced<RateAdd, CurveAdd>;
def TCOLEXPANDMUL : ColExpand<0xe3, "tcolexpandmul", "src0[i, j] * src1[0, j]">, Priced<RateMul, CurveMul>;
def TCOLEXPANDDIV : ColExpand<0xe4, "tcolexpanddiv", "src0[i, j] / src1[0, j]", FloatTypes>, Priced<RateDiv, CurveDiv>;
def TCOLEXPANDMAX : ColExpand<0xe5, "tcolexpandmax", "max(src0[i, j], src1[0, j])">, Priced<RateAdd, CurveAdd>;
def TCOLEXPANDMIN : ColExpand<0xe6, "tcolexpandmin", "min(src0[i, j], src1[0, j])">, Priced<RateAdd, CurveAdd>;
def TCOLEXPANDEXPDIF : ColExpand<0xe7, "tcolexpandexpdif", "exp(src0[i, j] - src1[0, j])", FloatTypes>, Priced<RateColExpandExpdif>;

#endif
