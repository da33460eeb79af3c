//===- ElementTypes.cpp - legal element types, by the rows that ops name ---------------===//

#include "pto_mlir/Dialect/PTO/IR/ElementTypes.h"

#include "VerifyHelpers.h"
#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"
#include "pto_mlir/ISA/Table.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace pto_mlir::pto;
namespace isa = pto_mlir::isa;

std::optional<isa::ElementType> pto_mlir::pto::elementType(Type type) {
  using E = isa::ElementType;
  if (type.isF32())
    return E::f32;
  if (type.isF16())
    return E::f16;
  if (type.isBF16())
    return E::bf16;
  if (type.isF64())
    return E::f64;
  if (type.isFloat8E4M3FN() || type.isFloat8E4M3()) // one type of the hardware, without infinities
    return E::f8E4M3FN;
  if (type.isFloat8E5M2())
    return E::f8E5M2;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 4:
    return isUnsigned ? std::nullopt : std::optional(E::i4);
  case 8:
    return isUnsigned ? E::u8 : E::i8;
  case 16:
    return isUnsigned ? E::u16 : E::i16;
  case 32:
    return isUnsigned ? E::u32 : E::i32;
  case 64:
    return isUnsigned ? E::u64 : E::i64;
  default:
    return std::nullopt;
  }
}

StringRef pto_mlir::pto::elementTypeName(isa::ElementType type) {
  using E = isa::ElementType;
  switch (type) {
  case E::u8:
    return "ui8";
  case E::u16:
    return "ui16";
  case E::u32:
    return "ui32";
  case E::u64:
    return "ui64";
  default:
    return isa::elementName(type);
  }
}

namespace {

using ValueRow = SmallVector<Value, 6>;

/// An op with the row whose element types are legal for it, less the bit sets of those that the public assembler
/// refuses, and what it has for the row's tiles and views, in the row's order: names and values.
struct OpRow {
  StringRef op;
  isa::Opcode opcode;
  uint32_t refusedA3, refusedA5;
  const char *names[6];
  void (*operands)(Operation *, ValueRow &);
};

const OpRow kOpRows[] = {
#include "pto_mlir/Dialect/PTO/IR/InsnTypes.inc"
};

const OpRow *rowOf(Operation *op) {
  static const llvm::StringMap<const OpRow *> rows = [] {
    llvm::StringMap<const OpRow *> map;
    for (const OpRow &row : kOpRows)
      map[row.op] = &row;
    return map;
  }();
  return rows.lookup(op->getName().getStringRef());
}

/// Null for what is neither a tile nor a view: then nothing is verified.
Type typeOf(Value value) {
  if (!value || !llvm::isa<TileBufType, PartitionTensorViewType>(value.getType()))
    return Type();
  return elementTypeOf(value.getType());
}

/// "f16, f32 or i32"
std::string listText(ArrayRef<StringRef> names) {
  std::string text;
  for (auto [k, name] : llvm::enumerate(names))
    text += (k == 0 ? "" : k + 1 == names.size() ? " or " : ", ") + name.str();
  return text;
}

/// What an op has for the operands that take part in the type combinations of its row.
class RowTypes {
public:
  RowTypes(Operation *op, const OpRow &row)
      : op(op), row(row), target(targetOf(op)), arch(uint8_t(1) << unsigned(isa::findArch(target.name)->arch)),
        refused(target.secondTypes ? row.refusedA5 : row.refusedA3), info(isa::infoOf(row.opcode)) {
    row.operands(op, values);
  }

  LogicalResult verify();

private:
  LogicalResult verifyOwn(const isa::OperandInfo &operand, StringRef name, Type type);
  bool isLegal(const isa::TypeCombination &combination) const;
  bool matches(const isa::TypeCombination &combination, size_t first) const;
  LogicalResult refuseDestination(ArrayRef<const isa::TypeCombination *> fitting) const;
  LogicalResult refuseSources(ArrayRef<const isa::TypeCombination *> legal) const;

