// SPDX-License-Identifier: Apache-2.0

// Compares two configs: the differences and the actions on a node must be those of the Operator.

#include <string>
#include <utility>

#include "ctl/diff.h"
#include "json/parse.h"
#include "support/expect.h"
#include "vectors/cases.h"

namespace pintle::ctl {
namespace {

using vectors::Case;

constexpr const char* kKind = "diff";

class DiffVectors : public testing::TestWithParam<std::string> {};

std::optional<std::string> PathIfThere(const Case& vector, const std::string& file) {
  if (!vector.Has(file)) return std::nullopt;
  return vector.Path(file);
}

TEST_P(DiffVectors, Agree) {
  const Case vector(kKind, GetParam());
  const DiffPreview preview = ValueOf(PreviewDiff({
      .old_file = vector.Path("old.json"),
      .new_file = vector.Path("new.json"),
      .policy_file = PathIfThere(vector, "nodedisruptionpolicy.json"),
      .overrides_file = PathIfThere(vector, "overrides.json"),
  }));
  const json::Value expected = ValueOf(json::Parse(vector.Text("expected.json")));
  for (const auto& [key, value] : expected.members()) {
    const json::Value ours = std::as_const(preview.answer)[key];
    EXPECT_TRUE(ours == value) << key << "\n  ours: " << json::ToText(ours) << "\n  MCO's: " << json::ToText(value);
  }
  for (const char* error :
       {"diffError", "reconcilableError", "validateNewError", "drainError", "firstBootDrainError"}) {
    EXPECT_EQ(preview.answer.contains(error), expected.contains(error)) << error;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DiffVectors, testing::ValuesIn(vectors::CaseNames(kKind)), vectors::NameOf);

}  // namespace
}  // namespace pintle::ctl
