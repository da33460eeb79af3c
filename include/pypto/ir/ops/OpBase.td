//===- OpBase.td - The schema of the table of operations ------------------===//
//
// Plain TableGen, read by lib/PyPTO/gen_ops.py from `llvm-tblgen --dump-json`.
// docs/pypto.md says what a row must state.
//
//===----------------------------------------------------------------------===//

#ifndef PYPTO_OP_BASE
#define PYPTO_OP_BASE

// --- parameters: operands and keywords, in the order of the call ------------------

class Param<string k, bit op, bit opt, string v> {
  string kind = k;
  bit operand = op;   // an expression of the call; else a keyword with a constant value
  bit optional = opt;
  string value = v;   // a keyword's default, as `pl` writes it
}
class In<string k> : Param<k, 1, 0, "">;
class Opt<string k> : Param<k, 1, 1, "">;
// Kw<"int">: required; Kw<"int", "0">: with a default. Kinds: int, number, bool, str, dtype, or an enumeration.
class Kw<string k, string v = "!"> : Param<k, 0, !ne(v, "!"), v>;

def ops;
def X : In<"Data">;          // a tile in pl.tile, a tensor in pl.tensor
def XOpt : Opt<"Data">;
def Tensor : In<"Tensor">;   // in global memory, in either form
def TensorOpt : Opt<"Tensor">;
def Scalar : In<"Scalar">;   // a constant takes the element type of the first tile or tensor
def ScalarOpt : Opt<"Scalar">;
def Index : In<"Index">;     // an integer
def IndexOpt : Opt<"Index">;
def Bool : In<"Bool">;
def BoolOpt : Opt<"Bool">;
def Tuple : In<"Tuple">;     // integers: offsets, a shape
def TupleOpt : Opt<"Tuple">;
def Any : In<"Any">;
def AnyOpt : Opt<"Any">;
def Array : In<"Array">;

// --- result rules (lib/PyPTO/IR/Deduce*.cpp) ---------------------------------------

class Rule<string s> {
  string summary = s;
}
def RuleNone : Rule<"none">;
def RuleLike : Rule<"that of `like`, else of the first operand">;
def RulePromote : Rule<"element types promoted, shapes broadcast">;
def RulePart : Rule<"that of the first operand, valid where any operand is">;
def RuleRow : Rule<"last extent 1">;
def RuleColumn : Rule<"[1, N]">;
def RuleShape : Rule<"extents of `shape`">;
def RuleView : Rule<"same storage, extents of `shape`">;
def RuleLoad : Rule<"a tile with the extents of `shapes`">;
def RuleWindow : Rule<"a tensor of which each rank has a copy, with the extents of `shape`">;
def RuleMove : Rule<"the same in `target_memory`">;
def RuleCast : Rule<"elements of `target_type`">;
def RuleMask : Rule<"packed bits as UINT8; on tensors 0 or 1 in the first operand's type">;
def RuleElement : Rule<"a scalar of the element type">;
def RuleIndex : Rule<"an INDEX, or a scalar of `element`">;
def RuleMatmul : Rule<"[M, N] in FP32 or INT32, in Acc">;
def RuleTranspose : Rule<"axes swapped">;
def RuleConcat : Rule<"columns appended">;
def RuleSort32 : Rule<"last extent doubled">;
def RuleMerge : Rule<"columns of all sources">;
def RuleEveryNth : Rule<"every 2nd or 4th column, by the pattern">;
def RuleIndicesCounts : Rule<"indices [M, out_cols] and counts [M, 1]">;
def RuleReinterpret : Rule<"same bytes as elements of `dtype`">;
def RuleArray : Rule<"an array of `extent`">;
def RuleGather : Rule<"shape of `idx`, elements of the first operand">;
def RuleMemory : Rule<"shape of `idx`, or a row of `mem` for each of them">;
def RuleBlocks : Rule<"32 bytes for each offset">;
def RuleFill : Rule<"that of the first operand, or of extents `shape`, all of it valid">;
def RuleGatherAny : Rule<"shape of `index`, or as gather_mask or gather_compare by the keyword given">;
def RuleScatterAny : Rule<"that of `dst` where it is given, else of the first operand">;
def RuleShard : Rule<"one vector core's half by `mode`, in Vec">;
def RuleJoin : Rule<"the two halves by `mode`, in Mat">;
def RuleValid : Rule<"that of the first operand, valid as told">;

// --- rows ---------------------------------------------------------------------------

class PlOp<string n, dag p, Rule r, string b = ""> {
  string name = n;
  dag params = p;
  Rule rule = r;
  string pto = b;                       // the op of the pto dialect it becomes; "": none, or more than one
  list<string> spaces = ["tile"];       // namespaces of `pl`; pl.NAME itself chooses by the first operand
  list<string> archs = ["a2a3", "a5"];
  string scalar = "";                   // the row for a scalar as second operand
  string element = "";                  // element type of the result, where it is not the rule's
  string like = "";                     // RuleLike: the operand whose type it is
  list<string> aliases = [];            // other full names, of this or an earlier generation
  string summary = "";
  string test = "";                     // file of test/python/pypto that checks its numbers
}

class Both {
  list<string> spaces = ["tile", "tensor"];
}
class OnA5 {
  list<string> archs = ["a5"];
}

#endif // PYPTO_OP_BASE
