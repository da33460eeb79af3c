// What the C++ generators make files of: kernels, their cores, and tensors that they store to without having them as
// parameters.
#include "pypto/codegen/cce/cce_codegen.h"
#include "pypto/codegen/orchestration/orchestration_codegen.h"
#include "pypto/core/error.h"
#include "pypto/ir/transforms/base/visitor.h"

#include <set>

namespace pypto::codegen {
namespace {

/// Tensors that the body names and nothing binds, in order of appearance.
class FreeTensors : public ir::IRVisitor {
public:
  explicit FreeTensors(const ir::Function &function) : bound(function.params_.begin(), function.params_.end()) {
    VisitStmt(function.body_);
  }
  std::vector<ir::VarPtr> found;

protected:
  void VisitExpr_(const ir::VarPtr &op) override {
    if (ir::IsA<ir::TensorType>(op->type_) && bound.insert(op).second)
      found.push_back(op);
  }
  void VisitDef(const ir::VarPtr &var) override {
    bound.insert(var);
    ir::IRVisitor::VisitDef(var);
  }

private:
  std::set<ir::VarPtr> bound;
};

/// Whether a kernel has tiles in memories of the cube core.
class CubeTiles : public ir::IRVisitor {
public:
  bool found = false;

protected:
  void VisitDef(const ir::VarPtr &var) override {
    look(var->type_);
    ir::IRVisitor::VisitDef(var);
  }
  void VisitExpr_(const ir::CallPtr &op) override {
    look(op->type_);
    ir::IRVisitor::VisitExpr_(op);
  }

private:
  void look(const ir::TypePtr &type) {
    auto tile = ir::As<ir::TileType>(type);
    found |= tile && tile->GetMemorySpace().value_or(ir::MemorySpace::Vec) != ir::MemorySpace::Vec;
  }
};

} // namespace

ir::CoreType InferFunctionCoreType(const ir::FunctionPtr &function) {
  CHECK(function) << "a core needs a function";
  if (function->func_type_ == ir::FunctionType::AIC || function->func_type_ == ir::FunctionType::AIV)
    return function->func_type_ == ir::FunctionType::AIC ? ir::CoreType::CUBE : ir::CoreType::VECTOR;
  CubeTiles tiles;
  tiles.VisitStmt(function->body_);
  return tiles.found ? ir::CoreType::CUBE : ir::CoreType::VECTOR;
}

ir::FunctionPtr WithOutputParameters(const ir::FunctionPtr &func) {
  std::vector<ir::VarPtr> outputs = FreeTensors(*func).found;
  if (outputs.empty())
    return func;
  ir::Function copy = *func;
  copy.params_.insert(copy.params_.end(), outputs.begin(), outputs.end());
  copy.param_directions_.resize(copy.params_.size(), ir::ParamDirection::Out);
  return std::make_shared<const ir::Function>(std::move(copy));
}

std::map<std::string, ir::FunctionPtr> KernelFiles(const ir::ProgramPtr &program) {
  CHECK(program) << "code generation needs a program";
  std::map<std::string, ir::FunctionPtr> files;
  for (const ir::FunctionPtr &function : program->functions_) {
    if (function->func_type_ == ir::FunctionType::Orchestration)
      continue;
    std::string core = InferFunctionCoreType(function) == ir::CoreType::CUBE ? "aic" : "aiv";
    files["kernels/" + core + "/" + function->name_ + ".cpp"] = function;
  }
  return files;
}

} // namespace pypto::codegen
