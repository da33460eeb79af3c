// Programs as `.pto` text: the lowering, then the emitter of `.pto` in the seeds' style.
#include "pypto/codegen/pto/pto_codegen.h"

#include "Types.h"

#include "mlir/IR/AsmState.h"
#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"
#include "pto_mlir/Target/PTOText/PTOText.h"

namespace pypto::codegen {

std::string DataTypeToMLIRImpl(const DataType &dtype) { return std::string(dtype.ToMLIRString()); }

std::string MemorySpaceToMLIR(ir::MemorySpace space) {
  if (space == ir::MemorySpace::DDR)
    return "gm";
  if (space == ir::MemorySpace::LeftScale || space == ir::MemorySpace::RightScale)
    return "scaling";
  return llvm::StringRef(ir::ValueName(space)).lower();
}

std::string PTOCodegen::GetTensorViewTypeString(const ir::TensorType *tensor_type) const {
  std::string text = "!pto.tensor_view<";
  for (size_t i = 0; i < tensor_type->shape_.size(); ++i)
    text += "?x";
  return text + GetTypeString(tensor_type->dtype_) + ">";
}

std::string PTOCodegen::GetTileBufTypeString(const ir::MemRef *memref) const {
  auto found = memrefs_.GetMemRefTileTypes().find(memref);
  CHECK(found != memrefs_.GetMemRefTileTypes().end()) << "the program generated last has no such buffer";
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<pto_mlir::pto::PTODialect>();
  const ir::TileType &type = *found->second;
  return pto_mlir::ptotext::fullText(pto_mlir::pypto_frontend::tileType(context, type, {/*layoutsOfSpaces=*/false}),
                                     pto_mlir::pypto_frontend::saysNoBox(type));
}

std::string PTOCodegen::Generate(const ir::ProgramPtr &program) {
  memrefs_ = MemRefCollectorVisitor();
  memrefs_.VisitProgram(program);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = pto_mlir::lowerPyPTO(context, program, {/*layoutsOfSpaces=*/false});
  std::string text;
  llvm::raw_string_ostream stream(text);
  pto_mlir::ptotext::print(*module, stream, pto_mlir::ptotext::Style::Seed);
  return text;
}

} // namespace pypto::codegen
