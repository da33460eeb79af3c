// Equality of structure, from the fields that each class names.
#include "pypto/ir/node_access.h"
#include "pypto/ir/structural.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace pypto::ir {
namespace {

std::string describe(const NodePtr &node) {
  if (!node)
    return "nothing";
  if (auto var = As<Var>(node))
    return "the variable " + var->name_hint_;
  if (auto op = As<Op>(node))
    return op->name_;
  if (auto constant = As<ConstInt>(node))
    return std::to_string(constant->value_);
  return std::string(KindName(node->kind()));
}

class Comparer {
public:
  explicit Comparer(bool autoMapping) : autoMapping(autoMapping) {}

  bool equal(const NodePtr &a, const NodePtr &b) {
    if (!a || !b || a->kind() != b->kind())
      return (!a && !b) || differ(describe(a) + " and " + describe(b));
    if (IsA<Var>(a))
      return sameVariable(static_cast<const Var &>(*a), static_cast<const Var &>(*b));
    return Dispatch(*a, [&](const auto &left) {
      using T = std::remove_cvref_t<decltype(left)>;
      return fieldsEqual(left, static_cast<const T &>(*b));
    });
  }

  std::string path;
  std::string difference;

private:
  bool differ(std::string what) {
    if (difference.empty())
      difference = std::move(what);
    return false;
  }

  /// Extents of parameters that only the function knows bind a variable each.
  void bindSymbols(const ExprPtr &a, const ExprPtr &b) {
    auto left = As<BinaryExpr>(a), right = As<BinaryExpr>(b);
    if (left && right) {
      bindSymbols(left->left_, right->left_);
      bindSymbols(left->right_, right->right_);
    }
    auto x = As<Var>(a), y = As<Var>(b);
    if (x && y && !toRight.contains(x.get()) && !toLeft.contains(y.get())) {
      toRight[x.get()] = y.get();
      toLeft[y.get()] = x.get();
    }
  }
  void bindSymbols(const Function &a, const Function &b) {
    for (size_t i = 0; i < std::min(a.params_.size(), b.params_.size()); ++i) {
      auto left = ShapeOf(a.params_[i]->type_), right = ShapeOf(b.params_[i]->type_);
      for (size_t k = 0; left && right && k < std::min(left->size(), right->size()); ++k)
        bindSymbols((*left)[k], (*right)[k]);
    }
  }

  /// Calls name functions, so their order says nothing.
  bool functionsEqual(const Program &a, const Program &b) {
    std::vector<FunctionPtr> left = FunctionsByName(a), right = FunctionsByName(b);
    for (size_t i = 0; i < std::min(left.size(), right.size()); ++i)
      if (!value(left[i]->name_, right[i]->name_)) {
        path = ".functions[" + std::to_string(i) + "].name";
        return false;
      }
    if (value(left, right))
      return true;
    path = ".functions" + path;
    return false;
  }

  template <class T> bool fieldsEqual(const T &a, const T &b) {
    bool equal = true;
    if constexpr (std::is_same_v<T, Function>)
      bindSymbols(a, b);
    if constexpr (std::is_same_v<T, Program>)
      return functionsEqual(a, b);
    ForEachField<T>([&](const char *name, auto member, unsigned flags) {
      if (!equal || flags & kNote)
        return;
      equal = flags & kDef ? bind(a.*member, b.*member) : value(a.*member, b.*member);
      if (!equal)
        path = "." + std::string(name) + path;
    });
    return equal;
  }

  template <class T> bool bind(const std::vector<T> &a, const std::vector<T> &b) {
    return each(a, b, [&](const T &left, const T &right) { return bind(left, right); });
  }
  template <class T> bool bind(const T &a, const T &b) {
    if constexpr (std::is_convertible_v<T, VarPtr>)
      return bindVariable(a, b);
    return value(a, b);
  }
  bool bindVariable(const VarPtr &a, const VarPtr &b) {
    auto left = As<IterArg>(a), right = As<IterArg>(b);
    if (a->kind() != b->kind() || !value(a->type_, b->type_))
      return differ("variables of different types");
    if (left && !value(left->initValue_, right->initValue_))
      return false;
    toRight[a.get()] = b.get();
    toLeft[b.get()] = a.get();
    return true;
  }
  bool sameVariable(const Var &a, const Var &b) {
    auto right = toRight.find(&a);
    auto left = toLeft.find(&b);
    if (right == toRight.end() && left == toLeft.end()) {
      if (!autoMapping)
        return &a == &b || differ("the free variables " + a.name_hint_ + " and " + b.name_hint_);
      toRight[&a] = &b;
      toLeft[&b] = &a;
      return value(a.type_, b.type_);
    }
    return (right != toRight.end() && right->second == &b && left != toLeft.end()) ||
           differ("the variables " + a.name_hint_ + " and " + b.name_hint_);
  }

  template <class T, class F> bool each(const std::vector<T> &a, const std::vector<T> &b, F &&function) {
    if (a.size() != b.size())
      return differ(std::to_string(a.size()) + " and " + std::to_string(b.size()) + " elements");
    for (size_t i = 0; i < a.size(); ++i)
      if (!function(a[i], b[i])) {
        path = "[" + std::to_string(i) + "]" + path;
        return false;
      }
    return true;
  }

  template <class T> bool value(const std::shared_ptr<const T> &a, const std::shared_ptr<const T> &b) {
    return equal(a, b);
  }
  template <class T> bool value(const std::vector<T> &a, const std::vector<T> &b) {
    return each(a, b, [&](const T &left, const T &right) { return value(left, right); });
  }
  template <class T> bool value(const std::optional<T> &a, const std::optional<T> &b) {
    if (!a || !b)
      return (!a && !b) || differ("one of the two is not there");
    return value(*a, *b);
  }
  bool value(const std::pair<std::string, Attr> &a, const std::pair<std::string, Attr> &b) {
    if (a.first != b.first)
      return differ("the keywords " + a.first + " and " + b.first);
    return value(a.second, b.second);
  }
  bool value(const Attr &a, const Attr &b) {
    if (a.index() != b.index())
      return differ("attributes of different types");
    return std::visit([&](const auto &held) { return value(held, std::get<std::remove_cvref_t<decltype(held)>>(b)); },
                      a);
  }
  bool value(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
           differ(std::to_string(a) + " and " + std::to_string(b));
  }
  template <class T> bool value(const T &a, const T &b) {
    if constexpr (FieldStruct<T>)
      return fieldsEqual(a, b);
    else if constexpr (std::is_same_v<T, std::string>)
      return a == b || differ("\"" + a + "\" and \"" + b + "\"");
    else if constexpr (std::is_same_v<T, DataType>)
      return a == b || differ(std::string(a.Name()) + " and " + std::string(b.Name()));
    else if constexpr (std::is_arithmetic_v<T>)
      return a == b || differ(std::to_string(a) + " and " + std::to_string(b));
    else
      return a == b || differ("different values");
  }

  bool autoMapping;
  std::unordered_map<const Var *, const Var *> toRight, toLeft;
};

} // namespace

bool structural_equal(const NodePtr &lhs, const NodePtr &rhs, bool enable_auto_mapping) {
  return Comparer(enable_auto_mapping).equal(lhs, rhs);
}

void assert_structural_equal(const NodePtr &lhs, const NodePtr &rhs, bool enable_auto_mapping) {
  Comparer comparer(enable_auto_mapping);
  bool equal = comparer.equal(lhs, rhs);
  CHECK(equal) << "the structures differ" << (comparer.path.empty() ? "" : " at ") << comparer.path << ": "
               << comparer.difference;
}

} // namespace pypto::ir
