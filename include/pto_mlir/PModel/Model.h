// The contents of a .pmodel as plain data: written by the Builder, produced by the Reader, modified by tools that
// combine or extract nets. The file format is in docs/pmodel-format.md.
#ifndef PTO_MLIR_PMODEL_MODEL_H
#define PTO_MLIR_PMODEL_MODEL_H

#include "pto_mlir/ByteCode/Size.h"
#include "pto_mlir/Support/ElementType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pto_mlir::pmodel {

enum class Region : uint8_t { Input = 0, Output = 1, Weights = 2, Workspace = 3, State = 4 };
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
  /// One per dimension, by the symbols of the variant; `shape` has its greatest value. Empty: all are constant.
  std::vector<bytecode::Size> sizes = {};
  /// An output that a run may leave elements of: it begins with the input of its name, whose memory it shares, else
  /// with zeros.
  bool preset = false;
};

/// A number that the shapes of a run's inputs give: a multiple of `multiple` in [least, greatest].
struct SymbolDesc {
  std::string name;
  uint64_t least = 1, greatest = 1, multiple = 1;
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

/// Arguments of a kernel: what a view can name.
inline constexpr unsigned kMostArguments = 255;

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
  uint32_t numScalars = 0;          // that a launch passes besides the arguments
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
  /// Per kernel call, in code order: the device that runs it. Empty: there is one device.
  std::vector<uint32_t> ranks = {};
  /// Bytes at the beginning of the workspace that are zero when a run begins, and by which devices exchange data.
  uint64_t windows = 0;
  /// Where kernel calls stand in a program ("f.py:12:9"), and per kernel call the index of its place. Empty: unknown.
  std::vector<std::string> places = {};
  std::vector<uint32_t> launchPlaces = {};
  /// Per kernel call: its manual scope (0: none), in which only dependencies order tasks, and its task (0: none). Both
  /// are empty where the program has no such scope.
  std::vector<uint32_t> launchScopes = {}, launchTasks = {};
  /// Pairs of tasks, the earlier one first: the second one waits for the first one.
  std::vector<uint32_t> taskEdges = {};
};

/// The greatest number of a task of a program.
inline constexpr uint32_t kMostTasks = 1 << 20;

/// A tensor that lives on the device between runs.
struct StateTensorDesc {
  std::string name;
  std::string output; // name of its new value in the model
  ElementType type = ElementType::F32;
  std::vector<uint64_t> shape;
  uint64_t offset = 0; // in bytes from the start of the group
  /// 2: runs read one place and write the other (`secondPlace`); the runtime swaps them after each run.
  uint32_t places = 1;
  /// The axis of positions; -1: every run replaces the whole tensor.
  int32_t sequenceAxis = -1;
  std::string initial; // weight with its first value; empty = zero

  bool operator==(const StateTensorDesc &) const = default;
};

/// Alignment of a state tensor's places, and the bytes of a group that are the runtime's: byte 0 is the position, i32.
inline constexpr uint64_t kStateAlignment = 512, kStateHeaderBytes = 512, kStatePositionBytes = 4;

/// Size of the tensor, which must be verified, and where its second place begins if it has two.
uint64_t stateBytes(const StateTensorDesc &tensor);
uint64_t secondPlace(const StateTensorDesc &tensor);

/// A named set of tensors of state, shared by all nets of a file that use it.
struct StateGroupDesc {
  std::string name;
  uint64_t bytes = 0;
  std::vector<StateTensorDesc> tensors;

  bool operator==(const StateGroupDesc &) const = default;
};

/// How a variant uses a group of state.
struct StateUseDesc {
  uint32_t group = 0; // index into ModelDesc::states
  uint64_t rows = 0;  // positions that a run adds
  uint64_t limit = 0; // greatest position after a run; 0 = any
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
  std::optional<StateUseDesc> state;
  std::vector<SymbolDesc> symbols = {};
};

/// A net with its variants, which differ in input shapes.
struct NetDesc {
  std::string name;
  std::vector<VariantDesc> variants;
  std::string quantize;   // "F32", "F16", ...
  std::string preprocess; // JSON, as model_transform recorded it
};

/// A VM program that calls the nets of the file as kernels `@device.<net>`, a model with control flow, or submits its
/// kernels.
struct HostProgramDesc {
  std::string name;
  std::vector<uint8_t> code;                // bytecode::serialize
  std::vector<std::string> inputs, outputs; // names of the parameters and results of its function 0
  /// Outputs that begin with what they are given, else with zeros: parameters behind the inputs.
  std::vector<std::string> presets = {};
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
  std::vector<StateGroupDesc> states;
};

} // namespace pto_mlir::pmodel

#endif
