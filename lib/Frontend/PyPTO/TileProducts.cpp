// Products of tiles in Mat, cut for the memories of a cube core.
#include "TileProducts.h"

#include "FactorLoads.h"
#include "TileBuilder.h"
#include "TileNodes.h"

#include "pto_mlir/Kernels/CubeTiling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>

namespace pto_mlir::pypto_frontend {
namespace {

constexpr int64_t kMostParts = 256; // of a product in Mat: each is a few operations of the kernel

/// The matrices of one operand.
struct Factor {
  ir::VarPtr tile;
  int64_t rows = 0, columns = 0, batches = 1;
  bool sideBySide = false; ///< matrices follow one another along columns, not rows
};

/// A sum of products, one for each batch.
struct Product {
  std::vector<std::pair<Factor, Factor>> terms;
  ir::VarPtr bias, acc; ///< either may be null; `acc` lies in L0C
  int64_t m = 0, n = 0;
  std::vector<ir::ExprPtr> batches; ///< leading extents of the result
  int64_t bytes = 0;                ///< of an element of the operands
  pypto::DataType result;
  ir::Span place = ir::Span::unknown();
};

class ProductTiler : TileBuilder {
public:
  explicit ProductTiler(const isa::ArchInfo &arch) : arch(arch) {}

  ir::StmtPtr run(const ir::StmtPtr &body) {
    readers.collect(body, bytesOf(isa::Memory::L1));
    return visit(body);
  }

private:
  ir::StmtPtr visit(const ir::StmtPtr &body);
  void statement(const ir::StmtPtr &stmt);
  void assign(const ir::VarPtr &var, const ir::CallPtr &call);
  ir::CallPtr flattened(const ir::CallPtr &call);
  bool product(const ir::VarPtr &var, const ir::CallPtr &call);
  std::optional<Factor> factor(const ir::ExprPtr &operand);
  bool narrow(const ir::VarPtr &var, const ir::CallPtr &call);
  bool store(const ir::VarPtr &var, const ir::CallPtr &call);
  ir::VarPtr inMat(const ir::VarPtr &var);
  void refuse(const ir::ExprPtr &expr) const;

  bool isSmall(const Product &product) const;
  int64_t bytesOf(isa::Memory memory) const { return arch.memory(memory).bytes; }
  ir::VarPtr part(const Factor &factor, const ir::ExprPtr &batch, const ir::ExprPtr &row, int64_t rows,
                  const ir::ExprPtr &column, int64_t columns, ir::MemorySpace space);
  void addBatch(std::vector<ir::ExprPtr> &offsets, const ir::ExprPtr &batch,
                const std::vector<ir::ExprPtr> &extents) const;
  ir::VarPtr loadedPart(const FactorLoad &from, const ir::ExprPtr &batch, ir::ExprPtr row, int64_t rows,
                        ir::ExprPtr column, int64_t columns, ir::MemorySpace space);
  ir::VarPtr biasPart(const Product &product, const ir::ExprPtr &column, int64_t columns);
  ir::VarPtr compute(const Product &product, const ir::ExprPtr &batch, const ir::ExprPtr &row, int64_t rows,
                     const ir::ExprPtr &column, int64_t columns, int64_t step);
  cube::CubeTiling tiling(const Product &product) const;
  int64_t stepOf(const Product &product, int64_t rows, int64_t columns) const;
  ir::ExprPtr times(const ir::ExprPtr &a, int64_t b) const;

