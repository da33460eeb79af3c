// The compiler as a library: what model_transform and model_deploy call, in one process, without intermediate files.
#ifndef PTO_MLIR_COMPILER_COMPILER_H
#define PTO_MLIR_COMPILER_COMPILER_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pto_mlir {

/// Problems for the user to read, one per entry; empty after success.
using Errors = std::vector<std::string>;

struct TransformOptions {
  std::string modelFile;                         // .onnx
  std::string modelName;                         // name of the net
  std::vector<std::vector<int64_t>> inputShapes; // one per input, or none
  std::vector<std::string> outputNames;          // cut the graph here
  std::string mlirFile;                          // output
  std::string preprocess;                        // JSON, kept with the module
  int64_t maxExtent = 32;                        // the largest extent that follows from what is known at run time only
  std::map<std::string, std::vector<int64_t>> sizes; // of dimensions that the model names
};

struct TransformSummary {
  int64_t nodes = 0;       // ONNX nodes
  int64_t ops = 0;         // top ops
  int64_t weightBytes = 0; // bytes of the weights that are still used
};

/// ONNX -> top .mlir with its weights beside it. Nothing is written on failure.
std::optional<TransformSummary> transformModel(const TransformOptions &options, Errors &errors);

struct DeployOptions {
  std::string mlirFile;
  std::string modelFile; // output .pmodel
  std::string quantize = "F32";
  std::string processor;  // a row of the instruction table; empty: the default one
  unsigned numCore = 1;   // blocks, at most those of the processor
  bool debug = false;     // keep every named tensor, and the op that each command comes from
  std::string dumpFolder; // the module after each stage goes there, unless empty
  std::string emitFolder; // each kernel goes there as .pto, unless empty
  bool emitExact = false; // as .pto for pto-compile: the ops that the model runs, whatever the public assembler lacks
};

/// A row of the instruction table's architectures.
struct ProcessorDescription {
  std::string name;
  unsigned blocks; // of a chip: the most that a launch may have
  bool testOnly;   // no chip
};

/// The processors that models can be compiled for, the default first.
std::vector<ProcessorDescription> describeProcessors();

struct DeploySummary {
  int64_t kernels = 0, launches = 0;
  int64_t commandBytes = 0, weightBytes = 0, fileBytes = 0;
  std::vector<std::string> hostOps;    // "node: reason"
  std::vector<std::string> absorbed;   // tensor names that no longer exist
  std::vector<std::string> narrowed;   // inputs and outputs that the runtime converts: "ids (int64 as int32)"
  int64_t emitted = 0;                 // kernels written as .pto
  std::vector<std::string> notEmitted; // "kernel: what the assembler cannot lower"
  std::vector<std::string> rewritten;  // "kernel: what its .pto says in other ops than the model runs"
  std::vector<std::string> clipped;    // constants that the storage type cannot hold, cut to its range
  std::vector<std::string> remarks;    // where a pass takes a slow way: "tensor "x": has a single buffer .."
};

/// Top .mlir -> .pmodel. Nothing is written on failure.
std::optional<DeploySummary> deployModel(const DeployOptions &options, Errors &errors);

struct NetTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::string type; // numpy's name: "float32"
};

/// What computes a named tensor.
struct NetOp {
  std::string name;                // of the tensor
  std::string kind;                // of the op: "conv"
  std::vector<std::string> inputs; // names of the tensors that it reads, weights left out
};

struct NetDescription {
  std::vector<std::string> absorbed; // tensors that no op computes any more
  std::vector<NetTensor> inputs, outputs;
  std::vector<NetOp> graph;
  std::string preprocess; // JSON
};

/// Inputs, outputs, named tensors in the order of computation, and pre-processing of a top .mlir.
std::optional<NetDescription> describeModel(const std::string &mlirFile, Errors &errors);

} // namespace pto_mlir

#endif
