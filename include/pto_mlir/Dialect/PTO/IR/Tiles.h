//===- Tiles.h - tile types by role, sizes and layouts ----------------*- C++ -*-===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_TILES_H
#define PTO_MLIR_DIALECT_PTO_IR_TILES_H

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::pto {

/// Element order of a tile, with the numbers of the ISA's tile operand (docs/commands.md).
enum class TileLayout { ND = 0, DN = 1, NZ = 2, ZN = 3, ZZ = 4, NN = 5, NZ16 = 6 };

/// Names as above; NZ16 is NZ with 16x16 boxes (L0C).
TileLayout getTileLayout(TileBufType type);

/// Bytes of the allocated box (not of the valid part); sub-byte elements are rounded up.
int64_t getTileBytes(TileBufType type);
/// As getTileBytes, with sides rounded up to whole inner boxes, and rows (of a column-major tile: columns) outside of
/// boxes to 32 bytes, as instructions need them.
int64_t getPaddedTileBytes(TileBufType type);
/// Rows and columns of the box with that rounding.
std::pair<int64_t, int64_t> getPaddedBox(TileBufType type);
/// Rows and columns of the boxes that a tile is made of; 1 x 1 for one without.
std::pair<int64_t, int64_t> getInnerBox(TileBufType type);
/// Bits of one element.
unsigned getElementBits(mlir::Type elementType);
/// Elements in 32 bytes: C0, the inner column count of a boxed tile.
int64_t getC0(mlir::Type elementType);

// A valid extent of kWhole means the whole box; `ShapedType::kDynamic` means `?`.
inline constexpr int64_t kWhole = -2;

/// UB tile, row major (ND). `cols` must fill 32-byte blocks.
TileBufType makeVecTile(mlir::MLIRContext *context, int64_t rows, int64_t cols, mlir::Type element,
                        int64_t validRows = kWhole, int64_t validCols = kWhole);
/// UB column: rows x 1, column major (DN).
TileBufType makeVecColumnTile(mlir::MLIRContext *context, int64_t rows, mlir::Type element, int64_t validRows = kWhole);
/// L1 tile in NZ ([cols / C0][rows][C0]).
TileBufType makeMatTile(mlir::MLIRContext *context, int64_t rows, int64_t cols, mlir::Type element,
                        int64_t validRows = kWhole, int64_t validCols = kWhole);
/// L1 tile in ZN, what a DN view is loaded into.
TileBufType makeMatZNTile(mlir::MLIRContext *context, int64_t rows, int64_t cols, mlir::Type element,
                          int64_t validRows = kWhole, int64_t validCols = kWhole);
/// L1 tile, row major (bias rows).
TileBufType makeMatNDTile(mlir::MLIRContext *context, int64_t rows, int64_t cols, mlir::Type element,
                          int64_t validRows = kWhole, int64_t validCols = kWhole);
/// L0A tile, laid out as the architecture has it: ZZ or NZ.
TileBufType makeLeftTile(mlir::MLIRContext *context, const Target &arch, int64_t rows, int64_t cols, mlir::Type element,
                         int64_t validRows = kWhole, int64_t validCols = kWhole);
BLayout getLeftBLayout(const Target &arch);
/// L0B tile, ZN.
TileBufType makeRightTile(mlir::MLIRContext *context, int64_t rows, int64_t cols, mlir::Type element,
                          int64_t validRows = kWhole, int64_t validCols = kWhole);
/// L0C tile, NZ with 16x16 boxes; `element` is f32 or i32.
TileBufType makeAccTile(mlir::MLIRContext *context, int64_t rows, int64_t cols, mlir::Type element,
                        int64_t validRows = kWhole, int64_t validCols = kWhole);
/// One row of the fixpipe's buffer.
TileBufType makeScalingTile(mlir::MLIRContext *context, int64_t cols, mlir::Type element, int64_t validCols = kWhole);
/// One row of the bias table.
TileBufType makeBiasTile(mlir::MLIRContext *context, int64_t cols, mlir::Type element, int64_t validCols = kWhole);

/// Tiles and views that the op reads / writes, in operand order (an operand that is both appears in both).
llvm::SmallVector<mlir::Value> getTileReads(mlir::Operation *op);
llvm::SmallVector<mlir::Value> getTileWrites(mlir::Operation *op);

/// On alloc_tile: it has the bytes of `getPaddedTileBytes`, and its rows (columns) begin at multiples of 32 bytes.
inline constexpr llvm::StringLiteral kPaddedAttr = "pto.padded";

/// Which operand of scaled products a tile of `scaling` holds the scales of; none for the fixpipe's descriptors. Its
/// users tell, or once pto-bind-scales has looked at them, kScalesAttr on its alloc_tile.
enum class ScaleUse { none, left, right };
inline constexpr llvm::StringLiteral kScalesAttr = "pto.scales"; // "left" or "right"
ScaleUse getScaleUse(mlir::Value tile);
/// Rows and columns of the box of scales, one byte each, that belong to an operand of the tile's shape.
std::pair<int64_t, int64_t> getScaleBox(TileBufType type, ScaleUse use);

/// The tile that owns the memory of `tile`: follows subset, treshape, bitcast.
mlir::Value getAliasRoot(mlir::Value tile);

/// Architecture named by the text of a `.pto` or `.mlir` file: by its first `pto.target_arch = "..."`. `left` tiles are
/// parsed for it, so it must be known before parsing (`PTODialect::setParseFor`).
const Target &targetOfText(llvm::StringRef text);

} // namespace pto_mlir::pto

#endif
