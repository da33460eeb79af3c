// Element types of tensors, tiles and scalars.
#ifndef PYPTO_CORE_DTYPE_H
#define PYPTO_CORE_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace pypto {

/// What kind of number a DataType holds.
enum class NumberClass : uint8_t { Float, Signed, Unsigned, Bool, Index, Task };

/// X(name, bits, class, C type, MLIR type) for every element type; the order is the number in stored programs.
/// An empty C type: no C++ text of a kernel can name it.
#define PYPTO_DATA_TYPES(X)                                                                                            \
  X(FP4, 4, Float, "", "!pto.f4E2M1x2")                                                                                \
  X(FP8E4M3FN, 8, Float, "float8_e4m3_t", "f8E4M3FN")                                                                  \
  X(FP8E5M2, 8, Float, "float8_e5m2_t", "f8E5M2")                                                                      \
  X(FP8E8M0, 8, Float, "float8_e8m0_t", "!pto.f8E8M0")                                                                 \
  X(FP16, 16, Float, "half", "f16")                                                                                    \
  X(FP32, 32, Float, "float", "f32")                                                                                   \
  X(BF16, 16, Float, "bfloat16", "bf16")                                                                               \
  X(HF4, 4, Float, "", "")                                                                                             \
  X(HF8, 8, Float, "hifloat8_t", "!pto.hif8")                                                                          \
  X(INT4, 4, Signed, "int4_t", "i4")                                                                                   \
  X(INT8, 8, Signed, "int8_t", "i8")                                                                                   \
  X(INT16, 16, Signed, "int16_t", "i16")                                                                               \
  X(INT32, 32, Signed, "int32_t", "i32")                                                                               \
  X(INT64, 64, Signed, "int64_t", "i64")                                                                               \
  X(UINT4, 4, Unsigned, "uint4_t", "ui4")                                                                              \
  X(UINT8, 8, Unsigned, "uint8_t", "ui8")                                                                              \
  X(UINT16, 16, Unsigned, "uint16_t", "ui16")                                                                          \
  X(UINT32, 32, Unsigned, "uint32_t", "ui32")                                                                          \
  X(UINT64, 64, Unsigned, "uint64_t", "ui64")                                                                          \
  X(BOOL, 8, Bool, "bool", "i1")                                                                                       \
  X(INDEX, 64, Index, "int64_t", "index")                                                                              \
  X(TASK_ID, 64, Task, "", "")

/// An element type by value. Two compare equal exactly when they are the same row above.
class DataType {
public:
  enum class Code : uint8_t {
#define PYPTO_ROW(Name, ...) Name,
    PYPTO_DATA_TYPES(PYPTO_ROW)
#undef PYPTO_ROW
  };
#define PYPTO_ROW(Name, ...) static const DataType Name;
  PYPTO_DATA_TYPES(PYPTO_ROW)
#undef PYPTO_ROW

  constexpr DataType() : DataType(Code::INDEX) {}
  constexpr explicit DataType(Code code) : code_(code) {}

  constexpr Code GetCode() const { return code_; }
  /// "FP32".
  std::string_view Name() const;
  /// Bits of one element; 8 for BOOL, 64 for INDEX and TASK_ID.
  int64_t GetBit() const;
  /// Bytes of one element, rounded up.
  int64_t GetByte() const { return (GetBit() + 7) / 8; }
  NumberClass Class() const;
  bool IsFloat() const { return Class() == NumberClass::Float; }
  /// Signed or unsigned integers, INDEX included.
  bool IsInt() const;
  bool IsSigned() const { return Class() == NumberClass::Signed || Class() == NumberClass::Index; }
  /// "float", "half", "int32_t": the type in C++ for pto-isa. ValueError where it has none.
  std::string_view ToCTypeString() const;
  /// "f32", "ui8", "index": the type in a `.pto`. ValueError where it has none.
  std::string_view ToMLIRString() const;

  /// The type called "FP32".
  static std::optional<DataType> FromName(std::string_view name);
  /// The type of a stored number.
  static std::optional<DataType> FromCode(uint64_t code);

  friend constexpr bool operator==(DataType, DataType) = default;

private:
  Code code_;
};

#define PYPTO_ROW(Name, ...) inline constexpr DataType DataType::Name{DataType::Code::Name};
PYPTO_DATA_TYPES(PYPTO_ROW)
#undef PYPTO_ROW

/// Types of literals that say none.
inline constexpr DataType kDefaultInt = DataType::INDEX;
inline constexpr DataType kDefaultFloat = DataType::FP32;

} // namespace pypto

#endif // PYPTO_CORE_DTYPE_H
