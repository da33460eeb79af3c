//===- Elementwise.td - Tile-tile, unary and tile-scalar -------------------===//

#ifndef PTO_MLIR_ISA_ELEMENTWISE
#define PTO_MLIR_ISA_ELEMENTWISE

include "pto_mlir/ISA/Costs.td"
include "pto_mlir/ISA/ISABase.td"
include "pto_mlir/ISA/Scalar.td"
include "pto_mlir/ISA/DataMovement.td"

def StdTypes : SameType<[F16, F32, I16, I32], [U8, I8, U16, U32, BF16, I64, U64]>;
def MulTypes : SameType<[F16, F32, I16, I32], [U16, U32, BF16, I64, U64]>;
def DivTypes : SameType<[F16, F32], [I16, U16, I32, U32, I64, U64]>;
def FloatTypes : SameType<[F16, F32]>;
def NegTypes : SameType<[F16, F32, I16, I32], [BF16, I8, I64]>;
def ReluTypes : SameType<[F16, F32, I32]>;
def BitTypes : SameType<[I8, U8, I16, U16, I32, U32], [I64, U64]>;

// --- two tiles ---------------------------------------------------------------

class BinaryTile<int op, string m, string expr, Types t>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>), t, ShapeSame> {
  let summary = "dst[i, j] = " # expr;
}
def TADD : BinaryTile<0x80, "tadd", "src0[i, j] + src1[i, j]", StdTypes>, Priced<RateAdd, CurveAdd>;
def TSUB : BinaryTile<0x81, "tsub", "src0[i, j] - src1[i, j]", StdTypes>, Priced<RateAdd, CurveAdd>;
def TMUL : BinaryTile<0x82, "tmul", "src0[i, j] * src1[i, j]", MulTypes>, Priced<RateMul, CurveMul>;
def TDIV : BinaryTile<0x83, "tdiv", "src0[i, j] / src1[i, j]", DivTypes>, Priced<RateDiv, CurveDiv> {
  let description = "Integers round toward 0; a divisor of 0 is a fault.";
}
def TMAX : BinaryTile<0x84, "tmax", "max(src0[i, j], src1[i, j])", StdTypes>, Priced<RateAdd, CurveAdd>;
def TMIN : BinaryTile<0x85, "tmin", "min(src0[i, j], src1[i, j])", StdTypes>, Priced<RateAdd, CurveAdd>;
def TAND : BinaryTile<0x86, "tand", "src0[i, j] & src1[i, j]", BitTypes>, Priced<RateAnd, CurveAdd>;
def TOR : BinaryTile<0x87, "tor", "src0[i, j] | src1[i, j]", BitTypes>, Priced<RateAnd, CurveAdd>;

def TXOR : BinaryTile<0x89, "txor", "src0[i, j] ^ src1[i, j]", BitTypes>, Priced<RateXor, CurveAdd>;
def TSHL : BinaryTile<0x8a, "tshl", "src0[i, j] << src1[i, j]", BitTypes> {
  let description = "A negative count, or one of at least the element's width, shifts everything out.";
}
def TSHR : BinaryTile<0x8b, "tshr", "src0[i, j] >> src1[i, j], arithmetic where signed", BitTypes> {
  let description = TSHL.description;
}
def TPRELU : BinaryTile<0x8c, "tprelu", "src0[i, j] > 0 ? src0[i, j] : src0[i, j] * src1[i, j]", FloatTypes>, Priced<RateMul, CurveMul>;
def RemTypes : SameType<[F32, I32], [F16, I16, U16, U32]>;
def FmodTypes : SameType<[F32, F16, I16, I32], [U16, U32]>;
def PowTypes : SameType<[F32, I8, U8, I16, U16, I32, U32], [F16, BF16]>;
def TREM : BinaryTile<0x8d, "trem", "src0[i, j] - floor(src0[i, j] / src1[i, j]) * src1[i, j]", RemTypes>, Priced<RateRem> {
  let description = "Has the sign of src1. An integer divisor of 0 is a fault.";
}
def TFMOD : BinaryTile<0x8e, "tfmod", "src0[i, j] - trunc(src0[i, j] / src1[i, j]) * src1[i, j]", FmodTypes>, Priced<RateRem> {
  let description = "Has the sign of src0. An integer divisor of 0 is a fault.";
}
def TPOW : BinaryTile<0x8f, "tpow", "src0[i, j] to the power of src1[i, j]", PowTypes>, Priced<RatePow> {
  let description = "Integers wrap; a negative exponent gives 0, except for bases 1 and -1.";
}

