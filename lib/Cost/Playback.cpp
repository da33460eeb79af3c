#include "PlaybackGroup.h"

#include <algorithm>

namespace pto_mlir::cost {

Rates ratesFor(const ChipInfo &chip, HbmTraffic hbm, double readers, double writers) {
  Rates rates;
  for (unsigned path = unsigned(GlobalPath::ToUB); path <= unsigned(GlobalPath::FromL0C); ++path) {
    bool read = reads(GlobalPath(path));
    rates.secondsPerByte[path] =
        secondsPerByte(chip, GlobalPath(path), read ? readers : writers, read ? hbm.perByteRead : hbm.perByteWritten);
  }
  return rates;
}

double gather(const ChipInfo &chip, std::span<const CoreLog> cores, const std::vector<EngineTime> &times, double start,
              Playback &result) {
  double end = start;
  auto time = times.begin();
  for (const CoreLog &core : cores) {
    double coreEnd = start;
    for (const EngineLog &log : core.engines) {
      unsigned number = engineNumber(core.kind, log.pipe);
      result.busy[number] += time->busy;
      result.stalled[number] += time->stalled;
      result.reading += time->reading;
      result.writing += time->writing;
      coreEnd = std::max({coreEnd, time->now, time->done});
      ++time;
    }
    end = std::max(end, coreEnd);
    result.coreSeconds.push_back((coreEnd - start) / chip.clock);
  }
  return end;
}

void averageOverCores(const ChipInfo &chip, std::span<const CoreLog> cores, Playback &result) {
  unsigned numCores[2] = {};
  for (const CoreLog &core : cores)
    ++numCores[unsigned(core.kind)];
  for (unsigned number = 0; number < kNumEngines; ++number) {
    bool vector = number >= kFirstVectorEngine;
    unsigned n = std::min(numCores[vector], chip.blocks * (vector ? 2 : 1)); // those that are there at a time
    result.busy[number] /= std::max(n, 1u);
    result.stalled[number] /= std::max(n, 1u);
  }
}

namespace {

Playback playAt(const ChipInfo &chip, std::span<const CoreLog> cores, Tied tied, const Rates &rates, double begin,
                const Span &span) {
  Playback result;
  result.end = begin;
  // Blocks go to whatever part of the chip is free first.
  std::vector<double> freeAt(chip.blocks, begin);
  for (size_t i = 0; i < cores.size();) {
    auto place = std::min_element(freeAt.begin(), freeAt.end());
    double start = *place;
    // The cores of a block run together; with flags between blocks, all of them.
    size_t last = i;
    while (last < cores.size() && (tied == Tied::Launch || cores[last].block == cores[i].block))
      ++last;
    auto group = cores.subspan(i, last - i);
    *place = gather(chip, group, Group(chip, group, i, rates, start, span).run(), start, result);
    result.end = std::max(result.end, *place);
    i = last;
  }
  averageOverCores(chip, cores, result);
  return result;
}

} // namespace

unsigned engineNumber(isa::CoreKind kind, isa::Pipe pipe) {
  bool aic = kind == isa::CoreKind::AIC;
  switch (pipe) {
  case isa::Pipe::S:
    return aic ? 0 : kFirstVectorEngine;
  case isa::Pipe::V:
    return 7;
  case isa::Pipe::MTE1:
    return 1;
  case isa::Pipe::MTE2:
    return aic ? 2 : 8;
  case isa::Pipe::MTE3:
    return aic ? 3 : 9;
  case isa::Pipe::M:
    return 4;
  default:
    return 5;
  }
}

Rates settledRates(const ChipInfo &chip, std::span<const CoreLog> cores, Tied tied, HbmTraffic hbm, double begin) {
  double readers = 1, writers = 1;
  for (int round = 0; round < 3; ++round) {
    Playback guess = playAt(chip, cores, tied, ratesFor(chip, hbm, readers, writers), begin, {});
    double length = std::max(guess.end - begin, 1.0);
    readers = std::max(1.0, round ? (readers + guess.reading / length) / 2 : guess.reading / length);
    writers = std::max(1.0, round ? (writers + guess.writing / length) / 2 : guess.writing / length);
  }
  return ratesFor(chip, hbm, readers, writers);
}

Playback play(const ChipInfo &chip, std::span<const CoreLog> cores, Tied tied, HbmTraffic hbm, double begin,
              const Span &span) {
  return playAt(chip, cores, tied, settledRates(chip, cores, tied, hbm, begin), begin, span);
}

} // namespace pto_mlir::cost
