//===- Convert.td - Conversion, transposition, padding ---------------------===//

#ifndef PTO_MLIR_ISA_CONVERT
#define PTO_MLIR_ISA_CONVERT

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
           [F32, I64], [I32, I64], [F16, U8], [F16, I8]],
          [[F8E4M3FN, F32], [F8E5M2, F32], [HIF8, F32], [HIF8, F16], [F16, BF16], [F4E1M2, BF16], [F4E2M1, BF16],
           [U8, I16], [U32, I16], [I32, I16], [U16, I32], [U8, I32], [U16, U8], [I16, I8], [I32, I8],
           [U8, U32], [U16, U32], [I16, U32], [F32, F8E4M3FN], [F32, F8E5M2], [F32, HIF8], [BF16, F4E1M2], [BF16, F4E2M1]]>, ShapeSame> {
  let summary = "dst[i, j] = convert(src[i, j])";
  let description = "`rounding` rules float to integer; float to float always rounds to nearest even. With `saturate` the source is clamped to the "
                    "finite range of dst first.";
}
def TransTypes : SameType<[F32, F16, BF16, I8, U8, I16, U16, I32, U32]>;
def TTRANS : Insn<0xf1, "ttrans", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>), TransTypes, ShapeTranspose> {
  let summary = "dst[j, i] = src[i, j]";
}
def TFILLPAD : Insn<0xf2, "tfillpad", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>), TransTypes> {
  let summary = "dst[i, j] = src[i, j] in the valid region of src, dst's pad value in the rest of the box of dst";
}

// --- to and from 8 bits ------------------------------------------------------

def TQUANT : Insn<0xf3, "tquant", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, TileIn<"multipliers", [UB], [DN, ND], [F32]>, Int<"zeroPoint">), Types<[[I8, F32], [U8, F32]]>> {
  let summary = "dst[i, j] = clamp(round(src[i, j] * multipliers[i, 0] + zeroPoint))";
  let description = "Rounds to nearest even. Rows behind the last multiplier use that one.";
}
def TDEQUANT : Insn<0xf4, "tdequant", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, TileIn<"scales", [UB], [ND], [F32]>, TileIn<"offsets", [UB], [ND], [F32]>),
    Types<[[F32, I8], [F32, I16]]>> {
  let summary = "dst[i, j] = (src[i, j] - offsets[i, j']) * scales[i, j'], j' cut to the last column that they have";
}

#endif
