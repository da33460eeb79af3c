// Programs and functions.
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "pypto/ir/verify.h"

using namespace mlir;

namespace pto_mlir {
namespace pypto_frontend {
namespace {

/// How often each variable is read.
class Uses : public ir::IRVisitor {
public:
  explicit Uses(DenseMap<const ir::Var *, unsigned> &counts) : counts(counts) {}

protected:
  void VisitExpr_(const ir::VarPtr &op) override { ++counts[op.get()]; }
  void VisitExpr_(const ir::IterArgPtr &op) override { ++counts[op.get()]; }
  void VisitDef(const ir::VarPtr &var) override {
    if (auto arg = ir::As<ir::IterArg>(var))
      VisitExpr(arg->initValue_);
  }

private:
  DenseMap<const ir::Var *, unsigned> &counts;
};

bool isKernel(const ir::Function &function) {
  switch (function.func_type_) {
  case ir::FunctionType::Opaque:
  case ir::FunctionType::InCore:
  case ir::FunctionType::AIC:
  case ir::FunctionType::AIV:
    return true;
  default:
    return false;
  }
}

} // namespace

Lowering::Lowering(ModuleOp module, const PyPTOOptions &options)
    : module(module), options(options), b(module.getContext()), constants(b), tiles(b), views(b), loc(module.getLoc()) {
}

void Lowering::VisitFunction(const ir::FunctionPtr &function) {
  MLIRContext &context = *b.getContext();
  loc = locationOf(context, function->span_);
  b.setInsertionPointToEnd(module.getBody());
  auto func = b.create<func::FuncOp>(loc, function->name_, b.getFunctionType({}, {}));
  if (function->func_type_ == ir::FunctionType::AIC || function->func_type_ == ir::FunctionType::AIV) {
    auto kind = function->func_type_ == ir::FunctionType::AIC ? pto::KernelKind::cube : pto::KernelKind::vector;
    func->setAttr(pto::kKernelKindAttr, pto::KernelKindAttr::get(&context, kind));
  }
  b.setInsertionPointToStart(func.addEntryBlock());
  // Constants, tiles and views go before a mark each, which are taken out again.
  SmallVector<Operation *> marks;
  for (OpBuilder *part : {&constants, &tiles, &views}) {
    marks.push_back(b.create<UnrealizedConversionCastOp>(loc, TypeRange{b.getI1Type()}, ValueRange()));
    part->setInsertionPoint(marks.back());
  }
  auto end = b.create<func::ReturnOp>(loc);
  b.setInsertionPoint(end);
  Uses(uses).VisitStmt(function->body_);
  addParameters(function, func);
  VisitStmt(function->body_);
  for (Operation *mark : marks)
    mark->erase();
}

} // namespace pypto_frontend

OwningOpRef<ModuleOp> lowerPyPTO(MLIRContext &context, const pypto::ir::ProgramPtr &program,
                                 const PyPTOOptions &options) {
  namespace ir = pypto::ir;
  using namespace pypto_frontend;
  ir::VerifyProgram(program);
  context.loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect, pto::PTODialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(locationOf(context, program->span_));
  if (options.target)
    (*module)->setAttr(pto::kTargetArchAttr, StringAttr::get(&context, options.target->name));
  for (const ir::FunctionPtr &function : program->functions_)
    if (isKernel(*function))
      withPlace(function->span_, [&] { Lowering(*module, options).VisitFunction(function); });
  std::string problem;
  Location place = module->getLoc();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (problem.empty()) {
      problem = diagnostic.str();
      place = diagnostic.getLocation();
    }
    return success();
  });
  if (failed(verify(*module))) {
    ir::Span span;
    if (auto at = place->findInstanceOf<FileLineColLoc>())
      span = ir::Span(at.getFilename().str(), int(at.getLine()), int(at.getColumn()));
    fail(span, problem);
  }
  return module;
}

} // namespace pto_mlir