def TMULADDDST : Insn<0x88, "tmuladddst", PIPE_V, (ops TileInOut<"dst", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>), FloatTypes, ShapeSame>, Priced<RateMul, CurveMul> {
  let summary = "dst[i, j] = src0[i, j] * src1[i, j] + dst[i, j]";
  let description = "Product and sum are rounded separately.";
}

class FusedTile<int op, string m, string expr>
    : Insn<op, m, PIPE_V, (ops TileInOut<"dst", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>), FloatTypes, ShapeSame>, Priced<RateMul, CurveMul> {
  let summary = "dst[i, j] = " # expr;
  let description = "Product and sum are rounded separately.";
}
def TFUSEDMULADD : FusedTile<0x70, "tfusedmuladd", "src0[i, j] * dst[i, j] + src1[i, j]">;
def TFUSEDMULADDRELU : FusedTile<0x71, "tfusedmuladdrelu", "max(src0[i, j] * dst[i, j] + src1[i, j], 0)">;
def TSUBRELU : BinaryTile<0x72, "tsubrelu", "max(src0[i, j] - src1[i, j], 0)", FloatTypes>, Priced<RateAdd, CurveAdd>;
def TAXPY : Insn<0x73, "taxpy", PIPE_V, (ops TileInOut<"dst", [UB]>, TileIn<"src", [UB]>, Scalar<"scalar">),
    Types<[[F16, F16], [F32, F32], [F32, F16]], [[BF16, BF16]]>, ShapeSame>, Priced<RateDefault, CurveScalar> {
  let summary = "dst[i, j] = dst[i, j] + src[i, j] * scalar";
  let description = "The product is rounded to dst's type, then the sum.";
}
class PartTile<int op, string m, string expr>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>), StdTypes>, Priced<RateAdd> {
  let summary = "dst[i, j] = " # expr # " where both sources have an element, else the element of the one that has";
  let description = "0 where neither source has an element.";
}
def TPARTADD : PartTile<0x74, "tpartadd", "src0[i, j] + src1[i, j]">;
def TPARTMUL : PartTile<0x75, "tpartmul", "src0[i, j] * src1[i, j]"> {
  let cost = RateMul;
}
def TPARTMAX : PartTile<0x76, "tpartmax", "max(src0[i, j], src1[i, j])">;
def TPARTMIN : PartTile<0x77, "tpartmin", "min(src0[i, j], src1[i, j])">;

def TADDDEQRELU : Insn<0x78, "tadddeqrelu", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>, Scalar<"scale">),
    Types<[[F16, I32, I32]]>, ShapeSame> {
  let summary = "dst[i, j] = max(cast(scale * f32(src0[i, j] + src1[i, j])), 0)";
  let description = "The sum wraps; scale is an f32.";
}
class ReluConvert<int op, string m, string expr>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>),
           Types<[[F16, F32, F32], [I8, F16, F16], [I8, I16, I16]]>, ShapeSame> {
  let summary = "dst[i, j] = cast(max(" # expr # ", 0))";
  let description = "The sum or difference is rounded to the type of the sources; i8 rounds to nearest even and saturates at 127.";
}
def TADDRELUCONV : ReluConvert<0x79, "taddreluconv", "src0[i, j] + src1[i, j]">;
def TSUBRELUCONV : ReluConvert<0x7a, "tsubreluconv", "src0[i, j] - src1[i, j]">;
class PartArg<int op, string m, string relation>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB]>, TileOut<"dstIndices", [UB], [ND], [I32, U32]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>,
                               TileIn<"indices0", [UB], [ND], [I32, U32]>, TileIn<"indices1", [UB], [ND], [I32, U32]>), FloatTypes> {
  let summary = "dst[i, j] = src0[i, j] where it is " # relation # " src1[i, j], else src1[i, j]; dstIndices likewise; where only one source has an element, that one";
  let description = "0 where neither source has an element. Indices have the valid shape of their values.";
}
def TPARTARGMAX : PartArg<0x7b, "tpartargmax", "greater than">;
def TPARTARGMIN : PartArg<0x7c, "tpartargmin", "less than">;

// --- one tile ----------------------------------------------------------------

