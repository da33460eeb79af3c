#include "Diagnostics.h"

#include "pto_mlir/Dialect/Top/IR/Names.h"

using namespace mlir;

namespace pto_mlir {

/// "node \"conv1\": ..." or "file.mlir:3:5: ..." before the message, notes behind it.
static std::string lineOf(Diagnostic &diagnostic) {
  std::string line;
  llvm::raw_string_ostream stream(line);
  if (llvm::StringRef name = top::getTensorName(diagnostic.getLocation()); !name.empty())
    stream << "tensor \"" << name << "\": ";
  else if (auto file = dyn_cast<FileLineColLoc>(LocationAttr(diagnostic.getLocation())))
    stream << file.getFilename().getValue() << ":" << file.getLine() << ":" << file.getColumn() << ": ";
  stream << diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes())
    stream << " (" << note.str() << ")";
  return line;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context, Errors &errors)
    : handler(context, [&errors](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          errors.push_back(lineOf(diagnostic));
        return success();
      }) {}

} // namespace pto_mlir
