// Operations that a back end emits as lines of `.pto`: each line is parsed where it stands, so that it is verified,
// planned and printed like any other op.
#include "Lowering.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "pto_mlir/Dialect/PTO/IR/ReadText.h"
#include "pto_mlir/Target/PTOText/PTOText.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {
namespace {

std::string typeText(Type type) {
  if (auto tile = dyn_cast<pto::TileBufType>(type))
    return ptotext::fullText(tile);
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The values that a text names, each once and in order, with their percent signs.
SmallVector<std::string> namesIn(StringRef text) {
  SmallVector<std::string> names;
  for (size_t at = text.find('%'); at != StringRef::npos; at = text.find('%', at + 1)) {
    StringRef name = text.drop_front(at + 1).take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (std::string shown = ("%" + name).str(); !llvm::is_contained(names, shown))
      names.push_back(shown);
  }
  return names;
}

} // namespace

std::string Lowering::textOf(const ir::ExprPtr &expr) {
  CHECK(expr) << "code needs an expression";
  Value value = valueOf(expr);
  auto [found, isNew] = namesOf.try_emplace(value);
  if (isNew) {
    found->second = newName();
    valueNames[found->second] = value;
  }
  return found->second;
}

std::string Lowering::typeTextOf(const ir::ExprPtr &expr) {
  return typeText(valueNames.lookup(textOf(expr)).getType());
}

std::string Lowering::constantName(const std::string &value, const std::string &type) {
  std::string key = "%" + type + " " + value; // no name of a line
  if (Value made = valueNames.lookup(key))
    return namesOf.lookup(made);
  std::string name = newName();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(constants.getInsertionBlock(), constants.getInsertionPoint());
  emitText(name + " = arith.constant " + value + " : " + type);
  Value made = valueNames.lookup(name);
  valueNames[key] = made;
  return namesOf[made] = name;
}

std::string Lowering::targetName() {
  auto type = ir::As<ir::TileType>(emittedVar ? emittedVar->type_ : emitted->type_);
  if (!type)
    return "";
  if (!target) {
    target = destination(*emitted, emittedVar);
    valueNames[namesOf.try_emplace(target, newName()).first->second] = target;
  }
  return namesOf.lookup(target);
}

std::string Lowering::targetType() { return targetName().empty() ? "" : typeText(target.getType()); }

void Lowering::emitText(const std::string &line) {
  StringRef text = StringRef(line).split("//").first.trim();
  if (text.empty())
    return;
  SmallVector<std::string> results;
  StringRef read = text;
  if (text.starts_with("%")) {
    auto [made, rest] = text.split(" = ");
    results = namesIn(made);
    read = rest;
  }
  SmallVector<Value> operands;
  std::string source = "func.func @line(";
  for (const std::string &name : namesIn(read)) {
    Value value = valueNames.lookup(name);
    CHECK(value) << "nothing is named " << name << " in: " << line;
    source += (operands.empty() ? "" : ", ") + name + ": ";
    llvm::raw_string_ostream(source) << value.getType();
    operands.push_back(value);
  }
  source += ") {\n" + pto::acceptRelaxedText(text) + "\nreturn\n}";
  FirstError error(*b.getContext());
  auto parsed = parseSourceString<ModuleOp>(source, b.getContext());
  CHECK(parsed) << error.text() << " in: " << line;
  auto func = *parsed->getOps<func::FuncOp>().begin();
  Block &body = func.getBody().front();
  CHECK(body.getOperations().size() == 2) << "a line is one op: " << line;
  Operation *op = &body.front();
  CHECK(op->getNumResults() == results.size())
      << "the op gives " << op->getNumResults() << " values, " << results.size() << " are named: " << line;
  op->setLoc(loc);
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), operands))
    argument.replaceAllUsesWith(value);
  op->remove();
  b.insert(op);
  for (auto [name, value] : llvm::zip_equal(results, op->getResults())) {
    CHECK(!valueNames.contains(name)) << name << " is made a second time: " << line;
    valueNames[name] = value;
    namesOf[value] = name;
  }
}

Value Lowering::lowerByText(const pypto::backend::BackendCodegenFunc &emit, const ir::CallPtr &op,
                            const ir::VarPtr &var) {
  // One inside another's operands comes back to it.
  auto outer = std::tuple(std::exchange(options.emitter->lowering_, this), std::exchange(emitted, op),
                          std::exchange(emittedVar, var), std::exchange(target, Value()));
  auto done = llvm::make_scope_exit([&] { std::tie(options.emitter->lowering_, emitted, emittedVar, target) = outer; });
  std::string name = emit(op, *options.emitter);
  if (!name.empty()) {
    CHECK(valueNames.contains(name)) << op->op_->name_ << " gives " << name << ", which nothing is named";
    return valueNames.lookup(name);
  }
  return target;
}

} // namespace pto_mlir::pypto_frontend
