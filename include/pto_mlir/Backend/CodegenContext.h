//===- CodegenContext.h - Mutable state of code generation ----------------===//
//
// One context per kernel, owned by its compilation. It maps every SSA value to its location (immediate, register, part
// of a tile or view operand), allocates registers by structured liveness, and owns the storers of the commands.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_BACKEND_CODEGENCONTEXT_H
#define PTO_MLIR_BACKEND_CODEGENCONTEXT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pto_mlir/Backend/Backend.h"
#include "pto_mlir/Backend/CmdStorer.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/ISA/Scalar.h"

#include <array>
#include <set>

namespace pto_mlir::backend {

/// A tile operand and its memory.
struct TileDesc {
  isa::Tile tile;
  isa::Memory memory = isa::Memory::UB;
};

/// A kernel argument plus a byte offset.
struct PtrDesc {
  unsigned arg = 0;
  isa::Value offset;
};

/// The state of code generation of one kernel on one kind of core.
class CodegenContext {
public:
  CodegenContext(const Processor &processor, isa::CoreKind core, bool withText);

  /// Generates one engine function.
  llvm::LogicalResult generateStream(mlir::func::FuncOp function, isa::Pipe pipe);
  /// Generates the ops of a block in order.
  llvm::LogicalResult generateBlock(mlir::Block &block);

  // --- operands of an instruction; on failure a diagnostic has been emitted at `op`

  /// An integer: immediate (32 bits) or register.
  llvm::LogicalResult integer(mlir::Operation *op, mlir::Value value, isa::Value &out);
  /// A scalar operand of a tile instruction: the bit pattern as f32 for floats, the value for integers.
  llvm::LogicalResult scalar(mlir::Operation *op, mlir::Value value, isa::Value &out) {
    return integer(op, value, out);
  }
  llvm::LogicalResult tile(mlir::Operation *op, mlir::Value value, isa::Tile &out);
  /// A view as an operand: leading unit dimensions dropped, numbers fit in 32 bits.
  llvm::LogicalResult view(mlir::Operation *op, mlir::Value value, isa::View &out);
  /// A view as defined, before operand legalisation.
  llvm::LogicalResult viewDesc(mlir::Operation *op, mlir::Value value, isa::View &out);
  llvm::FailureOr<TileDesc> tileDesc(mlir::Operation *op, mlir::Value value);
  llvm::FailureOr<PtrDesc> ptrDesc(mlir::Operation *op, mlir::Value value);

  // --- locations of results

  void define(mlir::Value result, isa::Value value);
  void define(mlir::Value result, const TileDesc &tile);
  void define(mlir::Value result, const isa::View &view);
  void define(mlir::Value result, const PtrDesc &ptr);
  /// Registers of the entries of an array of event ids.
  void defineArray(mlir::Value result, llvm::SmallVector<uint8_t> registers) { arrays[result] = std::move(registers); }
  llvm::ArrayRef<uint8_t> array(mlir::Value value) const { return arrays.find(value)->second; }

  // --- registers

  /// A register reserved until the last use of `result`.
  llvm::FailureOr<uint8_t> registerFor(mlir::Operation *op, mlir::Value result);
  /// A register reserved until `op` has been generated, including its regions.
  llvm::FailureOr<uint8_t> temporary(mlir::Operation *op);
  /// The same, for a loop's induction variable.
  llvm::FailureOr<uint8_t> loopRegister(mlir::Operation *loop) { return temporary(loop); }

  // --- commands

  /// Encodes an instruction through the processor's library and stores it.
  template <class I> llvm::LogicalResult emit(mlir::Operation *op, const I &insn) {
    currentOp = op;
    return emitted(op, callEncoder(processor.functions, &encoder, insn, &ids));
  }
  /// dst = lhs I rhs, folded when both are immediates. The register is reserved until the last use of `result`, or for
  /// `op` when there is none.
  template <class I>
  llvm::LogicalResult binary(mlir::Operation *op, isa::Value lhs, isa::Value rhs, isa::Value &out,
                             mlir::Value result = {});
  /// Legalises an immediate that exceeds the 32 bits of an operand word: moves it to a temporary register.
  llvm::LogicalResult fit(mlir::Operation *op, isa::Value &value);

  /// Commands emitted between begin and end are buffered, so that their length is known before they are stored.
  struct Held {
    int engine;
    std::vector<uint32_t> words;
    mlir::Operation *op;
  };
  void beginHolding() { held.emplace_back(); }
  /// Ends buffering; returns the commands emitted since beginHolding.
  std::vector<Held> endHolding();
  /// Stores buffered commands.
  llvm::LogicalResult store(const std::vector<Held> &commands);

