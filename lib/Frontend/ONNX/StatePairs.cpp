// Which inputs and outputs are state, and how it is updated (--state).
#include "Importer.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace pto_mlir::onnx {

//===-- Patterns ----------------------------------------------------------===//

/// What the stars of `pattern` stand for in `name`, the shortest first; nullopt where it does not match.
static std::optional<SmallVector<std::string>> matchStars(StringRef pattern, StringRef name) {
  auto [before, rest] = pattern.split('*');
  if (before.size() == pattern.size())
    return name == pattern ? std::optional(SmallVector<std::string>()) : std::nullopt;
  if (!name.consume_front(before))
    return std::nullopt;
  for (size_t length = 0; length <= name.size(); ++length)
    if (auto more = matchStars(rest, name.drop_front(length))) {
      more->insert(more->begin(), name.take_front(length).str());
      return more;
    }
  return std::nullopt;
}

static std::string withStars(StringRef pattern, ArrayRef<std::string> stars) {
  std::string text;
  for (char c : pattern)
    if (c == '*')
      text += stars.front(), stars = stars.drop_front();
    else
      text += c;
  return text;
}

/// The names that exporters give to the new value of a state.
static SmallVector<std::string> usualOutputs(StringRef input) {
  static constexpr std::pair<StringLiteral, StringLiteral> kNames[] = {{"past_key_values", "present_key_values"},
                                                                       {"past_key_values", "present"},
                                                                       {"past", "present"},
                                                                       {"cache_in", "cache_out"},
                                                                       {"state_in", "state_out"},
                                                                       {"_in", "_out"}};
  SmallVector<std::string> names;
  for (auto [from, to] : kNames)
    if (size_t at = input.find(from); at != StringRef::npos)
      names.push_back((input.take_front(at) + to + input.drop_front(at + from.size())).str());
  return names;
}

//===-- How a pair is updated ----------------------------------------------===//

static int64_t axisOf(const ::onnx::NodeProto &node, int64_t otherwise, int64_t rank) {
  for (const auto &attribute : node.attribute())
    if (attribute.name() == "axis")
      otherwise = attribute.i();
  return otherwise < 0 ? otherwise + rank : otherwise;
}

static bool isInput(const ::onnx::NodeProto &node, int i, StringRef name) {
  return i < node.input_size() && node.input(i) == name;
}

/// Whether `name` is `input`, or made of it by TensorScatter alone; sets the axis.
static bool isScattered(const llvm::StringMap<const ::onnx::NodeProto *> &producers, StringRef name, StringRef input,
                        int64_t rank, int64_t &axis) {
  for (size_t steps = 0; name != input; ++steps) {
    const ::onnx::NodeProto *node = producers.lookup(name);
    if (!node || node->op_type() != "TensorScatter" || !node->domain().empty() || node->input_size() == 0 ||
        steps > producers.size())
      return false;
    axis = axisOf(*node, -2, rank);
    name = node->input(0);
  }
  return true;
}

void Importer::classifyState(StatePair &pair, const llvm::StringMap<const ::onnx::NodeProto *> &producers,
                             int64_t rank) {
  const ::onnx::NodeProto *node = producers.lookup(pair.output);
  if (!node)
    return;
  StringRef op = node->op_type(), domain = node->domain();
  bool isOwn = domain.empty() || domain == "ai.onnx", isContrib = domain == "com.microsoft";
  auto isPast = [&](int key) { return isInput(*node, key, pair.input) || isInput(*node, key + 1, pair.input); };
  if (isOwn && op == "Concat" && node->input_size() > 1 && isInput(*node, 0, pair.input)) {
    pair.grows = true;
    pair.axis = axisOf(*node, 0, rank);
  } else if ((isOwn && op == "Attention" && isPast(4)) || (isContrib && op == "MultiHeadAttention" && isPast(6))) {
    pair.grows = true;
    pair.axis = 2;
  } else if (isContrib && op == "GroupQueryAttention" && isPast(3)) {
    pair.axis = 2;
  } else if (op == "TensorScatter") {
    isScattered(producers, pair.output, pair.input, rank, pair.axis);
  }
}

