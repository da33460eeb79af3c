// Einsum of one or two operands, decomposed into permutes, reshapes and one matrix product.
#include "../Registry.h"
#include <map>

using namespace mlir;

namespace pto_mlir::onnx {

namespace {

struct Term {
  Value value;
  SmallVector<char> labels;

  int64_t sizeOf(char label) const {
    return cast<RankedTensorType>(value.getType()).getDimSize(llvm::find(labels, label) - labels.begin());
  }
};

// Permutes the dimensions to the order of `labels`.
Value permuted(Node &node, StringRef name, const Term &term, ArrayRef<char> labels) {
  SmallVector<int64_t> perm;
  for (char label : labels)
    perm.push_back(llvm::find(term.labels, label) - term.labels.begin());
  return llvm::is_sorted(perm) ? term.value : node.create<top::PermuteOp>(name, term.value, {node.i64s("perm", perm)});
}

// Sums over labels that are in neither the other operand nor the result.
LogicalResult sumOut(Node &node, Term &term, llvm::function_ref<bool(char)> stays) {
  SmallVector<int64_t> axes;
  SmallVector<char> left;
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

// Parses an equation ("ij,jk->ik") to the labels of operands and result; reports unsupported syntax.
LogicalResult parse(Node &node, std::string text, SmallVectorImpl<SmallVector<char>> &terms,
                    SmallVector<char> &result) {
  llvm::erase(text, ' ');
  if (StringRef(text).contains("..."))
    return node.error("attribute 'equation' with '...' is not supported");
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  std::map<char, int> count;
  for (StringRef part : parts) {
    terms.emplace_back(part.begin(), part.end());
    for (char label : part) {
      if (!llvm::isAlpha(label) || llvm::count(part, label) > 1)
        return node.error("attribute 'equation' = '" + text +
                          "': a repeated label or another sign than a letter is not supported");
      ++count[label];
    }
  }
  if (StringRef(text).contains("->")) {
    result.assign(right.begin(), right.end());
  } else {
    for (auto [label, times] : count)
      if (times == 1)
        result.push_back(label);
  }
  for (char label : result)
    if (!count.contains(label) || llvm::count(result, label) > 1)
      return node.error("attribute 'equation' = '" + text +
                        "': the result has a label that no operand has, or one twice");
  return success();
}

} // namespace

static LogicalResult importEinsum(Node &node) {
  SmallVector<SmallVector<char>> labels;
  SmallVector<char> result;
  if (failed(parse(node, node.stringAttr("equation", ""), labels, result)))
    return failure();
  if (labels.size() != node.numInputs())
    return node.error("has " + Twine(node.numInputs()) + " inputs, its equation " + Twine(labels.size()));
  if (labels.size() > 2)
    return node.error("with " + Twine(labels.size()) + " operands is not supported; one and two are");
  SmallVector<Term, 2> terms;
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (unsigned i = 0; i < labels.size(); ++i) {
    if (static_cast<int64_t>(labels[i].size()) != node.type(i).getRank())
      return node.error("input " + Twine(i) + " has rank " + Twine(node.type(i).getRank()) + ", its equation " +
                        Twine(labels[i].size()) + " labels");
    for (auto [label, size] : llvm::zip_equal(labels[i], node.type(i).getShape()))
      if (int64_t known = sizes.try_emplace(label, size).first->second; known != size)
        return node.error("label '" + Twine(label) + "' stands for " + Twine(known) + " and " + Twine(size));
    terms.push_back({node.input(i), labels[i]});
  }
  for (auto [i, term] : llvm::enumerate(terms)) {
    const SmallVector<char> *other = terms.size() == 2 ? &terms[1 - i].labels : nullptr;
    if (failed(sumOut(node, term, [&](char label) {
          return llvm::is_contained(result, label) || (other && llvm::is_contained(*other, label));
        })))
      return failure();
  }
  if (terms.size() == 1)
    return node.finish(permuted(node, node.outputName(), terms[0], result));

  SmallVector<char> batch, left, right, inner;
  for (char label : terms[0].labels)
    (!llvm::is_contained(terms[1].labels, label) ? left
     : llvm::is_contained(result, label)         ? batch
                                                 : inner)
        .push_back(label);
  for (char label : terms[1].labels)
    if (!llvm::is_contained(terms[0].labels, label))
      right.push_back(label);
  auto joined = [](std::initializer_list<ArrayRef<char>> lists) {
    SmallVector<char> all;
    for (ArrayRef<char> list : lists)
      llvm::append_range(all, list);
    return all;
  };
  auto count = [&](ArrayRef<char> list) {
    int64_t product = 1;
    for (char label : list)
      product *= sizes[label];
    return product;
  };
  Value a = permuted(node, "", terms[0], joined({batch, left, inner})),
        b = permuted(node, "", terms[1], joined({batch, inner, right}));
  SmallVector<int64_t> lead;
  for (char label : batch)
    lead.push_back(sizes[label]);
  auto matrix = [&](Value value, int64_t rows, int64_t cols) {
    SmallVector<int64_t> shape(lead);
    shape.append({rows, cols});
    return value ? node.reshape("", value, shape) : Value();
  };
  Value product =
      node.create<top::MatMulOp>("", {matrix(a, count(left), count(inner)), matrix(b, count(inner), count(right))});
  if (!product)
    return failure();
  Term out{nullptr, joined({batch, left, right})};
  SmallVector<int64_t> shape;
  for (char label : out.labels)
    shape.push_back(sizes[label]);
  bool ordered = ArrayRef<char>(out.labels) == ArrayRef<char>(result);
  out.value = node.reshape(ordered ? node.outputName() : "", product, shape);
  return node.finish(out.value ? permuted(node, node.outputName(), out, result) : Value());
}

void registerEinsum(Registry &registry) { registry.add("Einsum", {12, kMaxOpset, 1, kVariadic, importEinsum}); }

} // namespace pto_mlir::onnx
