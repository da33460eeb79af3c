// Recognition of an attention that a model spells in products, a softmax and what lies between them.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_ATTENTIONMATCH_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_ATTENTIONMATCH_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

namespace pto_mlir::top {

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// What is added to the scores: a tensor, or a number where a condition holds (or does not) and 0 elsewhere.
struct ScoreBias {
  mlir::Value value;
  mlir::Value condition;
  double hidden = 0;
  bool hidesWhereTrue = false;
  llvm::SmallVector<int64_t> scores; ///< shape of the scores where it is added
};

/// The parts of a recognised attention.
struct AttentionMatch {
  MatMulOp scores;                           ///< Q times the transpose of K
  MatMulOp sums;                             ///< weights times V
  mlir::Value query, key;                    ///< without factors; the key's last dimension is the depth
  llvm::SmallVector<int64_t> keyPermutation; ///< to be applied to the key; empty if none
  double scale = 1, softcap = 0;
  llvm::SmallVector<ScoreBias> biases;
  /// The replaced ops before `sums`; nobody else reads their results.
  llvm::SmallVector<mlir::Operation *> chain;
};

/// The attention whose last product is `sums`; on failure says why in `reason`.
std::optional<AttentionMatch> matchAttention(MatMulOp sums, std::string &reason);

/// The heads of which `value` [batch, heads, rows, depth] is the repetition, each one `times` times in a row; null if
/// it is none.
mlir::Value repeatedHeads(mlir::Value value, int64_t &times);

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_ATTENTIONMATCH_H
