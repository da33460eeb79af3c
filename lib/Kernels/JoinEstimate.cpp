#include "JoinEstimate.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::kernels {

/// Rows of `columns` that are no whole blocks have gaps behind them: instructions work on each by itself.
static double gapsOf(int64_t columns, unsigned bytes) {
  constexpr int64_t kBlock = 32, kRepeat = 256 / sizeof(float);
  return columns * bytes % kBlock == 0 ? 1 : double(llvm::alignTo(columns, kRepeat)) / double(columns);
}

static double tileOf(const Producer &producer) { return double(producer.shapes.rows[0] * producer.shapes.columns[0]); }

double JoinEstimate::computing(const Panels &panels, double elements, double pieces, double gaps) const {
  return panels.operations() * (pieces * prices.operation() + gaps * elements * prices.operationPerElement());
}

double JoinEstimate::vector(const Panels &panels, double elements, double pieces, double gaps) const {
  double compute = computing(panels, elements, pieces, gaps);
  double move = pieces * prices.start(cost::Way::ToUB) + elements * panels.bytes() * prices.perByte(cost::Way::ToUB);
  return std::max(compute, move) + std::min(compute, move) / pieces + prices.start(cost::Way::FromUB);
}

double JoinEstimate::followerAlone(const Producer &producer, const Panels &panels) const {
  const cube::CubeProblem &p = producer.contraction.problem;
  return vector(panels, double(p.outer * p.m * p.n) / (lanes * cores), double(producer.shapes.perBlock));
}

double JoinEstimate::followed(const Producer &producer, const Panels &panels) const {
  const cube::CubeProblem &p = producer.contraction.problem;
  auto tiles = double(producer.shapes.perBlock);
  double elements = std::min(double(p.outer * p.m * p.n), tiles * tileOf(producer)) / lanes;
  double beside = vector(panels, elements, tiles, gapsOf(producer.shapes.columns[0], p.outBytes));
  return cube::overlapped(producer.tiling.cycles, beside, tiles);
}

double JoinEstimate::feederAlone(const Producer &producer, const Panels &panels) const {
  const cube::CubeProblem &p = producer.contraction.problem;
  return vector(panels, double(p.outer * p.m * p.k) / (lanes * cores), 1);
}

double JoinEstimate::feeder(const Producer &producer, const Panels &panels) const {
  const cube::CubeProblem &p = producer.contraction.problem;
  auto blocks = double(cube::feedShapes(producer.contraction, producer.tiling)->perBlock);
  double rows = std::min(double(p.outer * p.m), blocks * double(std::min(producer.tiling.blockM, p.m))) / lanes;
  double elements = rows * double(p.k);
  double reducing = panels.reductions() * prices.vector("trowsum", int64_t(std::ceil(rows)), p.k, sizeof(float));
  double starts = panels.numInputs() * prices.start(cost::Way::ToUB) + prices.start(cost::Way::FromUB);
  return computing(panels, elements, blocks) + reducing + blocks * starts +
         elements * panels.bytes() * prices.perByte(cost::Way::ToUB);
}

cube::Follower JoinEstimate::follower(const Producer &producer, const Panels &panels) const {
  double one = vector(panels, 0, 1), whole = vector(panels, tileOf(producer) / lanes, 1);
  return {one, (whole - one) / tileOf(producer)};
}

} // namespace pto_mlir::kernels
