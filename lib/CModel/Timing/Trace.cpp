#include "Timing/Trace.h"
#include "pto_mlir/Support/TemporaryFile.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace pto_mlir::cmodel {

namespace {
/// A tenth of a nanosecond is the least that is told apart; more digits only make the file larger.
double rounded(double microseconds) { return std::round(microseconds * 1e4) / 1e4; }
} // namespace

std::unique_ptr<Trace> Trace::create(const std::string &path) {
  std::string part = isReplaceable(path) ? path + ".part" : path;
  std::FILE *file = std::fopen(part.c_str(), "w");
  if (!file)
    return nullptr;
  std::fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", file);
  return std::unique_ptr<Trace>(new Trace(file, std::move(part), path));
}

Trace::~Trace() {
  std::fputs("\n]}\n", file);
  bool isWritten = std::fclose(file) == 0;
  if (part == path)
    return;
  if (isWritten)
    std::rename(part.c_str(), path.c_str());
  else
    std::remove(part.c_str());
}

void Trace::event(const nlohmann::ordered_json &fields) {
  // Names are any bytes: what is not UTF-8 becomes U+FFFD.
  std::string text = fields.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::fputs(first ? "\n" : ",\n", file);
  std::fputs(text.c_str(), file);
  first = false;
}

void Trace::span(const std::string &core, const std::string &engine, const std::string &name, double begin,
                 double duration, const nlohmann::ordered_json &arguments) {
  size_t known = processes.size(), tracks = threads.size();
  unsigned process = number(processes, core), thread = number(threads, core + "\n" + engine);
  if (processes.size() != known)
    event({{"ph", "M"}, {"name", "process_name"}, {"pid", process}, {"args", {{"name", core}}}});
  if (threads.size() != tracks)
    event({{"ph", "M"}, {"name", "thread_name"}, {"pid", process}, {"tid", thread}, {"args", {{"name", engine}}}});
  event({{"ph", "X"},
         {"name", name},
         {"pid", process},
         {"tid", thread},
         {"ts", rounded(begin)},
         {"dur", rounded(duration)},
         {"args", arguments}});
}

} // namespace pto_mlir::cmodel
