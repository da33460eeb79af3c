// Integer division and alignment helpers.
#ifndef PTO_MLIR_SUPPORT_MATHEXTRAS_H
#define PTO_MLIR_SUPPORT_MATHEXTRAS_H

#include <concepts>
#include <type_traits>

namespace pto_mlir {

/// n / by, rounded up; n >= 0, by > 0.
template <std::integral T> constexpr T ceilDiv(T n, std::type_identity_t<T> by) { return (n + by - 1) / by; }

/// The smallest multiple of `to` that is at least n; n >= 0, to > 0.
template <std::integral T> constexpr T roundUp(T n, std::type_identity_t<T> to) { return ceilDiv(n, to) * to; }

} // namespace pto_mlir

#endif
