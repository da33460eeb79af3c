#include "pto_mlir/Dialect/Top/Transforms/ModuleIO.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Support/MLIRText.h"
#include "pto_mlir/Support/Safetensors.h"
#include "pto_mlir/Support/TemporaryFile.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace pto_mlir::top {

// safetensors has no 4- and 2-bit integers and no FNUZ floats: they are stored as raw bytes.
static std::string dtypeName(Type type) {
  type = storageType(type);
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    if (width == 1)
      return "BOOL";
    return (integer.isUnsigned() ? "U" : "I") + std::to_string(width < 8 ? 8 : width);
  }
  if (type.isBF16())
    return "BF16";
  if (type.isFloat8E4M3FN())
    return "F8_E4M3";
  if (type.isFloat8E5M2())
    return "F8_E5M2";
  unsigned width = type.getIntOrFloatBitWidth();
  return width == 8 ? "U8" : "F" + std::to_string(width);
}

static WeightStore &storeOf(ModuleOp module) { return module.getContext()->getLoadedDialect<TopDialect>()->weights(); }

LogicalResult saveWeights(ModuleOp module, StringRef path, std::string &error) {
  std::vector<SafetensorsEntry> entries;
  llvm::StringSet<> seen;
  auto walked = module.walk([&](WeightOp op) {
    if (!seen.insert(op.getName()).second)
      return WalkResult::advance();
    const Weight *weight = storeOf(module).lookup(op.getName());
    if (!weight) {
      error = (path + ": weight '" + op.getName() + "' is not in memory").str();
      return WalkResult::interrupt();
    }
    entries.push_back({op.getName().str(), dtypeName(weight->type.getElementType()),
                       std::vector<int64_t>(weight->type.getShape()), weight->bytes.data(), weight->bytes.size()});
    return WalkResult::advance();
  });
  return success(!walked.wasInterrupted() && writeSafetensors(path.str(), entries, error));
}

LogicalResult loadWeights(ModuleOp module, StringRef path, std::string &error) {
  auto file = SafetensorsFile::open(path.str(), error);
  if (!file)
    return failure();
  llvm::StringMap<std::string> added;
  auto walked = module.walk([&](WeightOp op) {
    std::string name = op.getName().str();
    const SafetensorsEntry *entry = file->find(name);
    auto type = op.getOutput().getType();
    if (!entry) {
      error = (path + ": has no tensor '" + name + "'").str();
      return WalkResult::interrupt();
    }
    if (entry->dtype != dtypeName(type.getElementType()) || ArrayRef<int64_t>(entry->shape) != type.getShape()) {
      error = (path + ": tensor '" + name + "' has another type or shape than its top.weight").str();
      return WalkResult::interrupt();
    }
    auto [it, isNew] = added.try_emplace(name);
    if (isNew)
      it->second = storeOf(module).addExternal(name, type, ArrayRef<char>(entry->data, entry->size), file);
    if (it->second != name)
      op.setName(it->second);
    return WalkResult::advance();
  });
  return success(!walked.wasInterrupted());
}

static LogicalResult writeText(ModuleOp module, StringRef path, std::string &error) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo());
  os << "\n";
  Status status = writeFile(path.str(), text.data(), text.size());
  if (!status)
    error = status.error();
  return success(bool(status));
}

LogicalResult writeTopModule(ModuleOp module, StringRef path, std::string &error) {
  SmallString<128> weights(llvm::sys::path::parent_path(path));
  std::string name = (llvm::sys::path::stem(path) + "_top_weights.safetensors").str();
  llvm::sys::path::append(weights, name);
  if (failed(saveWeights(module, weights, error)))
    return failure();
  module->setAttr(kWeightFileAttr, StringAttr::get(module.getContext(), name));
  if (succeeded(writeText(module, path, error)))
    return success();
  if (std::error_code left = llvm::sys::fs::remove(weights))
    error += "; " + (weights + " is left behind: " + left.message()).str();
  return failure();
}

OwningOpRef<ModuleOp> readTopModule(StringRef path, MLIRContext &context, std::vector<std::string> &errors) {
  context.loadDialect<TopDialect, func::FuncDialect, arith::ArithDialect>();
  std::vector<std::string> found;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      std::string text;
      llvm::raw_string_ostream os(text);
      if (auto loc = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
        os << "line " << loc.getLine() << ": ";
      os << diagnostic;
      found.push_back((path + ": " + text).str());
    }
    return success();
  });
  auto fail = [&](std::string message) {
    errors.push_back(std::move(message));
    return OwningOpRef<ModuleOp>();
  };
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return fail((path + ": cannot open: " + buffer.getError().message()).str());
  if (std::string problem = textProblem((*buffer)->getBuffer()); !problem.empty())
    return fail((path + ": " + problem).str());
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module) {
    if (found.empty())
      found.push_back((path + ": is no MLIR module").str());
    errors.insert(errors.end(), found.begin(), found.end());
    return nullptr;
  }
  auto attr = (*module)->getAttrOfType<StringAttr>(kWeightFileAttr);
  if (!attr)
    return module;
  // Only a bare file name next to the .mlir is accepted: an untrusted module must not read other paths.
  if (llvm::sys::path::filename(attr.getValue()) != attr.getValue() || attr.getValue() == "..")
    return fail((path + ": " + kWeightFileAttr + " is no bare file name: '" + attr.getValue() + "'").str());
  SmallString<128> weights(llvm::sys::path::parent_path(path));
  llvm::sys::path::append(weights, attr.getValue());
  std::string error;
  if (failed(loadWeights(*module, weights, error)))
    return fail(error);
  return module;
}

} // namespace pto_mlir::top
