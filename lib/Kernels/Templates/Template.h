//===- Template.h - what a tile template implements -------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_TEMPLATES_TEMPLATE_H
#define PTO_MLIR_LIB_KERNELS_TEMPLATES_TEMPLATE_H

#include "../Cube/Emitter.h"
#include "../Sizes/SizeAnalysis.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/Templates.h"

namespace pto_mlir::templates {

using cube::Ix;
using cube::Matrix;

/// Columns in whole multiples of which tiles of every element type can be made.
inline constexpr int64_t kBlock = 16;

/// A vector kernel under construction: its entry block is empty, its arguments are pointers.
class KernelEmitter : public cube::Emitter {
public:
  /// `blocks` of a launch; 0 where it is not known.
  KernelEmitter(mlir::func::FuncOp func, int64_t blocks);

  /// `body` for each of `count` pieces, shared among the vector cores of the launch.
  void share(int64_t count, Body body) { share(constant(count), body); }
  void share(Ix count, Body body);
  /// The product of dimensions [first, end) of an argument, as there are in this launch.
  Ix extentOf(unsigned argument, unsigned first, unsigned end);
  /// About how many vector cores share the pieces; results must not depend on it.
  int64_t coreCount() const;

  /// A row-major tile in UB; columns are rounded up to 32 bytes.
  mlir::Value vec(int64_t rows, int64_t columns, mlir::Type element, pto::PadValue pad = pto::PadValue::Null);
  /// Row `row` of a tile, as a tile of one row.
  mlir::Value row(mlir::Value tile, Ix row);
  /// The same bytes as rows of `columns` elements.
  mlir::Value reshaped(mlir::Value tile, int64_t rows, int64_t columns);
  mlir::Value as(mlir::Value tile, mlir::Type element);
  void fill(mlir::Value tile, double value);
  void convert(mlir::Value from, mlir::Value to);
  void store(mlir::Value tile, mlir::Value view);
  mlir::Value scalar(mlir::Type element, double value);
  /// `x` as a scalar of a tile instruction.
  mlir::Value i32(Ix x);

  /// Of each argument: its extents, products of the launch's scalars.
  llvm::SmallVector<kernels::Sizes> sizes;
};

/// One kind of kernel.
class Template {
public:
  virtual ~Template() = default;
  /// See templates::refusal.
  virtual std::string refusal(mlir::Operation *op, const pto::Target &target) const = 0;
  /// See templates::takesEachSize.
  virtual bool takesEachSize() const { return false; }
  /// Results that the kernel of `ops` writes though nothing reads them, before those of the ops.
  virtual llvm::SmallVector<mlir::RankedTensorType> unread(llvm::ArrayRef<mlir::Operation *> ops) const { return {}; }
  /// Fills `kernel`, whose body is empty, with the computation of `ops`, which share it. Its arguments are the operands
  /// in order, what is unread(), then a result for each op: `arguments` numbers the operands, `results` the results.
  /// `sizes`: of KernelEmitter; `blocks` of a launch, 0 where it is not known.
  virtual mlir::LogicalResult fill(mlir::func::FuncOp kernel, int64_t blocks, llvm::ArrayRef<kernels::Sizes> sizes,
                                   llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<unsigned> arguments,
                                   llvm::ArrayRef<unsigned> results) const = 0;
};

/// A kernel of one function, which is emitted.
class EmittedTemplate : public Template {
public:
  mlir::LogicalResult fill(mlir::func::FuncOp kernel, int64_t blocks, llvm::ArrayRef<kernels::Sizes> sizes,
                           llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<unsigned> arguments,
                           llvm::ArrayRef<unsigned> results) const final;
  /// Emits the computation; see fill().
  virtual void build(KernelEmitter &e, llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<unsigned> arguments,
                     llvm::ArrayRef<unsigned> results) const = 0;
};

/// The template of ops like `op`; null where there is none.
const Template *templateOf(mlir::Operation *op);

// One line per template of this folder.
const Template &topKTemplate();
const Template &gatherElementsTemplate();
const Template &scatterTemplate();
const Template &repeatRowsTemplate();
const Template &takeRowsTemplate();
const Template &reduceRowsTemplate();
const Template &transposeRowsTemplate();
const Template &userKernelTemplate();

/// Whether top-storage-types stores the type as i32: booleans, 64-bit, 8-bit and unsigned integers.
bool isStoredIn32Bits(mlir::Type element);
/// Bits of an element in the memory of a net.
unsigned storedBits(mlir::Type element);

/// A tensor, seen as rows of its innermost dimension, as argument `number` of a kernel.
Matrix asRows(mlir::Type tensor, unsigned number);

} // namespace pto_mlir::templates

#endif // PTO_MLIR_LIB_KERNELS_TEMPLATES_TEMPLATE_H
