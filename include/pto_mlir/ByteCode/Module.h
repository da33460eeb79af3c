// A VM program: constants, functions, target.
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

/// Version of the instruction set, written and required by this library.
inline constexpr uint32_t kVersion = 1;

/// Capabilities that a program requires of its executor.
enum Capability : uint32_t {
  kTensors = 1,       // tensor values and kernels on them
  kDynamicShapes = 2, // extents known at run time only
  kAsynchronous = 4,  // launch, wait_queue, barrier
  kControlFlow = 8,   // branches and calls
  kTasks = 16,        // submit, join, view, reserve
  kRanks = 32,        // submit to one of several devices
};
inline constexpr uint32_t kAllCapabilities = 63;

/// A scalar constant; `bits` is the integer, or the bit pattern of the value as f64.
struct ScalarConstant {
  uint32_t type = 0;
  uint64_t bits = 0;
  bool operator==(const ScalarConstant &) const = default;
};
/// A tensor constant: its data, or the name of an external tensor supplied by the KernelProvider (so that large weights
/// are not copied).
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

/// Source location of an instruction.
struct DebugEntry {
  uint32_t instruction = 0;
  std::string location;
  bool operator==(const DebugEntry &) const = default;
};

/// A function. At entry the parameters are in slots 0 and up.
struct Function {
  std::string name;
  std::vector<uint32_t> parameters, results; // types
  std::vector<uint32_t> slots;               // types; begins with the parameters
  std::vector<uint8_t> code;
  std::vector<DebugEntry> debug; // ascending; an entry applies up to the next
  bool operator==(const Function &) const = default;
};

/// Function 0 is the program's entry.
struct Module {
  uint32_t version = kVersion;
  std::string target;              // "host", "python" or a processor
  uint32_t targetVersion = 1;      // of that target's kernels
  uint32_t capabilities = 0;       // Capability bits
  std::vector<Type> types;         // unique
  std::vector<Constant> constants; // unique
  std::vector<Function> functions;
  bool operator==(const Module &) const = default;

  /// Index of a type or constant; appends it when new.
  uint32_t addType(const Type &type);
  uint32_t addConstant(const Constant &constant);
  const Function *findFunction(std::string_view name) const;
  /// Number of slots of the entry function, and their size in bytes on the host.
  uint32_t variableSize() const { return functions.empty() ? 0 : functions[0].slots.size(); }
  uint64_t byteSize() const;
  /// The Capability bits required by the code.
  uint32_t usedCapabilities() const;
};

} // namespace pto_mlir::bytecode

#endif
