//===- Cube.td - Matrix products -------------------------------------------===//

#ifndef PTO_MLIR_ISA_CUBE
#define PTO_MLIR_ISA_CUBE

include "pto_mlir/ISA/Costs.td"
include "pto_mlir/ISA/ISABase.td"

// (accumulator, left, right)
def MatmulTypes : Types<
    [[F32, F32, F32], [F32, F16, F16], [F32, BF16, BF16], [I32, I8, I8]],
    [[F32, F8E4M3FN, F8E4M3FN], [F32, F8E4M3FN, F8E5M2], [F32, F8E5M2, F8E4M3FN], [F32, F8E5M2, F8E5M2], [F32, HIF8, HIF8]]>;

// The accumulator operand and the bias have the type of dst.
class AddFirst<Types t> : Types<!foreach(c, t.combinations, !listconcat([!head(c)], c)), !foreach(c, t.a5only, !listconcat([!head(c)], c))>;
class AddLast<Types t> : Types<!foreach(c, t.combinations, !listconcat(c, [!head(c)])), !foreach(c, t.a5only, !listconcat(c, [!head(c)]))>;
def MatmulAccTypes : AddFirst<MatmulTypes>;
def MatmulBiasTypes : AddLast<MatmulTypes>;

def TMATMUL : Insn<0x60, "tmatmul", PIPE_M,
    (ops TileOut<"dst", [L0C], [NZ16]>, TileIn<"a", [L0A], [ZZ, NZ]>, TileIn<"b", [L0B], [ZN]>), MatmulTypes, ShapeMatmul>, Priced<RateProduct>, Touches<[AccWholeBoxes, AccDstRows, AccRightOperand]> {
  let summary = "dst = a x b";
  let description = "f32: fused multiply-add over k ascending, from 0. i32 wraps. m, k and n are at most 4095.";
}
def TMATMUL_ACC : Insn<0x61, "tmatmul_acc", PIPE_M,
    (ops TileOut<"dst", [L0C], [NZ16]>, TileIn<"acc", [L0C], [NZ16]>, TileIn<"a", [L0A], [ZZ, NZ]>, TileIn<"b", [L0B], [ZN]>),
    MatmulAccTypes, ShapeMatmul>, Priced<RateProduct>, Touches<[AccWholeBoxes, AccAsDst, AccDstRows, AccRightOperand]> {
  let summary = "dst = acc + a x b";
  let description = "The product is summed from 0 and added to acc once.";
}
def TMATMUL_BIAS : Insn<0x62, "tmatmul_bias", PIPE_M,
    (ops TileOut<"dst", [L0C], [NZ16]>, TileIn<"a", [L0A], [ZZ, NZ]>, TileIn<"b", [L0B], [ZN]>, TileIn<"bias", [BT]>),
    MatmulBiasTypes, ShapeMatmul>, Priced<RateProduct>, Touches<[AccWholeBoxes, AccDstRows, AccRightOperand, AccColStatistic]> {
  let summary = "dst[i, j] = (a x b)[i, j] + bias[0, j]";
}

// --- operands with a scale per group of 32 ----------------------------------------

def MxTypes : Types<[],
    [[F32, F8E4M3FN, F8E4M3FN], [F32, F8E4M3FN, F8E5M2], [F32, F8E5M2, F8E4M3FN], [F32, F8E5M2, F8E5M2],
     [F32, F4E2M1, F4E2M1], [F32, F4E2M1, F4E1M2], [F32, F4E1M2, F4E2M1], [F32, F4E1M2, F4E1M2]]>;
def MxAccTypes : AddFirst<MxTypes>;
def MxBiasTypes : AddLast<MxTypes>;
def ScalesA : TileIn<"scalesA", [SA], [ZZ], [F8E8M0]>;
def ScalesB : TileIn<"scalesB", [SB], [NN], [F8E8M0]>;

def TMATMUL_MX : Insn<0x63, "tmatmul_mx", PIPE_M,
    (ops TileOut<"dst", [L0C], [NZ16]>, TileIn<"a", [L0A], [ZZ, NZ]>, ScalesA, TileIn<"b", [L0B], [ZN]>, ScalesB), MxTypes>, Priced<RateProduct>, Touches<[AccWholeBoxes, AccValid, AccValid, AccValid, AccValid]> {
  let summary = "dst[i, j] = sum over k of a[i, k] * b[k, j] * scalesA[i, k / 32] * scalesB[k / 32, j]";
  let description = "k ascending; the scaled product is exact, each addition is rounded to f32. A last group of fewer than 32 elements has its own scale.";
}
def TMATMUL_MX_ACC : Insn<0x64, "tmatmul_mx_acc", PIPE_M,
    (ops TileOut<"dst", [L0C], [NZ16]>, TileIn<"acc", [L0C], [NZ16]>, TileIn<"a", [L0A], [ZZ, NZ]>, ScalesA, TileIn<"b", [L0B], [ZN]>, ScalesB),
    MxAccTypes>, Priced<RateProduct>, Touches<[AccWholeBoxes, AccValid, AccValid, AccValid, AccValid, AccValid]> {
  let summary = "dst = acc + the product of tmatmul_mx";
  let description = "The product is summed from 0 and added to acc once.";
}
def TMATMUL_MX_BIAS : Insn<0x65, "tmatmul_mx_bias", PIPE_M,
    (ops TileOut<"dst", [L0C], [NZ16]>, TileIn<"a", [L0A], [ZZ, NZ]>, ScalesA, TileIn<"b", [L0B], [ZN]>, ScalesB, TileIn<"bias", [BT]>),
    MxBiasTypes>, Priced<RateProduct>, Touches<[AccWholeBoxes, AccValid, AccValid, AccValid, AccValid, AccValid]> {
  let summary = "dst[i, j] = the product of tmatmul_mx + bias[0, j]";
}

#endif
