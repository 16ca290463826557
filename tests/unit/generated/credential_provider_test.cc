// SPDX-License-Identifier: Apache-2.0
#include "generated/credential_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/meta.h"
#include "unit/generated/status_times.h"

namespace pintle::generated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Names = std::vector<std::string>;

constexpr std::string_view kPath = "/etc/kubernetes/credential-providers/ecr-credential-provider.yaml";

std::vector<MachineConfig> TemplateWith(std::string_view text) {
  MachineConfig config;
  config.config = ConfigText(ConfigOf({{std::string(kPath), std::string(text)}}));
  return {config};
}

constexpr std::string_view kTemplate = R"(apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
unknown: gone
providers:
  - name: ecr-credential-provider
    matchImages: ["*.ecr.test"]
    defaultCacheDuration: "12h"
    apiVersion: credentialprovider.kubelet.k8s.io/v1
    args: [--verbose]
    env: [{name: OWN, value: "1"}]
)";

Result<CredentialProviderFiles> Made(const Names& images, std::string_view text = kTemplate,
                                     std::string_view platform = "AWS") {
  return FilesOf(api::CredentialProviderConfigSpec{images},
                 {.platform = platform, .role = "worker", .configs = TemplateWith(text)});
}

TEST(FilesOfCredentialProviders, AddAProviderToTheProvidersOfTheTemplate) {
  const auto made = Made({"z.test", "a.test/ns", "z.test", "x.ecr.test"});
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->overlapping, ElementsAre("x.ecr.test"));
  ASSERT_EQ(made->files.size(), 1U);
  EXPECT_EQ(made->files[0].path, kPath);
  EXPECT_EQ(made->files[0].contents, R"(apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- apiVersion: credentialprovider.kubelet.k8s.io/v1
  args:
  - --verbose
  defaultCacheDuration: 12h0m0s
  env:
  - Name: OWN
    Value: "1"
  matchImages:
  - '*.ecr.test'
  name: ecr-credential-provider
- apiVersion: credentialprovider.kubelet.k8s.io/v1
  defaultCacheDuration: 1s
  matchImages:
  - a.test/ns
  - z.test
  name: crio-credential-provider
  tokenAttributes:
    cacheType: Token
    requireServiceAccount: false
    serviceAccountTokenAudience: https://kubernetes.default.svc
)");
}

TEST(FilesOfCredentialProviders, AreNoneIfNoImageIsLeft) {
  EXPECT_THAT(Made({})->files, IsEmpty());
  const auto made = Made({"x.ecr.test"});
  EXPECT_THAT(made->files, IsEmpty());
  EXPECT_THAT(made->overlapping, ElementsAre("x.ecr.test"));
}

TEST(FilesOfCredentialProviders, NeedATemplate) {
  const std::string missing =
      "could not generate original CRIOCredentialProvider config for role worker: could not generate original "
      "credential provider configs: could not find CRIOCredentialProvider Config";
  EXPECT_EQ(Made({"a.test"}, kTemplate, "Azure").error().message(), missing);
  // As in the operator, the file is needed even if no image is listed.
  EXPECT_EQ(Made({}, kTemplate, "Azure").error().message(), missing);
  EXPECT_THAT(Made({"a.test"}, kTemplate, "BareMetal").error().message(), HasSubstr("BareMetal"));
  EXPECT_TRUE(Made({}, kTemplate, "BareMetal"));
  EXPECT_THAT(Made({"a.test"}, "providers: 1").error().message(),
              HasSubstr("error unmarshalling credential provider config: "));
  EXPECT_FALSE(Made({"a.test"}, "a: b\n---\na: b\n"));
  EXPECT_FALSE(Made({"a.test"}, "providers: [{name: a, defaultCacheDuration: soon}]"));
}

TEST(FilesOfCredentialProviders, ChangeTheImagesOfAProviderThatTheTemplateHas) {
  const auto made = Made({"z.test", "x.ecr.test", "known.test"}, R"(providers:
  - name: crio-credential-provider
    matchImages: [known.test, old.test]
    apiVersion: v1
    args: [--own]
  - name: ecr-credential-provider
    matchImages: ["*.ecr.test"]
    defaultCacheDuration: 12h
    apiVersion: v1
)");
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(made->overlapping, ElementsAre("x.ecr.test"));
  ASSERT_EQ(made->files.size(), 1U);
  EXPECT_EQ(made->files[0].contents, R"(apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- apiVersion: v1
  args:
  - --own
  matchImages:
  - known.test
  - z.test
  name: crio-credential-provider
- apiVersion: v1
  defaultCacheDuration: 12h0m0s
  matchImages:
  - '*.ecr.test'
  name: ecr-credential-provider
)");
}

