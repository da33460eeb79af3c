// The timing mode's trace file.
#include "Timing/Trace.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

using namespace pto_mlir::cmodel;

namespace {

// pto-run finds commands in it line by line (lib/Runtime/CommandSources.cpp).
TEST(Trace, HasAnEventPerLineWhateverTheNamesAre) {
  std::string kernel = "a \"b\" \\ \n\x01 \u03bb";
  auto path = std::filesystem::temp_directory_path() / "pto_cmodel_trace_test.json";
  Trace::create(path.string())
      ->span("AIV0.0", "MTE2", kernel + "\xff", 1.00004, 2.5, {{"kernel", kernel}, {"word", 7}});
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  std::filesystem::remove(path);
  ASSERT_EQ(lines.size(), 5u); // the head, the names of process and thread, the span, the end
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  auto events = nlohmann::json::parse(text)["traceEvents"];
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0]["args"]["name"], "AIV0.0");
  EXPECT_EQ(events[1]["args"]["name"], "MTE2");
  EXPECT_EQ(nlohmann::json::parse(lines[3]), events[2]);
  EXPECT_EQ(events[2]["name"], kernel + "\ufffd");
  EXPECT_EQ(events[2]["args"]["kernel"], kernel);
  EXPECT_EQ(events[2]["args"]["word"], 7);
  EXPECT_EQ(events[2]["ts"], 1.0);
  EXPECT_EQ(events[2]["dur"], 2.5);
}

} // namespace
