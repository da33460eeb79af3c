// The instructions on numbers, inlined into the dispatch loop (Execute.cpp).
#ifndef PTO_MLIR_LIB_BYTECODE_NUMBERSTEPS_H
#define PTO_MLIR_LIB_BYTECODE_NUMBERSTEPS_H

#include "Arithmetic.h"

#define PTO_INLINE [[gnu::always_inline]] inline

namespace pto_mlir::bytecode {

/// What follows an instruction: the next one, the one that `step` was set to, the end, or a fault.
enum class Next {
  Advance,
  Jumped,
  Returned,
  Other,  // the opcode belongs to another group
  Failed, // with a status
  DivisionByZero,
  FloatOutOfRange,
  TooManyJumps,
  TooManyCalls,
  AssertionFailed,
  ReachedUnreachable,
};

/// Groups of instructions that only use the stack of numbers; a group gives Other for an opcode of another one.
class NumberSteps {
protected:
  PTO_INLINE Next perform(Opcode opcode) {
    for (auto group : {&NumberSteps::integers, &NumberSteps::divisions, &NumberSteps::bits, &NumberSteps::floats,
                       &NumberSteps::conversions})
      if (Next next = (this->*group)(opcode); next != Next::Other)
        return next;
    return Next::Other;
  }

  const Step *step;
  int64_t *number; // one past the top

private:
  PTO_INLINE Next integers(Opcode opcode) {
    unsigned width = step->width;
    switch (opcode) {
    case Opcode::IAdd:
      return integer([](int64_t x, int64_t y) { return int64_t(uint64_t(x) + uint64_t(y)); });
    case Opcode::ISub:
      return integer([](int64_t x, int64_t y) { return int64_t(uint64_t(x) - uint64_t(y)); });
    case Opcode::IMul:
      return integer([](int64_t x, int64_t y) { return int64_t(uint64_t(x) * uint64_t(y)); });
    case Opcode::IMin:
      return integer([](int64_t x, int64_t y) { return x < y ? x : y; });
    case Opcode::IMax:
      return integer([](int64_t x, int64_t y) { return x > y ? x : y; });
    case Opcode::IMinU:
      return integer([=](int64_t x, int64_t y) { return asUnsigned(x, width) < asUnsigned(y, width) ? x : y; });
    case Opcode::IMaxU:
      return integer([=](int64_t x, int64_t y) { return asUnsigned(x, width) > asUnsigned(y, width) ? x : y; });
    case Opcode::ICmp: {
      int64_t y = *--number, x = number[-1];
      number[-1] = compareIntegers(step->b, x, y, width);
      return Next::Advance;
    }
    default:
      return Next::Other;
    }
  }

  PTO_INLINE Next divisions(Opcode opcode) {
    unsigned width = step->width;
    switch (opcode) {
    case Opcode::IDiv:
      return division([](int64_t x, int64_t y) { return divide(x, y); });
    case Opcode::IRem:
      return division([](int64_t x, int64_t y) { return y == -1 ? 0 : x % y; });
    case Opcode::IDivU:
      return division([=](int64_t x, int64_t y) { return int64_t(asUnsigned(x, width) / asUnsigned(y, width)); });
    case Opcode::IRemU:
      return division([=](int64_t x, int64_t y) { return int64_t(asUnsigned(x, width) % asUnsigned(y, width)); });
    case Opcode::IFloorDiv:
      return division([](int64_t x, int64_t y) { return floorDivide(x, y); });
    case Opcode::ICeilDiv:
      return division([](int64_t x, int64_t y) { return ceilDivide(x, y); });
    default:
      return Next::Other;
    }
  }

  PTO_INLINE Next bits(Opcode opcode) {
    unsigned width = step->width;
    switch (opcode) {
    case Opcode::IAnd:
      return integer([](int64_t x, int64_t y) { return x & y; });
    case Opcode::IOr:
      return integer([](int64_t x, int64_t y) { return x | y; });
    case Opcode::IXor:
      return integer([](int64_t x, int64_t y) { return x ^ y; });
    case Opcode::IShl:
      return integer([=](int64_t x, int64_t y) { return shiftLeft(x, asUnsigned(y, width), width); });
    case Opcode::IShr:
      return integer([=](int64_t x, int64_t y) { return shiftRight(x, asUnsigned(y, width), width); });
    case Opcode::IShrU:
      return integer([=](int64_t x, int64_t y) { return shiftRightUnsigned(x, asUnsigned(y, width), width); });
    default:
      return Next::Other;
    }
  }

  PTO_INLINE Next floats(Opcode opcode) {
    switch (opcode) {
    case Opcode::FAdd:
      return real([](double x, double y) { return x + y; });
    case Opcode::FSub:
      return real([](double x, double y) { return x - y; });
    case Opcode::FMul:
      return real([](double x, double y) { return x * y; });
    case Opcode::FDiv:
      return real([](double x, double y) { return x / y; });
    case Opcode::FRem:
      return real([](double x, double y) { return std::fmod(x, y); });
    case Opcode::FMin:
      return real([](double x, double y) { return minimum(x, y); });
    case Opcode::FMax:
      return real([](double x, double y) { return maximum(x, y); });
    case Opcode::FNeg:
      number[-1] ^= INT64_MIN;
      return Next::Advance;
    case Opcode::FCmp: {
      double y = std::bit_cast<double>(*--number), x = std::bit_cast<double>(number[-1]);
      number[-1] = compareFloats(step->b, x, y);
      return Next::Advance;
    }
    default:
      return Next::Other;
    }
  }

  PTO_INLINE Next conversions(Opcode opcode) {
    if (opcode != Opcode::Conv && opcode != Opcode::ConvU)
      return Next::Other;
    auto value = convert(*step, number[-1]);
    if (!value)
      return Next::FloatOutOfRange;
    number[-1] = *value;
    return Next::Advance;
  }

  template <class Compute> PTO_INLINE Next integer(Compute compute) {
    int64_t y = *--number, x = number[-1];
    number[-1] = wrap(compute(x, y), step->width);
    return Next::Advance;
  }
  template <class Compute> PTO_INLINE Next division(Compute compute) {
    return number[-1] == 0 ? Next::DivisionByZero : integer(compute);
  }
  template <class Compute> PTO_INLINE Next real(Compute compute) {
    double y = std::bit_cast<double>(*--number), x = std::bit_cast<double>(number[-1]);
    number[-1] = std::bit_cast<int64_t>(roundTo(compute(x, y), step->width));
    return Next::Advance;
  }
};

} // namespace pto_mlir::bytecode

#endif
