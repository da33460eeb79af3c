// Writes a timeline for chrome://tracing and Perfetto: one process per core, one track per engine.
#ifndef PTO_MLIR_CMODEL_TIMING_TRACE_H
#define PTO_MLIR_CMODEL_TIMING_TRACE_H

#include <cstdio>
#include <map>
#include <memory>
#include <string>

namespace pto_mlir::cmodel {

/// A trace file in the trace-event format (JSON).
class Trace {
public:
  /// Null if the file cannot be written. The file gets its final name when the trace is destroyed.
  static std::unique_ptr<Trace> create(const std::string &path);
  ~Trace();

  /// Adds a span to the track `engine` of `core`; times in microseconds. `arguments` holds the members of a JSON
  /// object.
  void span(const std::string &core, const std::string &engine, const std::string &name, double begin, double duration,
            const std::string &arguments);

private:
  Trace(std::FILE *file, std::string path) : file(file), path(std::move(path)) {}
  unsigned number(std::map<std::string, unsigned> &numbers, const std::string &name) {
    return numbers.emplace(name, numbers.size() + 1).first->second;
  }

  std::FILE *file;
  std::string path;
  bool first = true;
  std::map<std::string, unsigned> processes, threads;
};

/// `text` as a quoted JSON string.
std::string jsonString(const std::string &text);

} // namespace pto_mlir::cmodel

#endif
