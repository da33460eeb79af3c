// TfIdfVectorizer: the host counts n-grams, the engines weigh the counts.
#include "../Composite.h"
#include "../Registry.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace pto_mlir::onnx {

/// Columns of the result.
static constexpr int64_t kMostColumns = 1 << 24;

// `weights` are those of the n-grams, in the order of the pool.
static Value weighed(Node &node, Value counts, StringRef mode, ArrayRef<int64_t> columns, int64_t width) {
  Formula f(node);
  const ::onnx::AttributeProto *weights = node.attr("weights");
  std::vector<double> numbers(width);
  std::vector<bool> isGiven(width);
  for (auto [i, column] : llvm::enumerate(weights ? columns : ArrayRef<int64_t>())) {
    if (weights->floats_size() <= static_cast<int64_t>(i))
      return (void)node.error("has fewer weights than n-grams"), Value();
    double number = weights->floats(static_cast<int>(i));
    if (isGiven[column] && numbers[column] != number)
      return (void)node.error("n-grams of one column with several weights are not supported"), Value();
    numbers[column] = number, isGiven[column] = true;
  }
  Value value = counts;
  if (mode == "IDF")
    value = f.where(f.compare(counts, "gt", 0.0), f.constant(counts, 1), f.constant(counts, 0));
  if (mode == "TF" || !weights)
    return value;
  OpBuilder &b = node.builder();
  Type element = b.getF32Type();
  Value row = top::createConstant(b, b.getUnknownLoc(), "weights", RankedTensorType::get({width}, element),
                                  top::fromDoubles(element, numbers));
  return f.of<top::MulOp>(value, row);
}

static SmallVector<int64_t> numbersOf(const google::protobuf::RepeatedPtrField<std::string> &words,
                                      std::vector<std::string> &keys) {
  llvm::StringMap<int64_t> places;
  SmallVector<int64_t> numbers;
  for (const std::string &word : words) {
    auto [place, isNew] = places.try_emplace(word, static_cast<int64_t>(keys.size()));
    if (isNew)
      keys.push_back(word);
    numbers.push_back(place->second);
  }
  return numbers;
}

static LogicalResult importTfIdf(Node &node) {
  std::string mode = node.stringAttr("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return node.error("attribute 'mode' = '" + mode + "' is not known");
  RankedTensorType type = node.type(0);
  const ::onnx::AttributeProto *words = node.attr("pool_strings");
  bool ofStrings = isa<top::StringType>(type.getElementType());
  if (ofStrings != (words != nullptr))
    return node.error("takes strings with 'pool_strings', integers with 'pool_int64s'");
  // Strings are numbered as they are first in the pool.
  std::vector<std::string> keys;
  auto pool = ofStrings ? std::optional(numbersOf(words->strings(), keys)) : node.intsAttr("pool_int64s");
  auto counts = node.intsAttr("ngram_counts"), columns = node.intsAttr("ngram_indexes");
  if (!pool || !counts || !columns || columns->empty() || type.getRank() > 2 ||
      (!ofStrings && !isa<IntegerType>(type.getElementType())))
    return node.error("takes integers or strings [C] or [B, C], a pool of them, 'ngram_counts' and 'ngram_indexes'");
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
  if (ofStrings && input)
    input = node.host("", "string_lookup", {input, node.strings(keys)},
                      cast<RankedTensorType>(input.getType()).clone(node.builder().getI64Type()), "strings");
  SmallVector<int64_t> shape(type.getShape());
  shape.resize(std::max<size_t>(shape.size(), 1));
  shape.back() = last + 1;
  Value found = node.host("", "ngrams", input, RankedTensorType::get(shape, node.builder().getI64Type()),
                          "the values are looked up", parameters);
  Value counted = castTo(node, found, node.builder().getF32Type());
  Value result = counted ? weighed(node, counted, mode, *columns, last + 1) : counted;
  return node.finish(result);
}

void registerTfIdfVectorizer(Registry &registry) {
  registry.add("TfIdfVectorizer", {9, kMaxOpset, 1, 1, importTfIdf, kTakesStrings});
}

} // namespace pto_mlir::onnx
