//===- Sketch.h - What a kernel takes before there are commands -----------===//
//
// The compiler notes the instructions of a kernel, core by core in program order, with the tiles they work on and the
// bytes they touch. Engines run in order and side by side; where one touches what another has touched, and one of them
// writes, it waits. The instruction table prices each instruction, and `play` sets the times, as for the simulator's
// timing mode. Addresses, flags and commands need not exist.
//
// No header of the instruction table here: numbers are those of its enumerations.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_COST_SKETCH_H
#define PTO_MLIR_COST_SKETCH_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace pto_mlir::cost {

/// A tile in local memory. `address`: any number that no other tile's bytes have.
struct SketchTile {
  unsigned memory = 0, type = 0, layout = 0; // isa::Memory, isa::ElementType, isa::Layout
  int64_t rows = 0, cols = 0, validRows = 0, validCols = 0;
  uint64_t address = 0;
};

/// A part of a kernel argument; sizes and strides in elements, outermost first, the offset in bytes.
struct SketchView {
  unsigned arg = 0, type = 0, layout = 0, rank = 0;
  int64_t offset = 0;
  int64_t sizes[5] = {}, strides[5] = {};
};

/// Bytes that an instruction touches. Accesses of different spaces never meet.
struct SketchAccess {
  uint64_t space = 0, begin = 0, end = 0;
  bool write = false;
};

/// The number of a name in the table's enumeration ("UB", "f16"); nothing when it has none.
std::optional<unsigned> memoryNumber(std::string_view name);
std::optional<unsigned> elementTypeNumber(std::string_view name);

class Sketch {
public:
  /// For the chip of an architecture of the table, which must be one.
  explicit Sketch(std::string_view architecture);
  ~Sketch();

  /// What is noted from here on is done by this core.
  void beginCore(bool cube, unsigned block, unsigned subblock);

  /// Notes the instruction that the pto op `name` becomes on `pipe` (isa::Pipe). Tiles in the order of the op's
  /// operands. False when no row of the table fits.
  bool note(std::string_view name, unsigned pipe, std::span<const SketchTile> written, std::span<const SketchTile> read,
            const SketchView *view, std::span<const SketchAccess> accesses);

  /// A flag between two engines of the core (isa::Pipe): raised once `src` is done with what comes before, awaited by
  /// `dst`. For kernels that have flags, whose instructions come without accesses.
  void setFlag(unsigned src, unsigned dst, unsigned id);
  void waitFlag(unsigned src, unsigned dst, unsigned id);

  /// A flag between the kinds of core of a block: raised once `pipe` is done with what comes before; awaited by an
  /// engine, or by S for several.
  void raise(unsigned pipe, unsigned id);
  void await(std::span<const unsigned> pipes, unsigned id);

  /// Cycles of the launch, without what every launch costs.
  double cycles() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace pto_mlir::cost

#endif
