// Emitter and names of generated code.
#include "pypto/codegen/code_context.h"
#include "pypto/codegen/code_emitter.h"
#include "pypto/core/error.h"

namespace pypto::codegen {

void CodeEmitter::EmitLine(const std::string &line) {
  if (!line.empty())
    code_ += std::string(4 * size_t(level_), ' ') + line;
  code_ += '\n';
}

void CodeEmitter::DecreaseIndent() {
  CHECK(level_ > 0) << "there is no indentation to decrease";
  --level_;
}

void CodeEmitter::Clear() {
  code_.clear();
  level_ = 0;
}

std::string CodeContext::SanitizeName(const ir::VarPtr &var) const {
  CHECK(var) << "a name needs a variable";
  std::string name;
  for (char c : var->name_hint_) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    bool digit = c >= '0' && c <= '9';
    if (name.empty() && digit)
      name = "_";
    name += letter || digit ? c : '_';
  }
  return name;
}

std::string CodeContext::GetVarName(const ir::VarPtr &var) const {
  CHECK(var) << "a name needs a variable";
  auto found = names_.find(var.get());
  CHECK(found != names_.end()) << "variable " << var->name_hint_ << " is not registered";
  return found->second;
}

void CodeContext::RegisterVar(const ir::VarPtr &var, const std::string &cpp_name) {
  CHECK(var && !cpp_name.empty()) << "a registration needs a variable and a name";
  CHECK(names_.emplace(var.get(), cpp_name).second) << "variable " << var->name_hint_ << " is registered already";
}

void CodeContext::RegisterPointer(const std::string &tensor_var_name, const std::string &ptr_name) {
  CHECK(!tensor_var_name.empty() && !ptr_name.empty()) << "a pointer needs a tensor and a name";
  pointers_[tensor_var_name] = ptr_name;
}

std::string CodeContext::GetPointer(const std::string &tensor_var_name) const {
  auto found = pointers_.find(tensor_var_name);
  CHECK(found != pointers_.end()) << "tensor " << tensor_var_name << " has no pointer";
  return found->second;
}

void CodeContext::Clear() {
  names_.clear();
  pointers_.clear();
}

} // namespace pypto::codegen
