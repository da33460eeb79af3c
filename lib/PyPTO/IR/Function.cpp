// Functions and programs: construction, and what they must hold to.
#include "pypto/ir/node_access.h"

#include <algorithm>
#include <unordered_set>

namespace pypto::ir {

Function::Function(std::string name, std::vector<VarPtr> params, std::vector<TypePtr> return_types, StmtPtr body,
                   Span span, FunctionType func_type, std::vector<ParamDirection> param_directions)
    : Function() {
  name_ = std::move(name);
  params_ = std::move(params);
  return_types_ = std::move(return_types);
  body_ = std::move(body);
  span_ = std::move(span);
  func_type_ = func_type;
  param_directions_ = std::move(param_directions);
  NodeAccess::Complete(*this);
}

void Function::Finish() {
  CHECK(!name_.empty()) << "a function needs a name";
  std::unordered_set<std::string_view> names;
  for (const VarPtr &param : params_)
    CHECK(names.insert(param->name_hint_).second) << name_ << ": two parameters are called " << param->name_hint_;
  if (param_directions_.empty())
    param_directions_.resize(params_.size(), ParamDirection::In);
  CHECK(param_directions_.size() == params_.size())
      << name_ << ": " << params_.size() << " parameters but " << param_directions_.size() << " directions";
}

Program::Program(std::vector<FunctionPtr> functions, std::string name, Span span) : Program() {
  functions_ = std::move(functions);
  name_ = std::move(name);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void Program::Finish() {
  std::unordered_set<std::string_view> names;
  for (const FunctionPtr &function : functions_)
    CHECK(names.insert(function->name_).second) << "two functions are called " << function->name_;
}

std::vector<FunctionPtr> FunctionsByName(const Program &program) {
  std::vector<FunctionPtr> sorted = program.functions_;
  std::ranges::sort(sorted, {}, [](const FunctionPtr &each) -> const std::string & { return each->name_; });
  return sorted;
}

FunctionPtr Program::GetFunction(std::string_view name) const {
  for (const FunctionPtr &function : functions_)
    if (function->name_ == name)
      return function;
  return nullptr;
}

} // namespace pypto::ir