TEST(PatternsOverlap, HoldsIfOnePatternIsInsideTheOther) {
  struct Row {
    std::string_view first;
    std::string_view second;
    bool do_overlap;
  };
  for (const Row& row : {
           Row{"a.test", "a.test", true},
           {"*.test", "a.test", true},
           {"*.test", "a.b.test", true},
           {"*.test", "*.b.test", true},
           {"a.b.gcr.test", "*.gcr.test", true},
           // The kubelet compares these part by part, so an image may match both, but neither includes the other.
           {"*.ecr.*.test", "x.ecr.eu.test", false},
           {"a*.test", "*b.test", false},
           {"*.test", "test", false},
           {"a.test", "b.test", false},
           {"a.test", "a.test:5000", false},
           {"a.test:5000", "a.test:5000", true},
           {"a.test/ns", "a.test/ns/app", true},
           {"a.test", "a.test/ns", true},
           {"a.test/ns", "a.test/other", false},
           {"a.test/fo", "a.test/foo", false},
       }) {
    EXPECT_EQ(PatternsOverlap(row.first, row.second), row.do_overlap) << row.first << " " << row.second;
    EXPECT_EQ(PatternsOverlap(row.second, row.first), row.do_overlap) << row.second << " " << row.first;
  }
}

TEST(ConditionsOfCredentialProviders, ReportSkippedEntriesAndFailures) {
  api::CredentialProviderConfig config;
  config.metadata.generation = 3;
  auto& conditions = config.status.conditions;
  conditions = ConditionsOf(config, Names(), "", kNow);
  ASSERT_EQ(conditions.size(), 2U);
  EXPECT_EQ(conditions[0].type + conditions[0].status + conditions[0].reason + conditions[0].message,
            "ValidatedTrueSucceededSuccess");
  EXPECT_EQ(conditions[1].type + conditions[1].status + conditions[1].reason + conditions[1].message,
            "MachineConfigRenderedTrueMachineConfigRenderingSucceededSuccess");
  EXPECT_EQ(conditions[0].observed_generation, 3);

  config.metadata.generation = 4;
  conditions = ConditionsOf(config, Names{"a.test", "b.test"}, "", kLater);
  EXPECT_EQ(conditions[0].status + conditions[0].reason, "FalseConfigurationPartiallyApplied");
  EXPECT_EQ(conditions[0].message,
            "CRIOCredentialProviderConfig has one or multiple entries that overlap with the original credential "
            "provider config. Skip rendering entries: [a.test b.test].");
  EXPECT_EQ(conditions[0].last_transition_time->at, kLater);
  EXPECT_EQ(conditions[1].last_transition_time->at, kNow);  // The time of an unchanged status stays.
  EXPECT_EQ(conditions[1].observed_generation, 4);

  config.metadata.generation = 5;
  conditions = ConditionsOf(config, std::nullopt, "no template", kLater);
  EXPECT_EQ(conditions[0].status + conditions[0].reason, "FalseConfigurationPartiallyApplied");
  EXPECT_EQ(conditions[0].observed_generation, 4);
  EXPECT_EQ(conditions[1].status + conditions[1].reason + conditions[1].message,
            "FalseMachineConfigRenderingFailedno template");

  conditions = ConditionsOf(config, std::vector<std::string>{"a\x1b[2J"}, std::string(40000, 'x'), kLater);
  EXPECT_THAT(conditions[0].message, HasSubstr("[a\\x1B[2J]"));
  EXPECT_LE(conditions[1].message.size(), api::kLongestConditionMessage);
}

TEST(CredentialProviderMachineConfig, BelongsToItsObject) {
  api::MachineConfigPool pool;
  pool.metadata.name = "worker";
  api::CredentialProviderConfig owner;
  owner.metadata.name = "cluster";
  owner.metadata.uid = "u-1";
  const MachineConfig made = CredentialProviderMachineConfig(pool, {}, owner, "HASH");
  EXPECT_EQ(made.name, "97-worker-generated-credentialproviderconfig");
  EXPECT_EQ(made.config, R"({"ignition":{"version":"3.5.0"}})");
  EXPECT_EQ(made.owner_references.at(0).api_version, "config.openshift.io/v1");
  EXPECT_EQ(made.owner_references.at(0).kind, "CRIOCredentialProviderConfig");
  EXPECT_EQ(made.owner_references.at(0).uid, "u-1");
}

}  // namespace
}  // namespace pintle::generated
