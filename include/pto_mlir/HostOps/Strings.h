// Strings as values of host programs: a tensor of them holds numbers, a table has their texts.
#ifndef PTO_MLIR_HOSTOPS_STRINGS_H
#define PTO_MLIR_HOSTOPS_STRINGS_H

#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pto_mlir::hostops {

/// Strings of any bytes, each once, by number: equal strings have equal numbers, so that moving and comparing them is
/// moving and comparing numbers. 0 is the empty string, so that zeroed memory is valid. Thread-safe, but for `clear`,
/// after which numbers and texts from before are void.
class StringTable {
public:
  /// The most bytes of all strings together: what a program may make, e.g. by doubling a string in a loop.
  static constexpr uint64_t kMostBytes = uint64_t(1) << 30;

  StringTable() { clear(); }
  /// The number of a string; fails where the table is full.
  Result<uint64_t> intern(std::string_view text);
  /// The string of a number; nullopt for one that the table did not give out.
  std::optional<std::string_view> text(uint64_t number) const;
  /// Forgets all but the empty string.
  void clear();

private:
  mutable std::mutex mutex;
  std::deque<std::string> texts; // whose elements stay where they are
  std::unordered_map<std::string_view, uint64_t> numbers;
  uint64_t bytes = 0;
};

/// Whether the pattern of a regex_full_match is one; the failure says why it is not.
Status checkRegex(std::string_view pattern);

} // namespace pto_mlir::hostops

#endif // PTO_MLIR_HOSTOPS_STRINGS_H
