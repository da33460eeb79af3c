// Enumerations of the IR. One list per enumeration: names, stored numbers and the printed form come from it.
#ifndef PYPTO_IR_ENUMS_H
#define PYPTO_IR_ENUMS_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace pypto::ir {

/// X(enumeration, the name that `pl` gives it).
#define PYPTO_ENUMS(X)                                                                                                 \
  X(MemorySpace, "Mem")                                                                                                \
  X(TileLayout, "TileLayout")                                                                                          \
  X(TensorLayout, "TensorLayout")                                                                                      \
  X(PadValue, "PadValue")                                                                                              \
  X(CompactMode, "CompactMode")                                                                                        \
  X(PipeType, "PipeType")                                                                                              \
  X(CoreType, "CoreType")                                                                                              \
  X(FunctionType, "FunctionType")                                                                                      \
  X(ParamDirection, "ParamDirection")                                                                                  \
  X(ArgDirection, "adir")                                                                                              \
  X(Level, "Level")                                                                                                    \
  X(Role, "Role")                                                                                                      \
  X(ForKind, "ForKind")                                                                                                \
  X(SplitMode, "SplitMode")                                                                                            \
  X(AtomicType, "AtomicType")                                                                                          \
  X(MaskPattern, "MaskPattern")                                                                                        \
  X(NotifyOp, "NotifyOp")                                                                                              \
  X(WaitCmp, "WaitCmp")                                                                                                \
  X(ReduceOp, "ReduceOp")

#define PYPTO_ENUM_MemorySpace(X) X(DDR) X(Vec) X(Mat) X(Left) X(Right) X(Acc) X(Bias) X(LeftScale) X(RightScale)
#define PYPTO_ENUM_TileLayout(X) X(none_box) X(row_major) X(col_major)
#define PYPTO_ENUM_TensorLayout(X) X(ND) X(DN) X(NZ) X(MX_A_ZZ) X(MX_B_NN)
#define PYPTO_ENUM_PadValue(X) X(null) X(zero) X(max) X(min)
#define PYPTO_ENUM_CompactMode(X) X(null) X(normal) X(row_plus_one)
#define PYPTO_ENUM_PipeType(X) X(MTE1) X(MTE2) X(MTE3) X(M) X(V) X(S) X(FIX) X(ALL)
#define PYPTO_ENUM_CoreType(X) X(VECTOR) X(CUBE)
#define PYPTO_ENUM_FunctionType(X)                                                                                     \
  X(Opaque) X(Orchestration) X(InCore) X(AIC) X(AIV) X(Group) X(Spmd) X(Inline) X(Graph)
#define PYPTO_ENUM_ParamDirection(X) X(In) X(Out) X(InOut)
#define PYPTO_ENUM_ArgDirection(X) X(input) X(output) X(output_existing) X(inout) X(no_dep) X(scalar)
#define PYPTO_ENUM_Level(X)                                                                                            \
  X(AIV) X(AIC) X(CORE_GROUP) X(CHIP_DIE) X(CHIP) X(HOST) X(CLUSTER_0) X(CLUSTER_1) X(CLUSTER_2) X(GLOBAL)
#define PYPTO_ENUM_Role(X) X(Orchestrator) X(SubWorker)
#define PYPTO_ENUM_ForKind(X) X(Sequential) X(Parallel) X(Unroll) X(Pipeline)
#define PYPTO_ENUM_SplitMode(X) X(NONE) X(UP_DOWN) X(LEFT_RIGHT)
#define PYPTO_ENUM_AtomicType(X) X(None_) X(Add)
#define PYPTO_ENUM_MaskPattern(X) X(None_) X(P0101) X(P1010) X(P0001) X(P0010) X(P0100) X(P1000) X(P1111)

#define PYPTO_ENUM_NotifyOp(X) X(Set) X(AtomicAdd)
#define PYPTO_ENUM_WaitCmp(X) X(Eq) X(Ge)
#define PYPTO_ENUM_ReduceOp(X) X(Sum) X(Max) X(Min) X(Prod)

#define PYPTO_VALUE(Name) Name,
#define PYPTO_ENUM(Name, ...) enum class Name : uint8_t { PYPTO_ENUM_##Name(PYPTO_VALUE) };
PYPTO_ENUMS(PYPTO_ENUM)
#undef PYPTO_ENUM
/// Which enumeration a value belongs to.
#define PYPTO_ENUM(Name, ...) Name,
enum class EnumKind : uint8_t { PYPTO_ENUMS(PYPTO_ENUM) };
#undef PYPTO_ENUM
#undef PYPTO_VALUE

/// A value of any of the enumerations: what a keyword of a call holds.
struct EnumValue {
  EnumKind kind = EnumKind::MemorySpace;
  uint8_t value = 0;
  friend bool operator==(const EnumValue &, const EnumValue &) = default;
};

template <class E> struct EnumTraits;
#define PYPTO_ENUM(Name, ...)                                                                                          \
  template <> struct EnumTraits<Name> {                                                                                \
    static constexpr EnumKind kKind = EnumKind::Name;                                                                  \
  };
PYPTO_ENUMS(PYPTO_ENUM)
#undef PYPTO_ENUM

template <class E> EnumValue AsEnumValue(E value) { return {EnumTraits<E>::kKind, static_cast<uint8_t>(value)}; }

/// The enumeration's name in `pl`: "Mem", "PadValue".
std::string_view EnumName(EnumKind kind);
/// The value's name: "Vec", "zero".
std::string_view ValueName(EnumValue value);
/// Number of values; stored numbers are less.
uint64_t NumValues(EnumKind kind);
uint64_t NumEnums();
/// The value of that name.
std::optional<uint8_t> ValueFromName(EnumKind kind, std::string_view name);
template <class E> std::string_view ValueName(E value) { return ValueName(AsEnumValue(value)); }

} // namespace pypto::ir

#endif // PYPTO_IR_ENUMS_H
