//===- Convert.td - Conversion, transposition, padding ---------------------===//

#ifndef PTO_MLIR_ISA_CONVERT
#define PTO_MLIR_ISA_CONVERT

include "pto_mlir/ISA/Costs.td"
include "pto_mlir/ISA/ISABase.td"
include "pto_mlir/ISA/DataMovement.td"
include "pto_mlir/ISA/Elementwise.td"

def Rounding : Enum<"RoundMode", ["none", "rint", "round", "floor", "ceil", "trunc", "odd"]>;

// (dst, src)
def TCVT : Insn<0xf0, "tcvt", PIPE_V,
    (ops TileOut<"dst", [UB], [ND, DN]>, TileIn<"src", [UB], [ND, DN]>, Packed<"attrs", [Field<"rounding", 8, Rounding>, Field<"saturate", 8, OnOff>]>),
    Types<[[F16, F32], [F32, F32], [BF16, F32], [I16, F32], [I32, F32], [I64, F32],
           [F32, F16], [I32, F16], [I16, F16], [I8, F16], [U8, F16],
           [F32, BF16], [I32, BF16],
           [F16, I16], [F32, I16], [F32, I32], [I16, I32], [I64, I32], [F16, I32],
           [F32, I64], [I32, I64], [F16, U8], [F16, I8], [I4, F16], [F16, I4]],
          [[F8E4M3FN, F32], [F8E5M2, F32], [HIF8, F32], [HIF8, F16], [F16, BF16], [F4E1M2, BF16], [F4E2M1, BF16],
           [U8, I16], [U32, I16], [I32, I16], [U16, I32], [U8, I32], [U16, U8], [I16, I8], [I32, I8],
           [U8, U32], [U16, U32], [I16, U32], [F32, F8E4M3FN], [F32, F8E5M2], [F32, HIF8], [BF16, F4E1M2], [BF16, F4E2M1]]>, ShapeSame>, Priced<RateConvert, CurveConvert> {
  let summary = "dst[i, j] = convert(src[i, j])";
  let description = "`rounding` applies to float to integer, and to conversions to f32, f16 or bf16 that lose digits; `none` rounds toward 0 for "
                    "an integer, otherwise to nearest even. Conversions to f8 and f4 always round to nearest even, to hif8 to nearest, ties away from 0. With "
                    "`saturate` the source is clamped to the finite range of dst first, for 4-bit types always; without it overflow gives "
                    "an infinity of dst, for f8E4M3FN a NaN.";
}
def TransTypes : SameType<[F32, F16, BF16, I8, U8, I16, U16, I32, U32]>;
def TTRANS : Insn<0xf1, "ttrans", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>), TransTypes, ShapeTranspose> {
  let summary = "dst[j, i] = src[i, j]";
}
def TFILLPAD : Insn<0xf2, "tfillpad", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>), TransTypes>, Priced<RateCopy>, Touches<[AccBox, AccValid]> {
  let summary = "dst[i, j] = src[i, j] in the valid region of src, dst's pad value in the rest of the box of dst";
}

// --- quantisation ------------------------------------------------------------

def TQUANT : Insn<0xf3, "tquant", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, TileIn<"multipliers", [UB], [DN, ND], [F32]>, Int<"zeroPoint">), Types<[[I8, F32], [U8, F32]]>> {
  let summary = "dst[i, j] = clamp(round(src[i, j] * multipliers[i, 0] + zeroPoint))";
  let description = "Rounds to nearest even. Rows beyond the last multiplier use the last one.";
}
def TDEQUANT : Insn<0xf4, "tdequant", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, TileIn<"scales", [UB], [ND, DN], [F32]>, TileIn<"offsets", [UB], [ND, DN], [F32]>),
    Types<[[F32, I8], [F32, I16]]>> {
  let summary = "dst[i, j] = (src[i, j] - offsets[i, j']) * scales[i, j'], j' limited to their last column";
}

