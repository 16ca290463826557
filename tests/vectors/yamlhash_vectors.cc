// SPDX-License-Identifier: Apache-2.0

// Computes the names of rendered configs whose kernel arguments have awkward characters.  The names, and the YAML whose
// digest they contain, must be the Operator's.

#include <sstream>
#include <string>

#include "json/parse.h"
#include "machineconfig/rendered_name.h"
#include "support/expect.h"
#include "vectors/cases.h"

namespace pintle::machineconfig {
namespace {

api::MachineConfigSpec SpecWith(const json::Value& kernel_arguments) {
  api::MachineConfigSpec spec;
  spec.config = {{"ignition", {{"version", "3.5.0"}}}};
  auto& arguments = spec.kernel_arguments.emplace();
  for (const json::Value& argument : kernel_arguments) arguments.push_back(argument.text());
  spec.extensions.emplace();
  return spec;
}

TEST(RenderedName, IsTheOperatorsForEveryLineOfTheCorpus) {
  std::istringstream corpus(vectors::ReadText(vectors::DataDirectory() / "yamlhash" / "corpus.jsonl"));
  std::size_t count = 0;
  for (std::string line; std::getline(corpus, line); ++count) {
    SCOPED_TRACE("line " + std::to_string(count + 1) + ": " + line);
    const json::Value expected = ValueOf(json::Parse(line));
    const api::MachineConfigSpec spec = SpecWith(expected.at("kernelArguments"));
    std::string text;
    const auto written = WriteHashInput(spec, [&](std::string_view piece) { text += piece; });
    const auto name = RenderedName("p", spec);
    if (expected.contains("error")) {
      EXPECT_EQ(MessageOf(written), expected.at("error").text());
      EXPECT_EQ(MessageOf(name), expected.at("error").text());
      continue;
    }
    ASSERT_TRUE(Succeeded(written));
    EXPECT_EQ(text, expected.at("yaml").text());
    EXPECT_EQ(ValueOf(name), expected.at("name").text());
  }
  EXPECT_GT(count, 0U);
}

}  // namespace
}  // namespace pintle::machineconfig
