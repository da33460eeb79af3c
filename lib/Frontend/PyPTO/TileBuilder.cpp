// Appends operations on tiles to a body.
#include "TileBuilder.h"

#include "TileNodes.h"

namespace pto_mlir::pypto_frontend {

ir::Attrs in(ir::MemorySpace memory) {
  return {{"target_memory", ir::EnumValue{ir::EnumTraits<ir::MemorySpace>::kKind, uint8_t(memory)}}};
}

bool narrowsProduct(const ir::OpView &cast) {
  auto target = cast.Keyword<pypto::DataType>("target_type");
  return cast.Keyword<std::string>("mode") == "rint" &&
         (target == pypto::DataType::BF16 || target == pypto::DataType::FP16);
}

ir::CallPtr TileBuilder::make(std::string_view op, std::vector<ir::ExprPtr> operands, ir::Attrs keywords) {
  ir::Attrs arguments;
  for (ir::ExprPtr &operand : operands)
    arguments.emplace_back("", std::move(operand));
  arguments.insert(arguments.end(), keywords.begin(), keywords.end());
  return ir::CreateOp(op, std::move(arguments), place);
}

ir::VarPtr TileBuilder::bind(const ir::CallPtr &call) {
  auto var = std::make_shared<const ir::Var>(name.empty() ? "t" : name, call->type_, call->span_);
  out->push_back(std::make_shared<const ir::AssignStmt>(var, call, call->span_));
  return var;
}

ir::VarPtr TileBuilder::index(const char *hint) const {
  return std::make_shared<const ir::Var>(hint, std::make_shared<const ir::ScalarType>(pypto::DataType::INDEX), place);
}

TileBuilder::Stmts TileBuilder::apart(llvm::function_ref<void()> body) {
  Stmts made;
  Stmts *outer = std::exchange(out, &made);
  body();
  out = outer;
  return made;
}

void TileBuilder::steps(int64_t extent, int64_t step, llvm::function_ref<void(ir::ExprPtr, int64_t)> body) {
  int64_t whole = extent / step;
  if (whole == 1)
    body(number(0), step);
  if (whole > 1) {
    auto begin = index("begin");
    Stmts made = apart([&] { body(begin, step); });
    out->push_back(std::make_shared<const ir::ForStmt>(
        begin, number(0), number(whole * step), number(step), std::vector<ir::IterArgPtr>(),
        std::make_shared<const ir::SeqStmts>(std::move(made), place), std::vector<ir::VarPtr>(), place));
  }
  if (extent % step)
    body(number(whole * step), extent % step);
}

ir::VarPtr TileBuilder::summed(int64_t extent, int64_t step,
                               llvm::function_ref<ir::VarPtr(ir::VarPtr, const ir::ExprPtr &, int64_t)> body) {
  int64_t first = extent % step ? extent % step : std::min(step, extent);
  ir::VarPtr acc = body(nullptr, number(0), first);
  if (first == extent)
    return acc;
  auto begin = index("k");
  auto sum = std::make_shared<const ir::IterArg>("acc", acc->type_, acc, place);
  Stmts made = apart([&] {
    std::vector<ir::ExprPtr> next{body(sum, begin, step)};
    out->push_back(std::make_shared<const ir::YieldStmt>(std::move(next), place));
  });
  acc = std::make_shared<const ir::Var>("acc", acc->type_, place);
  out->push_back(std::make_shared<const ir::ForStmt>(
      begin, number(first), number(extent), number(step), std::vector<ir::IterArgPtr>{sum},
      std::make_shared<const ir::SeqStmts>(std::move(made), place), std::vector<ir::VarPtr>{acc}, place));
  return acc;
}

} // namespace pto_mlir::pypto_frontend
