// SPDX-License-Identifier: Apache-2.0

// Renders machine configs for a pool, with the code that `pintle render` uses on files: the result must be the
// Operator's.

#include <set>
#include <string>

#include "ctl/render.h"
#include "json/parse.h"
#include "machineconfig/objects.h"
#include "machineconfig/rendered_name.h"
#include "support/expect.h"
#include "vectors/cases.h"
#include "vectors/differences.h"
#include "vectors/expect_text.h"

namespace pintle::ctl {
namespace {

using vectors::Case;

constexpr const char* kKind = "render";

class RenderVectors : public testing::TestWithParam<std::string> {};

std::optional<std::string> PathIfThere(const Case& vector, const std::string& file) {
  if (!vector.Has(file)) return std::nullopt;
  return vector.Path(file);
}

RenderQuestion QuestionOf(const Case& vector) {
  return {
      .pool_file = vector.Path("pool.yaml"),
      .controller_config_file = vector.Path("controllerconfig.yaml"),
      .inputs = {vector.Path("inputs")},
      .current_file = PathIfThere(vector, "current.yaml"),
      .overrides_file = PathIfThere(vector, "overrides.json"),
      .os_image_stream_file = PathIfThere(vector, "osimagestream.yaml"),
      .controller_version = "7ff337a4ffac8e7562692181178ede61e4b2eec5",
      .operator_version = "v4.99.0-vectors",
  };
}

std::string HashInputOf(const api::MachineConfigSpec& spec) {
  std::string text;
  EXPECT_TRUE(Succeeded(machineconfig::WriteHashInput(spec, [&](std::string_view piece) { text += piece; })));
  return text;
}

// Each of our sources must be among the expected ones, which may be more: the Operator's tool lists all inputs,
// including those that the selector leaves out.
void ExpectTarget(const json::Value& pool, const machineconfig::Rendered& rendered) {
  const json::Value& configuration = pool.at("spec").at("configuration");
  EXPECT_EQ(configuration.at("name").text(), rendered.config.metadata.name);
  std::set<std::string> names;
  for (const json::Value& source : configuration.at("source")) names.insert(source.at("name").text());
  for (const api::ObjectReference& source : rendered.source) EXPECT_TRUE(names.contains(source.name));
}

TEST_P(RenderVectors, Agree) {
  const Case vector(kKind, GetParam());
  auto rendered = RenderFiles(QuestionOf(vector));
  if (const auto error = vector.TextIfThere("expected-error.txt")) {
    vectors::ExpectContains(MessageOf(rendered), *error);
    return;
  }
  ASSERT_TRUE(Succeeded(rendered));
  EXPECT_EQ(rendered->config.metadata.name, vectors::Trimmed(vector.Text("expected-name.txt")));
  EXPECT_TRUE(HashInputOf(rendered->config.spec) == vector.Text("expected-hash-input.yaml"));

  if (const auto pool = vector.TextIfThere("expected-pool.json")) ExpectTarget(ValueOf(json::Parse(*pool)), *rendered);

  const auto size = machineconfig::CheckFitsCluster(rendered->config);
  if (const auto error = vector.TextIfThere("expected-size-error.txt")) {
    EXPECT_EQ(MessageOf(size), vectors::Trimmed(*error));
  } else {
    EXPECT_TRUE(Succeeded(size));
  }
  const json::Value document = machineconfig::ToDocument(std::move(rendered->config));
  const json::Value expected = ValueOf(json::Parse(vector.Text("expected.json")));
  EXPECT_TRUE(document == expected) << vectors::Differences(&expected, &document).substr(0, 3000);
}

INSTANTIATE_TEST_SUITE_P(All, RenderVectors, testing::ValuesIn(vectors::CaseNames(kKind)), vectors::NameOf);

}  // namespace
}  // namespace pintle::ctl
