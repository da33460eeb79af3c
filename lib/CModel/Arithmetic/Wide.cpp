#include "Arithmetic/Wide.h"

#include <cstring>

namespace pto_mlir::cmodel {
namespace {

using Any = Types<float, Half, BFloat, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;

} // namespace

template <class W> W loadWide(isa::ElementType type, const uint8_t *from) {
  W value{};
  Any::visit(type, [&]<class T>() {
    T element;
    std::memcpy(&element, from, sizeof element);
    value = W(load(element));
  });
  return value;
}

template <class W> void storeWide(isa::ElementType type, uint8_t *to, W value) {
  Any::visit(type, [&]<class T>() {
    T element;
    if constexpr (std::is_integral_v<T> && !std::is_integral_v<W>)
      element = T(int64_t(value));
    else
      element = store<T>(Compute<T>(value));
    std::memcpy(to, &element, sizeof element);
  });
}

template <class W> W scalarWide(isa::ElementType type, int64_t bits) {
  W value{};
  Any::visit(type, [&]<class T>() { value = W(scalarValue<T>(bits)); });
  return value;
}

#define PTO_INSTANTIATE(W)                                                                                             \
  template W loadWide<W>(isa::ElementType, const uint8_t *);                                                           \
  template void storeWide<W>(isa::ElementType, uint8_t *, W);                                                          \
  template W scalarWide<W>(isa::ElementType, int64_t);
PTO_INSTANTIATE(float)
PTO_INSTANTIATE(int64_t)
PTO_INSTANTIATE(uint64_t)
#undef PTO_INSTANTIATE

} // namespace pto_mlir::cmodel
