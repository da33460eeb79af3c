// The shuffled mode: functional, with engine switches at random instructions. A correctly synchronised kernel gives the
// same bits; a missing flag shows as a difference.
#ifndef PTO_MLIR_CMODEL_SHUFFLER_H
#define PTO_MLIR_CMODEL_SHUFFLER_H

#include "Machine/Observer.h"

#include <random>

namespace pto_mlir::cmodel {

class Shuffler : public Observer {
public:
  explicit Shuffler(uint32_t seed) : random(seed) {}
  std::string ranksBegin(std::span<const RankLaunch>) override { return ""; }
  void coreBegin(Core &) override { draw(); }
  bool pause(Core &) override {
    if (left-- > 0)
      return false;
    draw();
    return true;
  }

private:
  /// Draws the length of the next turn, short or long.
  void draw() { left = random() % 4 == 0 ? int(random() % 200) : int(random() % 4); }

  std::minstd_rand random;
  int left = 0;
};

} // namespace pto_mlir::cmodel

#endif
