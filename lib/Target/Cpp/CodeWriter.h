// Indented lines of C++.
#ifndef PTO_MLIR_LIB_TARGET_CPP_CODEWRITER_H
#define PTO_MLIR_LIB_TARGET_CPP_CODEWRITER_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

namespace pto_mlir::cpp {

class CodeWriter {
public:
  CodeWriter(llvm::raw_ostream &os, unsigned columns) : os(os), columns(columns) {}

  /// A line at the depth of the block; an empty one has no blanks.
  void line(const llvm::Twine &text) {
    if (!place.empty())
      os.indent(columns * depth) << "// " << place << "\n";
    place.clear();
    std::string shown = text.str();
    if (!shown.empty())
      os.indent(columns * depth) << shown;
    os << "\n";
  }
  /// A comment in front of the next line; a later one takes its place.
  void noteBefore(std::string comment) { place = std::move(comment); }
  /// A line at the margin, as preprocessor directives are.
  void marginLine(const llvm::Twine &text) { os << text << "\n"; }
  /// `head {`, or the brace on a line of its own without `head`.
  void open(const llvm::Twine &head) {
    line(head.isTriviallyEmpty() ? llvm::Twine("{") : head + " {");
    ++depth;
  }
  /// `} else {`
  void reopen(const llvm::Twine &middle) {
    place.clear();
    --depth;
    line("} " + middle + " {");
    ++depth;
  }
  void close() {
    place.clear();
    --depth;
    line("}");
  }

private:
  llvm::raw_ostream &os;
  unsigned columns, depth = 0;
  std::string place;
};

} // namespace pto_mlir::cpp

#endif
