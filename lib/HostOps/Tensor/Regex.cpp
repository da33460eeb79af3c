#include "Regex.h"

#include "Unicode.h"
#include "pto_mlir/HostOps/Strings.h"

#include <algorithm>

namespace pto_mlir::hostops {

/// Before the text and behind it; no character.
static constexpr uint32_t kEdge = UINT32_MAX - 1;

bool CharacterSet::contains(uint32_t character) const {
  if (character == kNoCharacter)
    return false;
  auto isIn = [&](uint32_t c) {
    return std::any_of(ranges.begin(), ranges.end(), [&](auto range) { return c >= range.first && c <= range.second; });
  };
  bool found = isIn(character);
  if (folds && !found) {
    uint32_t low = lowerCase(character), high = upperCase(character);
    found = isIn(low) || isIn(high) || isIn(lowerCase(high)) || isIn(upperCase(low));
  }
  return found != isNegated;
}

static bool isWord(uint32_t c) {
  return c < 0x80 && ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_');
}

bool Regex::holds(Code code, uint32_t before, uint32_t after) const {
  switch (code) {
  case Code::TextBegin:
    return before == kEdge;
  case Code::TextEnd:
    return after == kEdge;
  case Code::LineBegin:
    return before == kEdge || before == '\n';
  case Code::LineEnd:
    return after == kEdge || after == '\n';
  case Code::WordEdge:
    return isWord(before) != isWord(after);
  default:
    return isWord(before) == isWord(after);
  }
}

bool Regex::matchesWhole(std::string_view text) const {
  std::vector<uint32_t> now{first}, reached, next;
  std::vector<size_t> seen(steps.size(), 0);
  uint32_t before = kEdge;
  for (size_t place = 1;; ++place) { // states are marked by the place at which they were reached
    bool isEnd = text.empty();
    uint32_t character = isEnd ? kEdge : takeCharacter(text);
    reached.assign(now.begin(), now.end());
    next.clear();
    while (!reached.empty()) {
      uint32_t number = reached.back();
      reached.pop_back();
      if (std::exchange(seen[number], place) == place)
        continue;
      const Step &step = steps[number];
      if (step.code == Code::Match) {
        if (isEnd)
          return true;
      } else if (step.code == Code::Fork) {
        reached.push_back(step.other);
        reached.push_back(step.next);
      } else if (step.code == Code::Set) {
        if (!isEnd && sets[step.set].contains(character))
          next.push_back(step.next);
      } else if (holds(step.code, before, character)) {
        reached.push_back(step.next);
      }
    }
    if (isEnd || next.empty())
      return false;
    now.swap(next);
    before = character;
  }
}

Status checkRegex(std::string_view pattern) {
  auto made = Regex::parse(pattern);
  return made ? Status() : Status(made.failure());
}

} // namespace pto_mlir::hostops
