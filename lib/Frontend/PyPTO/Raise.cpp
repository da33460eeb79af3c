// Kernels of the pto dialect as PyPTO's: what each op writes to a buffer becomes a value.
#include "pto_mlir/Frontend/PyPTO/RaisePyPTO.h"

#include "Raiser.h"
#include "SplitCores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pypto/core/error.h"
#include "pypto/ir/verify.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using pypto::DataType;

namespace pto_mlir {
namespace pypto_frontend {

LogicalResult Raiser::statement(Operation *op) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return alloc.getAddr() && !getConstantIntValue(alloc.getAddr())
               ? op->emitOpError("with an address known at run time has no form in PyPTO")
           : unwritten.contains(alloc) ? create(op, alloc)
                                       : success();
  // Order within a core, which the compiler makes again.
  if (mlir::isa<pto::SetFlagOp, pto::WaitFlagOp, pto::RecordEventOp, pto::WaitEventOp>(op))
    return success();
  if (mlir::isa<pto::SetFFTsOp, pto::MakeTensorViewOp, pto::PartitionViewOp, pto::AddPtrOp, pto::TReshapeOp,
                pto::SubsetOp, func::ReturnOp, scf::YieldOp>(op))
    return success();
  if (auto load = dyn_cast<pto::TLoadOp>(op))
    return this->load(load);
  if (auto store = dyn_cast<pto::TStoreOp>(op))
    return this->store(store);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return this->loop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return this->branch(branch);
  if (mlir::isa<pto::LoadScalarOp, pto::StoreScalarOp>(op))
    return element(op);
  if (mlir::isa<pto::SectionCubeOp, pto::SectionVectorOp>(op))
    return section(op);
  if (mlir::isa<arith::ArithDialect>(op->getDialect()))
    return arithmetic(op);
  std::string index = "tile." + op->getName().stripDialect().str();
  if (op->getNumOperands() == 0 && op->getNumResults() == 1 && ir::FindOp(index))
    return evaluate(op, index, {});
  return byName(op);
}

LogicalResult Raiser::block(Block &block) {
  for (Operation &op : block) {
    LogicalResult done = failure();
    try {
      done = statement(&op);
    } catch (const pypto::Error &error) {
      done = op.emitOpError("has no form in PyPTO: ") << error.what();
    }
    if (failed(done))
      return failure();
  }
  return success();
}

ir::FunctionPtr Raiser::function(func::FuncOp func, func::FuncOp whole) {
  StringRef name = func.getName();
  if (llvm::isDigit(name.front()) || !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; })) {
    func.emitError("has a name that is none in Python");
    return nullptr;
  }
  if (!func.getBody().hasOneBlock()) {
    func.emitError("a kernel of several blocks has no form in PyPTO");
    return nullptr;
  }
  unwritten = readUnwritten(func.getBody().front());
  if (failed(parameters(func, whole)) || failed(block(func.getBody().front())))
    return nullptr;
  auto body = std::make_shared<const ir::SeqStmts>(out, ir::Span());
  return std::make_shared<const ir::Function>(func.getName().str(), params, std::vector<ir::TypePtr>(), body,
                                              ir::Span(), type, directions(func));
}

/// A function of one kind of core, and nothing for the other.
static ir::FunctionPtr side(func::FuncOp func, const std::string &suffix,
                            llvm::function_ref<bool(Operation *)> isOther) {
  OpBuilder b(func); // in the module, which says the target
  auto part = cast<func::FuncOp>(b.clone(*func));
  auto erase = llvm::make_scope_exit([&] { part.erase(); });
  part.setName(func.getName().str() + suffix);
  SmallVector<Operation *> others;
  part.walk([&](Operation *op) {
    if (isOther(op))
      others.push_back(op);
  });
  for (Operation *other : others)
    other->erase();
  return Raiser().function(part, func);
}

/// A kernel, or the two functions of one for both kinds of core and the group that runs them. Empty with an error.
static std::vector<ir::FunctionPtr> functionsOf(func::FuncOp func) {
  bool cube = false, vector = false;
  func.walk([&](Operation *op) {
    cube |= mlir::isa<pto::SectionCubeOp>(op);
    vector |= mlir::isa<pto::SectionVectorOp>(op);
  });
  std::vector<ir::FunctionPtr> made;
  if (!cube || !vector) {
    made = {Raiser().function(func, func)};
  } else {
    made = {side(func, "_aic", [](Operation *op) { return mlir::isa<pto::SectionVectorOp>(op); })};
    if (made[0])
      made.push_back(side(func, "_aiv", [](Operation *op) { return mlir::isa<pto::SectionCubeOp>(op); }));
    if (made.back())
      made.push_back(groupOf(ir::Function(func.getName().str(), made[0]->params_, {}, made[0]->body_, ir::Span(),
                                          ir::FunctionType::Group, Raiser::directions(func))));
  }
  return made.back() ? made : std::vector<ir::FunctionPtr>();
}

} // namespace pypto_frontend

pypto::ir::ProgramPtr raisePyPTO(ModuleOp module) {
  namespace ir = pypto::ir;
  std::vector<ir::FunctionPtr> functions;
  try {
    for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (func.isExternal())
        continue;
      std::vector<ir::FunctionPtr> made = pypto_frontend::functionsOf(func);
      if (made.empty())
        return nullptr;
      llvm::append_range(functions, made);
    }
    auto program = std::make_shared<const ir::Program>(functions, "Kernels", ir::Span());
    ir::VerifyProgram(program);
    return program;
  } catch (const pypto::Error &error) {
    module.emitError("has no form in PyPTO: ") << error.what();
    return nullptr;
  }
}

} // namespace pto_mlir
