// StringConcat, StringNormalizer, StringSplit, RegexFullMatch: computed by the host program.
#include "pto_mlir/HostOps/Strings.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static constexpr StringLiteral kStrings = "strings";

static bool takesOnlyStrings(Node &node) {
  for (unsigned i = 0; i < node.numInputs(); ++i)
    if (!isa<top::StringType>(node.type(i).getElementType()))
      return (void)node.error("takes strings"), false;
  return true;
}

static LogicalResult importStringConcat(Node &node) {
  return takesOnlyStrings(node) ? node.hostBinary("string_concat", kStrings) : failure();
}

// Without stop words the number of strings stays.
static LogicalResult importStringNormalizer(Node &node) {
  std::string change = node.stringAttr("case_change_action", "NONE");
  (void)node.stringAttr("locale", ""); // cases are Unicode's in each
  bool isSensitive = node.intAttr("is_case_sensitive", 0) != 0;
  if (change != "NONE" && change != "LOWER" && change != "UPPER")
    return node.error("attribute 'case_change_action' = '" + change + "' is not known");
  const ::onnx::AttributeProto *words = node.attr("stopwords");
  if (!takesOnlyStrings(node))
    return failure();
  RankedTensorType type = node.type(0);
  if (type.getRank() < 1 || type.getRank() > 2 || (type.getRank() == 2 && type.getDimSize(0) != 1))
    return node.error("takes strings [C] or [1, C]");
  SmallVector<int64_t> shape(type.getShape());
  int64_t most = std::max<int64_t>(shape.back(), 1);
  std::vector<std::string> stops;
  if (words)
    stops.assign(words->strings().begin(), words->strings().end());
  shape.back() = stops.empty() || most == 1 ? most : ShapedType::kDynamic;
  Value result = node.host(node.outputName(), "string_normalize", {node.input(0), node.strings(stops)},
                           RankedTensorType::get(shape, type.getElementType()), kStrings,
                           {node.named("case", node.builder().getStringAttr(StringRef(change).lower())),
                            node.i64("case_sensitive", isSensitive)});
  if (!result)
    return failure();
  if (ShapedType::isDynamic(shape.back())) {
    std::vector<std::vector<std::vector<int64_t>>> choices;
    for (int64_t count = 1; count <= std::min(most, node.maxExtent()); ++count) {
      shape.back() = count;
      choices.push_back({std::vector<int64_t>(shape.begin(), shape.end())});
    }
    node.setShapes(result, std::move(choices));
  }
  return node.finish(result);
}

static LogicalResult importStringSplit(Node &node) {
  std::string delimiter = node.stringAttr("delimiter", "");
  int64_t most = node.attr("maxsplit") ? node.intAttr("maxsplit", 0) : -1;
  if (!takesOnlyStrings(node))
    return failure();
  if (most < -1)
    return node.error("attribute 'maxsplit' is negative");
  RankedTensorType type = node.type(0);
  Value by = node.strings({delimiter});
  SmallVector<NamedAttribute> parameters{node.i64("maxsplit", most)};
  if (node.wantsOutput(0)) {
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(type.getNumElements() == 0 ? 0 : ShapedType::kDynamic);
    Value parts = node.host(node.outputName(0), "string_split", {node.input(0), by},
                            RankedTensorType::get(shape, type.getElementType()), kStrings, parameters);
    if (!parts)
      return failure();
    std::vector<std::vector<std::vector<int64_t>>> choices;
    for (int64_t count = 0; ShapedType::isDynamic(shape.back()) && count <= node.maxExtent(); ++count) {
      choices.push_back({std::vector<int64_t>(shape.begin(), shape.end())});
      choices.back().front().back() = count;
    }
    if (!choices.empty())
      node.setShapes(parts, std::move(choices));
    node.set(0, parts);
  }
  if (node.wantsOutput(1)) {
    Value counts = node.host(node.outputName(1), "string_split_counts", {node.input(0), by},
                             type.clone(node.builder().getI64Type()), kStrings, parameters);
    if (!counts)
      return failure();
    node.set(1, counts);
  }
  return success();
}

static LogicalResult importRegexFullMatch(Node &node) {
  std::string pattern = node.stringAttr("pattern", "");
  if (!takesOnlyStrings(node))
    return failure();
  if (Status status = hostops::checkRegex(pattern); !status)
    return node.error("attribute 'pattern' " + status.error());
  return node.finish(node.host(node.outputName(), "regex_full_match", {node.input(0), node.strings({pattern})},
                               node.type(0).clone(node.builder().getI1Type()), kStrings));
}

void registerStrings(Registry &registry) {
  registry.add("StringConcat", {20, kMaxOpset, 2, 2, importStringConcat, kTakesStrings});
  registry.add("StringNormalizer", {10, kMaxOpset, 1, 1, importStringNormalizer, kTakesStrings});
  registry.add("StringSplit", {20, kMaxOpset, 1, 1, importStringSplit, kTakesStrings});
  registry.add("RegexFullMatch", {20, kMaxOpset, 1, 1, importRegexFullMatch, kTakesStrings});
}

} // namespace pto_mlir::onnx
