// Launches of several blocks, and launches under a predicate.
#include "Orchestrator.h"

#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

// Each block is a launch that gets its number: so there may be as many as a run wants, and each has the tensors whole.
// Blocks that share memory run one after another.
void Orchestrator::forBlocks(const Number &count, const ir::Span &span, llvm::function_ref<void()> body) {
  if (block)
    fail(span, "blocks inside of blocks: pl.spmd does not nest");
  constexpr int64_t fewBlocks = 4;
  if (count.isKnown() && count.known < 1)
    fail(span, "pl.spmd needs at least one block");
  if (!host || (count.isKnown() && count.known <= fewBlocks)) {
    for (int64_t i = 0; i < count.known; ++i) {
      countTrip(span);
      block = BlockOf{i, count};
      body();
    }
    block.reset();
    return;
  }
  mlir::Value stop = emitted(count), zero = host->constant(int64_t(0));
  mlir::Block *start = host->block(), *header = host->addBlock();
  host->goOn(start);
  host->branch(header, {zero});
  host->goOn(header);
  mlir::Value index = host->addArgument(header, host->integerType());
  mlir::Value goesOn = host->condition(host->binary(ir::NodeKind::Lt, index, stop));
  mlir::Block *inside = host->addBlock();
  block = BlockOf{Number(index), count};
  body();
  block.reset();
  host->branch(header, {host->binary(ir::NodeKind::Add, index, host->constant(int64_t(1)))});
  mlir::Block *behind = host->addBlock();
  host->goOn(header);
  host->branch(goesOn, inside, behind);
  host->goOn(behind);
}

void Orchestrator::where(const ir::ExprPtr &condition, llvm::function_ref<void()> body) {
  Held truth = valueOf(condition);
  auto *value = std::get_if<mlir::Value>(&truth);
  if (!value) {
    if (integerOf(condition))
      body();
    return;
  }
  mlir::Value taken = host->condition(*value);
  mlir::Block *start = host->block(), *inside = host->addBlock();
  body();
  mlir::Block *end = host->block(), *behind = host->addBlock();
  host->goOn(end);
  host->branch(behind);
  host->goOn(start);
  host->branch(taken, inside, behind);
  host->goOn(behind);
}

void Orchestrator::runBlocks(const ir::SpmdScopeStmt &scope) {
  Number count = numberOf(scope.core_num_);
  size_t before = buffers.size();
  forBlocks(count, scope.span_, [&] { VisitStmt(scope.body_); });
  // What a block computes is its own.
  for (auto each = held.begin(); each != held.end();) {
    auto *view = std::get_if<View>(&each->second);
    each = view && view->buffer >= before ? held.erase(each) : std::next(each);
  }
}

} // namespace pto_mlir::pypto_frontend
