// The compiler as a library, used by model_transform and model_deploy in-process, without intermediate files.
#ifndef PTO_MLIR_COMPILER_COMPILER_H
#define PTO_MLIR_COMPILER_COMPILER_H

#include "pto_mlir/Frontend/ONNX/UserKernels.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pto_mlir {

/// Error messages for the user, one per entry; empty after success.
using Errors = std::vector<std::string>;

/// The shape of an input: sizes, and names of dimensions that have several.
using InputShape = std::vector<std::variant<int64_t, std::string>>;

/// Sizes of a dimension that are known at run time: the multiples of `multiple` from `least` to `greatest`.
struct SizeRange {
  int64_t least = 1, greatest = 1, multiple = 1;
};

/// Options of transformModel, as those of model_transform.
struct TransformOptions {
  std::string modelFile;                             // .onnx
  std::string modelName;                             // name of the net
  std::vector<InputShape> inputShapes;               // one per input, or none
  std::vector<std::string> outputNames;              // tensors at which the graph is cut; empty: the model's outputs
  std::string mlirFile;                              // output
  std::string preprocess;                            // JSON, stored with the module
  int64_t maxExtent = 32;                            // the largest extent of a dynamic dimension
  std::map<std::string, std::vector<int64_t>> sizes; // of named dimensions (dim_param)
  std::map<std::string, SizeRange> ranges;           // likewise, in one kernel where the model allows it
  std::string state;                                 // pairs of an input and an output that are state
  int64_t stateLength = 0;                           // rows of states that grow
  bool strictF64 = false;                            // compute in f64 whatever the model does
  std::map<std::string, std::string> inputValues;    // serialized TensorProto of inputs whose values are known
  UserKernels kernels;                               // of operators
};

/// Numbers of an imported model, for reports.
struct TransformSummary {
  int64_t nodes = 0;                        // ONNX nodes
  int64_t ops = 0;                          // top ops
  int64_t weightBytes = 0;                  // bytes of the weights in use
  std::map<std::string, SizeRange> bounded; // dimensions whose sizes are known at run time
  std::vector<std::string> remarks;         // why a range became versions; weights with NaN
};

/// Imports ONNX to a top .mlir and a weights file next to it. Nullopt on failure, with `errors`; then nothing is
/// written.
std::optional<TransformSummary> transformModel(const TransformOptions &options, Errors &errors);

/// Options of deployModel, as those of model_deploy.
struct DeployOptions {
  std::string mlirFile;
  std::string modelFile; // output .pmodel
  std::string quantize = "F32";
  std::string processor;    // a row of the instruction table; empty: the default one
  unsigned numCore = 1;     // blocks, at most those of the processor
  bool debug = false;       // keep every named tensor, and the op that each command comes from
  std::string dumpFolder;   // the module after each stage goes there, unless empty
  std::string emitFolder;   // each kernel goes there as .pto, unless empty
  bool emitExact = false;   // as .pto for pto-compile: the ops that the model runs, whatever the public assembler lacks
  bool costRemarks = false; // also remarks about what kernels take beside their bytes; they are estimated for it
};

/// An architecture of the instruction table.
struct ProcessorDescription {
  std::string name;
  unsigned blocks; // of a chip: the most that a launch may have
  bool testOnly;   // no chip
};

/// The processors that models can be compiled for, the default first.
std::vector<ProcessorDescription> describeProcessors();

/// Numbers and notes of a compiled model, for reports.
struct DeploySummary {
  int64_t kernels = 0, launches = 0;
  int64_t commandBytes = 0, weightBytes = 0, fileBytes = 0;
  std::vector<std::string> hostOps;    // "node: reason"
  std::vector<std::string> absorbed;   // names of tensors eliminated by fusion or folding
  std::vector<std::string> narrowed;   // inputs and outputs converted by the runtime: "ids (int64 as int32)"
  int64_t emitted = 0;                 // kernels written as .pto
  std::vector<std::string> notEmitted; // "kernel: construct that the assembler cannot lower"
  std::vector<std::string> rewritten;  // "kernel: ops replaced by equivalents in its .pto"
  std::vector<std::string> clipped;    // constants out of range of their storage type, saturated
  std::vector<std::string> remarks;    // remarks (glossary): "tensor "x": has a single buffer .."
};

/// Compiles a top .mlir to a .pmodel. Nullopt on failure, with `errors`; then nothing is written.
std::optional<DeploySummary> deployModel(const DeployOptions &options, Errors &errors);

/// An input or output of a net.
struct NetTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::string type; // numpy's name: "float32"
};

/// The op that computes a named tensor.
struct NetOp {
  std::string name;                // of the tensor
  std::string kind;                // of the op: "conv"
  std::vector<std::string> inputs; // names of the tensors it reads, except weights
};

/// An input that lives on the device between runs, and the output with its new value ("" if no run changes it).
struct NetState {
  NetTensor tensor;
  std::string output;
  int64_t axis = -1; // of positions; -1: replaced whole
};

/// The interface and graph of a top module.
struct NetDescription {
  std::vector<std::string> absorbed;      // names of tensors eliminated by fusion or folding
  std::vector<NetTensor> inputs, outputs; // without state
  std::vector<NetState> states;
  int64_t stateRows = 0;    // positions that a run adds
  bool hasPosition = false; // whether the net reads the position
  std::vector<NetOp> graph;
  std::string preprocess; // JSON
};

/// Inputs, outputs, named tensors in the order of computation, and pre-processing of a top .mlir.
std::optional<NetDescription> describeModel(const std::string &mlirFile, Errors &errors);

} // namespace pto_mlir

#endif
