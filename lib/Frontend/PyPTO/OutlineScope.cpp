// Outlines scopes of orchestrators.
#include "OutlineScope.h"

#include "Plan.h"
#include "Renamer.h"
#include "TensorsToTiles.h"

#include "pto_mlir/Support/FreeName.h"

#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

bool OutlinedBody::hasParam(const std::string &name) const {
  return llvm::any_of(params, [&](const ir::VarPtr &param) { return param->name_hint_ == name; });
}

OutlinedBody::OutlinedBody(const ir::StmtPtr &body) : inputs(freeVariables(body)) {
  Renamer renamer;
  for (const ir::VarPtr &input : inputs) {
    std::string name = freeName(input->name_hint_, [&](const std::string &each) { return hasParam(each); });
    params.push_back(name == input->name_hint_ ? input
                                               : std::make_shared<const ir::Var>(name, input->type_, input->span_));
    if (params.back() != input)
      renamer.names[input.get()] = params.back();
  }
  this->body = renamer.names.empty() ? body : renamer.VisitStmt(body);
}

OutlinedScope outlineScope(const std::shared_ptr<const ir::InCoreScopeStmt> &scope, const ir::Function &entry,
                           size_t number, const isa::ArchInfo &arch) {
  std::string name = scope->name_hint_.empty() ? entry.name_ + "_incore_" + std::to_string(number) : scope->name_hint_;
  OutlinedBody outlined(scope->body_);
  OutlinedScope made;
  made.inputs = std::move(outlined.inputs);
  std::set<const ir::Var *> written = writtenTensors(outlined.body);
  std::vector<ir::ParamDirection> directions;
  directions.reserve(made.inputs.size());
  for (const ir::VarPtr &param : outlined.params)
    directions.push_back(written.count(param.get()) ? ir::ParamDirection::InOut : ir::ParamDirection::In);
  auto whole = std::make_shared<const ir::Function>(name, outlined.params, std::vector<ir::TypePtr>(), outlined.body,
                                                    scope->span_, ir::FunctionType::InCore, std::move(directions));
  made.function = tensorsToTiles(whole, arch, escapingTensors(scope, entry.body_), &made.results);
  return made;
}

} // namespace pto_mlir::pypto_frontend
