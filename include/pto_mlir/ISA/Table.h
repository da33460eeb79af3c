//===- Table.h - The instruction table as data ----------------------------===//

#ifndef PTO_MLIR_ISA_TABLE_H
#define PTO_MLIR_ISA_TABLE_H

#include "pto_mlir/ISA/Insns.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace pto_mlir::isa {

/// A view of a constant array of the table.
template <class T> struct Rows {
  const T *first = nullptr;
  size_t count = 0;

  constexpr Rows() = default;
  template <size_t N> constexpr Rows(const T (&array)[N]) : first(array), count(N) {}
  const T *begin() const { return first; }
  const T *end() const { return first + count; }
  size_t size() const { return count; }
  const T &operator[](size_t i) const { return first[i]; }
};

/// Operand kinds; their encodings are in docs/commands.md.
enum class OperandKind : uint8_t { Int, Scalar, Wide, Dst, Attr, Tile, View };
enum class Direction : uint8_t { In, Out, InOut };

/// Part of an attribute word. `values` names the legal values: null entries are illegal, a null pointer allows any
/// number, `open` allows larger ones.
struct FieldInfo {
  const char *name;
  unsigned shift, width;
  const char *const *values;
  size_t numValues;
  bool open;
};

/// An operand of a row: its kind, and for tiles and views the legal memories, layouts and types.
struct OperandInfo {
  OperandKind kind;
  const char *name;
  Direction direction;
  uint32_t memories; // bit set of Memory
  uint32_t layouts;  // bit set of Layout
  uint32_t types;    // bit set of ElementType; 0: part of the row's type combinations
  AccessPattern access;
  Rows<FieldInfo> fields;
};

/// A legal combination of element types: of the tile and view operands without `types`, in operand order, on the
/// architectures of the bit set.
struct TypeCombination {
  uint8_t archs;
  ElementType types[5];
};

/// The cost of an instruction in cycles. `form` defines the units (ISABase.td); executed alone it takes head, `work`
/// (and `more`) per unit, and tail.
struct Rate {
  CostForm form;
  double head, work, more, tail;
  bool counts; // extra cycles where a row ends inside 256 bytes
  const char *source;
};

/// Cycles of a vector instruction on a5: for one run of repeats without gaps, and for rows of several repeats each.
struct Curve {
  double perRepeat, fixed;
  double perRowRepeat, perRow, fixedOfRows;
};

/// The curves of an instruction on a5; `by` selects one by the operands.
struct CurveSet {
  CurveChoice by; // selects one of the curves
  Rows<Curve> curves;
  const char *source;
};

/// A row of the instruction table.
struct InsnInfo {
  Opcode opcode;
  const char *mnemonic;
  Pipe pipe; // ALL: every engine
  Shape shape;
  Rows<OperandInfo> operands;
  Rows<TypeCombination> types;
  const Rate *cost;       // on a3, and on a5 if that has no curves
  const CurveSet *a5Cost; // no curves: as on a3
};

/// The path of a transfer between a core and global memory; Local: none.
enum class GlobalPath : uint8_t { Local, ToUB, ToL1, FromUB, FromL1, FromL0C };

/// Size of a local memory in bytes, and the alignment of tile addresses in it.
struct MemoryInfo {
  uint32_t bytes, alignment;
};

using Memories = std::array<MemoryInfo, std::size(kMemoryNames)>;

/// A row of Archs.td: the parameters of an architecture.
struct ArchInfo {
  Arch arch;
  const char *name;
  Arch rules; // the row whose types and assembler rules apply
  Memories memories;
  Memories assemblerMemories;          // sizes that the public assembler plans with
  uint32_t scratchBegin, scratchBytes; // of UB
  uint32_t blocks, vectorCores;        // of a chip, of a block
  uint32_t eventIds, crossFlags;       // flags between two engines; between cores
  Layout leftLayout;                   // of L0A
  std::array<Pipe, 16> engines;        // by pipe: the engine that carries out its instructions
  bool testOnly;                       // no chip
  uint32_t features;                   // bit set of ArchFeature

  const MemoryInfo &memory(Memory m) const { return memories[size_t(m)]; }
  bool has(ArchFeature feature) const { return features >> unsigned(feature) & 1; }
  /// The engine that carries out the instructions of `pipe`: another one where the architecture lacks it.
  Pipe engineOf(Pipe pipe) const { return engines[unsigned(pipe)]; }
  /// Bytes of UB that tiles may take: what lies below the scratch of instructions.
  uint32_t tileBytes() const { return scratchBytes ? scratchBegin : memory(Memory::UB).bytes; }
};

/// A parameter of a chip with its source.
struct Sourced {
  double value = 0;
  const char *source = "";
  operator double() const { return value; }
};

/// A chip for the cost model. Bandwidths of paths are those of one core without contention.
struct ChipInfo {
  Arch arch;
  unsigned blocks;         // that run at a time: one cube core and two vector cores each
  Sourced clock;           // Hz
  Sourced launchSeconds;   // of a kernel that the host launches
  Sourced dispatchSeconds; // of a task beside its work
  Sourced crossSeconds;    // between a cross-core flag's raise and what waits for it
  // Global memory as all cores share it: lines that are in L2 come from there, others from HBM as a whole.
  Sourced l2BytesPerSecond, hbmBytesPerSecond, l2Bytes, lineBytes;
  Sourced pathBytesPerSecond[6], pathStartSeconds[6]; // by GlobalPath
  Sourced extractFactor;                              // what L1 to L0 takes, times what the rate of an instruction says
  bool vectorCurves;                                  // vector instructions take what the curves of their rows say
};

/// Every row, opcodes ascending.
Rows<InsnInfo> allInsns();
/// Null if no row has this opcode or mnemonic.
const InsnInfo *findInsn(unsigned opcode);
const InsnInfo *findInsn(std::string_view mnemonic);
/// The row of an opcode, which must exist.
inline const InsnInfo &infoOf(Opcode opcode) { return *findInsn(unsigned(opcode)); }

const ArchInfo &archInfo(Arch arch);
const ChipInfo &chipInfo(Arch arch);
/// All rows of Archs.td, the default first.
Rows<ArchInfo> allArchs();
/// The architecture used if none is named.
inline const ArchInfo &defaultArch() { return allArchs()[0]; }
/// Null if there is no such architecture.
const ArchInfo *findArch(std::string_view name);
/// The names of all architectures: "a3, a5".
std::string archNames(std::string_view separator = ", ");

/// How many cores of this kind a block has.
inline uint32_t coresOf(const ArchInfo &arch, CoreKind kind) { return kind == CoreKind::AIV ? arch.vectorCores : 1; }

/// Does this kind of core have this engine on some architecture?
bool hasPipe(CoreKind core, Pipe pipe);
/// The same on one architecture.
bool hasPipe(const ArchInfo &arch, CoreKind core, Pipe pipe);

namespace detail {
template <class I, class = void> struct HasSpace : std::false_type {};
template <class I> struct HasSpace<I, std::void_t<decltype(std::declval<I>().space)>> : std::true_type {};
} // namespace detail

/// The memory of a tile operand: its only one, or the one given by the attribute `space`.
template <class I> Memory memoryOf(const I &insn, const OperandInfo &operand) {
  if constexpr (detail::HasSpace<I>::value)
    if ((operand.memories & (operand.memories - 1)) != 0)
      return insn.space;
  for (unsigned m = 0; m < std::size(kMemoryNames); ++m)
    if (operand.memories >> m & 1)
      return Memory(m);
  return Memory::UB;
}

} // namespace pto_mlir::isa

#endif
