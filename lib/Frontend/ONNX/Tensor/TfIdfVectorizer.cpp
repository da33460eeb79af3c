// TfIdfVectorizer: the host counts n-grams, the engines weigh the counts.
#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

/// Columns of the result.
static constexpr int64_t kMostColumns = 1 << 24;

static Value weighed(Node &node, Value counts, StringRef mode, int64_t width) {
  Formula f(node);
  const ::onnx::AttributeProto *weights = node.attr("weights");
  if (weights && weights->floats_size() < width)
    return (void)node.error("has fewer weights than columns"), Value();
  Value value = counts;
  if (mode == "IDF")
    value = f.where(f.compare(counts, "gt", 0.0), f.constant(counts, 1), f.constant(counts, 0));
  if (mode == "TF" || !weights)
    return value;
  OpBuilder &b = node.builder();
  std::vector<double> numbers(weights->floats().begin(), weights->floats().begin() + width);
  Type element = b.getF32Type();
  Value row = top::createConstant(b, b.getUnknownLoc(), "weights", RankedTensorType::get({width}, element),
                                  top::fromDoubles(element, numbers));
  return f.of<top::MulOp>(value, row);
}

static LogicalResult importTfIdf(Node &node) {
  std::string mode = node.stringAttr("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return node.error("attribute 'mode' = '" + mode + "' is not known");
  if (node.attr("pool_strings"))
    return node.error("n-grams of strings are not supported");
  RankedTensorType type = node.type(0);
  auto pool = node.intsAttr("pool_int64s"), counts = node.intsAttr("ngram_counts"),
       columns = node.intsAttr("ngram_indexes");
  if (!pool || !counts || !columns || columns->empty() || type.getRank() > 2 ||
      !isa<IntegerType>(type.getElementType()))
    return node.error("takes integers [C] or [B, C], 'pool_int64s', 'ngram_counts' and 'ngram_indexes'");
  int64_t last = *llvm::max_element(*columns);
  if (*llvm::min_element(*columns) < 0 || last >= kMostColumns)
    return node.error("attribute 'ngram_indexes' holds 0 to " + Twine(kMostColumns - 1));
  int64_t least = node.intAttr("min_gram_length", 1), most = node.intAttr("max_gram_length", 1),
          skips = node.intAttr("max_skip_count", 0);
  if (least < 1 || most < least || skips < 0 || most > INT32_MAX || skips > INT32_MAX)
    return node.error("takes 1 <= min_gram_length <= max_gram_length and max_skip_count >= 0");
  SmallVector<NamedAttribute> parameters{node.i64s("pool", *pool),       node.i64s("counts", *counts),
                                         node.i64s("columns", *columns), node.i64("width", last + 1),
                                         node.i64("least", least),       node.i64("most", most),
                                         node.i64("skips", skips)};
  Value input = type.getRank() == 0 ? node.reshape("", node.input(0), {1}) : node.input(0);
  SmallVector<int64_t> shape(type.getShape());
  shape.resize(std::max<size_t>(shape.size(), 1));
  shape.back() = last + 1;
  Value found = node.host("", "ngrams", input, RankedTensorType::get(shape, node.builder().getI64Type()),
                          "the values are looked up", parameters);
  Value counted = castTo(node, found, node.builder().getF32Type());
  Value result = counted ? weighed(node, counted, mode, last + 1) : counted;
  return node.finish(result);
}

void registerTfIdfVectorizer(Registry &registry) { registry.add("TfIdfVectorizer", {9, kMaxOpset, 1, 1, importTfIdf}); }

} // namespace pto_mlir::onnx
