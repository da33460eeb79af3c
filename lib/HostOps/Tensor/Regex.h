// Regular expressions in RE2's syntax, matched in time linear in the text.
#ifndef PTO_MLIR_LIB_HOSTOPS_TENSOR_REGEX_H
#define PTO_MLIR_LIB_HOSTOPS_TENSOR_REGEX_H

#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace pto_mlir::hostops {

/// A set of characters.
struct CharacterSet {
  std::vector<std::pair<uint32_t, uint32_t>> ranges; ///< ends included
  bool isNegated = false;
  bool folds = false; ///< a character is in the set if one that differs in case is

  bool contains(uint32_t character) const;
};

/// A pattern as a program whose states run side by side over a text. There are no captures: whether a whole text
/// matches is all that is asked, so that greedy and lazy repetitions are one.
class Regex {
public:
  enum class Code : uint8_t { Set, Fork, TextBegin, TextEnd, LineBegin, LineEnd, WordEdge, NoWordEdge, Match };
  struct Step {
    Code code;
    uint32_t set = 0;             ///< Set: its number
    uint32_t next = 0, other = 0; ///< `other` of a Fork
  };
  /// The most steps, which bound the time that a character takes.
  static constexpr size_t kMostSteps = 10000;

  /// Fails on a pattern that is none, and names what RE2 has and this lacks (\p, \C).
  static Result<Regex> parse(std::string_view pattern);
  bool matchesWhole(std::string_view text) const;

private:
  friend class RegexParser;
  bool holds(Code code, uint32_t before, uint32_t after) const;

  std::vector<Step> steps;
  std::vector<CharacterSet> sets;
  uint32_t first = 0;
};

} // namespace pto_mlir::hostops

#endif // PTO_MLIR_LIB_HOSTOPS_TENSOR_REGEX_H
