// The form of stored IR. Numbers are LEB128, signed ones zigzag, doubles 8 bytes, little end first.
//
//   "PYPT", version
//   strings: count, then length and bytes of each
//   nodes: count, then of each its kind, its place (file as string number + 1, four numbers) where it has one, and its
//   fields in the order of the class, without those that are newer; a node in a field is its number + 1, 0 for none,
//   and comes before. The last node is the one that was stored.
#ifndef LIB_PYPTO_BYTES_FORMAT_H
#define LIB_PYPTO_BYTES_FORMAT_H

#include <cstdint>
#include <string_view>

namespace pypto::ir {

inline constexpr std::string_view kMagic = "PYPT";
inline constexpr uint8_t kVersion = 3;
/// The oldest form that is read. Fields that it lacks say so where their class lists them (Since).
inline constexpr uint8_t kOldest = 2;
/// Nodes of the tree that a walk sees when what is shared counts each time.
inline constexpr uint64_t kMostVisits = 1 << 24;

} // namespace pypto::ir

#endif // LIB_PYPTO_BYTES_FORMAT_H
