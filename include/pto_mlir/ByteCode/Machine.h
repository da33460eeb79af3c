// Runs programs.
#ifndef PTO_MLIR_BYTECODE_MACHINE_H
#define PTO_MLIR_BYTECODE_MACHINE_H

#include "pto_mlir/ByteCode/Program.h"
#include "pto_mlir/Support/Result.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pto_mlir::bytecode {

/// Where a tensor's bytes are beside host memory, or instead of it.
class Residence {
public:
  virtual ~Residence() = default;
  /// The bytes in host memory, when whoever makes them is done. The same bytes each time.
  virtual Result<std::shared_ptr<std::byte[]>> fetch() = 0;
};

/// A dense row-major tensor. Views (reshape, cast) share the bytes.
struct Tensor {
  ElementType element = ElementType::F32;
  std::vector<int64_t> shape;
  std::shared_ptr<std::byte[]> data; ///< null while the bytes are in the residence only
  uint64_t bytes = 0;
  std::shared_ptr<Residence> residence;
  bool isConstant = false; ///< nobody writes it any more: what a residence holds beside `data` stays true

  /// Brings the bytes to `data`.
  Status fetch() { return data || !residence ? Status() : fetchNow(); }

private:
  Status fetchNow();
};
using TensorPtr = std::shared_ptr<Tensor>;

/// Zeros. Nothing when the shape is negative somewhere or exceeds 2^40 bytes.
TensorPtr makeTensor(ElementType element, std::vector<int64_t> shape);

/// A value between the machine and kernels or callers: an integer, a float (as the bits of a double), or a tensor.
struct Value {
  int64_t bits = 0;
  TensorPtr tensor;
  static Value integer(int64_t value) { return {value, nullptr}; }
  static Value number(double value) { return {std::bit_cast<int64_t>(value), nullptr}; }
  static Value of(TensorPtr tensor) { return {0, std::move(tensor)}; }
  double asDouble() const { return std::bit_cast<double>(bits); }
};

/// What a key resolved to. Called with operands of the key's types; leaves values of the result types.
class Kernel {
public:
  virtual ~Kernel() = default;
  virtual Status run(std::span<const Value> operands, std::span<Value> results) = 0;
  /// Whether it knows tensors that are elsewhere (Tensor::residence). What such a kernel makes is waited for by
  /// fetching it, so that the machine waits for no launch before it calls one, or after.
  virtual bool knowsResidences() const { return false; }
};

/// Where a program's kernels and external tensors come from: its target.
class KernelProvider {
public:
  virtual ~KernelProvider() = default;
  /// Finds a kernel, or makes one; called once per key when a machine is made. `name` is mangle(key).
  virtual Result<std::shared_ptr<Kernel>> resolve(const KernelKey &key, const std::string &name) = 0;
  /// An external tensor constant.
  virtual Result<TensorPtr> external(const std::string &name, const Type &type);
  /// `launch`: may return before the kernel has run if results are complete once `wait` returns. Runs it at once unless
  /// overridden.
  virtual Status launch(Kernel &kernel, uint32_t queue, std::span<const Value> operands, std::span<Value> results);
  /// Waits for one queue's launches; for all when `queue` is kAllQueues.
  virtual Status wait(uint32_t queue) { return {}; }
  /// Launches after it begin when those before it have ended.
  virtual Status barrier() { return {}; }
  static constexpr uint32_t kAllQueues = UINT32_MAX;
};

/// Kernels on the host that every program may call: @host.print, and math on scalars (@host.exp f32 -> f32, ..).
/// `print` gets what print writes, a line at a time.
class HostProvider : public KernelProvider {
public:
  explicit HostProvider(std::function<void(const std::string &)> print) : print(std::move(print)) {}
  Result<std::shared_ptr<Kernel>> resolve(const KernelKey &key, const std::string &name) override;

private:
  std::function<void(const std::string &)> print;
};

struct MachineOptions {
  /// Backward branches and calls before a run is given up; 0 = no limit.
  uint64_t maxJumps = 0;
  /// Calls within calls.
  uint32_t maxCallDepth = 1024;
  /// Bytes of the largest tensor that a program may make.
  uint64_t maxTensorBytes = uint64_t(1) << 40;
};

/// A program with its kernels resolved. Not for several threads at once.
class Machine {
public:
  /// Resolves every kernel and external tensor of the program; a missing one is a failure that names it.
  static Result<Machine> create(Program program, std::shared_ptr<KernelProvider> provider, MachineOptions options = {});

  /// Runs a function and returns its results. Arguments must have the types of its parameters. A failure names
  /// function, instruction and source; whatever the run held is released, and the machine can run again.
  Result<std::vector<Value>> run(std::vector<Value> arguments, uint32_t function = 0);

  /// Called with a line of text before every instruction: where, which, the slots, the stacks.
  void trace(std::function<void(const std::string &)> sink) { traceSink = std::move(sink); }

  const Program &program() const { return loaded; }
  uint64_t instructionsRun() const { return numInstructions; } // counted while tracing only

private:
  struct Frame {
    uint32_t function, next; // next instruction of the caller
    size_t slots;            // first slot
  };
  explicit Machine(Program program) : loaded(std::move(program)) {}
  template <bool traced> Status execute(uint32_t function);
  void enter(uint32_t function);
  Status invoke(const Step &step);
  Status waitForLaunches();
  Status tensorStep(const Step &step, size_t slotBase);
  Result<std::vector<int64_t>> popShape(const Type &type);
  std::string traceLine(uint32_t function, uint32_t instruction, size_t slotBase) const;

  Program loaded;
  std::shared_ptr<KernelProvider> provider;
  MachineOptions options;
  std::vector<std::shared_ptr<Kernel>> kernels; // by constant
  std::vector<TensorPtr> tensors;               // constants
  std::function<void(const std::string &)> traceSink;
  uint64_t numInstructions = 0;

  // A run's state. Numbers and tensors have a stack each, so that what an entry is follows from the instruction.
  std::vector<int64_t> numberSlots, numberStack;
  std::vector<TensorPtr> tensorSlots, tensorStack;
  size_t numbers = 0, references = 0, slotEnd = 0; // tops
  std::vector<Frame> frames;
  bool launched = false; // since the last wait
  uint32_t failedFunction = 0, failedInstruction = 0;
};

} // namespace pto_mlir::bytecode

#endif
