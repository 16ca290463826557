// SPDX-License-Identifier: Apache-2.0

// Decides about pools and their nodes: the next nodes, their patches and the pool's status must be the Operator's.

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

// Returns the input that `pintle rollout` would make of the case's files.
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
  // Only our answer has this key.
  got.Erase("recovering");
  // In this case the Machine Config Operator crashes, and we return a status.
  if (expected.Erase("statusPanic")) {
    EXPECT_TRUE(got["status"]["conditions"].is_array());
    got.Erase("status");
  }
  EXPECT_EQ(expected, got) << c.Path("") << vectors::Differences(&expected, &got);
}

INSTANTIATE_TEST_SUITE_P(Vectors, RolloutVectors, testing::ValuesIn(vectors::CaseNames("rollout")), vectors::NameOf);

}  // namespace
}  // namespace pintle::ctl
