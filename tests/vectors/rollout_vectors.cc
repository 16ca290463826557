// SPDX-License-Identifier: Apache-2.0

// Pools and their nodes: who is next, what each node is told, and what the pool's status says.

#include <string>

#include "ctl/rollout.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"
#include "vectors/cases.h"
#include "vectors/differences.h"

namespace pintle::ctl {
namespace {

using vectors::Case;

json::Value Json(const Case& c, const std::string& file) { return ValueOf(json::Parse(c.Text(file))); }

// Asks what the command line would be asked.
RolloutQuestion Question(const Case& c) {
  RolloutQuestion question;
  question.pool_file = c.Path("pool.json");
  question.nodes_file = c.Path("nodes.json");
  for (const char* file : {"mcns.json", "mosc.json", "mosb.json", "controllerconfig.json", "machineconfigs.json",
                           "pools.json", "osimagestream.json"}) {
    if (c.Has(file)) question.other_files.push_back(c.Path(file));
  }
  if (c.Has("options.json")) {
    const json::Value options = Json(c, "options.json");
    if (const json::Value* gates = options.Find("featureGates")) {
      for (const json::Value& gate : *gates) question.feature_gates.push_back(gate.text());
    }
    question.operator_node = options.TextAt({"operatorNode"});
  }
  return question;
}

class RolloutVectors : public testing::TestWithParam<std::string> {};

TEST_P(RolloutVectors, Agree) {
  const Case c("rollout", GetParam());
  json::Value expected = Json(c, "expected.json");
  json::Value got = json::Encode(ValueOf(PreviewRollout(Question(c))).answer);
  // Ours alone.
  got.Erase("recovering");
  // Where the Machine Config Operator crashes there is a status all the same.
  if (expected.Erase("statusPanic")) {
    EXPECT_TRUE(got["status"]["conditions"].is_array());
    got.Erase("status");
  }
  EXPECT_EQ(expected, got) << c.Path("") << vectors::Differences(&expected, &got);
}

INSTANTIATE_TEST_SUITE_P(Vectors, RolloutVectors, testing::ValuesIn(vectors::CaseNames("rollout")), vectors::NameOf);

}  // namespace
}  // namespace pintle::ctl
