//===- PTOScaledOps.td - quantisation, products of scaled operands -----------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOSCALEDOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOSCALEDOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

def PTO_TQuantOp : PTO_PipeOp<"tquant", "PIPE_V">, PTO_Insns<["TQUANT", "TQUANT_ASYM"]>,
      PTO_Cpp<["TQUANT<$quant_type>($dst, $src, $fp)", "TQUANT<$quant_type>($dst, $src, $fp, &$offset)"]> {
  let ownTypes = "each of the rows has types of its own";
  let summary = "dst[i, j] = round(src[i, j] * fp[i, 0]) cut to i8, or with INT8_ASYM round(src[i, j] * fp[i, 0] + offset[i, 0]) cut to ui8";
  let arguments = (ins PTO_Src:$src, PTO_Src:$fp, Arg<Optional<PTO_TileLike>, "", [MemRead]>:$offset, PTO_Dst:$dst, PTO_QuantTypeAttr:$quant_type);
  let assemblyFormat = [{
    `ins` `(` $src `,` $fp (`,` $offset^)? `:` type($src) `,` type($fp) (`,` type($offset)^)? `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def PTO_TDequantOp : PTO_PipeOp<"tdequant", "PIPE_V">, PTO_Insn<"TDEQUANT", ["scales=scale", "offsets=offset"]> {
  let summary = "dst[i, j] = (src[i, j] - offset[i, 0]) * scale[i, 0]";
  let arguments = (ins PTO_Src:$src, PTO_Src:$scale, PTO_Src:$offset, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $scale `,` $offset `:` type($src) `,` type($scale) `,` type($offset) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def PTO_TGetScaleAddrOp
    : PTO_PipeOp<"tget_scale_addr", "PIPE_S", [PTO_OnlyA5]>, PTO_NoInsn<"it names the memory of scales"> {
  let summary = "dst = the scales that belong to src, an operand of a scaled product; binds an address, moves nothing";
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst);
  let assemblyFormat = "`ins` `(` $src `:` type($src) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict";
  let hasVerifier = 1;
}

// The scale of element (i, k) of a is a_scale[i, k / 32], that of (k, j) of b is b_scale[k / 32, j]: a code c means 2^(c - 127). A scale tile has its
// operand's shape; the codes are the first bytes of each row (of b: the first rows), what is behind them is not used. In a tile of 16 bits an element
// holds the codes of two groups that follow one another. k is any number: the last group may have fewer than 32 elements.
def PTO_ScaledMembers {
  string text = [{
    ::pto_mlir::pto::Pipe getPipe() { return ::pto_mlir::pto::Pipe::PIPE_M; }
    ::mlir::Value getLeftScales() { return getAScale(); }
    ::mlir::Value getRightScales() { return getBScale(); }
  }];
}
defvar SCALE_NAMES = ["scalesA=a_scale", "scalesB=b_scale"];
defvar SCALE_TYPES = "the assembler looks at the types on a5 only, and codes lie in tiles of any type";
class PTO_ScaledOp<string mnemonic, string formula>
    : PTO_PipeOp<mnemonic, "PIPE_M", [PTO_ScaledOpInterface]>, PTO_AdjustedInsn<"TMATMUL_MX", SCALE_NAMES> {
  let ownTypes = SCALE_TYPES;
  let summary = "dst = " # formula # ", every element multiplied by the scale of its group of 32";
  let arguments = (ins PTO_Src:$a, PTO_Src:$a_scale, PTO_Src:$b, PTO_Src:$b_scale, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $a `,` $a_scale `,` $b `,` $b_scale `:` type($a) `,` type($a_scale) `,` type($b) `,` type($b_scale) `)`
    `outs` `(` $dst `:` type($dst) `)` attr-dict
  }];
  let extraClassDeclaration = PTO_ScaledMembers.text;
  let hasVerifier = 1;
}
def PTO_TMatmulMxOp : PTO_ScaledOp<"tmatmul.mx", "a x b">;
def PTO_TGemvMxOp : PTO_ScaledOp<"tgemv.mx", "a x b, a of one valid row">;

class PTO_ScaledAccOp<string mnemonic, string formula>
    : PTO_PipeOp<mnemonic, "PIPE_M", [PTO_ScaledOpInterface]>,
      PTO_AdjustedInsn<"TMATMUL_MX_ACC", ["acc=c_in"] # SCALE_NAMES> {
  let ownTypes = SCALE_TYPES;
  let summary = "dst = " # formula # ", every element of a and b multiplied by the scale of its group of 32";
  let arguments = (ins PTO_Src:$c_in, PTO_Src:$a, PTO_Src:$a_scale, PTO_Src:$b, PTO_Src:$b_scale, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $c_in `,` $a `,` $a_scale `,` $b `,` $b_scale `:` type($c_in) `,` type($a) `,` type($a_scale) `,` type($b) `,` type($b_scale) `)`
    `outs` `(` $dst `:` type($dst) `)` attr-dict
  }];
  let extraClassDeclaration = PTO_ScaledMembers.text;
  let hasVerifier = 1;
}
def PTO_TMatmulMxAccOp
    : PTO_ScaledAccOp<"tmatmul.mx.acc", "c_in + a x b">,
      PTO_Cpp<["TMATMUL_MX($dst, $c_in, $a, $a_scale, $b, $b_scale)"]>;
def PTO_TGemvMxAccOp
    : PTO_ScaledAccOp<"tgemv.mx.acc", "c_in + a x b, a of one valid row">,
      PTO_Cpp<["TGEMV_MX($dst, $c_in, $a, $a_scale, $b, $b_scale)"]>;

class PTO_ScaledBiasOp<string mnemonic, string formula>
    : PTO_PipeOp<mnemonic, "PIPE_M", [PTO_ScaledOpInterface]>, PTO_AdjustedInsn<"TMATMUL_MX_BIAS", SCALE_NAMES> {
  let ownTypes = SCALE_TYPES;
  let summary = "dst = " # formula # ", every element of a and b multiplied by the scale of its group of 32";
  let arguments = (ins PTO_Src:$a, PTO_Src:$a_scale, PTO_Src:$b, PTO_Src:$b_scale, PTO_Src:$bias, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $a `,` $a_scale `,` $b `,` $b_scale `,` $bias `:` type($a) `,` type($a_scale) `,` type($b) `,` type($b_scale) `,` type($bias) `)`
    `outs` `(` $dst `:` type($dst) `)` attr-dict
  }];
  let extraClassDeclaration = PTO_ScaledMembers.text;
  let hasVerifier = 1;
}
def PTO_TMatmulMxBiasOp
    : PTO_ScaledBiasOp<"tmatmul.mx.bias", "a x b + bias in every row">,
      PTO_Cpp<["TMATMUL_MX($dst, $a, $a_scale, $b, $b_scale, $bias)"]>;
def PTO_TGemvMxBiasOp
    : PTO_ScaledBiasOp<"tgemv.mx.bias", "a x b + bias, a of one valid row">,
      PTO_Cpp<["TGEMV_MX($dst, $a, $a_scale, $b, $b_scale, $bias)"]>;

#endif
