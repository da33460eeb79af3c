// Error handling below the border (glossary): a value, or a one-line message.
#ifndef PTO_MLIR_SUPPORT_RESULT_H
#define PTO_MLIR_SUPPORT_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace pto_mlir {

/// An error message: lower case, no full stop, names what was expected and what was found.
struct Failure {
  std::string message;
};

/// A T or a Failure. Test it before use: `if (!result) return result.failure();`
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : state(std::in_place_index<1>, std::move(failure)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return value(); }
  const T &operator*() const { return const_cast<Result *>(this)->value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &const_cast<Result *>(this)->value(); }
  T take() { return std::move(value()); }

  const std::string &error() const {
    assert(!*this && "a result that holds a value has no error");
    return std::get_if<1>(&state)->message;
  }
  /// The error, to be returned by a caller of another result type.
  Failure failure() const { return {error()}; }

private:
  T &value() {
    assert(*this && "a failed result was used without a test");
    return *std::get_if<0>(&state);
  }
  std::variant<T, Failure> state;
};

/// Success or a Failure.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Failure failure) : state(std::move(failure)) {}

  explicit operator bool() const { return !state; }
  const std::string &error() const {
    assert(state && "success has no error");
    return state->message;
  }
  /// As of Result<T>.
  Failure failure() const { return {error()}; }

private:
  std::optional<Failure> state;
};

using Status = Result<void>;

} // namespace pto_mlir

#endif
