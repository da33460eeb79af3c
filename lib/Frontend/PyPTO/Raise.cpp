// Kernels of the pto dialect as PyPTO's: what each op writes to a buffer becomes a value.
#include "pto_mlir/Frontend/PyPTO/RaisePyPTO.h"

#include "Raiser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pypto/core/error.h"
#include "pypto/ir/verify.h"

using namespace mlir;
using pypto::DataType;

namespace pto_mlir {
namespace pypto_frontend {

/// Pointers become tensors of the shape that their views have.
LogicalResult Raiser::parameters(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    std::string name = "a" + std::to_string(argument.getArgNumber());
    auto pointer = dyn_cast<pto::PtrType>(argument.getType());
    auto dtype = dtypeOf(pointer ? pointer.getElementType() : argument.getType());
    if (!dtype)
      return func.emitError("argument ") << argument.getArgNumber() << " has no type in PyPTO";
    ir::TypePtr type = std::make_shared<const ir::ScalarType>(*dtype);
    std::vector<int64_t> shape;
    for (Operation *user : pointer ? llvm::to_vector(argument.getUsers()) : SmallVector<Operation *>()) {
      auto view = dyn_cast<pto::MakeTensorViewOp>(user);
      if (!view)
        return user->emitOpError("uses a pointer in a way that PyPTO has no form for");
      auto sizes = getConstantIntValues(getAsOpFoldResult(view.getShape()));
      auto strides = getConstantIntValues(getAsOpFoldResult(view.getStrides()));
      int64_t dense = 1;
      bool rowMajor = sizes && strides;
      for (size_t i = rowMajor ? sizes->size() : 0; i-- > 0; dense *= (*sizes)[i])
        rowMajor &= (*strides)[i] == dense || (*sizes)[i] == 1;
      bool isColumn = sizes && !sizes->empty() && sizes->back() == 1;
      rowMajor &= !view.getLayout() || *view.getLayout() == pto::Layout::nd || isColumn;
      if (!rowMajor || (!shape.empty() && shape != std::vector<int64_t>(sizes->begin(), sizes->end())))
        return view.emitOpError("is no view of the whole argument in row-major order, which PyPTO's tensors are");
      shape.assign(sizes->begin(), sizes->end());
    }
    if (pointer && shape.empty())
      return func.emitError("argument ") << argument.getArgNumber() << " has no view that would say its shape";
    if (pointer)
      type = std::make_shared<const ir::TensorType>(shape, *dtype);
    params.push_back(std::make_shared<const ir::Var>(name, type, ir::Span()));
    if (pointer)
      tensors[argument] = params.back();
    else
      scalars[argument] = params.back();
  }
  return success();
}

/// Tiles that hold something before the loop and are written in it are carried.
LogicalResult Raiser::loop(scf::ForOp op) {
  if (op.getNumResults())
    return op.emitOpError("hands on values: PyPTO has a form for loops over buffers only");
  SmallVector<ir::ExprPtr> bounds;
  for (Value value : {op.getLowerBound(), op.getUpperBound(), op.getStep()}) {
    bounds.push_back(scalar(op, value));
    if (!bounds.back())
      return failure();
  }
  auto index = std::make_shared<const ir::Var>("i" + std::to_string(count++),
                                               std::make_shared<const ir::ScalarType>(DataType::INDEX), ir::Span());
  scalars[op.getInductionVar()] = index;
  llvm::MapVector<Value, Held> before = held;
  SmallVector<Value> carried;
  op.getBody()->walk([&](Operation *inner) {
    Value written = operandsOf(inner).dst;
    Value root = written ? rootOf(written) : Value();
    if (root && before.count(root) && !llvm::is_contained(carried, root))
      carried.push_back(root);
  });
  std::vector<ir::IterArgPtr> args;
  std::vector<ir::VarPtr> results;
  for (Value root : carried) {
    Held &now = held[root];
    args.push_back(
        std::make_shared<const ir::IterArg>("c" + std::to_string(count++), now.var->type_, now.var, ir::Span()));
    now.var = args.back();
  }
  std::vector<ir::StmtPtr> outer = std::exchange(out, {});
  if (failed(block(*op.getBody())))
    return failure();
  std::vector<ir::ExprPtr> last;
  for (Value root : carried) {
    ir::ExprPtr value = read(op, before[root].as);
    if (!value)
      return failure();
    last.push_back(value);
    results.push_back(
        std::make_shared<const ir::Var>("r" + std::to_string(count++), before[root].var->type_, ir::Span()));
  }
  if (!carried.empty())
    out.push_back(std::make_shared<const ir::YieldStmt>(last, ir::Span()));
  auto body = std::make_shared<const ir::SeqStmts>(std::exchange(out, std::move(outer)), ir::Span());
  out.push_back(
      std::make_shared<const ir::ForStmt>(index, bounds[0], bounds[1], bounds[2], args, body, results, ir::Span()));
  held = before;
  for (auto [root, result] : llvm::zip(carried, results))
    held[root].var = result;
  return success();
}

LogicalResult Raiser::statement(Operation *op) {
  if (auto alloc = dyn_cast<pto::AllocTileOp>(op))
    return alloc.getValidRow() || alloc.getValidCol() || (alloc.getAddr() && !getConstantIntValue(alloc.getAddr()))
               ? op->emitOpError("with extents or an address known at run time has no form in PyPTO")
               : success();
  // Order within a core, which the compiler makes again.
  if (mlir::isa<pto::SetFlagOp, pto::WaitFlagOp>(op))
    return success();
  if (mlir::isa<pto::MakeTensorViewOp, pto::PartitionViewOp, pto::TReshapeOp, func::ReturnOp, scf::YieldOp>(op))
    return success();
  if (auto load = dyn_cast<pto::TLoadOp>(op))
    return this->load(load);
  if (auto store = dyn_cast<pto::TStoreOp>(op))
    return this->store(store);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return this->loop(loop);
  if (mlir::isa<arith::ArithDialect>(op->getDialect()))
    return arithmetic(op);
  std::string index = "tile." + op->getName().stripDialect().str();
  if (op->getNumOperands() == 0 && op->getNumResults() == 1 && ir::FindOp(index)) {
    ir::CallPtr call = ir::CreateOp(index, ir::Attrs(), ir::Span());
    scalars[op->getResult(0)] = assign("n", call->type_, call);
    return success();
  }
  return byTable(op);
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

ir::FunctionPtr Raiser::function(func::FuncOp func) {
  StringRef name = func.getName();
  if (llvm::isDigit(name.front()) || !llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; })) {
    func.emitError("has a name that is none in Python");
    return nullptr;
  }
  if (!func.getBody().hasOneBlock()) {
    func.emitError("a kernel of several blocks has no form in PyPTO");
    return nullptr;
  }
  if (failed(parameters(func)) || failed(block(func.getBody().front())))
    return nullptr;
  auto body = std::make_shared<const ir::SeqStmts>(out, ir::Span());
  std::vector<ir::ParamDirection> directions;
  for (BlockArgument argument : func.getArguments()) {
    bool read = false, written = false;
    func.walk([&](pto::PartitionViewOp part) {
      auto view = part.getSource().getDefiningOp<pto::MakeTensorViewOp>();
      if (view && view.getPtr() == argument)
        for (Operation *user : part.getResult().getUsers())
          (mlir::isa<pto::TStoreOp>(user) ? written : read) = true;
    });
    directions.push_back(!written ? ir::ParamDirection::In
                         : read   ? ir::ParamDirection::InOut
                                  : ir::ParamDirection::Out);
  }
  return std::make_shared<const ir::Function>(func.getName().str(), params, std::vector<ir::TypePtr>(), body,
                                              ir::Span(), ir::FunctionType::InCore, directions);
}

} // namespace pypto_frontend

pypto::ir::ProgramPtr raisePyPTO(ModuleOp module) {
  namespace ir = pypto::ir;
  std::vector<ir::FunctionPtr> functions;
  try {
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      functions.push_back(pypto_frontend::Raiser().function(func));
      if (!functions.back())
        return nullptr;
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
