// Identifiers from the names of values.
#include "Names.h"

#include "pto_mlir/Target/Cpp/Cpp.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Operation.h"

using namespace mlir;

namespace pto_mlir::cpp {

/// The innermost name: the one that the text gave; calls and fusions are looked into.
static StringRef nameOf(Location loc) {
  if (auto named = dyn_cast<NameLoc>(loc))
    return named.getName().getValue();
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return nameOf(call.getCallee());
  return {};
}

std::string sourceName(Value value) {
  Operation *op = value.getDefiningOp();
  StringRef name = nameOf(value.getLoc());
  if (name.empty() || llvm::all_of(name, llvm::isDigit) ||
      (op && matchPattern(op, m_Constant()) && !op->hasAttr(kVariableAttr)))
    return "";
  std::string clean = sanitized(name);
  return op && op->getNumResults() > 1 ? clean + "_" + std::to_string(cast<OpResult>(value).getResultNumber()) : clean;
}

std::string sanitized(StringRef name) {
  static const llvm::StringSet<> keywords = {
      "auto",     "bool",    "break",  "case",    "char",     "class",  "const",     "continue", "default", "delete",
      "do",       "double",  "else",   "enum",    "explicit", "extern", "false",     "float",    "for",     "friend",
      "goto",     "half",    "if",     "inline",  "int",      "long",   "namespace", "new",      "not",     "operator",
      "or",       "private", "public", "return",  "short",    "signed", "sizeof",    "static",   "struct",  "switch",
      "template", "this",    "true",   "typedef", "typename", "union",  "unsigned",  "using",    "virtual", "void",
      "volatile", "while",   "xor",    "and",     "args",     "pto"};
  std::string clean;
  for (char c : name)
    clean += llvm::isAlnum(c) ? c : '_';
  if (clean.empty() || llvm::isDigit(clean.front()))
    clean = "v" + clean;
  return keywords.contains(clean) ? clean + "_" : clean;
}

std::string Names::fresh(StringRef wanted) {
  std::string name = wanted.empty() ? "v" + std::to_string(++count) : wanted.str();
  for (unsigned k = 1; !taken.insert(name).second; ++k)
    name = wanted.empty() ? "v" + std::to_string(++count) : (wanted + "_" + Twine(k)).str();
  return name;
}

} // namespace pto_mlir::cpp
