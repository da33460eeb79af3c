// ONNX to a top module: sizes that are fixed, ranges, or versions.
#include "CompilerContext.h"
#include "Diagnostics.h"
#include "SizedImport.h"
#include "pto_mlir/Compiler/Compiler.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/Top/Transforms/ModuleIO.h"
#include "pto_mlir/Frontend/ONNX/Import.h"
#include "pto_mlir/Pipelines/Pipelines.h"

using namespace mlir;

namespace pto_mlir {

/// Lists with more versions than this are a range where the model allows it: a version costs about 1 % of the file and
/// half a second, and a range at most 4 % of the makespan (docs/sizes.md).
static constexpr size_t kMostListed = 16;

/// Imports the model with these sizes of named dimensions and runs the pipeline of model_transform; null after an
/// error. `alike`: models of other sizes get the same structure. `files`: of earlier imports.
static OwningOpRef<ModuleOp> importModel(const TransformOptions &options,
                                         const std::map<std::string, std::vector<int64_t>> &sizes, MLIRContext &context,
                                         Errors &errors, bool alike = false,
                                         std::shared_ptr<onnx::MappedFiles> files = nullptr) {
  onnx::ImportOptions import{options.inputShapes, options.outputNames, options.modelName,   options.maxExtent, sizes,
                             options.state,       options.stateLength, options.inputValues, options.kernels,   files};
  OwningOpRef<ModuleOp> module = onnx::importONNX(options.modelFile, import, context, errors);
  if (!module)
    return nullptr;
  (*module)->setAttr(kPreprocessAttr, StringAttr::get(&context, options.preprocess));
  DiagnosticCollector collector(&context, errors);
  PassManager pm(&context);
  TransformPipelineOptions pipeline;
  pipeline.strictF64 = options.strictF64;
  pipeline.dropTaps = !alike;
  buildTransformPipeline(pm, pipeline);
  if (!runPasses(pm, *module, errors)) {
    nameFile(options.modelFile, errors);
    return nullptr;
  }
  return module;
}

using Ranges = std::map<std::string, SizeRange>;
using Lists = std::map<std::string, std::vector<int64_t>>;

/// One module for all sizes of the ranges, beside dimensions of one size each; null after an error of the import, and
/// with the reason when the model does not allow it.
static OwningOpRef<ModuleOp> importSized(const TransformOptions &options, const Ranges &ranges, MLIRContext &context,
                                         std::optional<std::string> &reason, Errors &errors) {
  if ((reason = onnx::sizeUseProblem(options.modelFile)))
    return nullptr;
  std::map<std::string, int64_t> greatest;
  for (auto &[name, range] : ranges)
    greatest[name] = range.greatest;
  // What the imports leave as it is in the file has one address then, and needs no comparison.
  auto files = std::make_shared<onnx::MappedFiles>();
  auto importAt = [&](const std::map<std::string, int64_t> &sizes, MLIRContext &where) {
    Lists lists = options.sizes;
    for (auto &[name, size] : sizes)
      lists[name] = {size};
    Errors ignored;
    return importModel(options, lists, where, sizes == greatest ? errors : ignored, /*alike=*/true, files);
  };
  OwningOpRef<ModuleOp> module = importAt(greatest, context);
  if (module && (reason = findSizes(*module, ranges, importAt)))
    return nullptr;
  return module;
}

/// The same for ranges that the user gives: one module for all sizes, else one with a version for each.
static OwningOpRef<ModuleOp> importRanges(const TransformOptions &options, MLIRContext &context,
                                          TransformSummary &summary, Errors &errors) {
  std::optional<std::string> reason;
  if (llvm::any_of(options.sizes, [](auto &entry) { return entry.second.size() > 1; })) {
    reason = "another dimension has a list of sizes";
  } else {
    OwningOpRef<ModuleOp> module = importSized(options, options.ranges, context, reason, errors);
    if (module)
      summary.bounded = options.ranges;
    if (!reason)
      return module;
  }
  Lists all = options.sizes;
  for (auto &[name, range] : options.ranges) {
    summary.remarks.push_back("a version is compiled for each size of '" + name + "', since " + *reason);
    for (int64_t size = range.least; size <= range.greatest && all[name].size() <= onnx::kVersionNodes;
         size += range.multiple)
      all[name].push_back(size);
  }
  OwningOpRef<ModuleOp> module = importModel(options, all, context, errors);
  for (std::string &line : errors)
    line += " (the sizes are versions, since " + *reason + ")";
  return module;
}

/// The ranges that hold the listed sizes and no others; none when there are few versions, or sizes of another kind.
static Ranges listedRanges(const Lists &lists) {
  Ranges ranges;
  size_t versions = 1;
  for (auto &[name, sizes] : lists) {
    if (sizes.size() == 1)
      continue;
    SizeRange range{sizes.front(), sizes.back(), sizes[1] - sizes[0]};
    if (range.multiple <= 0 || range.least % range.multiple != 0)
      return {};
    for (auto [i, size] : llvm::enumerate(sizes))
      if (size != range.least + static_cast<int64_t>(i) * range.multiple)
        return {};
    versions = std::min(versions * sizes.size(), size_t{onnx::kVersionNodes});
    ranges[name] = range;
  }
  return versions > kMostListed ? ranges : Ranges();
}

/// Whether a height or a width of images is a size: kernels for one size each are 15 to 35 % faster (docs/sizes.md).
static bool haveSizedImages(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  bool sized = false;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto sizes = main.getArgAttrOfType<AffineMapAttr>(i, top::kSizesAttr))
      for (AffineExpr extent : sizes.getValue().getResults().drop_front(std::min(2u, sizes.getValue().getNumResults())))
        sized |= !mlir::isa<AffineConstantExpr>(extent);
  return sized && module
                      .walk([](Operation *op) {
                        return mlir::isa<top::ConvOp, top::ConvTransposeOp, top::MaxPoolOp, top::AvgPoolOp>(op)
                                   ? WalkResult::interrupt()
                                   : WalkResult::advance();
                      })
                      .wasInterrupted();
}

