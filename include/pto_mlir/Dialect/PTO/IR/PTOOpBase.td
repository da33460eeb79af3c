//===- PTOOpBase.td - what all pto ops share -----------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOOPBASE_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOOPBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pto_mlir/Dialect/PTO/IR/PTOAttrs.td"
include "pto_mlir/Dialect/PTO/IR/PTOInterfaces.td"
include "pto_mlir/Dialect/PTO/IR/PTOTraits.td"
include "pto_mlir/Dialect/PTO/IR/PTOTypes.td"

/// What the instruction table (ISA/*.td) has for an op is said by one of the classes below; gen_insns.py reads these
/// fields and refuses an op that says nothing, or a row that does not exist.
class PTO_Op<string mnemonic, list<Trait> traits = []> : Op<PTO_Dialect, mnemonic, traits # [PTO_FilledTiles]> {
  list<string> rows = [];
  list<string> names = [];
  bit derived = 0;
  bit adjusted = 0;
  string noInsn = "";
  // Not empty: the op's legal element types are not those of its row, and why.
  string ownTypes = "";
  list<string> refusedA5 = [];
  list<string> refusedA3 = [];
  // Calls of the ISA's C++ library (PTO_Cpp). Empty: the mnemonic in capitals, the destination first.
  list<string> cpp = [];
  string noCpp = "";
  bit cppByEmitter = 0;
}

/// The op is one instruction: code generation and legal element types come from the row. Operands and attributes bind
/// by name; `names` lists those that the op calls otherwise ("row's name=op's name"). What only the op has is scratch.
class PTO_Insn<string row, list<string> binds = []> {
  list<string> rows = [row];
  list<string> names = binds;
  bit derived = 1;
}
/// The same, but `adjust` (lib/Backend/Codegen/Adjust.h) has the last word about the bound instruction; "name=" leaves
/// an attribute to it.
class PTO_AdjustedInsn<string row, list<string> binds = []> {
  list<string> rows = [row];
  list<string> names = binds;
  bit derived = 1;
  bit adjusted = 1;
}
/// Which of the rows, or how many of them, depends on the op: it has code generation of its own. Legal element types
/// are those of the first row.
class PTO_Insns<list<string> all, list<string> binds = []> {
  list<string> rows = all;
  list<string> names = binds;
}
/// The op becomes no instruction.
class PTO_NoInsn<string why> { string noInsn = why; }

/// C++ of the ISA's library, for lib/Target/Cpp: the first of the forms that says all that the op says is taken. `$name`
/// stands for an operand or attribute (several operands: with commas between), `type($name)` for the type of a tile or
/// view. With a result the form is an expression.
class PTO_Cpp<list<string> forms> { list<string> cpp = forms; }
/// There is no C++ for the op.
class PTO_NoCpp<string why> { string noCpp = why; }
/// lib/Target/Cpp has code of its own: declarations and control flow.
class PTO_CppByEmitter { bit cppByEmitter = 1; }

class PTO_NamesMemory : PTO_NoInsn<"it names memory for others; at most its address is computed">, PTO_CppByEmitter;

/// Types that the row reads and the public assembler refuses: by its rules for a5, and for a3.
class PTO_Refuses<list<string> a5, list<string> a3 = []> {
  list<string> refusedA5 = a5;
  list<string> refusedA3 = a3;
}
defvar WIDE = ["i64", "u64"];
defvar BYTES = ["i8", "u8"];
defvar WORDS = ["i16", "u16"];
defvar DWORDS = ["i32", "u32"];

/// An op of one fixed engine; where the engine depends on the operands, `pipe` is empty and the .cpp defines getPipe.
class PTO_PipeOp<string mnemonic, string pipe, list<Trait> traits = []> : PTO_Op<mnemonic, traits # [PTO_PipeOpInterface]> {
  let extraClassDeclaration = !if(!empty(pipe), "::pto_mlir::pto::Pipe getPipe();",
      "::pto_mlir::pto::Pipe getPipe() { return ::pto_mlir::pto::Pipe::" # pipe # "; }");
}

def PTO_Src : Arg<PTO_TileLike, "read", [MemRead]>;
def PTO_Dst : Arg<PTO_TileLike, "written", [MemWrite]>;
/// Read and written: an accumulating destination, or scratch memory of the instruction.
def PTO_InOut : Arg<PTO_TileLike, "read and written", [MemRead, MemWrite]>;

#endif
