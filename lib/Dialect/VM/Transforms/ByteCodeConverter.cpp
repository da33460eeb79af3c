#include "pto_mlir/Dialect/VM/Transforms/ByteCodeConverter.h"

#include "pto_mlir/PModel/Program.h"

using namespace mlir;

namespace pto_mlir::vm {

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
      writer.callDevice(index->second, arguments);
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
