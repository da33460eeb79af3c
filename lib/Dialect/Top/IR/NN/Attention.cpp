#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

namespace {

// Rules for keys compare their numbers in f32.
constexpr int64_t kMostRows = int64_t(1) << 24;

// One tensor of an attention: what its layout makes of its shape.
struct Heads {
  int64_t batch, rows, depth;
};

// The extents of `shape` with `heads` heads in `layout`; nullopt if it has another rank or number of heads.
std::optional<Heads> readHeads(ArrayRef<int64_t> shape, StringRef layout, int64_t heads) {
  if (layout == "BNSD") {
    if (shape.size() != 4 || shape[1] != heads)
      return std::nullopt;
    return Heads{shape[0], shape[2], shape[3]};
  }
  if (shape.size() != 3 || shape[2] % heads)
    return std::nullopt;
  return Heads{shape[0], shape[1], shape[2] / heads};
}

using Adaptor = AttentionOp::Adaptor;
using MaybeLocation = std::optional<Location>;

LogicalResult checkAttributes(MaybeLocation loc, Adaptor adaptor) {
  int64_t queryHeads = adaptor.getQHeads(), heads = adaptor.getKvHeads();
  if (queryHeads < 1 || heads < 1 || queryHeads % heads)
    return inferError<AttentionOp>(loc, "expects q_heads to be a positive multiple of kv_heads, got ", queryHeads,
                                   " and ", heads);
  if (adaptor.getWindow().size() != 2 || llvm::any_of(adaptor.getWindow(), [](int64_t side) { return side < -1; }))
    return inferError<AttentionOp>(loc, "expects a window of two values, each -1 (no limit) or at least 0");
  if (!adaptor.getScale().isFinite())
    return inferError<AttentionOp>(loc, "expects a finite scale");
  if (!adaptor.getSoftcap().isFinite() || adaptor.getSoftcap().isNegative())
    return inferError<AttentionOp>(loc, "expects a softcap of 0 (none) or a positive number");
  return success();
}

LogicalResult checkOptional(MaybeLocation loc, Adaptor adaptor, const Heads &query, const Heads &key) {
  if (Value bias = adaptor.getBias()) {
    SmallVector<int64_t> scores{query.batch, static_cast<int64_t>(adaptor.getQHeads()), query.rows, key.rows};
    if (broadcastShapes(shapeOf(bias), scores) != scores)
      return inferError<AttentionOp>(loc, "expects a bias that broadcasts to the scores ", shapeText(scores), ", got ",
                                     shapeText(shapeOf(bias)));
  }
  if (Value lengths = adaptor.getLengths()) {
    auto type = cast<RankedTensorType>(lengths.getType());
    if (!type.getElementType().isInteger(32) || type.getShape() != ArrayRef<int64_t>{query.batch})
      return inferError<AttentionOp>(loc, "expects lengths of type i32, one per batch (", query.batch, "), got ", type);
  }
  if (Value sinks = adaptor.getSinks())
    if (shapeOf(sinks) != ArrayRef<int64_t>{static_cast<int64_t>(adaptor.getQHeads())})
      return inferError<AttentionOp>(loc, "expects one sink per query head (", adaptor.getQHeads(), "), got ",
                                     shapeText(shapeOf(sinks)));
  return success();
}

} // namespace

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  if (failed(checkAttributes(loc, adaptor)))
    return failure();
  Heads parts[3];
  std::tuple<StringRef, Value, StringRef, int64_t> inputs[] = {
      {"query", adaptor.getQuery(), adaptor.getQLayout(), adaptor.getQHeads()},
      {"key", adaptor.getKey(), adaptor.getKLayout(), adaptor.getKvHeads()},
      {"value", adaptor.getValue(), adaptor.getVLayout(), adaptor.getKvHeads()}};
  Type element = getElementTypeOrSelf(adaptor.getQuery().getType());
  for (auto [i, input] : llvm::enumerate(inputs)) {
    auto [what, value, layout, heads] = input;
    std::optional<Heads> part = readHeads(shapeOf(value), layout, heads);
    if (!part)
      return inferError<AttentionOp>(loc, "expects a ", what, " of ", layout == "BNSD" ? "[batch, " : "[batch, rows, ",
                                     heads, layout == "BNSD" ? ", rows, depth]" : " * depth]", " (", layout, "), got ",
                                     shapeText(shapeOf(value)));
    if (getElementTypeOrSelf(value.getType()) != element)
      return inferError<AttentionOp>(loc, "expects query, key and value of one element type, got ", element, " and ",
                                     getElementTypeOrSelf(value.getType()));
    parts[i] = *part;
  }
  auto [query, key, value] = parts;
  if (query.batch != key.batch || query.batch != value.batch)
    return inferError<AttentionOp>(loc, "expects query, key and value of one batch, got ", query.batch, ", ", key.batch,
                                   " and ", value.batch);
  if (query.depth != key.depth)
    return inferError<AttentionOp>(loc, "expects query and key of one depth, got ", query.depth, " and ", key.depth);
  if (key.rows != value.rows)
    return inferError<AttentionOp>(loc, "expects as many rows of value as of key, got ", value.rows, " and ", key.rows);
  if (query.rows > kMostRows || key.rows > kMostRows)
    return inferError<AttentionOp>(loc, "expects at most ", kMostRows, " rows of query and key, got ", query.rows,
                                   " and ", key.rows);
  if (failed(checkOptional(loc, adaptor, query, key)))
    return failure();
  int64_t heads = adaptor.getQHeads();
  SmallVector<int64_t> shape{query.batch, heads, query.rows, value.depth};
  if (adaptor.getResultLayout() == "BSND")
    shape = {query.batch, query.rows, heads * value.depth};
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

AttentionOp::Extents AttentionOp::getExtents() {
  Heads query = *readHeads(shapeOf(getQuery()), getQLayout(), getQHeads());
  Heads value = *readHeads(shapeOf(getValue()), getVLayout(), getKvHeads());
  return {query.batch, query.rows, value.rows, query.depth, value.depth};
}

std::optional<int64_t> AttentionOp::getFixedOffset() {
  if (auto given = getOffset())
    return static_cast<int64_t>(*given);
  Extents extents = getExtents();
  return getLengths() ? std::nullopt : std::optional<int64_t>(extents.keys - extents.queries);
}

bool AttentionOp::mayHaveEmptyRows() {
  if (getBias() || getLengths())
    return true;
  // Rows see a run of keys, from `first` to `last`, which moves with the row.
  Extents extents = getExtents();
  int64_t offset = *getFixedOffset();
  std::optional<int64_t> last;
  if (getWindow()[1] >= 0)
    last = offset + getWindow()[1];
  if (getCausal())
    last = offset;
  bool startsAfterEnd = getWindow()[0] >= 0 && offset + extents.queries - 1 - getWindow()[0] >= extents.keys;
  return startsAfterEnd || (last && *last < 0);
}