  Operation *op;
  const OpRow &row;
  const Target &target;
  uint8_t arch;
  uint32_t refused;
  const isa::InsnInfo &info;
  ValueRow values;
  SmallVector<Type, 6> types; // null: not known
  size_t firstSource = 0;     // 1 when the first is the destination
};

LogicalResult RowTypes::verifyOwn(const isa::OperandInfo &operand, StringRef name, Type type) {
  auto element = elementType(type);
  if (element && operand.types >> unsigned(*element) & 1)
    return success();
  SmallVector<StringRef> names;
  for (unsigned t = 0; t < isa::kNumElementTypes; ++t)
    if (operand.types >> t & 1)
      names.push_back(elementTypeName(isa::ElementType(t)));
  return op->emitOpError("expects ") << name << " of " << listText(names) << ", got " << type;
}

bool RowTypes::isLegal(const isa::TypeCombination &combination) const {
  if (!(combination.archs & arch))
    return false;
  for (size_t k = firstSource; k < types.size(); ++k)
    if (refused >> unsigned(combination.types[k]) & 1)
      return false;
  return true;
}

bool RowTypes::matches(const isa::TypeCombination &combination, size_t first) const {
  for (size_t k = first; k < types.size(); ++k)
    if (types[k] && elementType(types[k]) != combination.types[k])
      return false;
  return true;
}

LogicalResult RowTypes::refuseDestination(ArrayRef<const isa::TypeCombination *> fitting) const {
  SmallVector<StringRef> names;
  for (const isa::TypeCombination *combination : fitting)
    if (StringRef name = elementTypeName(combination->types[0]); !llvm::is_contained(names, name))
      names.push_back(name);
  return op->emitOpError("expects a destination of ")
         << listText(names) << " for " << types[firstSource] << " on " << target.name << ", got " << types[0];
}

LogicalResult RowTypes::refuseSources(ArrayRef<const isa::TypeCombination *> legal) const {
  auto sourcesOf = [&](const isa::TypeCombination &c) {
    return ArrayRef(c.types + firstSource, c.types + types.size());
  };
  // Where all sources have one type in every combination, it is said once.
  bool uniform = llvm::all_of(legal, [&](const isa::TypeCombination *c) { return llvm::all_equal(sourcesOf(*c)); });
  auto sources = ArrayRef(types).drop_front(firstSource);
  llvm::SmallSetVector<Type, 4> distinct;
  for (Type type : sources)
    if (type)
      distinct.insert(type);
  std::string got;
  llvm::raw_string_ostream text(got);
  if (uniform) {
    llvm::interleave(distinct, text, [&](Type type) { text << "'" << type << "'"; }, " and ");
  } else {
    text << "(";
    llvm::interleaveComma(sources, text, [&](Type type) { type ? void(text << type) : void(text << "?"); });
    text << ")";
  }
  InFlightDiagnostic diag = op->emitOpError("does not work on ")
                            << got << " on " << target.name << "; expects "
                            << (uniform && distinct.size() > 1 ? "all of one type, " : "") << "one of";
  llvm::SmallSetVector<StringRef, 16> names;
  std::vector<std::string> tuples;
  for (const isa::TypeCombination *combination : legal) {
    auto shown = llvm::map_range(sourcesOf(*combination), elementTypeName);
    if (uniform)
      names.insert(*shown.begin());
    else if (std::string tuple = "(" + llvm::join(shown, ", ") + ")"; !llvm::is_contained(tuples, tuple))
      tuples.push_back(tuple);
  }
  for (StringRef name : names)
    diag << " " << name;
  for (const std::string &tuple : tuples)
    diag << " " << tuple;
  return diag;
}

LogicalResult RowTypes::verify() {
  size_t next = 0;
  for (const isa::OperandInfo &operand : info.operands) {
    if (operand.kind != isa::OperandKind::Tile && operand.kind != isa::OperandKind::View)
      continue;
    StringRef name = row.names[next];
    Type type = typeOf(values[next++]);
    if (!operand.types) {
      if (types.empty() && operand.direction != isa::Direction::In)
        firstSource = 1;
      types.push_back(type);
    } else if (type && failed(verifyOwn(operand, name, type))) {
      return failure();
    }
  }
  if (types.empty() || llvm::none_of(types, [](Type type) { return bool(type); }))
    return success();
  firstSource = std::min(firstSource, types.size() - 1); // a destination alone

  SmallVector<const isa::TypeCombination *> legal, fitting;
  for (const isa::TypeCombination &combination : info.types) {
    if (!isLegal(combination))
      continue;
    if (matches(combination, 0))
      return success();
    legal.push_back(&combination);
    if (matches(combination, firstSource))
      fitting.push_back(&combination);
  }
  return firstSource && !fitting.empty() && types[firstSource] ? refuseDestination(fitting) : refuseSources(legal);
}

} // namespace

LogicalResult pto_mlir::pto::detail::verifyElementTypes(Operation *op) {
  const OpRow *row = rowOf(op);
  return row ? RowTypes(op, *row).verify() : success();
}
