// `.pto` text as the public generator of PyPTO spells it.
#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Regex.h"

#include <utility>

namespace pto_mlir {

std::string asGeneratorSpells(const std::string &text) {
  // MLIR names a constant of type index by its value alone, and a second one %c8_0.
  static const llvm::Regex constant("%c(-?)([0-9]+)(_[0-9]+)?([^0-9A-Za-z_]|$)");
  // Behind an optional group the assembly format prints a space.
  static const llvm::Regex brace("( ?)[{] (id|split|dir_mask) = ");
  std::string out;
  auto each = [&](llvm::StringRef rest, const llvm::Regex &pattern, auto spell) {
    llvm::SmallVector<llvm::StringRef, 5> found;
    while (pattern.match(rest, &found)) {
      out += rest.take_front(size_t(found[0].data() - rest.data()));
      rest = rest.drop_front(size_t(found[0].data() - rest.data()) + found[0].size());
      spell(found);
    }
    out += rest;
  };
  each(text, constant, [&](llvm::ArrayRef<llvm::StringRef> found) {
    out += ("%c" + llvm::Twine(found[1].empty() ? "" : "n") + found[2] + "_index" + found[3] + found[4]).str();
  });
  std::string named = std::exchange(out, "");
  each(named, brace, [&](llvm::ArrayRef<llvm::StringRef> found) { out += (" {" + found[2] + " = ").str(); });
  return out;
}

} // namespace pto_mlir
