// Errors of PyPTO, and the two checks that raise them.
#ifndef PYPTO_CORE_ERROR_H
#define PYPTO_CORE_ERROR_H

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

namespace pypto {

/// What every error of this library derives from; `what()` is one line.
class Error : public std::exception {
public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  const char *what() const noexcept override { return message_.c_str(); }

private:
  std::string message_;
};

/// A value of the user's that breaks a rule.
class ValueError : public Error {
public:
  using Error::Error;
};
/// An operand, keyword or element type that an operation does not take.
class TypeError : public Error {
public:
  using Error::Error;
};
/// A mistake of this library's own.
class InternalError : public Error {
public:
  using Error::Error;
};

namespace detail {

/// Collects a message with `<<` and throws it when the full expression ends.
template <class E> class Raise {
public:
  explicit Raise(std::string_view start = {}) : text_(start) {}
  Raise(const Raise &) = delete;
  Raise &operator=(const Raise &) = delete;
  ~Raise() noexcept(false) { throw E(std::move(text_)); }

  template <class T> Raise &operator<<(const T &value) {
    if constexpr (std::is_same_v<T, char>)
      text_ += value;
    else if constexpr (std::is_arithmetic_v<T>)
      text_ += std::to_string(value);
    else
      text_ += value;
    return *this;
  }

private:
  std::string text_;
};

} // namespace detail
} // namespace pypto

/// `CHECK_AS(TypeError, condition) << "text"` raises that error with that text unless the condition holds.
#define CHECK_AS(ErrorClass, condition)                                                                                \
  switch (0)                                                                                                           \
  case 0:                                                                                                              \
  default:                                                                                                             \
    if (condition)                                                                                                     \
      ;                                                                                                                \
    else                                                                                                               \
      ::pypto::detail::Raise<ErrorClass>()

/// What the user must hold to: raises `pypto::ValueError`.
#define CHECK(condition) CHECK_AS(::pypto::ValueError, condition)

/// What this library must hold to: raises `pypto::InternalError` with the condition and its place.
#define INTERNAL_CHECK(condition)                                                                                      \
  switch (0)                                                                                                           \
  case 0:                                                                                                              \
  default:                                                                                                             \
    if (condition)                                                                                                     \
      ;                                                                                                                \
    else                                                                                                               \
      ::pypto::detail::Raise<::pypto::InternalError>("internal error: " #condition " does not hold at ")               \
          << __FILE_NAME__ << ":" << __LINE__ << ": "

#endif // PYPTO_CORE_ERROR_H
