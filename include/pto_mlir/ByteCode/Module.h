// A VM program on its own: constants, functions, target.
#ifndef PTO_MLIR_BYTECODE_MODULE_H
#define PTO_MLIR_BYTECODE_MODULE_H

#include "pto_mlir/ByteCode/Code.h"
#include "pto_mlir/ByteCode/KernelKey.h"
#include "pto_mlir/ByteCode/Type.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace pto_mlir::bytecode {

/// The version of the instruction set that this library writes and reads.
inline constexpr uint32_t kVersion = 1;

/// What a program needs of whoever runs it.
enum Capability : uint32_t {
  kTensors = 1,       // tensor values and kernels on them
  kDynamicShapes = 2, // extents known at run time only
  kAsynchronous = 4,  // launch, wait_queue, barrier
  kControlFlow = 8,   // branches and calls
};
inline constexpr uint32_t kAllCapabilities = 15;

/// A number of the constant pool; `bits` holds the integer, or the bit pattern of the value as f64.
struct ScalarConstant {
  uint32_t type = 0;
  uint64_t bits = 0;
  bool operator==(const ScalarConstant &) const = default;
};
/// A tensor: its bytes, or the name under which whoever runs the program has them (large weights stay where they are).
struct TensorConstant {
  uint32_t type = 0;
  bool isExternal = false;
  std::string name; // of an external one
  std::vector<uint8_t> data;
  bool operator==(const TensorConstant &) const = default;
};
struct TextConstant {
  std::string text;
  bool operator==(const TextConstant &) const = default;
};
using Constant = std::variant<ScalarConstant, TensorConstant, TextConstant, KernelKey>;

/// Where an instruction came from.
struct DebugEntry {
  uint32_t instruction = 0;
  std::string location;
  bool operator==(const DebugEntry &) const = default;
};

/// Parameters are in slots 0.. when it starts.
struct Function {
  std::string name;
  std::vector<uint32_t> parameters, results; // types
  std::vector<uint32_t> slots;               // types; begins with the parameters
  std::vector<uint8_t> code;
  std::vector<DebugEntry> debug; // ascending; an entry holds until the next
  bool operator==(const Function &) const = default;
};

/// Function 0 is the program's entry.
struct Module {
  uint32_t version = kVersion;
  std::string target;              // "host", "python" or a processor
  uint32_t targetVersion = 1;      // of that target's kernels
  uint32_t capabilities = 0;       // Capability bits
  std::vector<Type> types;         // each once
  std::vector<Constant> constants; // each once
  std::vector<Function> functions;
  bool operator==(const Module &) const = default;

  /// Index of a type, of a constant; appended when new.
  uint32_t addType(const Type &type);
  uint32_t addConstant(const Constant &constant);
  const Function *findFunction(std::string_view name) const;
  /// Slots that the entry needs, and the bytes they take on the host.
  uint32_t variableSize() const { return functions.empty() ? 0 : functions[0].slots.size(); }
  uint64_t byteSize() const;
  /// The bits that the code uses.
  uint32_t usedCapabilities() const;
};

} // namespace pto_mlir::bytecode

#endif
