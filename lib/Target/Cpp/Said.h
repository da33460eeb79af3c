// What an op says, by the names of its definition, and the form of its call that says all of it.
#ifndef PTO_MLIR_LIB_TARGET_CPP_SAID_H
#define PTO_MLIR_LIB_TARGET_CPP_SAID_H

#include "mlir/IR/Operation.h"

#include <vector>

namespace pto_mlir::cpp {

class Said {
public:
  /// Operands of one name; none where an optional one is absent.
  void operands(llvm::StringRef name, mlir::ValueRange values) {
    entries.push_back({name.str(), llvm::to_vector(values), {}, !values.empty()});
  }
  /// An attribute; one at its default need not be in the form.
  void attribute(llvm::StringRef name, mlir::Attribute value, bool isDefault) {
    entries.push_back({name.str(), {}, value, value && !isDefault});
  }

  struct Entry {
    std::string name;
    llvm::SmallVector<mlir::Value> values;
    mlir::Attribute attribute; // null for operands
    bool mustBeSaid;
  };
  std::vector<Entry> entries;
};

/// The forms of an op's call, from its definition.
struct CallForms {
  llvm::StringRef op, whyNot; // `whyNot` is not empty where there is no C++
  std::vector<llvm::StringRef> forms;
  void (*say)(mlir::Operation *, Said &);
};

/// Null for an op that the library does not know.
const CallForms *callForms(mlir::Operation *op);

/// A piece of a form: text as it is, or a name, of which the type may be meant.
struct Piece {
  llvm::StringRef text, name;
  bool ofType = false;
};
llvm::SmallVector<Piece> piecesOf(llvm::StringRef form);

/// The first form that names what must be said and nothing that is absent; else nothing, with the `missing` name.
std::optional<llvm::StringRef> chooseForm(const CallForms &call, const Said &said, std::string &missing);

} // namespace pto_mlir::cpp

#endif
