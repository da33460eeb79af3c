// One core of a sketch: the events of its engines and the waits between them.
#ifndef PTO_MLIR_LIB_COST_SKETCHCORE_H
#define PTO_MLIR_LIB_COST_SKETCHCORE_H

#include "pto_mlir/Cost/GlobalMemory.h"
#include "pto_mlir/Cost/Sketch.h"

#include <array>
#include <deque>
#include <unordered_map>

namespace pto_mlir::cost {

class SketchCore {
public:
  SketchCore(const isa::ChipInfo &chip, isa::CoreKind kind, unsigned block, unsigned subblock)
      : chip(chip), kind(kind), block(block), subblock(subblock) {}

  /// Notes an instruction of `pipe`, behind waits for those of other engines that touched the same bytes.
  void note(const isa::DecodedInsn &insn, isa::Pipe pipe, std::span<const SketchAccess> accesses);
  /// Notes a flag between two engines, raised or awaited by `pipe`.
  void flag(isa::Pipe pipe, Event::Kind event, isa::Pipe src, isa::Pipe dst, unsigned id);
  /// Notes a flag between cores.
  void cross(isa::Pipe pipe, Event::Kind event, uint32_t channel);
  /// Notes that one engine awaits a flag between cores, or S for several.
  void crossAwait(std::span<const unsigned> pipes, uint32_t id);

  /// The events of all engines, with a signal after each instruction that another engine waits for.
  CoreLog finish() const;
  const std::vector<ByteRuns> &runs() const { return byteRuns; }

private:
  static constexpr unsigned kMost = 6; // engines of a core
  /// By engine: how many of its events are known to be over.
  using Clock = std::array<size_t, kMost>;

  struct Engine {
    Engine(const isa::ChipInfo &chip, isa::Pipe pipe) : log{pipe, {}}, recorder(chip, log) {}
    EngineLog log;
    Recorder recorder;
    Clock clock{};
    std::vector<std::pair<size_t, Clock>> clocks;     // after so many events, the clock
    std::vector<std::pair<size_t, uint32_t>> signals; // after so many events, on which channel
  };
  /// The engine that accessed bytes last, and the number of its events then.
  struct Touch {
    uint64_t begin, end;
    bool write;
    unsigned engine;
    size_t events;
  };

  unsigned engineOf(isa::Pipe pipe);
  void order(unsigned engine, std::span<const SketchAccess> accesses);
  void await(unsigned engine, unsigned other, size_t events);
  void remember(unsigned engine, std::span<const SketchAccess> accesses);

  const isa::ChipInfo &chip;
  isa::CoreKind kind;
  unsigned block, subblock;
  std::deque<Engine> engines;                               // recorders point into them
  std::unordered_map<uint64_t, std::vector<Touch>> touched; // by space
  std::vector<ByteRuns> byteRuns;
};

} // namespace pto_mlir::cost

#endif