void Importer::addState(const ::onnx::ValueInfoProto &input, const std::string &output,
                        const llvm::StringMap<const ::onnx::NodeProto *> &producers) {
  if (llvm::any_of(states, [&](const StatePair &p) { return p.input == input.name() || p.output == output; })) {
    report("--state pairs '" + input.name() + "' with '" + output + "', but one of them has a partner already");
    return;
  }
  StatePair &pair = states.emplace_back(StatePair{input.name(), output});
  classifyState(pair, producers, input.type().tensor_type().shape().dim_size());
  if (pair.grows && options.stateLength < 1)
    report("state '" + pair.input + "' grows with every run; say how long it may be with --state_length");
}

/// The output that `auto` pairs with an input: one of a usual name, or one that is scattered from it; "" for none.
static std::string partnerOf(const ::onnx::ValueInfoProto &input, const ::onnx::GraphProto &graph,
                             const llvm::StringMap<const ::onnx::NodeProto *> &producers) {
  SmallVector<std::string> usual = usualOutputs(input.name());
  for (const std::string &name : usual)
    for (const auto &output : graph.output())
      if (output.name() == name)
        return name;
  int64_t axis = -1;
  for (const auto &output : graph.output())
    if (output.name() != input.name() &&
        isScattered(producers, output.name(), input.name(), input.type().tensor_type().shape().dim_size(), axis))
      return output.name();
  return "";
}

bool Importer::findStates() {
  const ::onnx::GraphProto &graph = file.model().graph();
  llvm::StringSet<> initializers, results;
  llvm::StringMap<const ::onnx::NodeProto *> producers;
  for (const auto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  for (const auto &output : graph.output())
    results.insert(output.name());
  for (const auto &node : graph.node())
    for (const std::string &output : node.output())
      producers[output] = &node;
  SmallVector<StringRef> patterns;
  StringRef(options.state).split(patterns, ',', -1, /*KeepEmpty=*/false);
  for (StringRef pattern : patterns) {
    auto [from, to] = pattern.trim().split('=');
    bool isAuto = pattern.trim() == "auto";
    if (!isAuto && (from.empty() || to.empty() || from.count('*') != to.count('*'))) {
      report("--state: expects INPUT=OUTPUT with as many * on both sides, or auto, got '" + pattern + "'");
      continue;
    }
    size_t before = states.size();
    for (const auto &input : graph.input()) {
      auto stars = isAuto ? std::nullopt : matchStars(from, input.name());
      if (initializers.contains(input.name()) || (!isAuto && !stars))
        continue;
      std::string output = isAuto ? partnerOf(input, graph, producers) : withStars(to, *stars);
      if (results.contains(output))
        addState(input, output, producers);
      else if (!isAuto)
        report("--state: input '" + input.name() + "' has no partner, the model has no output '" + output + "'");
    }
    if (states.size() == before && errors.empty())
      report("--state: " +
             (isAuto ? "finds no input with a new value among the outputs"
                     : ("'" + pattern + "' matches no input").str()) +
             "; inputs are " + inputNames() + "; outputs are " + outputNames());
  }
  return errors.empty();
}

static std::string nameList(const google::protobuf::RepeatedPtrField<::onnx::ValueInfoProto> &list) {
  constexpr int kMost = 8;
  std::string text;
  for (int i = 0; i < std::min(list.size(), kMost); ++i)
    text += (i ? ", '" : "'") + list[i].name() + "'";
  return text + (list.size() > kMost ? ", .." : "");
}

std::string Importer::inputNames() { return nameList(file.model().graph().input()); }
std::string Importer::outputNames() { return nameList(file.model().graph().output()); }

} // namespace pto_mlir::onnx
