// SPDX-License-Identifier: Apache-2.0
#include "controller/config_outcome.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "json/field_list.h"

namespace pintle::controller {
namespace {

class WriteUnlessAwaitedTest : public testing::Test {
 protected:
  WriteUnlessAwaitedTest() {
    config_.name = "99-worker-generated-kubelet";
    config_.role = "worker";
    config_.config = R"({"ignition":{"version":"3.5.0"}})";
  }

  ConfigOutcome Write() {
    return WriteUnlessAwaited(config_, OwnedParts::kConfig, MadeFrom::kKubeletConfigs,
                              {.view = view_,
                               .sources = sources_,
                               .templates = templates_,
                               .version = "HASH",
                               .now = {},
                               .refused = refused_,
                               .awaited_configs = awaited_},
                              changes_);
  }

  generated::MachineConfig config_;
  View view_;
  SourcesView sources_;
  generated::TemplateFolder templates_{"t"};
  std::map<std::string, std::string, std::less<>> refused_;
  std::set<std::string, std::less<>> awaited_;
  GenerateChanges changes_;
};

TEST_F(WriteUnlessAwaitedTest, WritesAConfigThatIsMissing) {
  const ConfigOutcome outcome = Write();
  EXPECT_FALSE(outcome.is_in_place);
  EXPECT_FALSE(outcome.refusal);
  ASSERT_EQ(changes_.configs.size(), 1U);
  EXPECT_EQ(changes_.configs[0].name, config_.name);
}

TEST_F(WriteUnlessAwaitedTest, WritesNothingAfterTheConfigWasCreated) {
  awaited_ = {config_.name};
  refused_ = {{config_.name, "an earlier refusal"}};
  const ConfigOutcome outcome = Write();
  EXPECT_FALSE(outcome.is_in_place);
  EXPECT_FALSE(outcome.refusal);
  EXPECT_TRUE(changes_.is_empty());
}

TEST_F(WriteUnlessAwaitedTest, WritesNothingIfTheConfigIsInPlace) {
  const api::MachineConfig existing = generated::ToObject(config_);
  view_.configs = {&existing};
  EXPECT_TRUE(Write().is_in_place);
  EXPECT_TRUE(changes_.is_empty());
}

TEST_F(WriteUnlessAwaitedTest, TriesARefusedConfigAgainAndReportsTheRefusal) {
  refused_ = {{config_.name, "spec is too long"}};
  const ConfigOutcome outcome = Write();
  EXPECT_FALSE(outcome.is_in_place);
  ASSERT_TRUE(outcome.refusal);
  EXPECT_EQ(outcome.refusal->message(), "spec is too long");
  EXPECT_EQ(changes_.configs.size(), 1U);
}

}  // namespace
}  // namespace pintle::controller
