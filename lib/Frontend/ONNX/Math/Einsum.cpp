// Einsum of any number of operands: one after the other, permutes, reshapes and a matrix product of two.
#include "../Registry.h"
#include <map>

using namespace mlir;

namespace pto_mlir::onnx {

namespace {

/// A dimension: a letter, or below zero one of those that '...' stands for, counted from the last.
using Label = int;

struct Term {
  Value value;
  SmallVector<Label> labels;

  int64_t sizeOf(Label label) const {
    return cast<RankedTensorType>(value.getType()).getDimSize(llvm::find(labels, label) - labels.begin());
  }
  bool has(Label label) const { return llvm::is_contained(labels, label); }
};

class Einsum {
public:
  explicit Einsum(Node &node) : node(node) {}

  LogicalResult run() {
    if (failed(parse()) || failed(checkSizes()))
      return failure();
    while (terms.size() > 1) {
      Term right = terms.pop_back_val(), left = terms.pop_back_val();
      // What the result or another operand still reads.
      auto stays = [&](Label label) {
        return llvm::is_contained(result, label) || llvm::any_of(terms, [&](Term &term) { return term.has(label); });
      };
      if (failed(sumOut(left, [&](Label label) { return stays(label) || right.has(label); })) ||
          failed(sumOut(right, [&](Label label) { return stays(label) || left.has(label); })))
        return failure();
      Term product = multiply(left, right, stays);
      if (!product.value)
        return failure();
      terms.push_back(product);
    }
    Term &last = terms.front();
    if (failed(sumOut(last, [&](Label label) { return llvm::is_contained(result, label); })))
      return failure();
    return node.finish(permuted(node.outputName(), last, result));
  }

private:
  LogicalResult wrong(const Twine &reason) {
    return node.error("attribute 'equation' = '" + equation + "': " + reason);
  }

  // The labels of one operand of `rank` dimensions, or of the result, whose '...' has `rank` of them.
  LogicalResult parseTerm(StringRef text, std::optional<int64_t> rank, int64_t most, SmallVector<Label> &labels) {
    auto [before, after] = text.split("...");
    bool dots = text.contains("...");
    int64_t hidden = !dots ? 0 : rank ? *rank - static_cast<int64_t>(before.size() + after.size()) : most;
    if (hidden < 0)
      return wrong("it has more labels than an operand has dimensions");
    for (auto [i, part] : llvm::enumerate(std::array{before, after})) {
      for (char letter : part) {
        if (!llvm::isAlpha(letter))
          return wrong("another sign than a letter is not supported");
        if (!rank && llvm::is_contained(labels, letter))
          return wrong("the result has a label twice");
        labels.push_back(letter);
      }
      for (int64_t d = hidden; i == 0 && d > 0; --d)
        labels.push_back(-d);
    }
    return success();
  }

  LogicalResult parse() {
    equation = node.stringAttr("equation", "");
    llvm::erase(equation, ' ');
    auto [left, right] = StringRef(equation).split("->");
    SmallVector<StringRef> parts;
    left.split(parts, ',');
    if (parts.size() != node.numInputs())
      return node.error("has " + Twine(node.numInputs()) + " inputs, its equation " + Twine(parts.size()));
    std::map<Label, int> count;
    int64_t most = 0;
    for (auto [i, part] : llvm::enumerate(parts)) {
      Term term{node.input(i), {}};
      int64_t rank = node.type(i).getRank();
      if (failed(parseTerm(part, rank, 0, term.labels)))
        return failure();
      if (static_cast<int64_t>(term.labels.size()) != rank)
        return node.error("input " + Twine(i) + " has rank " + Twine(rank) + ", its equation " +
                          Twine(term.labels.size()) + " labels");
      for (Label label : term.labels) {
        ++count[label];
        most = std::max<int64_t>(most, -label);
      }
      if (failed(takeDiagonals(term)))
        return failure();
      terms.push_back(term);
    }
    if (StringRef(equation).contains("->")) {
      if (failed(parseTerm(right, std::nullopt, most, result)))
        return failure();
    } else {
      for (auto [label, times] : count) // those of '...' come first
        if (times == 1 || label < 0)
          result.push_back(label);
    }
    if (llvm::any_of(result, [&](Label label) { return !count.count(label); }))
      return wrong("the result has a label that no operand has");
    return success();
  }

