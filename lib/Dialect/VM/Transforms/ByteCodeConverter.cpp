#include "pto_mlir/Dialect/VM/Transforms/ByteCodeConverter.h"

#include "pto_mlir/PModel/Program.h"

#include <map>

using namespace mlir;

namespace pto_mlir::vm {

namespace {

using Terms = std::vector<bytecode::SizeTerm>;

/// Adds the terms of `expr` times `factor` to `terms`.
LogicalResult addTerms(AffineExpr expr, bytecode::SizeTerm factor, Terms &terms) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    factor.coefficient *= constant.getValue();
    terms.push_back(std::move(factor));
    return success();
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    factor.symbols.push_back(symbol.getPosition());
    terms.push_back(std::move(factor));
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (expr.getKind() == AffineExprKind::Add)
    return success(succeeded(addTerms(binary.getLHS(), factor, terms)) &&
                   succeeded(addTerms(binary.getRHS(), factor, terms)));
  Terms left;
  if (expr.getKind() != AffineExprKind::Mul || failed(addTerms(binary.getLHS(), factor, left)))
    return failure();
  return success(llvm::all_of(
      left, [&](const bytecode::SizeTerm &term) { return succeeded(addTerms(binary.getRHS(), term, terms)); }));
}

} // namespace

std::optional<bytecode::Size> sizeOf(AffineExpr expr) {
  Terms terms;
  if (failed(addTerms(expr, {1, {}}, terms)))
    return std::nullopt;
  // Equal products once, in a fixed order.
  std::map<std::vector<uint32_t>, int64_t> products;
  for (bytecode::SizeTerm &term : terms) {
    llvm::sort(term.symbols);
    products[term.symbols] += term.coefficient;
  }
  bytecode::Size size;
  for (auto &[symbols, coefficient] : products)
    if (coefficient)
      size.terms.push_back({coefficient, symbols});
  return size;
}

std::optional<pmodel::ProgramDesc> ByteCodeConverter::convert() {
  llvm::StringMap<uint32_t> kernelIndex;
  for (auto [i, kernel] : llvm::enumerate(kernels))
    kernelIndex[kernel.name] = i;

  pmodel::ProgramDesc program;
  program.name = function.getSymName().str();
  program.target = target.str();
  llvm::DenseMap<uint32_t, uint32_t> local; // kernel of the file -> index in Program.kernels
  llvm::DenseMap<Value, uint32_t> slots;
  for (BlockArgument argument : function.getBody().getArguments())
    slots[argument] = argument.getArgNumber();
  uint32_t nextSlot = slots.size();

  pmodel::ProgramWriter writer;
  for (Operation &op : function.getBody().front()) {
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      slots[alloc.getBuffer()] = nextSlot;
      writer.alloc(nextSlot++, alloc.getBytes());
    } else if (auto free = dyn_cast<FreeOp>(op)) {
      writer.free(slots.lookup(free.getBuffer()));
    } else if (auto call = dyn_cast<LaunchOp>(op)) {
      auto found = kernelIndex.find(call.getKernelName());
      if (!call.isDevice() || found == kernelIndex.end()) {
        call.emitError() << "@" << call.getCallee() << " is not a kernel of the file";
        return std::nullopt;
      }
      auto [index, isNew] = local.try_emplace(found->second, program.kernels.size());
      if (isNew)
        program.kernels.push_back(found->second);
      std::vector<pmodel::VMArgument> arguments;
      for (auto [buffer, offset, bytes] : llvm::zip_equal(call.getBuffers(), call.getOffsets(), call.getBytes()))
        arguments.push_back({slots.lookup(buffer), uint64_t(offset), uint64_t(bytes)});
      std::vector<bytecode::Size> scalars;
      if (AffineMapAttr map = call.getScalarsAttr())
        for (AffineExpr expr : map.getValue().getResults())
          scalars.push_back(*sizeOf(expr)); // the verifier of the op has taken it
      writer.callDevice(index->second, arguments, scalars);
    } else if (isa<WaitOp>(op)) {
      writer.wait();
    } else if (isa<ReturnOp>(op)) {
      writer.ret();
    }
  }
  program.numSlots = nextSlot;
  program.code = writer.take();
  return program;
}

} // namespace pto_mlir::vm