  const isa::ArchInfo &arch;
  FactorLoads readers;
  std::vector<ir::VarPtr> made;            ///< variables that are keys, but perhaps in no statement
  std::map<const ir::Var *, Product> late; ///< computed where they are used
  std::map<const ir::Var *, std::pair<ir::VarPtr, pypto::DataType>> narrowed; ///< casts of products
  std::map<const ir::Var *, ir::VarPtr> mats;                                 ///< of products that were moved to Mat
  std::map<const ir::Var *, ir::CallPtr> loads, views;                        ///< tiles by how they are made
};

ir::StmtPtr ProductTiler::visit(const ir::StmtPtr &body) {
  Stmts made = apart([&] {
    for (const ir::StmtPtr &each : ir::FlattenStmts(body)) {
      place = each->span_.is_valid() ? each->span_ : place;
      withPlace(place, [&] { statement(each); });
    }
  });
  return std::make_shared<const ir::SeqStmts>(std::move(made), body->span_);
}

void ProductTiler::statement(const ir::StmtPtr &stmt) {
  if (auto op = ir::As<ir::AssignStmt>(stmt)) {
    auto call = ir::As<ir::Call>(op->value_);
    if (call && !ir::IsA<ir::GlobalVar>(call->op_))
      return assign(op->var_, call);
    refuse(op->value_);
    out->push_back(stmt);
  } else if (auto op = ir::As<ir::EvalStmt>(stmt)) {
    auto call = ir::As<ir::Call>(op->expr_);
    if (call && !ir::IsA<ir::GlobalVar>(call->op_))
      return assign(nullptr, call);
    out->push_back(stmt);
  } else if (auto op = ir::As<ir::ForStmt>(stmt)) {
    for (const ir::IterArgPtr &arg : op->iter_args_)
      refuse(arg->initValue_);
    out->push_back(withBody(*op, visit(op->body_)));
  } else if (auto op = ir::As<ir::WhileStmt>(stmt)) {
    out->push_back(withBody(*op, visit(op->body_)));
  } else if (auto op = ir::As<ir::IfStmt>(stmt)) {
    std::optional<ir::StmtPtr> otherwise;
    ir::StmtPtr then = visit(op->then_body_);
    if (op->else_body_)
      otherwise = visit(*op->else_body_);
    out->push_back(std::make_shared<const ir::IfStmt>(op->condition_, then, otherwise, op->return_vars_, op->span_));
  } else {
    if (auto yield = ir::As<ir::YieldStmt>(stmt))
      llvm::for_each(yield->value_, [&](const ir::ExprPtr &value) { refuse(value); });
    out->push_back(stmt);
  }
}

/// A product that is computed later is known here only.
void ProductTiler::refuse(const ir::ExprPtr &expr) const {
  auto var = ir::As<ir::Var>(expr);
  if (var && (late.count(var.get()) || narrowed.count(var.get())))
    fail(place, "a product that is greater than L0C, or one of batches, is computed where it is stored: store it "
                "before anything else reads it");
}

/// The call with its products as variables, those in Mat where they are operands of another product.
ir::CallPtr ProductTiler::flattened(const ir::CallPtr &call) {
  std::vector<ir::ExprPtr> args;
  for (ir::ExprPtr arg : call->args_) {
    auto inner = ir::As<ir::Call>(arg);
    if (inner && ir::IsA<ir::TileType>(inner->type_) &&
        (isTileProduct(inner->op_->name_) || inner->op_->name_ == "tile.cast")) {
      auto var = std::make_shared<const ir::Var>("t", inner->type_, inner->span_);
      made.push_back(var);
      readers.of[var.get()].push_back(call->op_->name_);
      readers.reads[var.get()] = 1;
      assign(var, inner);
      arg = var;
    }
    args.push_back(arg);
  }
  if (args == call->args_)
    return call;
  auto flat = std::make_shared<ir::Call>(call->op_, std::move(args), call->kwargs_, call->type_, call->span_);
  flat->attrs_ = call->attrs_;
  return flat;
}

void ProductTiler::assign(const ir::VarPtr &var, const ir::CallPtr &given) {
  ir::CallPtr call = flattened(given);
  const std::string &op = call->op_->name_;
  name = var ? var->name_hint_ : "t";
  if (var && op == "tile.load")
    loads[var.get()] = call;
  if (var && (op == "tile.transpose_view" || op == "tile.move"))
    views[var.get()] = call;
  if (var && readers.streamed(var.get()))
    return; // loaded where products read it
  if (var && isTileProduct(op) && product(var, call))
    return;
  if (var && op == "tile.cast" && narrow(var, call))
    return;
  if (op == "tile.store" && store(var, call))
    return;
  for (const ir::ExprPtr &arg : call->args_)
    refuse(arg);
  if (var)
    out->push_back(std::make_shared<const ir::AssignStmt>(var, call, call->span_));
  else
    out->push_back(std::make_shared<const ir::EvalStmt>(call, call->span_));
}

/// An operand that lies in Mat; nothing for others.
std::optional<Factor> ProductTiler::factor(const ir::ExprPtr &operand) {
  auto var = ir::As<ir::Var>(operand);
  if (!var)
    return std::nullopt;
  if (late.count(var.get()) || narrowed.count(var.get()))
    var = inMat(var);
  auto type = ir::As<ir::TileType>(var->type_);
  if (!type || type->GetMemorySpace() != ir::MemorySpace::Mat || type->shape_.size() < 2)
    return std::nullopt;
  if (type->tile_view_ && !type->tile_view_->valid_shape.empty())
    return std::nullopt; // as it is: its padding is no part of the product
  Factor factor{var};
  for (size_t axis = 0; axis < type->shape_.size(); ++axis) {
    auto extent = ir::ConstantInt(type->shape_[axis]);
    if (!extent)
      return std::nullopt;
    size_t fromEnd = type->shape_.size() - axis;
    (fromEnd == 1 ? factor.columns : fromEnd == 2 ? factor.rows : factor.batches) *= fromEnd > 2 ? *extent : 1;
    if (fromEnd <= 2)
      (fromEnd == 1 ? factor.columns : factor.rows) = *extent;
  }
  auto view = views.find(var.get());
  factor.sideBySide = view != views.end() && view->second->op_->name_ == "tile.transpose_view" && factor.batches > 1;
  return factor;
}

bool ProductTiler::product(const ir::VarPtr &var, const ir::CallPtr &call) {
  ir::OpView view(*call);
  auto a = factor(view.Operand("lhs")), b = factor(view.Operand("rhs"));
  auto acc = view.row()->Find("acc") >= 0 ? ir::As<ir::Var>(view.Operand("acc")) : nullptr;
  bool extends = acc && late.count(acc.get());
  bool isBatch = view.row()->name.starts_with("tile.batch_");
  if (!a || !b) {
    if (isBatch || extends)
      fail(place, std::string(view.row()->name) + " needs operands in Mat: load with target_memory=pl.Mem.Mat");
    return false;
  }
  ir::ExprPtr isFirst = view.row()->Find("init_cond") >= 0 ? view.Operand("init_cond") : nullptr;
  Product made;
  if (extends)
    made = late[acc.get()];
  else if (acc && isBatch)
    fail(place, "pl.batch_matmul_acc adds to a product of the same kernel that nothing else reads");
  else
    made.acc = acc;
  if (view.row()->Find("bias") >= 0)
    made.bias = ir::As<ir::Var>(view.Operand("bias"));
  const auto &shape = *ir::ShapeOf(call->type_);
  made.batches.assign(shape.begin(), shape.end() - 2);
  made.m = a->rows, made.n = b->columns;
  made.bytes = ir::ElementTypeOf(a->tile->type_)->GetByte();
  made.result = *ir::ElementTypeOf(call->type_);
  made.place = call->span_;
  made.terms.emplace_back(*a, *b);
  if (isFirst && (extends || !isSmall(made)))
    fail(place, "init_cond of a product that L0 does not hold is not lowered yet; begin with pl.matmul");
  if (made.batches.empty() && !extends && isSmall(made)) {
    std::vector<ir::ExprPtr> operands;
    if (acc)
      operands.push_back(acc);
    operands.insert(operands.end(), {a->tile, b->tile});
    if (made.bias)
      operands.push_back(made.bias);
    if (isFirst)
      operands.push_back(isFirst);
    out->push_back(std::make_shared<const ir::AssignStmt>(var, make(view.row()->name, operands, call->kwargs_), place));
    return true;
  }
  int64_t cells = llvm::alignTo(uint64_t(made.m), 16) * llvm::alignTo(uint64_t(made.n), 16);
  bool fits = cells * 4 <= bytesOf(isa::Memory::L0C) && stepOf(made, made.m, made.n) > 0;
  if (made.batches.empty() && !extends && fits &&
      (!made.bias || spaceOf(made.bias) == ir::MemorySpace::Bias || made.n * 4 <= bytesOf(isa::Memory::BT))) {
    ir::VarPtr sum = compute(made, number(0), number(0), made.m, number(0), made.n, stepOf(made, made.m, made.n));
    out->push_back(std::make_shared<const ir::AssignStmt>(var, sum, place));
    return true;
  }
  if (made.acc)
    fail(place, "a product that is greater than L0C is added to one of the same kernel that nothing else reads");
  late[var.get()] = std::move(made);
  return true;
}

/// Whether a product needs no parts.
bool ProductTiler::isSmall(const Product &product) const {
  const auto &[a, b] = product.terms.front();
  auto bytes = [&](int64_t rows, int64_t columns, int64_t each) {
    return int64_t(llvm::alignTo(uint64_t(rows), 16) * llvm::alignTo(uint64_t(columns), 16)) * each;
  };
  return bytes(a.rows, a.columns, product.bytes) <= bytesOf(isa::Memory::L0A) &&
         bytes(b.rows, b.columns, product.bytes) <= bytesOf(isa::Memory::L0B) &&
         bytes(product.m, product.n, 4) <= bytesOf(isa::Memory::L0C) &&
         (!product.bias || spaceOf(product.bias) == ir::MemorySpace::Bias || product.n * 4 <= bytesOf(isa::Memory::BT));
}

/// Steps along K that L0 holds twice; 0 where it does not.
int64_t ProductTiler::stepOf(const Product &product, int64_t rows, int64_t columns) const {
  int64_t bytes = std::min(bytesOf(isa::Memory::L0A), bytesOf(isa::Memory::L0B)) / 2, k = 0;
  int64_t most = bytes / (int64_t(llvm::alignTo(uint64_t(std::max(rows, columns)), 16)) * product.bytes);
  for (const auto &[a, b] : product.terms)
    k = std::max(k, a.columns);
  return most >= k ? k : int64_t(llvm::alignDown(uint64_t(most), 32 / product.bytes * (product.bytes == 4 ? 2 : 1)));
}

ir::ExprPtr ProductTiler::times(const ir::ExprPtr &a, int64_t b) const {
  auto known = ir::ConstantInt(a);
  return known ? number(*known * b) : ir::MakeBinary(ir::NodeKind::Mul, a, number(b), pypto::DataType::INDEX, place);
}

/// Adds the index of a batch, which is counted row by row over leading extents, to the first offsets.
void ProductTiler::addBatch(std::vector<ir::ExprPtr> &offsets, const ir::ExprPtr &batch,
                            const std::vector<ir::ExprPtr> &extents) const {
  auto binary = [&](ir::NodeKind kind, const ir::ExprPtr &value, int64_t by) {
    return ir::MakeBinary(kind, value, number(by), pypto::DataType::INDEX, place);
  };
  int64_t inner = 1;
  for (size_t axis = extents.size(); axis-- > 0;) {
    int64_t extent = *ir::ConstantInt(extents[axis]);
    ir::ExprPtr index = inner == 1 ? batch : binary(ir::NodeKind::FloorDiv, batch, inner);
    if (axis > 0)
      index = binary(ir::NodeKind::FloorMod, index, extent);
    offsets[axis] = extent == 1 ? offsets[axis] : sum(offsets[axis], index);
    inner *= extent;
  }
}

/// A window of a factor that L1 does not hold, loaded and moved to L0.
ir::VarPtr ProductTiler::loadedPart(const FactorLoad &from, const ir::ExprPtr &batch, ir::ExprPtr row, int64_t rows,
                                    ir::ExprPtr column, int64_t columns, ir::MemorySpace space) {
  ir::ExprPtr window = tuple({number(rows), number(columns)});
  if (from.isTransposed) {
    std::swap(row, column);
    std::swap(rows, columns);
  }
  ir::OpView view(*from.load);
  std::vector<ir::ExprPtr> offsets = view.Elements("offsets"), extents = view.Elements("shapes");
  size_t last = offsets.size() - 1;
  addBatch(offsets, batch, std::vector<ir::ExprPtr>(extents.begin(), extents.end() - 2));
  offsets[last] = sum(offsets[last], column), offsets[last - 1] = sum(offsets[last - 1], row);
  std::fill(extents.begin(), extents.end(), number(1));
  extents[last] = number(columns), extents[last - 1] = number(rows);
  ir::VarPtr mat =
      bind(make("tile.load", {view.Operand("tensor"), tuple(offsets), tuple(extents)}, from.load->kwargs_));
  if (from.isTransposed)
    mat = bind(make("tile.transpose_view", {mat}));
  return bind(make("tile.extract", {mat, number(0), number(0), window}, in(space)));
}

/// A window of one of the matrices, moved to L0.
ir::VarPtr ProductTiler::part(const Factor &factor, const ir::ExprPtr &batch, const ir::ExprPtr &row, int64_t rows,
                              const ir::ExprPtr &column, int64_t columns, ir::MemorySpace space) {
  if (const FactorLoad *from = readers.streamed(factor.tile.get()))
    return loadedPart(*from, batch, row, rows, column, columns, space);
  ir::ExprPtr top = row, left = column;
  if (factor.batches > 1)
    (factor.sideBySide ? left : top) =
        sum(times(batch, factor.sideBySide ? factor.columns : factor.rows), factor.sideBySide ? column : row);
  return bind(make("tile.extract", {factor.tile, top, left, tuple({number(rows), number(columns)})}, in(space)));
}

ir::VarPtr ProductTiler::biasPart(const Product &product, const ir::ExprPtr &column, int64_t columns) {
  if (columns == product.n)
    return product.bias;
  ir::VarPtr held = product.bias;
  if (auto view = views.find(held.get()); view != views.end() && view->second->op_->name_ == "tile.move")
    held = ir::As<ir::Var>(view->second->args_[0]);
  auto load = loads.find(held.get());
  if (load == loads.end())
    fail(place, "the bias of a product that is computed in parts must be loaded in this kernel");
  ir::OpView view(*load->second);
  std::vector<ir::ExprPtr> offsets = view.Elements("offsets"), shape = view.Elements("shapes");
  offsets.back() = sum(offsets.back(), column);
  shape.back() = number(columns);
  return bind(make("tile.load", {view.Operand("tensor"), tuple(offsets), tuple(shape)}, in(ir::MemorySpace::Mat)));
}

/// A part of the result in L0C.
ir::VarPtr ProductTiler::compute(const Product &product, const ir::ExprPtr &batch, const ir::ExprPtr &row, int64_t rows,
                                 const ir::ExprPtr &column, int64_t columns, int64_t step) {
  ir::VarPtr acc = product.acc;
  for (const auto &term : product.terms)
    acc = summed(term.first.columns, step, [&, before = acc](ir::VarPtr sum, const ir::ExprPtr &begin, int64_t size) {
      ir::VarPtr left = part(term.first, batch, row, rows, begin, size, ir::MemorySpace::Left);
      ir::VarPtr right = part(term.second, batch, begin, size, column, columns, ir::MemorySpace::Right);
      sum = sum ? sum : before;
      if (sum)
        return bind(make("tile.matmul_acc", {sum, left, right}));
      if (product.bias)
        return bind(make("tile.matmul_bias", {left, right, biasPart(product, column, columns)}));
      return bind(make("tile.matmul", {left, right}));
    });
  return acc;
}

cube::CubeTiling ProductTiler::tiling(const Product &product) const {
  cube::CubeProblem problem;
  problem.m = product.m, problem.n = product.n, problem.inBytes = unsigned(product.bytes);
  problem.bias = product.bias != nullptr;
  for (const auto &term : product.terms)
    problem.k = std::max(problem.k, term.first.columns);
  auto limits = cube::cubeLimits(arch.name);
  auto tiling = limits ? cube::chooseCubeTiling(problem, *limits) : std::nullopt;
  if (!tiling)
    fail(place, "a product of " + std::to_string(product.m) + " x " + std::to_string(product.n) + " has no tiling");
  return *tiling;
}

/// A cast to what the way out of L0C gives, where nothing but stores and products read it.
bool ProductTiler::narrow(const ir::VarPtr &var, const ir::CallPtr &call) {
  ir::OpView view(*call);
  auto source = ir::As<ir::Var>(view.Operand("x"));
  bool isLate = source && late.count(source.get());
  if (!isLate && !(source && spaceOf(source) == ir::MemorySpace::Acc))
    return false;
  const auto &ops = readers.of[var.get()];
  bool known = readers.reads[var.get()] == ops.size() &&
               llvm::all_of(ops, [](const std::string &op) { return isTileProduct(op) || op == "tile.store"; });
  if (!narrowsProduct(view) || !known) {
    if (isLate)
      refuse(source);
    return false;
  }
  narrowed[var.get()] = {source, *view.Keyword<pypto::DataType>("target_type")};
  return true;
}

/// The tile in Mat that holds a product.
ir::VarPtr ProductTiler::inMat(const ir::VarPtr &var) {
  ir::VarPtr &mat = mats[var.get()];
  if (mat)
    return mat;
  auto cast = narrowed.find(var.get());
  ir::VarPtr source = cast == narrowed.end() ? var : cast->second.first;
  pypto::DataType dtype = cast == narrowed.end() ? *ir::ElementTypeOf(var->type_) : cast->second.second;
  ir::Attrs keywords = in(ir::MemorySpace::Mat);
  keywords.emplace_back("dtype", dtype);
  mat = bind(make("tile.create", {tuple(shapeOf(source))}, keywords));
  auto put = [&](const ir::VarPtr &acc, int64_t row, int64_t column) {
    mat = bind(make("tile.assemble", {mat, acc, tuple({number(row), number(column)})}));
  };
  auto found = late.find(source.get());
  if (found == late.end()) {
    put(source, 0, 0);
    return mat;
  }
  const Product &product = found->second;
  if (!product.batches.empty())
    fail(place, "a product of batches is not lowered yet as an operand of another one; store it first");
  cube::CubeTiling sizes = tiling(product);
  if (llvm::divideCeil(product.m, sizes.baseM) * llvm::divideCeil(product.n, sizes.baseN) > kMostParts)
    fail(place, "a product in Mat has more than " + std::to_string(kMostParts) + " parts");
  for (int64_t row = 0; row < product.m; row += sizes.baseM)
    for (int64_t column = 0; column < product.n; column += sizes.baseN) {
      int64_t rows = std::min(sizes.baseM, product.m - row), columns = std::min(sizes.baseN, product.n - column);
      put(compute(product, number(0), number(row), rows, number(column), columns, sizes.baseK), row, column);
    }
  return mat;
}

/// Stores a product part by part, or one that its store narrows.
bool ProductTiler::store(const ir::VarPtr &var, const ir::CallPtr &call) {
  ir::OpView view(*call);
  auto source = ir::As<ir::Var>(view.Operand("tile"));
  if (!source)
    return false;
  if (auto cast = narrowed.find(source.get()); cast != narrowed.end())
    source = cast->second.first;
  ir::VarPtr tensor = ir::As<ir::Var>(view.Operand("out"));
  std::vector<ir::ExprPtr> offsets = view.Elements("offsets");
  auto found = late.find(source.get());
  if (found == late.end()) {
    if (source == view.Operand("tile"))
      return false;
    ir::CallPtr made = make("tile.store", {source, tuple(offsets), tensor}, call->kwargs_);
    if (var)
      out->push_back(std::make_shared<const ir::AssignStmt>(var, made, call->span_));
    else
      out->push_back(std::make_shared<const ir::EvalStmt>(made, call->span_));
    return true;
  }
  const Product &product = found->second;
  if (!view.Elements("shapes").empty() || offsets.size() < 2 || offsets.size() < product.batches.size() + 2)
    fail(place, "a product that is computed in parts is stored whole, to a tensor of as many axes");
  cube::CubeTiling sizes = tiling(product);
  int64_t count = 1;
  for (const ir::ExprPtr &extent : product.batches)
    count *= *ir::ConstantInt(extent);
  steps(count, 1, [&](const ir::ExprPtr &batch, int64_t) {
    steps(product.m, sizes.baseM, [&](const ir::ExprPtr &row, int64_t rows) {
      steps(product.n, sizes.baseN, [&](const ir::ExprPtr &column, int64_t columns) {
        ir::VarPtr acc = compute(product, batch, row, rows, column, columns, sizes.baseK);
        std::vector<ir::ExprPtr> at = offsets;
        size_t last = at.size() - 1, axes = product.batches.size();
        at[last] = sum(at[last], column), at[last - 1] = sum(at[last - 1], row);
        std::vector<ir::ExprPtr> leading(at.begin() + (last - 1 - axes), at.begin() + (last - 1));
        addBatch(leading, batch, product.batches);
        std::copy(leading.begin(), leading.end(), at.begin() + (last - 1 - axes));
        out->push_back(
            std::make_shared<const ir::EvalStmt>(make("tile.store", {acc, tuple(at), tensor}, call->kwargs_), place));
      });
    });
  });
  if (var)
    out->push_back(std::make_shared<const ir::AssignStmt>(var, tensor, call->span_));
  return true;
}

} // namespace

ir::StmtPtr tileProducts(const ir::StmtPtr &body, const isa::ArchInfo &arch) { return ProductTiler(arch).run(body); }

} // namespace pto_mlir::pypto_frontend