  // Where two dimensions have one label, their diagonal takes their place: elements size + 1 apart of both together.
  LogicalResult takeDiagonals(Term &term) {
    for (size_t first = 0; first < term.labels.size(); ++first)
      for (size_t second = term.labels.size(); --second > first;) {
        Label label = term.labels[first];
        if (label != term.labels[second])
          continue;
        SmallVector<int64_t> shape(cast<RankedTensorType>(term.value.getType()).getShape()), perm, whole;
        int64_t size = shape[first], rank = shape.size();
        if (size != shape[second])
          return node.error("label '" + Twine(char(label)) + "' stands for " + Twine(size) + " and " +
                            Twine(shape[second]));
        SmallVector<Label> labels;
        for (int64_t d = 0; d < rank; ++d)
          if (d != int64_t(first) && d != int64_t(second))
            perm.push_back(d), whole.push_back(shape[d]), labels.push_back(term.labels[d]);
        perm.append({int64_t(first), int64_t(second)}), whole.push_back(size * size), labels.push_back(label);
        Value value = node.create<top::PermuteOp>("", term.value, {node.i64s("perm", perm)});
        value = value ? node.reshape("", value, whole) : value;
        SmallVector<int64_t> starts(whole.size(), 0), steps(whole.size(), 1);
        steps.back() = size + 1;
        term = {node.create<top::SliceOp>(
                    "", value, {node.i64s("starts", starts), node.i64s("ends", whole), node.i64s("steps", steps)}),
                labels};
        if (!term.value)
          return failure();
        return takeDiagonals(term);
      }
    return success();
  }

  // A dimension of '...' of size 1 is broadcast: its operand does without.
  LogicalResult checkSizes() {
    std::map<Label, int64_t> sizes;
    for (Term &term : terms)
      for (Label label : term.labels)
        sizes[label] = std::max(sizes[label], term.sizeOf(label));
    std::map<Label, int> holders;
    for (Term &term : terms) {
      SmallVector<Label> left;
      SmallVector<int64_t> shape;
      for (Label label : term.labels) {
        int64_t size = term.sizeOf(label), known = sizes[label];
        if (size == known || (size == 1 && label >= 0 && known == 1)) {
          left.push_back(label);
          shape.push_back(size);
        } else if (size != 1 || label >= 0) {
          return node.error("label '" + (label < 0 ? Twine("...") : Twine(char(label))) + "' stands for " +
                            Twine(known) + " and " + Twine(size));
        }
      }
      if (left.size() != term.labels.size())
        term = {node.reshape("", term.value, shape), left};
      if (!term.value)
        return failure();
    }
    return success();
  }

  // Permutes the dimensions to the order of `labels`.
  Value permuted(StringRef name, const Term &term, ArrayRef<Label> labels) {
    SmallVector<int64_t> perm;
    for (Label label : labels)
      perm.push_back(llvm::find(term.labels, label) - term.labels.begin());
    return llvm::is_sorted(perm) ? term.value
                                 : node.create<top::PermuteOp>(name, term.value, {node.i64s("perm", perm)});
  }

  LogicalResult sumOut(Term &term, llvm::function_ref<bool(Label)> stays) {
    SmallVector<int64_t> axes;
    SmallVector<Label> left;
    for (auto [i, label] : llvm::enumerate(term.labels)) {
      if (stays(label))
        left.push_back(label);
      else
        axes.push_back(i);
    }
    if (axes.empty())
      return success();
    term.value = node.create<top::ReduceSumOp>("", term.value, {node.i64s("axes", axes), node.flag("keepdims", false)});
    term.labels = left;
    return success(term.value != nullptr);
  }

  // The product of two terms over the labels that both have and nothing else reads. A null value after an error.
  Term multiply(const Term &a, const Term &b, llvm::function_ref<bool(Label)> stays) {
    SmallVector<Label> batch, left, right, inner;
    for (Label label : a.labels)
      (!b.has(label) ? left : stays(label) ? batch : inner).push_back(label);
    for (Label label : b.labels)
      if (!a.has(label))
        right.push_back(label);
    auto joined = [](std::initializer_list<ArrayRef<Label>> lists) {
      SmallVector<Label> all;
      for (ArrayRef<Label> list : lists)
        llvm::append_range(all, list);
      return all;
    };
    auto sizeOf = [&](Label label) { return a.has(label) ? a.sizeOf(label) : b.sizeOf(label); };
    auto count = [&](ArrayRef<Label> list) {
      int64_t product = 1;
      for (Label label : list)
        product *= sizeOf(label);
      return product;
    };
    auto matrix = [&](Value value, int64_t rows, int64_t cols) {
      SmallVector<int64_t> shape(llvm::map_range(batch, sizeOf));
      shape.append({rows, cols});
      return value ? node.reshape("", value, shape) : Value();
    };
    Value lhs = matrix(permuted("", a, joined({batch, left, inner})), count(left), count(inner));
    Value rhs = lhs ? matrix(permuted("", b, joined({batch, inner, right})), count(inner), count(right)) : lhs;
    Value product = rhs ? node.create<top::MatMulOp>("", {lhs, rhs}) : rhs;
    Term out{nullptr, joined({batch, left, right})};
    if (!product)
      return out;
    bool isLast = terms.empty() && out.labels == result;
    SmallVector<int64_t> shape(llvm::map_range(out.labels, sizeOf));
    out.value = node.reshape(isLast ? node.outputName() : "", product, shape);
    return out;
  }

  Node &node;
  std::string equation;
  SmallVector<Term> terms;
  SmallVector<Label> result;
};

} // namespace

static LogicalResult importEinsum(Node &node) { return Einsum(node).run(); }

void registerEinsum(Registry &registry) { registry.add("Einsum", {12, kMaxOpset, 1, kVariadic, importEinsum}); }

} // namespace pto_mlir::onnx
