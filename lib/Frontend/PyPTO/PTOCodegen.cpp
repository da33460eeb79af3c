// Programs as `.pto` text: the lowering, then the emitter of `.pto` in the seeds' style.
#include "pypto/codegen/pto/pto_codegen.h"

#include "Lowering.h"

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

pto_mlir::pypto_frontend::Lowering &PTOCodegen::Active(const char *helper) const {
  CHECK(lowering_) << helper << " is for operations that a back end emits; register one with Backend::RegisterOp";
  return *lowering_;
}

std::string PTOCodegen::GetCurrentResultTarget() const { return Active("GetCurrentResultTarget").targetName(); }
void PTOCodegen::Emit(const std::string &line) { Active("Emit").emitText(line); }
std::string PTOCodegen::GetExprAsCode(const ir::ExprPtr &expr) { return Active("GetExprAsCode").textOf(expr); }
std::string PTOCodegen::NewTemp() { return Active("NewTemp").newName(); }

std::string PTOCodegen::GetOrCreateTensorView(const ir::VarPtr &tensor) {
  CHECK(tensor && ir::IsA<ir::TensorType>(tensor->type_)) << "a view needs a tensor";
  return Active("GetOrCreateTensorView").textOf(tensor);
}

std::string PTOCodegen::GetIndexConstant(int64_t val) {
  return Active("GetIndexConstant").constantName(std::to_string(val), "index");
}

std::string PTOCodegen::GetOrEmitFloatConstant(double value, const std::string &mlir_type) {
  llvm::SmallString<32> digits;
  llvm::APFloat(value).toString(digits, /*FormatPrecision=*/17, /*FormatMaxPadding=*/0);
  std::string text = digits.str().str();
  if (text.find('.') == std::string::npos)
    text.insert(text.find_first_of("eE") == std::string::npos ? text.size() : text.find_first_of("eE"), ".0");
  return Active("GetOrEmitFloatConstant").constantName(text, mlir_type);
}

std::string PTOCodegen::GetExprTypeAnnotation(const ir::ExprPtr &expr) {
  return Active("GetExprTypeAnnotation").typeTextOf(expr);
}

std::string PTOCodegen::GetCurrentResultTileBufTypeString() const {
  return Active("GetCurrentResultTileBufTypeString").targetType();
}

std::string PTOCodegen::Generate(const ir::ProgramPtr &program) {
  memrefs_ = MemRefCollectorVisitor();
  memrefs_.VisitProgram(program);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  pto_mlir::PyPTOOptions options;
  options.layoutsOfSpaces = options.addresses = false;
  options.backend = backend_;
  if (backend_ && !backend_->GetProcessor().empty()) {
    options.target = pto_mlir::pto::findTarget(backend_->GetProcessor());
    CHECK(options.target) << "unknown processor " << backend_->GetProcessor() << ": one of "
                          << pto_mlir::pto::targetNames();
  }
  options.emitter = this;
  auto module = pto_mlir::lowerPyPTO(context, program, options);
  std::string text;
  llvm::raw_string_ostream stream(text);
  pto_mlir::ptotext::print(*module, stream, pto_mlir::ptotext::Style::Seed);
  return text;
}

} // namespace pypto::codegen
