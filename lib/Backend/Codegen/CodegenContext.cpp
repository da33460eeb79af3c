//===- CodegenContext.cpp - What changes while a kernel's code is generated ===//

#include "pto_mlir/Backend/CodegenContext.h"

#include "pto_mlir/Backend/CodegenOpInterface.h"
#include "pto_mlir/ISA/Table.h"

using namespace mlir;

namespace pto_mlir::backend {

CodegenContext::CodegenContext(const Processor &processor, isa::CoreKind core, bool withText)
    : processor(processor), core(core) {
  dump = std::make_shared<VectorDumpStorerDecorator>(std::make_shared<ConcreteCmdStorer>(*processor.arch));
  statistics = std::make_shared<StatisticsStorerDecorator>(dump);
  trace = std::make_shared<TraceStorerDecorator>(statistics);
  trace->setEnabled(withText);
  storer = trace;
  encoder.user = this;
  encoder.store_cmd = storeCallback;
  encoder.core_kind = unsigned(core);
}

//===----------------------------------------------------------------------===//
// Ops in order
//===----------------------------------------------------------------------===//

unsigned CodegenContext::number(Operation &op) {
  unsigned begin = nextNumber++;
  for (Region &region : op.getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        number(inner);
  unsigned end = op.getNumRegions() ? nextNumber++ : begin;
  span[&op] = {begin, end};
  return end;
}

LogicalResult CodegenContext::generateStream(func::FuncOp function, isa::Pipe which) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("expects an engine function of one block");
  pipe = which;
  encoder.pipe = unsigned(which);
  scalars.clear(), tiles.clear(), views.clear(), ptrs.clear(), arrays.clear(), span.clear();
  busyUntil.fill(0);
  nextNumber = 1;
  now = 0;
  Block &body = function.getBody().front();
  for (Operation &op : body)
    number(op);

  // Pointers are named by their place among the pointers; scalars are read from the launch's list.
  unsigned pointers = 0, numbers = 0;
  for (BlockArgument argument : body.getArguments()) {
    if (llvm::isa<pto::PtrType>(argument.getType())) {
      define(argument, PtrDesc{pointers++, isa::Value(0)});
      continue;
    }
    unsigned k = numbers++;
    if (argument.use_empty())
      continue;
    auto dst = registerFor(function, argument);
    isa::Get get;
    if (failed(dst))
      return failure();
    get.dst = *dst;
    get.what = isa::scalarArgument(k);
    if (failed(emit(function, get)))
      return failure();
    define(argument, isa::Value::reg(*dst));
  }
  if (failed(generateBlock(body)))
    return failure();
  // Every stream closes by draining its engine.
  currentOp = body.getTerminator();
  return emitted(currentOp, processor.functions.dl_pto_sync_all(&encoder, &ids));
}

LogicalResult CodegenContext::generateBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    auto codegen = dyn_cast<CodegenOpInterface>(&op);
    if (!codegen)
      return op.emitOpError("has no instruction on ") << processor.name;
    now = span[&op].first;
    if (failed(codegen.generate(*this)))
      return failure();
    release(span[&op].second);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

// The number of the last op that uses the value; a use inside a loop counts until the loop ends, for the value is
// needed in every trip.
unsigned CodegenContext::lastUse(mlir::Value value) const {
  unsigned last = now;
  Block *block = value.getParentBlock();
  for (Operation *user : value.getUsers())
    if (Operation *here = block->findAncestorOpInBlock(*user))
      if (auto it = span.find(here); it != span.end())
        last = std::max(last, it->second.second);
  return last;
}

void CodegenContext::keep(const isa::Value &value, unsigned until) {
  if (value.isRegister)
    busyUntil[size_t(value.value)] = std::max(busyUntil[size_t(value.value)], until);
}

void CodegenContext::keep(const isa::View &view, unsigned until) {
  keep(view.offset, until);
  for (unsigned i = 0; i < view.rank; ++i)
    keep(view.sizes[i], until), keep(view.strides[i], until);
}

void CodegenContext::release(unsigned done) {
  for (unsigned &until : busyUntil)
    if (until <= done)
      until = 0;
}

FailureOr<uint8_t> CodegenContext::allocate(Operation *op, unsigned until) {
  for (unsigned r = 0; r < isa::kNumRegisters; ++r)
    if (busyUntil[r] == 0) {
      busyUntil[r] = std::max(until, 1u);
      return uint8_t(r);
    }
  return op->emitOpError("needs a register, but the ")
         << isa::kNumRegisters << " registers of engine " << isa::pipeName(pipe)
         << " all hold values that are still needed";
}

FailureOr<uint8_t> CodegenContext::registerFor(Operation *op, mlir::Value result) {
  return allocate(op, lastUse(result));
}

FailureOr<uint8_t> CodegenContext::temporary(Operation *op) {
  auto it = span.find(op);
  return allocate(op, it == span.end() ? now : it->second.second);
}

//===----------------------------------------------------------------------===//
// What values stand for
//===----------------------------------------------------------------------===//

void CodegenContext::define(mlir::Value result, isa::Value value) {
  keep(value, lastUse(result));
  scalars[result] = value;
}

void CodegenContext::define(mlir::Value result, const TileDesc &desc) {
  unsigned until = lastUse(result);
  keep(desc.tile.address, until), keep(desc.tile.validRows, until), keep(desc.tile.validCols, until);
  tiles[result] = desc;
}

void CodegenContext::define(mlir::Value result, const isa::View &view) {
  keep(view, lastUse(result));
  views[result] = view;
}

void CodegenContext::define(mlir::Value result, const PtrDesc &ptr) {
  keep(ptr.offset, lastUse(result));
  ptrs[result] = ptr;
}

void CodegenContext::useMemory(isa::Memory memory, uint64_t end) {
  memoryEnd[size_t(memory)] = std::max(memoryEnd[size_t(memory)], end);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

LogicalResult CodegenContext::emitted(Operation *op, int result) {
  return result == 0 ? success() : op->emitOpError() << encoder.error;
}

int CodegenContext::storeCallback(void *user, int engine, const uint32_t *cmd, size_t numWords, CMD_ID_NODE *,
                                  int port) {
  auto *self = static_cast<CodegenContext *>(user);
  if (engine != self->engineId(self->pipe)) {
    const char *coreName = isa::kCoreKindNames[unsigned(self->core)], *name = isa::pipeName(isa::Pipe(engine & 15));
    std::snprintf(self->encoder.error, sizeof(self->encoder.error),
                  "is executed by %s %s, but stands in the stream of %s %s", coreName, name ? name : "?", coreName,
                  isa::pipeName(self->pipe));
    return 1;
  }
  if (!self->held.empty()) {
    self->held.back().push_back({engine, {cmd, cmd + numWords}, self->currentOp});
    return 0;
  }
  StoreError error =
      port ? StoreError("a command for another device inside a kernel") : self->storeNow(engine, cmd, numWords);
  if (error)
    std::snprintf(self->encoder.error, sizeof(self->encoder.error), "%s", error->c_str());
  return error ? 1 : 0;
}

StoreError CodegenContext::storeNow(int engine, const uint32_t *cmd, size_t numWords) {
  if (StoreError error = storer->store_cmd(engine, cmd, numWords, &ids, 0))
    return error;
  sources[engine].push_back({stored[engine], currentOp});
  stored[engine] += numWords;
  return std::nullopt;
}

std::vector<CodegenContext::Held> CodegenContext::endHolding() {
  std::vector<Held> commands = std::move(held.back());
  held.pop_back();
  return commands;
}

LogicalResult CodegenContext::store(const std::vector<Held> &commands) {
  for (const Held &command : commands) {
    currentOp = command.op;
    if (storeCallback(this, command.engine, command.words.data(), command.words.size(), &ids, 0))
      return emitted(command.op, 1);
  }
  return success();
}

std::vector<uint32_t> CodegenContext::words(isa::Pipe p) const {
  auto it = dump->streams().find({engineId(p), 0});
  return it == dump->streams().end() ? std::vector<uint32_t>() : it->second;
}

uint32_t CodegenContext::numCommands(isa::Pipe p) const {
  auto it = statistics->statistics().find({engineId(p), 0});
  return it == statistics->statistics().end() ? 0 : uint32_t(it->second.commands);
}

std::string CodegenContext::text(isa::Pipe p) const {
  auto it = trace->texts().find({engineId(p), 0});
  return it == trace->texts().end() ? "" : it->second;
}

ArrayRef<std::pair<size_t, Operation *>> CodegenContext::opsOf(isa::Pipe p) const {
  auto it = sources.find(engineId(p));
  return it == sources.end() ? ArrayRef<std::pair<size_t, Operation *>>() : ArrayRef(it->second);
}

Operation *CodegenContext::opAt(isa::Pipe p, size_t word) const {
  auto it = sources.find(engineId(p));
  Operation *found = nullptr;
  if (it != sources.end())
    for (auto [first, op] : it->second)
      if (first <= word)
        found = op;
  return found;
}

} // namespace pto_mlir::backend
