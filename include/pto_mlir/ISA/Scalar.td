//===- Scalar.td - Registers, loops, jumps ---------------------------------===//

#ifndef PTO_MLIR_ISA_SCALAR
#define PTO_MLIR_ISA_SCALAR

include "pto_mlir/ISA/Costs.td"
include "pto_mlir/ISA/ISABase.td"

def LI : Insn<0x01, "li", PIPE_ALL, (ops Dst<"dst">, Wide<"value">)> {
  let summary = "dst = value (64 bits)";
}
def MOV : Insn<0x02, "mov", PIPE_ALL, (ops Dst<"dst">, Int<"src">)> {
  let summary = "dst = src";
}

class ScalarBinary<int op, string m, string expr>
    : Insn<op, m, PIPE_ALL, (ops Dst<"dst">, Int<"lhs">, Int<"rhs">)> {
  let summary = "dst = " # expr;
  let description = "64-bit signed; wraps.";
}
def ADD : ScalarBinary<0x03, "add", "lhs + rhs">;
def SUB : ScalarBinary<0x04, "sub", "lhs - rhs">;
def MUL : ScalarBinary<0x05, "mul", "lhs * rhs">;
def DIV : ScalarBinary<0x06, "div", "floor(lhs / rhs)"> {
  let description = "Rounds toward minus infinity; rhs = 0 is a fault.";
}
def REM : ScalarBinary<0x07, "rem", "lhs - floor(lhs / rhs) * rhs"> {
  let description = "Has the sign of rhs; rhs = 0 is a fault.";
}
def MIN : ScalarBinary<0x08, "min", "min(lhs, rhs)">;
def MAX : ScalarBinary<0x09, "max", "max(lhs, rhs)">;
def AND : ScalarBinary<0x0a, "and", "lhs & rhs">;
def OR : ScalarBinary<0x0b, "or", "lhs | rhs">;
def XOR : ScalarBinary<0x0c, "xor", "lhs ^ rhs">;
def SHL : ScalarBinary<0x0d, "shl", "lhs << (rhs & 63)">;
def SHR : ScalarBinary<0x0e, "shr", "lhs >> (rhs & 63), arithmetic">;

def Compare : Enum<"CompareMode", ["eq", "ne", "lt", "le", "gt", "ge"]>;
def CMP : Insn<0x0f, "cmp", PIPE_ALL, (ops Dst<"dst">, Attr<"mode", Compare>, Int<"lhs">, Int<"rhs">)> {
  let summary = "dst = lhs mode rhs ? 1 : 0";
}
def SELECT : Insn<0x10, "select", PIPE_ALL, (ops Dst<"dst">, Int<"cond">, Int<"a">, Int<"b">)> {
  let summary = "dst = cond ? a : b";
}

def Query : Enum<"Query", ["block_idx", "block_num", "subblock_idx", "subblock_num"], 1>;
def GET : Insn<0x11, "get", PIPE_ALL, (ops Dst<"dst">, Attr<"what", Query>)> {
  let summary = "dst = block or sub-block index or count of the core, or scalar argument what - 4";
}
def LOOP : Insn<0x12, "loop", PIPE_ALL, (ops Dst<"iv">, Int<"lb">, Int<"ub">, Int<"step">)> {
  let summary = "repeats the code up to the matching end while iv < ub";
  let description = "lb, ub and step are read once. Zero trips are legal; step <= 0 is a fault.";
}
def SKIP_IF_ZERO : Insn<0x13, "skip_if_zero", PIPE_ALL, (ops Int<"cond">, Int<"words">)> {
  let summary = "skips the next `words` words if cond is 0";
  let description = "`words` is an immediate; the target is in the same loop body.";
}
def END : Insn<0x14, "end", PIPE_ALL, (ops)> {
  let summary = "end of the innermost loop";
}

def LOAD_SCALAR : Insn<0x15, "load_scalar", PIPE_S, (ops Dst<"dst">, ViewIn<"src">), SameType<[F32, F16, BF16, I8, U8, I16, U16, I32, U32, I64, U64]>>, Touches<[AccOneElement]> {
  let summary = "dst = the first element of src";
  let description = "Integers are sign- or zero-extended; floats are returned as f32 bits.";
}
def ScalarTypes : SameType<[F32, F16, BF16, I8, U8, I16, U16, I32, U32]>;
def STORE_SCALAR : Insn<0x16, "store_scalar", PIPE_S, (ops ViewOut<"dst">, Scalar<"value">),
                            SameType<[F32, F16, BF16, I8, U8, I16, U16, I32, U32, I64, U64]>>, Touches<[AccOneElement]> {
  let summary = "the first element of dst = value";
}
def TGETVAL : Insn<0x17, "tgetval", PIPE_S, (ops Dst<"dst">, TileIn<"src", [UB]>, Int<"index">), ScalarTypes>, Touches<[AccElement]> {
  let summary = "dst = element of src with row-major index `index` in its box";
  let description = "Integers are sign- or zero-extended; floats are returned as f32 bits.";
}
def TSETVAL : Insn<0x18, "tsetval", PIPE_S, (ops TileOut<"dst", [UB]>, Int<"index">, Scalar<"value">), ScalarTypes>, Touches<[AccElement]> {
  let summary = "element of dst with row-major index `index` in its box = value";
}

// Floats are held in registers as f32 bits; an f16 or bf16 value is representable in its type and held as f32.
def FloatOp : Enum<"FloatOp", ["add", "sub", "mul", "div", "rem", "maximum", "minimum", "maxnum", "minnum"]>;
def FARITH : Insn<0x19, "farith", PIPE_ALL, (ops Dst<"dst">, Attr<"op", FloatOp>, Int<"lhs">, Int<"rhs">)> {
  let summary = "dst = lhs op rhs on f32, rounded to nearest even";
  let description = "`rem` truncates the quotient. `maximum` and `minimum` propagate NaN and order -0 below +0; `maxnum` and `minnum` return the other operand.";
}
def FloatCompare : Enum<"FloatCompare", ["never", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "always"]>;
def FCMP : Insn<0x1a, "fcmp", PIPE_ALL, (ops Dst<"dst">, Attr<"mode", FloatCompare>, Int<"lhs">, Int<"rhs">)> {
  let summary = "dst = lhs mode rhs ? 1 : 0 on f32";
  let description = "o..: false, u..: true if an operand is NaN; ord: no operand is NaN, uno: at least one is.";
}
def ScalarCast : Enum<"ScalarCast", ["from_signed", "from_unsigned", "to_signed", "to_unsigned", "round_f16", "round_bf16"]>;
def FCVT : Insn<0x1b, "fcvt", PIPE_ALL, (ops Dst<"dst">, Attr<"cast", ScalarCast>, Int<"src">)> {
  let summary = "dst = src converted to another scalar type";
  let description = "Integer to float: to nearest even. Float to integer: toward zero, saturating, NaN gives 0. `round_..`: rounds to that type, ties to even, held as f32.";
}
def BREAK_IF_ZERO : Insn<0x1c, "break_if_zero", PIPE_ALL, (ops Int<"cond">)> {
  let summary = "leaves the innermost loop if cond is 0";
}

#endif
