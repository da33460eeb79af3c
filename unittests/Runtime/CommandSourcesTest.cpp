// The ops of the source in a device's trace.
#include "CommandSources.h"

#include "pto_mlir/ISA/Table.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

using namespace pto_mlir;
using namespace pto_mlir::runtime;

namespace {

pmodel::KernelDesc kernelNamed(const std::string &name, const std::string &source) {
  pmodel::KernelDesc kernel;
  kernel.name = name;
  kernel.sources = {source};
  pmodel::StreamDesc stream;
  stream.pipe = uint8_t(isa::Pipe::MTE2);
  stream.sources = {{5, 0}};
  kernel.streams = {stream};
  return kernel;
}

std::string named(const CommandSources &sources, const std::string &trace) {
  auto path = std::filesystem::temp_directory_path() / "pto_command_sources_test.json";
  std::ofstream(path) << trace;
  sources.nameInTrace(path.string());
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  file.close();
  std::filesystem::remove(path);
  return text;
}

// With the spaces of the simulator's older files and without; what holds no command stays byte for byte.
const std::string head = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
                         "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"AIV0.0\"}},\n"
                         "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"MTE2\"}},\n";

std::string span(const std::string &kernel, unsigned word) {
  nlohmann::json args = {{"kernel", kernel}, {"word", word}};
  return "{\"ph\":\"X\",\"name\":\"TLOAD\",\"pid\":1,\"tid\":2,\"ts\":0.5,\"dur\":1.25,\"args\":" + args.dump() + "}";
}

TEST(CommandSources, NamesTheOpsOfATraceWhateverTheNamesAre) {
  std::string kernel = "a \"b\" \\ \n\x01 \u03bb", source = "pto.tload at \"\u03bb\\k.pto\":12:\t3";
  CommandSources sources;
  sources.add(kernelNamed(kernel, source));
  std::string before = span(kernel, 4), inside = span(kernel, 17), other = span("other", 17);
  std::string text = named(sources, head + before + ",\n" + inside + ",\n" + other + "\n]}\n");
  auto events = nlohmann::json::parse(text)["traceEvents"];
  ASSERT_EQ(events.size(), 5u);
  EXPECT_FALSE(events[2]["args"].contains("source")); // in front of the first word that has one
  EXPECT_EQ(events[3]["args"]["source"], source);
  EXPECT_FALSE(events[4]["args"].contains("source"));
  std::string sourceField = ",\"source\":" + nlohmann::json(source).dump();
  inside.insert(inside.size() - 2, sourceField);
  EXPECT_EQ(text, head + before + ",\n" + inside + ",\n" + other + "\n]}\n");
}

TEST(CommandSources, LeavesWhatIsNoTraceAsItIs) {
  CommandSources sources;
  sources.add(kernelNamed("k", "pto.tload"));
  for (const char *text : {"", "no json\n", "{\"ph\": 1}\n[\n", "{\"ph\":\"M\",\"name\":3,\"args\":[1]}\n",
                           "{\"ph\":\"X\",\"args\":{\"word\":\"1\"}}\n"})
    EXPECT_EQ(named(sources, text), text);
}

TEST(CommandSources, NamesCommandsOfOtherLaunches) {
  CommandSources sources;
  sources.add(kernelNamed("k", "pto.tload at f.py:1:2"));
  sources.add(kernelNamed("other", "pto.tload at f.py:3:4"));
  EXPECT_EQ(sources.name("MTE2 word 7 reads what (kernel 'other', AIV0.0 MTE2 word 9) reads", "k", "AIV0.0"),
            "MTE2 word 7, pto.tload at f.py:1:2 reads what (kernel 'other', AIV0.0 MTE2 word 9, pto.tload at f.py:3:4) "
            "reads");
  EXPECT_EQ(sources.name("', MTE2 word 7", "k", "AIV0.0"), "', MTE2 word 7, pto.tload at f.py:1:2");
}

} // namespace