class UnaryTile<int op, string m, string expr, Types t>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>), t, ShapeSame> {
  let summary = "dst[i, j] = " # expr;
}
def TABS : UnaryTile<0x90, "tabs", "|src[i, j]|", SameType<[F16, F32], [I8, I16, I32, I64]>>, Priced<RateAbs, CurveUnary>;
def TEXP : UnaryTile<0x91, "texp", "exp(src[i, j])", FloatTypes>, Priced<RateExp, CurveExp>;
def TLOG : UnaryTile<0x92, "tlog", "log(src[i, j])", FloatTypes>, Priced<RateLog, CurveExp>;
def TSQRT : UnaryTile<0x93, "tsqrt", "sqrt(src[i, j])", FloatTypes>, Priced<RateSqrt, CurveSqrt>;
def TRSQRT : UnaryTile<0x94, "trsqrt", "1 / sqrt(src[i, j])", FloatTypes>, Priced<RateRsqrt, CurveRsqrt>;
def TRECIP : UnaryTile<0x95, "trecip", "1 / src[i, j], integers toward 0", SameType<[F16, F32], [], [I16, I32]>>, Priced<RateDivs, CurveDiv>;
def TNEG : UnaryTile<0x96, "tneg", "-src[i, j]", NegTypes>, Priced<RateMuls, CurveUnary>;
def TRELU : UnaryTile<0x97, "trelu", "max(src[i, j], 0), NaN and -0 kept", ReluTypes>, Priced<RateMaxs, CurveUnary>;
def TNOT : UnaryTile<0x98, "tnot", "~src[i, j]", BitTypes>, Priced<RateNot, CurveUnary>;

// --- tile and scalar ----------------------------------------------------------

class ScalarTile<int op, string m, string expr, Types t>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, Scalar<"scalar">), t, ShapeSame> {
  let summary = "dst[i, j] = " # expr;
}
def TADDS : ScalarTile<0xa0, "tadds", "src[i, j] + scalar", StdTypes>, Priced<RateAdds, CurveScalar>;
def TSUBS : ScalarTile<0xa1, "tsubs", "src[i, j] - scalar", StdTypes>, Priced<RateAdds, CurveScalar>;
def TMULS : ScalarTile<0xa2, "tmuls", "src[i, j] * scalar", StdTypes>, Priced<RateMuls, CurveScalar>;
def DivsTypes : SameType<[F16, F32, I16, I32], [I8, U8, U16, U32, I64, U64]>;
def TDIVS : ScalarTile<0xa3, "tdivs", "src[i, j] / scalar", DivsTypes>, Priced<RateDivs, CurveDiv> {
  let description = "Integers round toward 0; a divisor of 0 is a fault.";
}
def TDIVS_REV : ScalarTile<0xa4, "tdivs_rev", "scalar / src[i, j]", DivsTypes>, Priced<RateDivs, CurveDiv> {
  let description = TDIVS.description;
}
def TMAXS : ScalarTile<0xa5, "tmaxs", "max(src[i, j], scalar)", StdTypes>, Priced<RateMaxs, CurveScalar>;
def TMINS : ScalarTile<0xa6, "tmins", "min(src[i, j], scalar)", StdTypes>, Priced<RateMins, CurveScalar>;
def TLRELU : ScalarTile<0xa7, "tlrelu", "src[i, j] > 0 ? src[i, j] : src[i, j] * scalar", FloatTypes>, Priced<RateMuls, CurveScalar>;
def TEXPANDS : Insn<0xa8, "texpands", PIPE_V, (ops TileOut<"dst", [UB], [ND, DN]>, Scalar<"scalar">), MovableTypes>, Priced<RateCopy, CurveUnary> {
  let summary = "dst[i, j] = scalar";
}

def TANDS : ScalarTile<0xa9, "tands", "src[i, j] & scalar", BitTypes>, Priced<RateNot, CurveScalar>;
def TORS : ScalarTile<0xaa, "tors", "src[i, j] | scalar", BitTypes>, Priced<RateNot, CurveScalar>;
def TXORS : ScalarTile<0xab, "txors", "src[i, j] ^ scalar", BitTypes>, Priced<RateXor, CurveScalar>;
def TSHLS : ScalarTile<0xac, "tshls", "src[i, j] << scalar", BitTypes>;
def TSHRS : ScalarTile<0xad, "tshrs", "src[i, j] >> scalar, arithmetic where signed", BitTypes>;
def TREMS : ScalarTile<0xae, "trems", "src[i, j] - floor(src[i, j] / scalar) * scalar", RemTypes>, Priced<RateRem> {
  let description = "Has the sign of the scalar. An integer scalar of 0 is a fault.";
}
def TFMODS : ScalarTile<0xaf, "tfmods", "src[i, j] - trunc(src[i, j] / scalar) * scalar", FmodTypes>, Priced<RateRem> {
  let description = "Has the sign of src. An integer scalar of 0 is a fault.";
}
def TPOWS : ScalarTile<0xb8, "tpows", "src[i, j] to the power of scalar", PowTypes>, Priced<RatePow>;

