// What the importers of attention operators share.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_NN_ATTENTIONPARTS_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_NN_ATTENTIONPARTS_H

#include "../Composite.h"

namespace pto_mlir::onnx {

/// Q, K, V or the result of an attention: [batch, heads, rows, depth] (BNSD) or [batch, rows, heads * depth] (BSND).
struct HeadTensor {
  mlir::Value value;
  int64_t heads = 0;
  bool isMerged = false; ///< BSND

  llvm::StringRef layout() const { return isMerged ? "BSND" : "BNSD"; }
  int64_t batch() const { return dim(0); }
  int64_t rows() const { return dim(isMerged ? 1 : 2); }
  int64_t depth() const { return isMerged ? dim(2) / heads : dim(3); }

private:
  int64_t dim(unsigned i) const { return mlir::cast<mlir::RankedTensorType>(value.getType()).getDimSize(i); }
};

/// The operands and attributes of a top.attention.
struct AttentionSpec {
  HeadTensor query, key, value;
  mlir::Value bias, lengths, sinks; ///< null where absent; lengths are i32
  double scale = 1, softcap = 0;
  bool causal = false, isResultMerged = false;
  std::optional<int64_t> offset;
  int64_t left = -1, right = -1; ///< the window
};

/// Which scores an operator returns beside its result.
enum class ScoresAt { product, softcap, bias, softmax };

/// Builds a top.attention; null after an error.
mlir::Value buildAttention(Node &node, llvm::StringRef name, const AttentionSpec &spec);

/// Builds the same of products and elementwise ops, for operators that return scores (under the name `scores`, null
/// without one) and for f64. Both results are null after an error.
std::pair<mlir::Value, mlir::Value> buildAttentionWithScores(Node &node, llvm::StringRef name, llvm::StringRef scores,
                                                             const AttentionSpec &spec, ScoresAt at);

/// The tensor as BNSD, moved if it is merged.
HeadTensor splitHeads(Node &node, HeadTensor tensor, llvm::StringRef name = "");

/// Elements [begin, end) of dimension `dim`.
mlir::Value sliceDim(Node &node, mlir::Value value, int64_t dim, int64_t begin, int64_t end);

/// Concatenates along `axis` under the given name.
mlir::Value concatenate(Node &node, llvm::StringRef name, mlir::ValueRange parts, int64_t axis);

/// Whether rows can be numbered; reports an error if there are too many.
bool areCountable(Node &node, int64_t rows);

/// Whether input `i`, if the node has it, is of the given rank; reports an error that names `what` if not.
bool hasRank(Node &node, unsigned i, int64_t rank, llvm::StringRef what);

/// A constant tensor of f32 numbers.
mlir::Value floats(Node &node, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> numbers);

/// The numbers first, first + 1, .. as a constant of i32: floats between ops may be stored narrow.
mlir::Value counting(Node &node, int64_t count, llvm::ArrayRef<int64_t> shape, int64_t first = 0);

/// Builds the top.attention of an operator whose result is [batch, rows, heads * depth].
mlir::LogicalResult finishAttention(Node &node, AttentionSpec &spec);

/// Fails where the model reads output `i`, scores that an operator cannot give.
mlir::LogicalResult refuseOutput(Node &node, unsigned i);

/// The attribute 'scale'; 0 or none is one over the root of the depth.
double scaleOf(Node &node, const HeadTensor &query);

/// Rotates pairs of elements in the first `rotated` columns of each head. `cosine` and `sine` are [batch or 1, rows,
/// rotated / 2]; pairs are neighbours if `interleaved`, else half of the columns apart.
mlir::Value rotate(Node &node, llvm::StringRef name, HeadTensor tensor, mlir::Value cosine, mlir::Value sine,
                   int64_t rotated, bool interleaved);

/// `cache` with the rows of `update` along `axis` written from row `first[b]` (i32 of [batch]; null for 0) on; around
/// the end of the cache if `circular`. A state is written in place.
mlir::Value writeRows(Node &node, llvm::StringRef name, mlir::Value cache, mlir::Value update, mlir::Value first,
                      int64_t axis, bool circular);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_NN_ATTENTIONPARTS_H