def TQUANT_ASYM : Insn<0xf5, "tquant_asym", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, TileIn<"multipliers", [UB], [DN, ND], [F32]>, TileIn<"offsets", [UB], [DN, ND], [F32]>),
    Types<[[U8, F32]]>> {
  let summary = "dst[i, j] = clamp(round(src[i, j] * multipliers[i, 0] + offsets[i, 0]))";
  let description = "Rounds to nearest even. Rows beyond the last multiplier or offset use the last one.";
}
def ScaleRule : Enum<"ScaleRule", ["ocp", "nv"]>;
def QuantMxTypes : Types<[], [[F8E4M3FN, F32], [F8E4M3FN, F16], [F8E4M3FN, BF16], [F4E2M1, F32], [F4E2M1, F16], [F4E2M1, BF16]]>;
def TQUANT_MX : Insn<0xf6, "tquant_mx", PIPE_V,
    (ops TileOut<"dst", [UB], [ND, DN]>, TileOut<"exponents", [UB], [ND, DN], [F8E8M0]>, TileOut<"most", [UB], [ND, DN], [F32]>,
         TileOut<"scaling", [UB], [ND, DN], [F32]>, TileIn<"src", [UB], [ND, DN]>, Attr<"rule", ScaleRule>), QuantMxTypes> {
  let summary = "dst[i, j] = cast(src[i, j] * scaling[i, j / 32]), scaling[i, g] = 2^(127 - exponents[i, g])";
  let description = "For a src in layout DN a group is 32 rows of a column: [i / 32, j] instead of [i, j / 32]. most[i, g] is the largest magnitude m of "
                    "the group. exponents[i, g]: with ocp, the exponent of m minus that of dst's largest number (8, for f4E2M1 2); with nv, the exponent of m / 448 (m / 6), "
                    "rounded up; at least 0, and 0xff for a NaN, whose scaling is NaN. For f4E2M1 with ocp, m is truncated to bf16 first. The cast rounds to nearest even and clamps.";
}
def TQUANT_MX_BOXED : Insn<0xfd, "tquant_mx_boxed", PIPE_V,
    (ops TileOut<"dst", [UB], [ND, DN]>, TileOut<"exponents", [UB], [ND, DN], [F8E8M0]>, TileOut<"boxed", [UB], [ZZ, NN], [F8E8M0]>,
         TileOut<"most", [UB], [ND, DN], [F32]>, TileOut<"scaling", [UB], [ND, DN], [F32]>, TileIn<"src", [UB], [ND, DN]>, Attr<"rule", ScaleRule>),
    QuantMxTypes> {
  let summary = "as tquant_mx; boxed[i, g] = exponents[i, g] in the boxes that products take";
}

// --- neighbours ---------------------------------------------------------------

def ConcatTypes : SameType<[F32, F16, BF16, I8, U8, I16, U16, I32, U32]>;
def TCONCAT : Insn<0xf7, "tconcat", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>), ConcatTypes> {
  let summary = "row i of dst = row i of src0, behind it row i of src1";
}
def TCONCAT_COUNTS : Insn<0xf8, "tconcat_counts", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>, TileIn<"bytes0", [UB], [ND, DN], [I8, U8, I16, U16, I32, U32]>,
         TileIn<"bytes1", [UB], [ND, DN], [I8, U8, I16, U16, I32, U32]>), ConcatTypes> {
  let summary = "row i of dst = the first bytes0[i, 0] / s elements of src0's row, behind them the first bytes1[i, 0] / s of src1's";
  let description = "s is the size of an element of bytes0. What is behind them in dst's row is left as it is.";
}
def PairTypes : SameType<[], [F32, F16, BF16, I8, U8, I16, U16, I32, U32, F8E4M3FN, F8E5M2, HIF8]>;
def TINTERLEAVE : Insn<0xf9, "tinterleave", PIPE_V,
    (ops TileOut<"dst0", [UB]>, TileOut<"dst1", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>), PairTypes, ShapeSame>, Touches<[AccValid, AccValid, AccValid, AccValid]> {
  let summary = "dst0 = the left halves of src0 and src1, element by element in turn; dst1 = the right halves";
  let description = "An even number of columns.";
}
def TDEINTERLEAVE : Insn<0xfa, "tdeinterleave", PIPE_V,
    (ops TileOut<"dst0", [UB]>, TileOut<"dst1", [UB]>, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>), PairTypes, ShapeSame>, Touches<[AccValid, AccValid, AccValid, AccValid]> {
  let summary = "dst0 = the even columns of src0, then those of src1; dst1 = the odd columns";
  let description = "An even number of columns.";
}
def TDEINTERLEAVE_ONE : Insn<0xfb, "tdeinterleave_one", PIPE_V, (ops TileOut<"dst0", [UB]>, TileOut<"dst1", [UB]>, TileIn<"src", [UB]>), PairTypes> {
  let summary = "dst0[i, j] = src[i, 2 j], dst1[i, j] = src[i, 2 j + 1]";
}
def TPACK : Insn<0xfc, "tpack", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>),
    Types<[], [[I16, I32], [U16, U32], [I8, I32], [U8, U32], [I8, I16], [U8, U16], [U16, I32], [U8, I32], [U8, I16]]>, ShapeSame> {
  let summary = "dst[i, j] = the low bits of src[i, j]";
}

#endif
