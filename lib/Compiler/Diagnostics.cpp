#include "Diagnostics.h"

#include "pto_mlir/Dialect/Top/IR/Names.h"

using namespace mlir;

namespace pto_mlir {

/// The place in a text, also of a value whose name was kept (cpp::parseWithNames).
static FileLineColLoc placeOf(Location loc) {
  auto named = dyn_cast<NameLoc>(loc);
  return dyn_cast<FileLineColLoc>(LocationAttr(named ? named.getChildLoc() : loc));
}

/// The tensor name of a location, or of the op whose lowering it belongs to.
static llvm::StringRef tensorOf(Location loc) {
  if (llvm::StringRef name = top::getTensorName(loc); !name.empty())
    return name;
  if (auto inner = dyn_cast<CallSiteLoc>(loc))
    return tensorOf(inner.getCaller());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (llvm::StringRef name = tensorOf(part); !name.empty())
        return name;
  return {};
}

/// The message with the prefix "tensor \"conv1\": " or "file.mlir:3:5: ", followed by its notes.
static std::string lineOf(Diagnostic &diagnostic) {
  std::string line;
  llvm::raw_string_ostream stream(line);
  if (FileLineColLoc file = placeOf(diagnostic.getLocation()))
    stream << file.getFilename().getValue() << ":" << file.getLine() << ":" << file.getColumn() << ": ";
  else if (llvm::StringRef name = tensorOf(diagnostic.getLocation()); !name.empty())
    stream << "tensor \"" << name << "\": ";
  stream << diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes())
    stream << " (" << note.str() << ")";
  return line;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context, Errors &errors, std::vector<std::string> *remarks)
    : handler(context, [&errors, remarks](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          errors.push_back(lineOf(diagnostic));
        else if (remarks && diagnostic.getSeverity() == DiagnosticSeverity::Remark)
          remarks->push_back(lineOf(diagnostic));
        return success();
      }) {}

bool runPasses(PassManager &pm, ModuleOp module, Errors &errors) {
  if (succeeded(pm.run(module)))
    return true;
  if (errors.empty())
    errors.push_back("the compiler failed without a message");
  return false;
}

void nameFile(const std::string &file, Errors &errors) {
  for (std::string &line : errors)
    if (line.find(file) == std::string::npos)
      line = file + ": " + line;
}

} // namespace pto_mlir
