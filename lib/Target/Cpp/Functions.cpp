// Functions: heads, arguments and prologues, by style.
#include "FunctionEmitter.h"
#include "Types.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pto_mlir::cpp {

/// A kernel: marked, or a function without results that no other one calls.
static bool isKernel(func::FuncOp func) {
  return func->hasAttr("pto.entry") || func->hasAttr("hacc.entry") ||
         (func.getNumResults() == 0 && SymbolTable::symbolKnownUseEmpty(func, func->getParentOfType<ModuleOp>()));
}

/// `scale_rows` as `runScaleRows`.
static std::string pascalName(StringRef name) {
  std::string text = "run";
  SmallVector<StringRef> words;
  name.split(words, '_', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    text += word.take_front().upper() + word.drop_front().str();
  return text;
}

/// Names the arguments and gives the function's head, with `named` parameters or as a declaration.
FailureOr<std::string> FunctionEmitter::head(func::FuncOp func, bool named) {
  bool kernel = isKernel(func);
  if (kernel && policy.argumentArray)
    return "__aicore__ __attribute__((always_inline)) void " + pascalName(sanitized(func.getName())) +
           "(__gm__ int64_t* args)";
  if (func.getNumResults() > 1)
    return func.emitError("'func.func' has no C++: expects at most one result");
  std::string result = func.getNumResults() ? scalarType(func.getResultTypes()[0], policy) : "void", parameters;
  for (BlockArgument argument : func.getArguments()) {
    auto tile = dyn_cast<pto::TileBufType>(argument.getType());
    std::string type = tile ? tileType(tile, policy) : scalarType(argument.getType(), policy);
    if (type.empty() || result.empty())
      return func.emitError("'func.func' has no C++: expects pointers, numbers and tiles as arguments and a number as "
                            "result, got ")
             << argument.getType();
    if (named) {
      texts[argument] = nameFor(argument);
      typeTexts[argument] = type;
    }
    parameters += (parameters.empty() ? "" : ", ") + type + (tile ? "&" : "") +
                  (named ? " " + text(argument).str() : std::string());
  }
  return (kernel ? "__global__ AICORE " : "static AICORE ") + result + " " + sanitized(func.getName()) + "(" +
         parameters + ")";
}

LogicalResult FunctionEmitter::declare(func::FuncOp func) {
  FailureOr<std::string> shown = head(func, /*named=*/false);
  if (succeeded(shown))
    out.line(*shown + ";");
  return shown;
}

LogicalResult FunctionEmitter::unpackArguments(func::FuncOp func) {
  out.line("// Unpack arguments");
  for (BlockArgument argument : func.getArguments()) {
    std::string type = scalarType(argument.getType(), policy), name = nameFor(argument);
    std::string word = "args[" + std::to_string(argument.getArgNumber()) + "]";
    if (type.empty())
      return func.emitError("'func.func' has no C++: expects pointers and numbers as arguments of a kernel, got ")
             << argument.getType();
    texts[argument] = name;
    if (isa<pto::PtrType>(argument.getType())) {
      out.line(type + " " + name + " = reinterpret_cast<" + type + ">(" + word + ");");
    } else if (isa<FloatType>(argument.getType())) {
      out.line("union { uint64_t u64; " + type + " val; } " + name + "_conv;");
      out.line(name + "_conv.u64 = " + word + ";");
      out.line(type + " " + name + " = " + name + "_conv.val;");
    } else {
      out.line(type + " " + name + " = static_cast<" + type + ">(" + word + ");");
    }
  }
  out.line("");
  return success();
}

LogicalResult FunctionEmitter::prologue(func::FuncOp func) {
  out.line("// Global tensor declarations");
  auto tensors = func.walk([&](pto::MakeTensorViewOp op) { return WalkResult(prologueTensor(op)); });
  out.line("// Tile type definitions and allocations");
  auto tiles = func.walk([&](pto::AllocTileOp op) {
    bool fixed = op.getTileType().hasStaticValid() && (!op.getAddr() || matchPattern(op.getAddr(), m_Constant()));
    if (!fixed)
      return WalkResult::advance();
    if (failed(allocTile(op)))
      return WalkResult::interrupt();
    out.line("");
    return WalkResult::advance();
  });
  out.line("// Function body");
  return failure(tensors.wasInterrupted() || tiles.wasInterrupted());
}

LogicalResult FunctionEmitter::body(func::FuncOp func) {
  auto kind = func->getAttrOfType<pto::KernelKindAttr>(pto::kKernelKindAttr);
  if (!kind || !policy.guardsCores)
    return block(func.getBody().front());
  bool vector = kind.getValue() == pto::KernelKind::vector;
  StringRef guard = vector ? "__DAV_VEC__" : "__DAV_CUBE__";
  out.marginLine("#if defined(" + guard + ")");
  if (vector) {
    out.line("set_mask_norm();");
    out.line("set_vector_mask(-1, -1);");
  }
  LogicalResult written = block(func.getBody().front());
  out.marginLine("#endif // " + guard);
  return written;
}

LogicalResult FunctionEmitter::emit(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitError("'func.func' has no C++: expects structured control flow, not branches between blocks");
  FailureOr<std::string> shown = head(func, /*named=*/true);
  if (failed(shown))
    return failure();
  bool kernel = isKernel(func);
  if (kernel && policy.argumentArray) {
    out.line(*shown);
    out.open("");
    if (failed(unpackArguments(func)))
      return failure();
  } else {
    out.open(*shown);
  }
  if (kernel && policy.prologue && failed(prologue(func)))
    return failure();
  if (failed(body(func)))
    return failure();
  if (lost)
    return func.emitError("'func.func' has no C++: a value in it was used before it was written");
  if (kernel && policy.drainsAtEnd)
    out.line("pipe_barrier(PIPE_ALL);");
  out.close();
  return success();
}

} // namespace pto_mlir::cpp
