//===- PTOTraits.h - relations between the tile operands of an op ----*- C++ -*-===//
//
// One verification per relation; the td of an op lists the relations that hold for it. Operands that are not tile_buf
// are not looked at.
//
//===----------------------------------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOTRAITS_H
#define PTO_MLIR_DIALECT_PTO_IR_PTOTRAITS_H

#include "mlir/IR/OpDefinition.h"
#include "pto_mlir/Dialect/PTO/IR/Target.h"

namespace pto_mlir::pto {

/// Names the architecture on a module; every pass and verifier asks `targetOf`.
inline constexpr llvm::StringLiteral kTargetArchAttr = "pto.target_arch";

/// The architecture of the module around `op`: the row of Archs.td that `pto.target_arch` names in any case, the
/// default one where no row has that name or nothing is said.
const Target &targetOf(mlir::Operation *op);
/// The row of that name, as above.
const Target &targetNamed(llvm::StringRef name);
/// The targets of which `rule` holds, by name: "a5". What a diagnostic says about an op that others do not take.
std::string targetsWith(bool Target::*rule);

namespace detail {
/// The valid part of every tile lies in its box.
mlir::LogicalResult verifyValidParts(mlir::Operation *op);
mlir::LogicalResult verifyFilledTiles(mlir::Operation *op);
mlir::LogicalResult verifyRowMajorTiles(mlir::Operation *op);
mlir::LogicalResult verifySameElementType(mlir::Operation *op);
mlir::LogicalResult verifySameValid(mlir::Operation *op);
mlir::LogicalResult verifyOnlyOnA5(mlir::Operation *op);
mlir::LogicalResult verifyDistinctDestination(mlir::Operation *op);
/// The element types are those of the row that the op names (ISA/*.td), for the op's architecture.
mlir::LogicalResult verifyElementTypes(mlir::Operation *op);
} // namespace detail

template <typename ConcreteOp> struct FilledTiles : public mlir::OpTrait::TraitBase<ConcreteOp, FilledTiles> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return detail::verifyFilledTiles(op); }
};
template <typename ConcreteOp> struct RowMajorTiles : public mlir::OpTrait::TraitBase<ConcreteOp, RowMajorTiles> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return detail::verifyRowMajorTiles(op); }
};
template <typename ConcreteOp>
struct SameElementTypeTiles : public mlir::OpTrait::TraitBase<ConcreteOp, SameElementTypeTiles> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return detail::verifySameElementType(op); }
};
template <typename ConcreteOp> struct SameValidTiles : public mlir::OpTrait::TraitBase<ConcreteOp, SameValidTiles> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return detail::verifySameValid(op); }
};
template <typename ConcreteOp> struct OnlyOnA5 : public mlir::OpTrait::TraitBase<ConcreteOp, OnlyOnA5> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return detail::verifyOnlyOnA5(op); }
};
template <typename ConcreteOp>
struct DistinctDestination : public mlir::OpTrait::TraitBase<ConcreteOp, DistinctDestination> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return detail::verifyDistinctDestination(op); }
};

} // namespace pto_mlir::pto

#endif
