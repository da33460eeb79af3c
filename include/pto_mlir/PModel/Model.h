// The contents of a .pmodel as plain data: written by the Builder, produced by the Reader, modified by tools that
// combine or extract nets. The file format is in docs/pmodel-format.md.
#ifndef PTO_MLIR_PMODEL_MODEL_H
#define PTO_MLIR_PMODEL_MODEL_H

#include "pto_mlir/Support/ElementType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pto_mlir::pmodel {

enum class Region : uint8_t { Input = 0, Output = 1, Weights = 2, Workspace = 3 };
enum class CoreKind : uint8_t { AIC = 0, AIV = 1 };

/// Per-tensor (one scale, axis -1) or per-channel quantisation; no scales means not quantised.
struct QuantizationDesc {
  std::vector<float> scales;
  std::vector<int32_t> zeroPoints;
  int32_t axis = -1;
};

/// An input or output of a net as presented to the user.
struct TensorDesc {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<uint64_t> shape;
  /// Storage type in device memory; differs from `type` where the net narrows it (int64 to i32).
  ElementType storageType = ElementType::F32;
  QuantizationDesc quantization;
  /// For a gather index (stored as i32): the extent n of the indexed dimension; legal values are [-n, n). 0 for any
  /// other tensor.
  uint64_t indexBound = 0;
  /// The bound is no number of rows, but keeps the net's 64-bit arithmetic within the 32 bits of the device.
  bool arithmeticBound = false;
};

/// A tensor kept by a debug build, or a computed index that the runtime checks after a run, with the conversion to
/// ONNX's layout.
struct DebugTensorDesc {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<uint64_t> shape;      // as stored, row-major
  std::vector<uint8_t> permutation; // onnx dimension i is stored dimension permutation[i]; empty = identity
  std::vector<uint64_t> onnxShape;  // shape after the permutation; may differ in unit dimensions
  Region region = Region::Workspace;
  uint32_t index = 0; // of the input or output, for those regions
  uint64_t offset = 0;
  uint64_t indexBound = 0; // as in TensorDesc; then `type` is I32
};

/// The commands of one engine; `pipe` is numbered as in docs/commands.md.
struct StreamDesc {
  CoreKind coreKind = CoreKind::AIV;
  uint8_t pipe = 0;
  std::vector<uint32_t> words;
  uint32_t numCommands = 0;
  /// Source locations: (first word, index into the kernel's sources), ascending; each applies up to the next entry.
  /// Empty: unknown.
  std::vector<std::pair<uint32_t, uint32_t>> sources = {};
};

/// Bytes of a local memory used by a kernel.
struct LocalMemoryUse {
  std::string space; // "UB", "L1", ...
  uint32_t bytes = 0;
};

/// A kernel: the command streams of its engines, and its launch parameters.
struct KernelDesc {
  std::string name; // unique
  std::vector<StreamDesc> streams;
  uint32_t numArgs = 0;
  uint32_t blocks = 1;
  std::vector<LocalMemoryUse> localMemory;
  uint32_t numEvents = 0;
  std::vector<std::string> sourceOps;
  std::vector<std::string> sources; // "pto.tload at k.pto:12:3"; empty text: unknown
};

/// A weight blob; not owned (a mapped file, the compiler's weight store).
struct WeightDesc {
  std::string name; // unique
  ElementType type = ElementType::F32;
  std::vector<uint64_t> shape;
  const void *data = nullptr;
  uint64_t size = 0; // bytes; equals tensorBytes(type, shape)
};

/// VM bytecode (PModel/Program.h writes and reads it).
struct ProgramDesc {
  std::string name;
  std::vector<uint8_t> code;
  uint32_t numSlots = 0;
  std::vector<int64_t> constants;
  std::vector<uint32_t> kernels; // indices into ModelDesc::kernels
  std::string target;            // the processor
  /// Per kernel call, in code order: the names of the tensors it computes ("a, b"). Empty: unknown.
  std::vector<std::string> launchOps = {};
};

/// One set of input shapes of a net.
struct VariantDesc {
  std::vector<TensorDesc> inputs;
  std::vector<TensorDesc> outputs;
  ProgramDesc program;
  uint64_t workspaceBytes = 0;
  std::vector<DebugTensorDesc> debugTensors;
  std::vector<std::string> absorbed;
  std::vector<std::string> hostOps; // "node: reason"
};

/// A net with its variants, which differ in input shapes.
struct NetDesc {
  std::string name;
  std::vector<VariantDesc> variants;
  std::string quantize;   // "F32", "F16", ...
  std::string preprocess; // JSON, as model_transform recorded it
};

/// A VM program that calls the nets of the file as kernels `@device.<net>`: a model with control flow.
struct HostProgramDesc {
  std::string name;
  std::vector<uint8_t> code;                // bytecode::serialize
  std::vector<std::string> inputs, outputs; // names of the parameters and results of its function 0
};

/// The contents of a .pmodel.
struct ModelDesc {
  std::string producer;  // "pto-mlir 0.1.0"
  std::string processor; // a row of the instruction table
  uint32_t numCore = 1;
  std::vector<NetDesc> nets;
  std::vector<KernelDesc> kernels;
  std::vector<WeightDesc> weights;
  std::vector<HostProgramDesc> programs; // those of one name are one model for several sets of input shapes
};

} // namespace pto_mlir::pmodel

#endif
