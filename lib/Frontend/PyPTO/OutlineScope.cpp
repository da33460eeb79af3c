// Outlines scopes of orchestrators.
#include "OutlineScope.h"

#include "Plan.h"
#include "TensorsToTiles.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

OutlinedScope outlineScope(const std::shared_ptr<const ir::InCoreScopeStmt> &scope, const ir::Function &entry,
                           size_t number, const isa::ArchInfo &arch) {
  std::string name = scope->name_hint_.empty() ? entry.name_ + "_incore_" + std::to_string(number) : scope->name_hint_;
  OutlinedScope made;
  made.inputs = freeVariables(scope->body_);
  std::set<const ir::Var *> written = writtenTensors(scope->body_);
  std::vector<ir::ParamDirection> directions;
  directions.reserve(made.inputs.size());
  for (const ir::VarPtr &param : made.inputs)
    directions.push_back(written.count(param.get()) ? ir::ParamDirection::InOut : ir::ParamDirection::In);
  auto whole = std::make_shared<const ir::Function>(name, made.inputs, std::vector<ir::TypePtr>(), scope->body_,
                                                    scope->span_, ir::FunctionType::InCore, std::move(directions));
  made.function = tensorsToTiles(whole, arch, escapingTensors(scope, entry.body_), &made.results);
  return made;
}

} // namespace pto_mlir::pypto_frontend
