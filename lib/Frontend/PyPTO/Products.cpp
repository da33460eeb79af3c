// Products of parts of tensors. What L0C holds is one tile; a greater one is computed where it is stored, part by part,
// in the sizes that the chooser of the cube kernels takes.
#include "TileNodes.h"
#include "Tiler.h"

#include "pto_mlir/Kernels/CubeTiling.h"

#include "llvm/Support/MathExtras.h"

namespace pto_mlir::pypto_frontend {

namespace {

/// Whether all of an axis holds data.
bool isWholeAxis(const Window &window, size_t axis) {
  if (window.valid.empty())
    return true;
  auto valid = ir::ConstantInt(window.valid[axis]);
  return valid && valid == ir::ConstantInt(window.extents[axis]);
}

std::string sizesOf(const Contraction &product) {
  return std::to_string(product.m) + " x " + std::to_string(product.n);
}

} // namespace

/// Whether both operands are matrices in global memory.
bool Tiler::isPlain(const ir::OpView &view) const {
  auto isMatrix = [&](const char *operand) {
    ir::ExprPtr value = view.Operand(operand);
    if (auto var = ir::As<ir::Var>(value); !ir::IsA<ir::TensorType>(value->type_) || (var && lateProduct(var)))
      return false;
    return matrixOf(value).has_value();
  };
  return isMatrix("lhs") && isMatrix("rhs");
}

/// The window that is a matrix of a product; of batches, that of the batch which is computed now.
std::optional<Window> Tiler::matrixOf(const ir::ExprPtr &operand) const {
  auto window = windowOf(operand);
  if (!window || window->extents.size() < 2)
    return std::nullopt;
  size_t leading = window->extents.size() - 2;
  if (leading == 0)
    return window->shape.size() == 2 ? window : std::nullopt;
  if (!partOf || !window->valid.empty())
    return std::nullopt;
  bool isBatch = window->shape.size() == leading + 2;
  for (size_t axis = 0; axis < leading; ++axis) {
    if (ir::ConstantInt(window->extents[axis]) == 1)
      continue;
    size_t fromEnd = leading - axis; // operands with fewer axes are in all batches
    if (!isBatch || fromEnd > partOf->batch.size())
      return std::nullopt;
    window->offsets[axis] = sum(window->offsets[axis], partOf->batch[partOf->batch.size() - fromEnd]);
    window->extents[axis] = number(1);
  }
  if (!isBatch && window->shape.size() != 2)
    return std::nullopt;
  std::vector<ir::ExprPtr> matrix(window->extents.end() - 2, window->extents.end());
  for (size_t axis = 0; !isBatch && axis < 2; ++axis)
    if (ir::ConstantInt(window->shape[axis]) != ir::ConstantInt(matrix[axis]))
      return std::nullopt;
  window->shape = matrix;
  return window;
}

/// An operand in Mat: a window of global memory, or a product of the kernel.
ir::VarPtr Tiler::factor(const ir::ExprPtr &operand, bool isTransposed) {
  ir::VarPtr held;
  if (auto view = ir::As<ir::Call>(operand); view && view->op_->name_ == "tensor.slice")
    if (auto window = windowOf(operand))
      return wholeFactor(*window, isTransposed);
  if (const Contraction *product = lateProduct(operand)) {
    if (*ir::ElementTypeOf(operand->type_) == pypto::DataType::FP32 && !arch.has(isa::ArchFeature::FreeTransfers))
      refuseLate(operand);
    held = bind(make("tile.matmul",
                     {wholeFactor(product->a, product->aTransposed), wholeFactor(product->b, product->bTransposed)}));
    if (auto dtype = *ir::ElementTypeOf(operand->type_); dtype != pypto::DataType::FP32)
      held = bind(make("tile.cast", {held}, {{"target_type", dtype}, {"mode", std::string("rint")}}));
  } else {
    held = ir::As<ir::Var>(rewritten(operand));
  }
  if (held && ir::IsA<ir::TensorType>(held->type_))
    return wholeFactor(*windowOf(held), isTransposed);
  auto type = held ? ir::As<ir::TileType>(held->type_) : nullptr;
  if (!type || type->GetMemorySpace().value_or(ir::MemorySpace::Vec) == ir::MemorySpace::Vec)
    fail(place, "a product of tensors that vector operations of the kernel compute is not lowered yet; store them to "
                "a tensor and go on in a second scope");
  return isTransposed ? bind(make("tile.transpose_view", {held})) : held;
}

/// A window in Mat.
ir::VarPtr Tiler::wholeFactor(const Window &window, bool isTransposed) {
  ir::VarPtr mat = bind(loadOf(window, in(ir::MemorySpace::Mat)));
  if (window.shape.size() != window.extents.size())
    mat = reshaped(mat, window.shape);
  return isTransposed ? bind(make("tile.transpose_view", {mat})) : mat;
}

/// A product of operands of any kind, in steps and parts that tileProducts finds.
ir::VarPtr Tiler::generalProduct(const ir::OpView &view, const ir::VarPtr &acc) {
  ir::VarPtr a = factor(view.Operand("lhs"), view.Keyword<bool>("a_trans").value_or(false));
  ir::VarPtr b = factor(view.Operand("rhs"), view.Keyword<bool>("b_trans").value_or(false));
  std::string op = shapeOf(a).size() > 2 || shapeOf(b).size() > 2 ? "tile.batch_matmul" : "tile.matmul";
  return bind(acc ? make(op + "_acc", {acc, a, b}) : make(op, {a, b}));
}

/// A product and a row that is added in L0C: the bias goes through Mat.
ir::VarPtr Tiler::biasedProduct(const ir::OpView &view) {
  ir::VarPtr a = factor(view.Operand("lhs"), false), b = factor(view.Operand("rhs"), false);
  return bind(make("tile.matmul_bias", {a, b, factor(view.Operand("bias"), false)}));
}

Contraction Tiler::contraction(const ir::OpView &view, const ir::CallPtr &call) const {
  if (view.row()->Find("c_matrix_nz") >= 0 && view.Keyword<bool>("c_matrix_nz").value_or(false))
    fail(place, "c_matrix_nz of a product of tensors is not lowered yet; load and move tiles");
  auto a = matrixOf(view.Operand("lhs")), b = matrixOf(view.Operand("rhs"));
  if (!a || !b)
    fail(place, "this product of tensors is not lowered yet: its operands are matrices in global memory");
  Contraction product{*a, *b};
  product.aTransposed = view.Keyword<bool>("a_trans").value_or(false);
  product.bTransposed = view.Keyword<bool>("b_trans").value_or(false);
  auto [m, k] = extentsOf(a->extents, place);
  auto [k2, n] = extentsOf(b->extents, place);
  if (product.aTransposed)
    std::swap(m, k);
  if (product.bTransposed)
    std::swap(k2, n);
  if (k != k2)
    fail(place, "a product of " + std::to_string(k) + " columns and " + std::to_string(k2) + " rows");
  product.m = m, product.n = n, product.k = k;
  if (!isWholeAxis(*a, product.aTransposed ? 0 : 1) || !isWholeAxis(*b, product.bTransposed ? 1 : 0))
    fail(place, "a product sums over all " + std::to_string(k) +
                    " columns, of which not all are valid; take a view of those that are");
  product.bytes = ir::ElementTypeOf(view.Operand("lhs")->type_)->GetByte();
  product.place = call->span_;
  return product;
}

/// The product of what is valid, for one that is computed where it is stored: a store leaves the rest as it is.
Contraction Tiler::wholly(Contraction product) const {
  auto take = [&](Window &window, size_t axis, int64_t &extent) {
    if (isWholeAxis(window, axis))
      return;
    auto valid = ir::ConstantInt(window.valid[axis]);
    if (!valid || *valid < 1 || partOf)
      fail(place, "a product of " + sizesOf(product) +
                      " is greater than L0C, and how much of it is valid is not "
                      "known when the program is compiled; compute it in parts");
    extent = std::min(extent, *valid);
    window.extents[axis] = window.shape[axis] = number(extent);
  };
  take(product.a, product.aTransposed ? 1 : 0, product.m);
  take(product.b, product.bTransposed ? 0 : 1, product.n);
  product.a.valid.clear();
  product.b.valid.clear();
  return product;
}

bool Tiler::fits(const Contraction &product) const {
  int64_t rows = llvm::alignTo(uint64_t(product.m), 16), columns = llvm::alignTo(uint64_t(product.n), 16);
  int64_t operandBytes = std::min(arch.memory(isa::Memory::L0A).bytes, arch.memory(isa::Memory::L0B).bytes) / 2;
  return columns <= int64_t(arch.memory(isa::Memory::L0C).bytes) / 4 / rows &&
         std::max(rows, columns) * 16 * product.bytes <= operandBytes;
}

/// A window of an operand of the product, moved to L0.
ir::VarPtr Tiler::part(const Window &window, bool isTransposed, ir::ExprPtr row, int64_t rows, ir::ExprPtr column,
                       int64_t columns, ir::MemorySpace space) {
  if (isTransposed) {
    std::swap(row, column);
    std::swap(rows, columns);
  }
  Window cut = window;
  size_t last = cut.offsets.size() - 1;
  cut.offsets[last - 1] = sum(cut.offsets[last - 1], row), cut.offsets[last] = sum(cut.offsets[last], column);
  cut.extents[last - 1] = number(rows), cut.extents[last] = number(columns);
  // An axis that is valid in part is not cut (contraction, wholly).
  for (size_t axis = 0; axis < cut.valid.size(); ++axis)
    if (isWholeAxis(window, axis))
      cut.valid[axis] = cut.extents[axis];
  ir::VarPtr mat = bind(loadOf(cut, in(ir::MemorySpace::Mat)));
  if (last > 1)
    mat = reshaped(mat, {number(rows), number(columns)});
  if (isTransposed)
    mat = bind(make("tile.transpose_view", {mat}));
  return bind(make("tile.move", {mat}, in(space)));
}

/// A whole product in L0C, in steps along K that L0 holds; added to `acc` where there is one.
ir::VarPtr Tiler::product(const Contraction &product, ir::VarPtr acc, const ir::ExprPtr &isFirst) {
  if (!fits(product))
    fail(place, "a product of " + sizesOf(product) + " is greater than L0C; store it before anything else reads it");
  int64_t operandBytes = std::min(arch.memory(isa::Memory::L0A).bytes, arch.memory(isa::Memory::L0B).bytes) / 2;
  int64_t step = llvm::alignDown(uint64_t(operandBytes / (std::max(product.m, product.n) * product.bytes)), 16);
  for (int64_t begin = 0; begin < product.k; begin += step) {
    int64_t size = std::min(step, product.k - begin);
    ir::VarPtr left =
        part(product.a, product.aTransposed, number(0), product.m, number(begin), size, ir::MemorySpace::Left);
    ir::VarPtr right =
        part(product.b, product.bTransposed, number(begin), size, number(0), product.n, ir::MemorySpace::Right);
    if (acc && isFirst && begin == 0)
      acc = bind(make("tile.matmul_acc", {acc, left, right, isFirst}));
    else
      acc = bind(acc ? make("tile.matmul_acc", {acc, left, right}) : make("tile.matmul", {left, right}));
  }
  return acc;
}

ir::VarPtr Tiler::accumulated(const ir::OpView &view, const ir::CallPtr &call) {
  ir::ExprPtr given = view.Operand("acc"), isFirst = view.Operand("init_cond");
  bool isLate = lateProduct(given) != nullptr;
  auto acc = isLate ? factor(given, false) : ir::As<ir::Var>(rewritten(given));
  if (!acc || !ir::IsA<ir::TileType>(acc->type_))
    fail(place, "pl.matmul_acc adds to a product that the same kernel computes; begin with pl.matmul");
  Contraction next = isPlain(view) && !isLate ? cut(contraction(view, call)) : Contraction();
  if (next.m && fits(next))
    return product(next, acc, isFirst);
  if (isFirst || partOf)
    fail(place, "this product of tensors is not lowered yet: its operands are matrices in global memory");
  return generalProduct(view, acc);
}

/// The product itself for a cast that its store does.
ir::VarPtr Tiler::narrowedProduct(const ir::OpView &view) {
  auto var = ir::As<ir::Var>(view.Operand("x"));
  ir::VarPtr tile = var ? tileOf(var.get()) : nullptr;
  auto type = tile ? ir::As<ir::TileType>(tile->type_) : nullptr;
  if (!type || type->GetMemorySpace() != ir::MemorySpace::Acc || !narrowsProduct(view))
    return nullptr;
  return bind(make("tile.cast", {tile},
                   {{"target_type", *view.Keyword<pypto::DataType>("target_type")}, {"mode", std::string("rint")}}));
}

const Contraction *Tiler::lateProduct(const ir::ExprPtr &expr) const {
  auto var = ir::As<ir::Var>(expr);
  auto found = var ? lateProducts.find(var.get()) : lateProducts.end();
  return found == lateProducts.end() ? nullptr : &found->second;
}

void Tiler::refuseLate(const ir::ExprPtr &expr) const {
  if (const Contraction *product = lateProduct(expr))
    fail(place, "a product of " + sizesOf(*product) + " is greater than L0C; store it before anything else reads it");
  if (auto var = ir::As<ir::Var>(expr); var && (loops.count(var.get()) || starts.count(var.get())) && !partOf)
    fail(place, "an accumulator that is greater than L0C is summed in one loop, then stored with pl.assemble before "
                "anything else reads it");
}

/// Whether the value is a product that is computed later.
bool Tiler::late(const ir::VarPtr &var, const ir::CallPtr &call) {
  ir::OpView view(*call);
  if (!view.row())
    return false;
  if (view.row()->name == "tensor.matmul") {
    if (!isPlain(view) || (partOf && accumulators.has(var.get())))
      return false;
    Contraction product = contraction(view, call);
    if (fits(product))
      return false;
    lateProducts.emplace(var.get(), wholly(std::move(product)));
    return true;
  }
  const Contraction *product = view.row()->name == "tensor.cast" ? lateProduct(view.Operand("x")) : nullptr;
  if (!product)
    return false;
  if (!narrowsProduct(view))
    fail(place, "a cast of a product that is greater than L0C is its store's, which rounds to even: mode=\"rint\", to "
                "pl.BF16 or pl.FP16");
  lateProducts.emplace(var.get(), Contraction(*product));
  return true;
}

void Tiler::storeParts(const Contraction &product, const ir::VarPtr &tensor, const std::vector<ir::ExprPtr> &offset,
                       const ir::Attrs &keywords) {
  cube::CubeProblem problem;
  problem.m = product.m, problem.n = product.n, problem.k = product.k, problem.inBytes = unsigned(product.bytes);
  auto limits = cube::cubeLimits(arch.name);
  auto tiling = limits ? cube::chooseCubeTiling(problem, *limits) : std::nullopt;
  if (!tiling)
    fail(place, "a product of " + sizesOf(product) + " has no tiling");
  auto part = [&](ir::ExprPtr row, int64_t rows, ir::ExprPtr column, int64_t columns) {
    auto step = [&](ir::VarPtr acc, const ir::ExprPtr &begin, int64_t size) {
      ir::VarPtr left = this->part(product.a, product.aTransposed, row, rows, begin, size, ir::MemorySpace::Left);
      ir::VarPtr right =
          this->part(product.b, product.bTransposed, begin, size, column, columns, ir::MemorySpace::Right);
      return bind(acc ? make("tile.matmul_acc", {acc, left, right}) : make("tile.matmul", {left, right}));
    };
    ir::VarPtr acc = summed(product.k, tiling->baseK, step);
    std::vector<ir::ExprPtr> at{sum(offset[0], row), sum(offset[1], column)};
    out->push_back(std::make_shared<const ir::EvalStmt>(make("tile.store", {acc, tuple(at), tensor}, keywords), place));
  };
  steps(product.m, tiling->baseM, [&](ir::ExprPtr row, int64_t rows) {
    steps(product.n, tiling->baseN,
          [&](ir::ExprPtr column, int64_t columns) { part(row, rows, std::move(column), columns); });
  });
}

Tiler::Stmts Tiler::storesOf(const ir::Var *product, const ir::VarPtr &tensor) {
  return apart([&] {
    name = tensor->name_hint_;
    if (auto loop = loops.find(product); loop != loops.end()) {
      place = loop->second.second->span_;
      checkUnwritten(product);
      return storeLoop(product, tensor, zeros(shapeOf(tensor).size()), {});
    }
    const Contraction &late = lateProducts.at(product);
    place = late.place;
    checkUnwritten(product);
    storeParts(late, tensor, zeros(2), {});
  });
}

/// The tensor that a variable is, as results of stores are what was stored to.
const ir::Var *Tiler::storedTo(const ir::Var *tensor) const {
  for (auto found = stored.find(tensor); found != stored.end(); found = stored.find(tensor))
    tensor = found->second;
  return tensor;
}

/// Products that are still to be computed must not read what is written here.
void Tiler::noteWrite(const ir::VarPtr &result, const ir::Var *tensor) {
  if (result && result.get() != tensor)
    stored[result.get()] = tensor;
  for (const auto &[var, product] : lateProducts)
    if (storedTo(product.a.tensor.get()) == storedTo(tensor) || storedTo(product.b.tensor.get()) == storedTo(tensor))
      spoilt.insert(var);
  for (const auto &[var, loop] : loops)
    if (readsTensor(loop.second, tensor)) // its beginning reads none
      spoilt.insert(var);
}

/// Parts that are stored to an operand would change those that are still to be computed.
void Tiler::refuseOperand() const {
  fail(place,
       "a product that is greater than L0C is computed part by part, so it is not stored to one of its operands; "
       "store it to another tensor");
}

void Tiler::checkUnwritten(const ir::Var *product) const {
  if (spoilt.count(product))
    fail(place, "an operand of a product that is greater than L0C is written before the product is stored; store it "
                "at once");
}

/// A store narrows FP32 of a product, to even, as a cast with mode="rint" does.
void Tiler::checkStored(pypto::DataType product, pypto::DataType tensor) const {
  bool isNarrowed =
      product == pypto::DataType::FP32 && (tensor == pypto::DataType::BF16 || tensor == pypto::DataType::FP16);
  if (product != tensor && !isNarrowed)
    fail(place, "a product of " + std::string(product.Name()) + " cannot be stored to a tensor of " +
                    std::string(tensor.Name()) + "; a store makes BF16 and FP16 of FP32");
}

/// `var = assemble(target, product, offset)` where the product is computed here.
bool Tiler::assembledLate(const ir::AssignStmt &stmt, const ir::OpView &view) {
  ir::ExprPtr source = view.Operand("source");
  const Contraction *found = lateProduct(source);
  Contraction product = found ? *found : Contraction();
  if (auto call = ir::As<ir::Call>(source); call && call->op_->name_ == "tensor.matmul") {
    if (!isPlain(ir::OpView(*call)))
      return false;
    product = contraction(ir::OpView(*call), call);
    if (fits(product))
      return false;
    product = wholly(std::move(product));
  } else if (!found) {
    return false;
  }
  auto window = windowOf(view.Operand("target"));
  if (!window)
    fail(place, "a product of " + sizesOf(product) + " is greater than L0C; assemble it into an output");
  checkStored(*ir::ElementTypeOf(source->type_), *ir::ElementTypeOf(window->tensor->type_));
  std::vector<ir::ExprPtr> offset = view.Elements("offset");
  if (offset.size() != 2 || window->offsets.size() != 2)
    fail(place, "a product is stored to a tensor of two axes");
  for (size_t axis = 0; axis < 2; ++axis)
    if (auto known = ir::ConstantInt(window->offsets[axis]); !known || *known)
      fail(place, "assemble into a view that is made inside the kernel; make it before the scope");
  if (auto var = ir::As<ir::Var>(source))
    checkUnwritten(var.get());
  const ir::Var *target = storedTo(window->tensor.get());
  if (storedTo(product.a.tensor.get()) == target || storedTo(product.b.tensor.get()) == target)
    refuseOperand();
  storeParts(product, window->tensor, offset, static_cast<const ir::Call &>(*stmt.value_).kwargs_);
  noteWrite(stmt.var_, window->tensor.get());
  out->push_back(std::make_shared<const ir::AssignStmt>(stmt.var_, window->tensor, stmt.span_));
  return true;
}

} // namespace pto_mlir::pypto_frontend
