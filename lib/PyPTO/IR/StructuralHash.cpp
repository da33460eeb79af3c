// A hash that agrees with structural_equal, from the fields that each class names.
#include "pypto/ir/node_access.h"
#include "pypto/ir/structural.h"

#include <bit>
#include <unordered_map>

namespace pypto::ir {
namespace {

class Hasher {
public:
  explicit Hasher(bool autoMapping) : autoMapping(autoMapping) {}

  void node(const Node *node) {
    if (!node)
      return mix(0);
    mix(uint64_t(node->kind()) + 1);
    if (IsA<Var>(*node))
      return variable(static_cast<const Var *>(node));
    Dispatch(*node, [this](const auto &held) { fields(held); });
  }

  uint64_t hash = 0xcbf29ce484222325;

private:
  void mix(uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }

  void bindSymbols(const ExprPtr &extent) {
    if (auto binary = As<BinaryExpr>(extent)) {
      bindSymbols(binary->left_);
      bindSymbols(binary->right_);
    } else if (auto var = As<Var>(extent)) {
      numbers.try_emplace(var.get(), numbers.size());
    }
  }

  template <class T> void fields(const T &node) {
    if constexpr (std::is_same_v<T, Function>)
      for (const VarPtr &param : node.params_)
        if (const std::vector<ExprPtr> *shape = ShapeOf(param->type_))
          for (const ExprPtr &extent : *shape)
            bindSymbols(extent);
    if constexpr (std::is_same_v<T, Program>) {
      std::vector<FunctionPtr> functions = FunctionsByName(node);
      for (const FunctionPtr &function : functions)
        value(function->name_);
      return value(functions);
    }
    ForEachField<T>([&](const char *, auto member, unsigned flags) {
      if (flags & kNote)
        return;
      if (flags & kDef)
        bind(node.*member);
      else
        value(node.*member);
    });
  }

  template <class T> void bind(const std::vector<T> &variables) {
    mix(variables.size());
    for (const T &variable : variables)
      bind(variable);
  }
  template <class T> void bind(const T &variable) {
    if constexpr (std::is_convertible_v<T, VarPtr>) {
      value(variable->type_);
      if (auto carried = As<IterArg>(variable))
        node(carried->initValue_.get());
      numbers[variable.get()] = numbers.size();
    } else {
      value(variable);
    }
  }
  void variable(const Var *var) {
    auto found = numbers.find(var);
    if (found != numbers.end())
      return mix(found->second);
    if (!autoMapping)
      return mix(reinterpret_cast<uintptr_t>(var));
    mix(numbers[var] = numbers.size());
    value(var->type_);
  }

  template <class T> void value(const std::shared_ptr<const T> &child) { node(child.get()); }
  template <class T> void value(const std::vector<T> &values) {
    mix(values.size());
    for (const T &element : values)
      value(element);
  }
  template <class T> void value(const std::optional<T> &held) {
    mix(held.has_value());
    if (held)
      value(*held);
  }
  void value(const std::pair<std::string, Attr> &attr) {
    value(attr.first);
    mix(attr.second.index());
    std::visit([this](const auto &held) { value(held); }, attr.second);
  }
  void value(const std::string &text) { mix(std::hash<std::string_view>()(text)); }
  void value(double number) { mix(std::bit_cast<uint64_t>(number)); }
  void value(DataType dtype) { mix(uint64_t(dtype.GetCode())); }
  void value(std::monostate) {}
  void value(EnumValue held) { mix(uint64_t(held.kind) << 8 | held.value); }
  template <class T> void value(const T &held) {
    if constexpr (FieldStruct<T>)
      fields(held);
    else
      mix(uint64_t(held));
  }

  bool autoMapping;
  std::unordered_map<const Var *, uint64_t> numbers;
};

} // namespace

uint64_t structural_hash(const NodePtr &node, bool enable_auto_mapping) {
  Hasher hasher(enable_auto_mapping);
  hasher.node(node.get());
  return hasher.hash;
}

} // namespace pypto::ir
