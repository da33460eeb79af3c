//===- DataMovement.td - Between global memory and tiles, and tile to tile -===//

#ifndef PTO_MLIR_ISA_DATAMOVEMENT
#define PTO_MLIR_ISA_DATAMOVEMENT

include "pto_mlir/ISA/ISABase.td"

def MovableTypes : SameType<[F32, F16, BF16, I8, U8, I16, U16, I32, U32, I64, U64], [F8E4M3FN, F8E5M2, HIF8]>;

def TLOAD : Insn<0x40, "tload", PIPE_MTE2,
    (ops TileOut<"dst", [UB, L1], [ND, DN, NZ, ZN]>, ViewIn<"src">, Attr<"space", MemoryEnum>), MovableTypes> {
  let summary = "dst[i, j] = src[i, j] for the valid region of dst";
  let description = "Layout pairs (view, tile): ND-ND, DN-DN, DN-ND, ND-DN, NZ-NZ; to L1 also ND-NZ and DN-ZN. Into a boxed tile the rest of the last C0 "
                    "group of columns (NZ) or rows (ZN) of each valid row or column is filled with zeros.";
}
def Atomic : Enum<"AtomicMode", ["none", "add"]>;
def TSTORE : Insn<0x41, "tstore", PIPE_MTE3,
    (ops ViewOut<"dst">, TileIn<"src", [UB, L1], [ND, DN, NZ, ZN]>, Packed<"attrs", [Field<"atomic", 8, Atomic>, Field<"space", 8, MemoryEnum>]>),
    MovableTypes> {
  let summary = "dst[i, j] = src[i, j] for the valid region of src";
}
def Relu : Enum<"ReluMode", ["none", "relu"]>;
def TSTORE_ACC : Insn<0x42, "tstore_acc", PIPE_FIX,
    (ops ViewOut<"dst">, TileIn<"src", [L0C], [NZ16]>, Packed<"attrs", [Field<"relu", 8, Relu>, Field<"atomic", 8, Atomic>]>),
    Types<[[F32, F32], [F16, F32], [BF16, F32], [I32, I32]]>> {
  let summary = "dst[i, j] = cast(relu(src[i, j])) for the valid region of src";
}
// (dst, src)
def QuantTypes : Types<[[I8, F32], [U8, F32], [I8, I32], [U8, I32], [F16, I32]]>;
def TSTORE_ACC_QUANT : Insn<0x4a, "tstore_acc_quant", PIPE_FIX,
    (ops ViewOut<"dst">, TileIn<"src", [L0C], [NZ16]>, Wide<"descriptor">, Attr<"relu", Relu>), QuantTypes> {
  let summary = "dst[i, j] = cast(relu(src[i, j] * scale + offset))";
  let description = "The descriptor holds the f32 scale in bits 0-31, the signed offset in bits 37-45. Integers are rounded to nearest even and "
                    "clamped, f16 is clamped to its finite range.";
}
def TSTORE_ACC_QUANTV : Insn<0x4b, "tstore_acc_quantv", PIPE_FIX,
    (ops ViewOut<"dst">, TileIn<"src", [L0C], [NZ16]>, TileIn<"scales", [FB], [ND], [U64, I64]>, Attr<"relu", Relu>), QuantTypes> {
  let summary = "dst[i, j] = cast(relu(src[i, j] * scale[j] + offset[j]))";
  let description = "A descriptor per column, as in tstore_acc_quant; of the scale bits 13-31 count.";
}
def TMOV : Insn<0x43, "tmov", PIPE_V, (ops TileOut<"dst", [UB], [ND, DN]>, TileIn<"src", [UB], [ND, DN]>), MovableTypes, ShapeSame> {
  let summary = "dst[i, j] = src[i, j]";
}
def CubeTypes : SameType<[F32, F16, BF16, I8], [F8E4M3FN, F8E5M2, HIF8]>;
def TEXTRACT_L0A : Insn<0x44, "textract_l0a", PIPE_MTE1,
    (ops TileOut<"dst", [L0A], [ZZ, NZ]>, TileIn<"src", [L1], [NZ, ZN, ND]>, Int<"row">, Int<"col">), CubeTypes> {
  let summary = "dst[i, j] = src[row + i, col + j], left operand";
  let description = "Moves whole 16 x C0 groups: rows and columns past dst's valid region, up to the end of the last group, come along and mean nothing.";
}
def TEXTRACT_L0B : Insn<0x45, "textract_l0b", PIPE_MTE1,
    (ops TileOut<"dst", [L0B], [ZN]>, TileIn<"src", [L1], [NZ, ZN, ND]>, Int<"row">, Int<"col">), CubeTypes> {
  let summary = "dst[i, j] = src[row + i, col + j], right operand";
}
def TMOV_BT : Insn<0x46, "tmov_bt", PIPE_MTE1, (ops TileOut<"dst", [BT]>, TileIn<"src", [L1]>, Int<"col">),
    Types<[[F32, F32], [F32, F16], [I32, I32]], [[F32, BF16]]>> {
  let summary = "dst[0, j] = src[0, col + j], into the bias table";
}
def TMOV_FB : Insn<0x47, "tmov_fb", PIPE_FIX, (ops TileOut<"dst", [FB]>, TileIn<"src", [L1]>, Int<"col">), SameType<[U64, I64]>> {
  let summary = "dst[0, j] = src[0, col + j], into the fixpipe buffer";
}
def TMOV_ACC : Insn<0x48, "tmov_acc", PIPE_FIX,
    (ops TileOut<"dst", [L1], [NZ]>, TileIn<"src", [L0C], [NZ16]>, Attr<"relu", Relu>), Types<[[F16, F32], [BF16, F32]]>, ShapeSame> {
  let summary = "dst[i, j] = cast(relu(src[i, j])), from L0C to L1";
}
def TIMG2COL : Insn<0x49, "timg2col", PIPE_MTE1,
    (ops TileOut<"dst", [L0A], [ZZ]>, TileIn<"src", [L1], [NZ]>, Int<"posM">, Int<"posK">, Int<"height">, Int<"padTop">, Int<"padBottom">,
         Packed<"image", [Field<"width", 16>, Field<"channels", 16>]>,
         Packed<"window", [Field<"kernelH", 8>, Field<"kernelW", 8>, Field<"strideH", 8>, Field<"strideW", 8>]>,
         Packed<"border", [Field<"dilationH", 8>, Field<"dilationW", 8>, Field<"padLeft", 8>, Field<"padRight", 8>]>), CubeTypes> {
  let summary = "dst[i, j] = the element of the image under output pixel posM + i at kernel position and channel posK + j, 0 outside";
  let description = "src is a slab [C1][height * width][C0]: an NZ tile of height * width rows. m = posM + i gives (oh, ow), ow fastest, with "
                    "OW = (width + padLeft + padRight - dilationW * (kernelW - 1) - 1) / strideW + 1 and OH alike. k = posK + j gives "
                    "c1 = k / (C0 * kernelH * kernelW), (kh, kw) = (k / C0) mod (kernelH * kernelW) row-major, c0 = k mod C0. The pixel is "
                    "h = oh * strideH + kh * dilationH - padTop, w alike with padLeft. Channels c1 * C0 + c0 >= channels read as 0.";
}

#endif