  // --- results of the kernel

  const Processor &processor;
  const isa::CoreKind core;
  isa::Pipe pipe = isa::Pipe::S;

  /// Records the use of a local memory up to byte `end`.
  void useMemory(isa::Memory memory, uint64_t end);
  void useEvent(isa::Pipe src, isa::Pipe dst, int64_t id) { events.insert({int(src), int(dst), id}); }
  size_t numEvents() const { return events.size(); }
  const std::array<uint64_t, std::size(isa::kMemoryNames)> &memoryUse() const { return memoryEnd; }

  /// Flushes the storers; afterwards streams and texts are complete.
  void finish() { storer->store_cmd_end(0); }
  std::vector<uint32_t> words(isa::Pipe pipe) const;
  uint32_t numCommands(isa::Pipe pipe) const;
  std::string text(isa::Pipe pipe) const;
  /// The ops of a stream's commands with the first word of each, in order.
  llvm::ArrayRef<std::pair<size_t, mlir::Operation *>> opsOf(isa::Pipe pipe) const;
  /// The op whose command contains this word; null when unknown.
  mlir::Operation *opAt(isa::Pipe pipe, size_t word) const;

private:
  llvm::LogicalResult emitted(mlir::Operation *op, int result);
  static int storeCallback(void *user, int engine, const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node, int port);
  StoreError storeNow(int engine, const uint32_t *cmd, size_t numWords);
  int engineId(isa::Pipe p) const { return int(unsigned(core) << 4 | unsigned(p)); }

  unsigned number(mlir::Operation &op);
  unsigned lastUse(mlir::Value value) const;
  void keep(const isa::Value &value, unsigned until);
  void keep(const isa::View &view, unsigned until);
  void release(unsigned now);
  llvm::FailureOr<uint8_t> allocate(mlir::Operation *op, unsigned until);

  // Storage.
  std::shared_ptr<VectorDumpStorerDecorator> dump;
  std::shared_ptr<StatisticsStorerDecorator> statistics;
  std::shared_ptr<TraceStorerDecorator> trace;
  std::shared_ptr<CmdStorerInterface> storer; // the outermost decorator
  PtoEncodeContext encoder{};
  CMD_ID_NODE ids{};
  mlir::Operation *currentOp = nullptr;
  std::vector<std::vector<Held>> held;
  std::map<int, std::vector<std::pair<size_t, mlir::Operation *>>> sources; // engine -> (first word, op)
  std::map<int, size_t> stored;                                             // engine -> words

  // Locations of the values of the current function.
  llvm::DenseMap<mlir::Value, isa::Value> scalars;
  llvm::DenseMap<mlir::Value, TileDesc> tiles;
  llvm::DenseMap<mlir::Value, isa::View> views;
  llvm::DenseMap<mlir::Value, PtrDesc> ptrs;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<uint8_t>> arrays;

  // Register allocation: ops are numbered in order; the range of an op with regions includes its body.
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> span;
  unsigned nextNumber = 1;
  std::array<unsigned, isa::kNumRegisters> busyUntil{}; // 0: free
  unsigned now = 0;

  std::array<uint64_t, std::size(isa::kMemoryNames)> memoryEnd{};
  std::set<std::tuple<int, int, int64_t>> events;
};

/// The operand equal to lhs I rhs by an identity (x + 0, x * 1); nullopt when there is none.
std::optional<isa::Value> foldIdentity(isa::Opcode opcode, const isa::Value &lhs, const isa::Value &rhs);

template <class I>
llvm::LogicalResult CodegenContext::binary(mlir::Operation *op, isa::Value lhs, isa::Value rhs, isa::Value &out,
                                           mlir::Value result) {
  constexpr isa::Opcode opcode = isa::OpcodeOf<I>::value;
  if (!lhs.isRegister && !rhs.isRegister)
    if (auto folded = isa::evaluateScalar(opcode, lhs.value, rhs.value)) {
      out = isa::Value(*folded);
      return llvm::success();
    }
  if (auto same = foldIdentity(opcode, lhs, rhs)) {
    out = *same;
    return llvm::success();
  }
  if (failed(fit(op, lhs)) || failed(fit(op, rhs)))
    return llvm::failure();
  auto dst = result ? registerFor(op, result) : temporary(op);
  if (failed(dst))
    return llvm::failure();
  I insn;
  insn.dst = *dst;
  insn.lhs = lhs;
  insn.rhs = rhs;
  out = isa::Value::reg(*dst);
  return emit(op, insn);
}

} // namespace pto_mlir::backend

#endif