def OnOff : Enum<"Switch", ["off", "on"]>;
def TCI : Insn<0xb9, "tci", PIPE_V, (ops TileOut<"dst", [UB]>, Int<"start">, Attr<"descending", OnOff>), SameType<[I16, U16, I32, U32]>> {
  let summary = "dst[0, j] = start + j, or start - j when descending";
}
def TriangleHalf : Enum<"Triangle", ["lower", "upper"]>;
def TTRI : Insn<0xba, "ttri", PIPE_V, (ops TileOut<"dst", [UB]>, Int<"diagonal">, Attr<"half", TriangleHalf>),
    SameType<[F16, F32, I16, I32, U16, U32], [BF16, I8, U8]>> {
  let summary = "dst[i, j] = (lower: j <= i + diagonal; upper: j >= i + diagonal) ? 1 : 0";
}

def TRANDOM : Insn<0xbb, "trandom", PIPE_V,
    (ops TileOut<"dst", [UB]>, Int<"key0">, Int<"key1">, Int<"counter0">, Int<"counter1">, Int<"counter2">, Int<"counter3">, Number<"rounds">),
    SameType<[], [I32, U32]>> {
  let summary = "dst = random words of Philox4x32 with 7 or 10 rounds";
  let description = "Every 256 columns of a row hold 64 blocks of four words: word w of the block with counter + l is in column w * 64 + l. After each row the "
                    "128-bit counter advances by a quarter of dst's columns.";
}

// --- compare, select ----------------------------------------------------------
// Masks are packed: bit j of row r is bit j mod W of mask element (r, j / W), least significant first; W is the width of an element.

def CmpTypes : SameType<[F16, F32, I32], [I8, U8, I16, U16, U32, BF16, I64, U64]>;
def TCMP : Insn<0xb0, "tcmp", PIPE_V,
    (ops TileOut<"dst", [UB], [ND], [U8, I8, U32]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>, Attr<"mode", Compare>), CmpTypes>, Priced<RateCompare, CurveSelect>, Touches<[AccMaskOfSrc, AccSrcLane, AccSrcLane]> {
  let summary = "bit j of row i of dst = src0[i, j] mode src1[i, j]";
  let description = "Unused bits of the last mask element of a row become 0.";
}
def TCMPS : Insn<0xb1, "tcmps", PIPE_V,
    (ops TileOut<"dst", [UB], [ND], [U8, I8, U32]>, TileIn<"src", [UB]>, Scalar<"scalar">, Attr<"mode", Compare>),
    SameType<[F16, F32, I32, I16, U16], [I8, U8, U32, BF16, I64, U64]>>, Priced<RateCompare, CurveSelect>, Touches<[AccMaskOfSrc, AccSrcLane]> {
  let summary = "bit j of row i of dst = src[i, j] mode scalar";
}
def SelTypes : SameType<[F16, F32, BF16, I8, U8, I16, U16, I32, U32]>;
def TSEL : Insn<0xb2, "tsel", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"mask", [UB], [ND], [U8, I8, U32]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>), SelTypes>, Priced<RateSelect, CurveSelect>, Touches<[AccValid, AccMaskOfDst, AccLane, AccLane]> {
  let summary = "dst[i, j] = bit j of row i of mask ? src0[i, j] : src1[i, j]";
}
def TSELS : Insn<0xb3, "tsels", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"mask", [UB], [ND], [U8, I8, U16, I16, U32, I32]>, TileIn<"src", [UB]>, Scalar<"scalar">), SelTypes>, Priced<RateSelect, CurveSelect>, Touches<[AccValid, AccMaskOfDst, AccLane]> {
  let summary = "dst[i, j] = bit j of row i of mask ? src[i, j] : scalar";
}

#endif
