// Checks of names, texts and types in a model.
#ifndef PTO_MLIR_LIB_PMODEL_NAMES_H
#define PTO_MLIR_LIB_PMODEL_NAMES_H

#include "pto_mlir/Support/ElementType.h"
#include "pto_mlir/Support/Result.h"
#include "pto_mlir/Support/Utf8.h"

#include <algorithm>
#include <string>
#include <unordered_set>

namespace pto_mlir::pmodel {

/// Strings go into JSON, terminals and Python: they must be UTF-8 without control characters.
inline bool isCleanText(const std::string &text) {
  return isUtf8(text) &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 && c != '\n' && c != '\t'; });
}

/// Names of one kind, each once.
class Names {
public:
  explicit Names(std::string kind) : kind(std::move(kind)) {}
  Status add(const std::string &name) {
    if (name.empty())
      return Failure{kind + " without a name"};
    if (!isCleanText(name))
      return Failure{kind + " name is not clean UTF-8 text"};
    if (!seen.insert(name).second)
      return Failure{"two " + kind + "s are named '" + name + "'"};
    return {};
  }

private:
  std::string kind;
  std::unordered_set<std::string> seen;
};

inline bool isKnown(ElementType type) { return static_cast<unsigned>(type) < numElementTypes; }

} // namespace pto_mlir::pmodel

#endif
