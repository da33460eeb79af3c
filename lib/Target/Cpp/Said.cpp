// The table of calls, generated from the definitions of the ops (lib/Dialect/PTO/IR/gen_insns.py).
#include "Said.h"

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace pto_mlir::cpp {

const CallForms *callForms(Operation *op) {
  static const CallForms table[] = {
#include "pto_mlir/Dialect/PTO/IR/InsnCpp.inc"
  };
  static const llvm::StringMap<const CallForms *> byName = [] {
    llvm::StringMap<const CallForms *> map;
    for (const CallForms &row : table)
      map[row.op] = &row;
    return map;
  }();
  return byName.lookup(op->getName().getStringRef());
}

SmallVector<Piece> piecesOf(StringRef form) {
  SmallVector<Piece> pieces;
  while (!form.empty()) {
    auto [before, rest] = form.split('$');
    Piece piece{before, "", false};
    if (before.size() != form.size()) {
      piece.name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      rest = rest.drop_front(piece.name.size());
      piece.ofType = piece.text.consume_back("type(") && rest.consume_front(")");
    }
    pieces.push_back(piece);
    form = rest;
  }
  return pieces;
}

std::optional<StringRef> chooseForm(const CallForms &call, const Said &said, std::string &missing) {
  for (StringRef form : call.forms) {
    SmallVector<Piece> pieces = piecesOf(form);
    auto names = [&](StringRef name) { return llvm::any_of(pieces, [&](Piece piece) { return piece.name == name; }); };
    bool fits = llvm::all_of(said.entries, [&](const Said::Entry &entry) {
      bool absent = entry.values.empty() && !entry.attribute;
      if (entry.mustBeSaid && !names(entry.name))
        missing = entry.name;
      return names(entry.name) ? !absent : !entry.mustBeSaid;
    });
    if (fits)
      return form;
  }
  return std::nullopt;
}

} // namespace pto_mlir::cpp