/// The same for lists: many sizes that are all of a range are one module where the model allows it, else a version for
/// each.
static OwningOpRef<ModuleOp> importLists(const TransformOptions &options, MLIRContext &context,
                                         TransformSummary &summary, Errors &errors) {
  if (Ranges ranges = listedRanges(options.sizes); !ranges.empty()) {
    std::optional<std::string> reason;
    Errors ignored;
    OwningOpRef<ModuleOp> module = importSized(options, ranges, context, reason, ignored);
    if (module && !haveSizedImages(*module)) {
      summary.bounded = ranges;
      return module;
    }
  }
  return importModel(options, options.sizes, context, errors);
}

/// Counts ops and weights; remarks weights with NaN, which is what a training that failed leaves.
static void summarise(ModuleOp module, top::WeightStore &store, TransformSummary &summary) {
  if (auto nodes = module->getAttrOfType<IntegerAttr>("top.onnx_nodes"))
    summary.nodes = nodes.getInt();
  llvm::StringSet<> seen, named;
  auto remarkNaN = [&](StringRef name, const top::Weight &weight) {
    if (top::holdsNaN(weight) && named.insert(name).second)
      summary.remarks.push_back("weight '" + name.str() + "' holds NaN, and so does what is computed from it");
  };
  module.walk([&](Operation *op) {
    if (auto weight = dyn_cast<top::WeightOp>(op)) {
      if (!seen.insert(weight.getName()).second)
        return;
      if (const top::Weight *entry = store.lookup(weight.getName())) {
        summary.weightBytes += entry->bytes.size();
        remarkNaN(weight.getName(), *entry);
      }
    } else if (mlir::isa<top::TopDialect>(op->getDialect())) {
      ++summary.ops;
    } else if (op->getNumResults() == 1) {
      if (std::optional<top::Weight> constant = top::getConstant(op->getResult(0)))
        remarkNaN(top::getTensorName(op->getResult(0)), *constant);
    }
  });
}

std::optional<TransformSummary> transformModel(const TransformOptions &options, Errors &errors) {
  CompilerContext context;
  TransformSummary summary;
  OwningOpRef<ModuleOp> module = options.ranges.empty() ? importLists(options, context, summary, errors)
                                                        : importRanges(options, context, summary, errors);
  if (!module)
    return std::nullopt;
  summarise(*module, context.getLoadedDialect<top::TopDialect>()->weights(), summary);
  std::string problem;
  if (failed(top::writeTopModule(*module, options.mlirFile, problem))) {
    errors.push_back(problem);
    return std::nullopt;
  }
  return summary;
}

} // namespace pto_mlir
