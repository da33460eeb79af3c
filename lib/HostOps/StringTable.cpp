#include "pto_mlir/HostOps/Strings.h"

namespace pto_mlir::hostops {

Result<uint64_t> StringTable::intern(std::string_view text) {
  std::lock_guard lock(mutex);
  if (auto found = numbers.find(text); found != numbers.end())
    return found->second;
  constexpr uint64_t perEntry = 128; // what an entry takes beside its bytes, at most
  if (text.size() > kMostBytes || bytes + text.size() + perEntry > kMostBytes)
    return Failure{"a run holds at most " + std::to_string(kMostBytes) + " bytes of strings"};
  bytes += text.size() + perEntry;
  texts.emplace_back(text);
  numbers.emplace(texts.back(), texts.size() - 1);
  return uint64_t(texts.size() - 1);
}

std::optional<std::string_view> StringTable::text(uint64_t number) const {
  std::lock_guard lock(mutex);
  return number < texts.size() ? std::optional<std::string_view>(texts[number]) : std::nullopt;
}

void StringTable::clear() {
  std::lock_guard lock(mutex);
  numbers.clear();
  texts.assign(1, "");
  numbers.emplace(texts.front(), 0);
  bytes = 0;
}

} // namespace pto_mlir::hostops
