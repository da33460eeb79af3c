#include "Timing/Trace.h"

namespace pto_mlir::cmodel {

std::unique_ptr<Trace> Trace::create(const std::string &path) {
  std::FILE *file = std::fopen((path + ".part").c_str(), "w");
  if (!file)
    return nullptr;
  std::fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", file);
  return std::unique_ptr<Trace>(new Trace(file, path));
}

Trace::~Trace() {
  std::fputs("\n]}\n", file);
  std::string part = path + ".part";
  if (std::fclose(file) == 0)
    std::rename(part.c_str(), path.c_str());
  else
    std::remove(part.c_str());
}

std::string jsonString(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      result += ' ';
    else
      result += c;
  }
  return result + "\"";
}

void Trace::span(const std::string &core, const std::string &engine, const std::string &name, double begin,
                 double duration, const std::string &arguments) {
  auto separator = [&] {
    const char *text = first ? "\n" : ",\n";
    first = false;
    return text;
  };
  size_t known = processes.size(), tracks = threads.size();
  unsigned process = number(processes, core), thread = number(threads, core + "\n" + engine);
  if (processes.size() != known)
    std::fprintf(file, "%s{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %u, \"args\": {\"name\": %s}}",
                 separator(), process, jsonString(core).c_str());
  if (threads.size() != tracks)
    std::fprintf(file,
                 "%s{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %u, \"tid\": %u, \"args\": {\"name\": %s}}",
                 separator(), process, thread, jsonString(engine).c_str());
  std::fprintf(file,
               "%s{\"ph\": \"X\", \"name\": %s, \"pid\": %u, \"tid\": %u, \"ts\": %.4f, \"dur\": %.4f, \"args\": {%s}}",
               separator(), jsonString(name).c_str(), process, thread, begin, duration, arguments.c_str());
}

} // namespace pto_mlir::cmodel
