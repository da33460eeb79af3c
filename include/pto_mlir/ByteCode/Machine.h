// The interpreter of VM programs.
#ifndef PTO_MLIR_BYTECODE_MACHINE_H
#define PTO_MLIR_BYTECODE_MACHINE_H

#include "pto_mlir/ByteCode/Program.h"
#include "pto_mlir/HostOps/Strings.h"
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

/// Storage of a tensor outside host memory.
class Residence {
public:
  virtual ~Residence() = default;
  /// Waits for the producer and returns the data in host memory. Returns the same allocation each time.
  virtual Result<std::shared_ptr<std::byte[]>> fetch() = 0;
  /// Whether tasks may write it again, so that what was fetched is of that moment.
  virtual bool mayChange() const { return false; }
};

/// A dense row-major tensor. Views (reshape, cast) share the data.
struct Tensor {
  ElementType element = ElementType::F32;
  std::vector<int64_t> shape;
  std::shared_ptr<std::byte[]> data; ///< null while the data is in the residence only
  uint64_t bytes = 0;
  std::shared_ptr<Residence> residence;
  bool isConstant = false; ///< never written again, so that `data` and `residence` stay consistent

  /// Makes `data` available on the host, from the residence if necessary.
  Status fetch() { return !residence || (data && !residence->mayChange()) ? Status() : fetchNow(); }
  /// The same, for writing it there: the residence is given up.
  Status detach();

private:
  Status fetchNow();
};
using TensorPtr = std::shared_ptr<Tensor>;

/// A tensor of zeros. Null when an extent is negative or the size exceeds 2^40 bytes.
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

/// The implementation of a kernel key. Called with operands of the key's types; sets results of its result types.
class Kernel {
public:
  virtual ~Kernel() = default;
  virtual Status run(std::span<const Value> operands, std::span<Value> results) = 0;
  /// Whether it handles tensors outside host memory (Tensor::residence). Results of such a kernel are waited for on
  /// fetch, so the machine does not wait for pending launches before or after calling it.
  virtual bool knowsResidences() const { return false; }
};

/// Provides a program's kernels and external tensors: its target.
class KernelProvider {
public:
  virtual ~KernelProvider() = default;
  /// Finds or creates a kernel. Called once per key when a machine is created. `name` is mangle(key).
  virtual Result<std::shared_ptr<Kernel>> resolve(const KernelKey &key, const std::string &name) = 0;
  /// Returns an external tensor constant.
  virtual Result<TensorPtr> external(const std::string &name, const Type &type);
  /// Implements `launch`. May be asynchronous, provided that results are complete once `wait` returns. Synchronous
  /// unless overridden.
  virtual Status launch(Kernel &kernel, uint32_t queue, std::span<const Value> operands, std::span<Value> results);
  /// Waits for the launches of one queue, or of all (kAllQueues).
  virtual Status wait(uint32_t queue) { return {}; }
  /// Implements `submit`: a launch that writes tensors which exist, after the tasks `after`. Gives the task; 0 has
  /// completed. Synchronous unless overridden, as the three below are on the host.
  virtual Result<int64_t> submit(Kernel &kernel, std::span<const Value> operands, std::span<const int64_t> after);
  /// A task that has completed when all of `after` have.
  virtual Result<int64_t> join(std::span<const int64_t> after) { return 0; }
  /// Elements of `tensor` from `offset` on as a tensor of this shape; both have the same memory.
  virtual Result<TensorPtr> view(Tensor &tensor, uint64_t offset, std::vector<int64_t> shape);
  /// A tensor that a submitted kernel will write.
  virtual Result<TensorPtr> reserve(ElementType element, std::vector<int64_t> shape);
  /// Orders all later launches after all earlier ones.
  virtual Status barrier() { return {}; }
  static constexpr uint32_t kAllQueues = UINT32_MAX;
};

/// Host kernels available to every program: @host.print, and math on scalars (@host.exp f32 -> f32, ..). `print` is
/// called with each line printed by @host.print.
class HostProvider : public KernelProvider {
public:
  explicit HostProvider(std::function<void(const std::string &)> print);
  Result<std::shared_ptr<Kernel>> resolve(const KernelKey &key, const std::string &name) override;
  /// The strings of the run, of which tensors of strings hold the numbers.
  hostops::StringTable &strings() { return *table; }

private:
  std::function<void(const std::string &)> print;
  std::shared_ptr<hostops::StringTable> table = std::make_shared<hostops::StringTable>();
  uint64_t entropy; // what random numbers without a seed follow from
};

/// Limits of a machine, for untrusted programs.
struct MachineOptions {
  /// Limit on backward branches and calls per run; 0 = no limit.
  uint64_t maxJumps = 0;
  /// Limit on nested calls.
  uint32_t maxCallDepth = 1024;
  /// Limit on the size of a tensor in bytes.
  uint64_t maxTensorBytes = uint64_t(1) << 40;
};

/// A program with its kernels resolved. Not thread-safe.
class Machine {
public:
  /// Resolves all kernels and external tensors of the program; a failure names the missing one.
  static Result<Machine> create(Program program, std::shared_ptr<KernelProvider> provider, MachineOptions options = {});

  /// Runs a function and returns its results. Arguments must have the types of its parameters. A failure names the
  /// function, the instruction and its source; afterwards all values of the run are released and the machine may be
  /// reused.
  Result<std::vector<Value>> run(std::vector<Value> arguments, uint32_t function = 0);

  /// Sets a sink that receives one line before every instruction: position, instruction, slots, stacks.
  void trace(std::function<void(const std::string &)> sink) { traceSink = std::move(sink); }

  const Program &program() const { return loaded; }
  uint64_t instructionsRun() const { return numInstructions; } // counted only while tracing

private:
  struct Frame {
    uint32_t function, next; // next instruction of the caller
    size_t slots;            // first slot
  };
  class Interpreter;
  explicit Machine(Program program) : loaded(std::move(program)) {}
  template <bool traced> Status execute(uint32_t function);
  void enter(uint32_t function);
  Status invoke(const Step &step);
  Status waitForLaunches();
  void popOperands(const KernelKey &key, std::span<Value> operands);
  Status taskStep(const Step &step);
  Status submit(const Step &step, std::span<const int64_t> after);
  Result<uint64_t> sizeOf(const Type &type, const std::vector<int64_t> &shape) const;
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

  // State of a run. Numbers and tensors have separate stacks, so that entries need no type tags.
  std::vector<int64_t> numberSlots, numberStack;
  std::vector<TensorPtr> tensorSlots, tensorStack;
  size_t numbers = 0, references = 0, slotEnd = 0; // stack pointers
  std::vector<Frame> frames;
  bool launched = false; // since the last wait
  uint32_t failedFunction = 0, failedInstruction = 0;
};

} // namespace pto_mlir::bytecode

#endif
