#include "pto_mlir/HostOps/HostOps.h"

#include <algorithm>

namespace pto_mlir::hostops {

namespace {

struct Row {
  int64_t number;
  std::string_view name;
  size_t buffers;
};
constexpr Row rows[] = {
#define PTO_HOST_OP(NAME, NUMBER, MNEMONIC, BUFFERS) {NUMBER, MNEMONIC, BUFFERS},
#include "pto_mlir/HostOps/HostOps.def"
#undef PTO_HOST_OP
};

const Row *findRow(int64_t number) {
  auto it = std::find_if(std::begin(rows), std::end(rows), [&](const Row &row) { return row.number == number; });
  return it == std::end(rows) ? nullptr : it;
}

constexpr int64_t maxRank = 8;
constexpr int64_t maxBytes = int64_t(1) << 40;

Status verifyTranspose(const std::vector<int64_t> &parameters, const std::vector<uint64_t> &bufferBytes) {
  if (parameters.size() < 2 || parameters[1] < 0 || parameters[1] > maxRank ||
      static_cast<int64_t>(parameters.size()) != 2 + 2 * parameters[1])
    return Failure{"transpose expects element bytes, rank (at most 8), shape and permutation"};
  int64_t bytes = parameters[0], rank = parameters[1];
  if (bytes < 1 || bytes > 8)
    return Failure{"transpose expects elements of 1 to 8 bytes"};
  unsigned seen = 0;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t size = parameters[2 + d], from = parameters[2 + rank + d];
    if (size < 1 || size > maxBytes / bytes)
      return Failure{"transpose has a bad size in dimension " + std::to_string(d)};
    bytes *= size;
    if (from < 0 || from >= rank || (seen >> from & 1))
      return Failure{"transpose has no permutation"};
    seen |= 1u << from;
  }
  if (bufferBytes[0] != static_cast<uint64_t>(bytes) || bufferBytes[1] != static_cast<uint64_t>(bytes))
    return Failure{"transpose expects two buffers of " + std::to_string(bytes) + " bytes"};
  return {};
}

Status verifyCast(const std::vector<int64_t> &parameters, const std::vector<uint64_t> &bufferBytes) {
  if (parameters.size() != 3)
    return Failure{"cast expects two element types and a count"};
  for (int i : {0, 1}) {
    if (parameters[i] < 0 || parameters[i] >= numElementTypes)
      return Failure{"cast has an unknown element type"};
  }
  auto from = static_cast<ElementType>(parameters[0]), to = static_cast<ElementType>(parameters[1]);
  // A cast of 0 elements fails if the type pair is not supported.
  if (Status status = cast(nullptr, from, nullptr, to, 0); !status)
    return status;
  if (parameters[2] < 0 || parameters[2] > maxBytes / 8)
    return Failure{"cast has a bad count"};
  std::vector<uint64_t> shape = {static_cast<uint64_t>(parameters[2])};
  if (bufferBytes[0] != shape[0] * elementBits(from) / 8 || bufferBytes[1] != shape[0] * elementBits(to) / 8)
    return Failure{"cast expects buffers of " + std::to_string(shape[0]) + " elements"};
  return {};
}

} // namespace

std::string_view hostOpName(int64_t number) {
  const Row *row = findRow(number);
  return row ? row->name : std::string_view();
}

Status verifyHostOp(int64_t number, const std::vector<int64_t> &parameters, const std::vector<uint64_t> &bufferBytes) {
  const Row *row = findRow(number);
  if (!row)
    return Failure{"no host op has the number " + std::to_string(number)};
  if (bufferBytes.size() != row->buffers)
    return Failure{std::string(row->name) + " expects " + std::to_string(row->buffers) + " buffers, got " +
                   std::to_string(bufferBytes.size())};
  return static_cast<HostOp>(number) == HostOp::Transpose ? verifyTranspose(parameters, bufferBytes)
                                                          : verifyCast(parameters, bufferBytes);
}

Status runHostOp(int64_t number, const std::vector<int64_t> &parameters, const std::vector<HostBuffer> &buffers) {
  switch (static_cast<HostOp>(number)) {
  case HostOp::Transpose: {
    auto shape = parameters.begin() + 2;
    size_t rank = parameters[1];
    transpose(buffers[0].data, buffers[1].data, parameters[0], std::vector<uint64_t>(shape, shape + rank),
              std::vector<uint8_t>(shape + rank, shape + 2 * rank));
    return {};
  }
  case HostOp::Cast:
    return cast(buffers[0].data, static_cast<ElementType>(parameters[0]), buffers[1].data,
                static_cast<ElementType>(parameters[1]), parameters[2]);
  }
  return Failure{"no host op has the number " + std::to_string(number)};
}

} // namespace pto_mlir::hostops
