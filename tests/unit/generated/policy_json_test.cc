// SPDX-License-Identifier: Apache-2.0
#include "generated/policy_json.h"

#include <gtest/gtest.h>

#include "json/parse.h"

namespace pintle::generated {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kPolicyTemplate =
    R"({"default": [{"type": "insecureAcceptAnything"}],
 "transports": {"docker-daemon": {"": [{"type": "insecureAcceptAnything"}]}}}
)";
constexpr std::string_view kPayload = "r.test/release";

ScopeRequirements Signed(const Names& scopes) {
  Requirement requirement;
  requirement.type = "sigstoreSigned";
  requirement.key_data = "a2V5";
  ScopeRequirements requirements;
  for (const std::string& scope : scopes) requirements[scope] = {requirement};
  return requirements;
}

// Prints a policy on one line: "<default> atomic: <scope>=<type>+<type> ... docker: <scope>=...".  Types are cut to two
// letters: "in" accepts anything, "re" rejects, and "si" needs a signature.
std::string PolicyLine(const std::string& text) {
  auto document = json::Parse(text);
  if (!document) return "no JSON";
  const auto types = [](const json::Value& requirements) {
    std::string shown;
    for (const json::Value& requirement : requirements)
      shown += (shown.empty() ? "" : "+") + requirement.TextAt({"type"}).substr(0, 2);
    return shown;
  };
  std::string shown = types((*document)["default"]);
  for (const auto& [transport, scopes] : (*document)["transports"].members()) {
    shown += " " + transport + ":";
    for (const auto& [scope, requirements] : scopes.members()) shown += " " + scope + "=" + types(requirements);
  }
  return shown;
}

struct PolicyRow {
  Names allowed;
  Names blocked;
  Names signed_scopes;
  std::string_view policy;  // The policy, or the error.
};

TEST(PolicyJson, HasScopesByTransports) {
  for (const PolicyRow& row : {
           PolicyRow{{"a"}, {}, {}, "re atomic: a=in docker: a=in docker-daemon: =in"},
           {{}, {"b", "*.w"}, {}, "in atomic: *.w=re b=re docker: *.w=re b=re docker-daemon: =in"},
           {{}, {}, {"s"}, "in atomic: s=si docker: s=si docker-daemon: =in"},
           {{"a", "a/b/c/d"}, {}, {}, "re atomic: a=in docker: a=in a/b/c/d=in docker-daemon: =in"},
           {{"a/b/c/d"}, {}, {}, "re atomic: docker: a/b/c/d=in docker-daemon: =in"},
           {{"s", "t"}, {}, {"s"}, "re atomic: s=si t=in docker: s=si t=in docker-daemon: =in"},
           {{"s"}, {}, {"s/x"}, "re atomic: s=in s/x=si docker: s=in s/x=si docker-daemon: =in"},
           {{}, {"b"}, {"s"}, "in atomic: b=re s=si docker: b=re s=si docker-daemon: =in"},
           {{"r.test/release"},
            {"b"},
            {},
            "in atomic: b=re r.test/release=in docker: b=re r.test/release=in docker-daemon: =in"},
           {{"a"},
            {"b"},
            {},
            "invalid images config: only one of AllowedRegistries or BlockedRegistries may be specified"},
           {{"r.test/release", "r.test/release"},
            {"b"},
            {},
            "invalid images config: only one of AllowedRegistries or BlockedRegistries may be specified"},
           {{"x.*"}, {}, {}, "invalid entry for allowed registries \"x.*\""},
           {{}, {"*"}, {}, "invalid entry for blocked registries \"*\""},
           {{"t"}, {}, {"s"}, "clusterimagePolicy configured for the scope s is not nested inside allowedRegistries"},
           {{}, {"s"}, {"s/x"}, "clusterimagePolicy configured for the scope s/x is nested inside blockedRegistries"},
           // Only the first problem is reported: a contradiction, then a policy, then a scope.
           {{"x.*"},
            {"*"},
            {"s"},
            "invalid images config: only one of AllowedRegistries or BlockedRegistries may be specified"},
           {{"x.*"}, {}, {"s"}, "clusterimagePolicy configured for the scope s is not nested inside allowedRegistries"},
           {{},
            {"s", "*"},
            {"s/x"},
            "clusterimagePolicy configured for the scope s/x is nested inside "
            "blockedRegistries"},
           {{"r.test/release"},
            {"a"},
            {"a/x", "z"},
            "clusterimagePolicy configured for the scope a/x is not nested inside allowedRegistries"},
           {{"r.test/release"},
            {"r.test/release/a"},
            {"r.test/release/a", "z"},
            "clusterimagePolicy configured for the scope z is not nested inside allowedRegistries"},
       }) {
    const auto policy = PolicyJson(kPolicyTemplate, {row.allowed, row.blocked, kPayload}, Signed(row.signed_scopes));
    EXPECT_EQ(policy ? PolicyLine(*policy) : policy.error().message(), row.policy);
  }
}

TEST(PolicyJson, IsTheTemplateIfThereIsNothingToChange) {
  EXPECT_EQ(*PolicyJson(kPolicyTemplate, {{}, {}, kPayload}, {}), kPolicyTemplate);
}

TEST(PolicyJson, IsWrittenAsGoWritesIt) {
  EXPECT_EQ(*PolicyJson(R"({"default":[{"type":"signedBy","keyType":"GPGKeys","keyPath":"/k"}],"transports":{}})",
                        {{}, {}, kPayload}, Signed({"a<b"})),
            R"({
  "default": [
    {
      "type": "signedBy",
      "keyType": "GPGKeys",
      "keyPath": "/k"
    }
  ],
  "transports": {
    "atomic": {
      "a\u003cb": [
        {
          "type": "sigstoreSigned",
          "keyData": "a2V5"
        }
      ]
    },
    "docker": {
      "a\u003cb": [
        {
          "type": "sigstoreSigned",
          "keyData": "a2V5"
        }
      ]
    }
  }
})");
}

TEST(PolicyJson, RefusesATemplateThatItCannotReadInFull) {
  for (const std::string_view wrong :
       {"", "[]", R"({"default":[{"type":"signedBy","unknown":1}],"transports":{}})",
        R"({"default":[],"transports":{},"more":1})", R"({"default":{},"transports":{}})"}) {
    EXPECT_FALSE(PolicyJson(wrong, {{}, {}, kPayload}, Signed({"s"}))) << wrong;
  }
}

TEST(NamespacePolicyJson, AddsToThePolicyOfTheCluster) {
  const Names allowed = {"s", "t"};
  const std::string of_cluster = *PolicyJson(kPolicyTemplate, {allowed, {}, kPayload}, Signed({"s"}));
  EXPECT_EQ(PolicyLine(*NamespacePolicyJson(of_cluster, {allowed, {}, kPayload}, Signed({"t", "t/a/b/c"}))),
            "re atomic: s=si t=in+si docker: s=si t=in+si t/a/b/c=si docker-daemon: =in");
  EXPECT_EQ(PolicyLine(*NamespacePolicyJson(kPolicyTemplate, {{}, {}, kPayload}, Signed({"u"}))),
            "in atomic: u=si docker: u=si docker-daemon: =in");
}

TEST(NamespacePolicyJson, RefusesAScopeThatIsNotAllowedOrIsBlocked) {
  const Names scopes = {"s"};
  EXPECT_EQ(NamespacePolicyJson(kPolicyTemplate, {scopes, {}, kPayload}, Signed({"t"})).error().message(),
            "imagePolicy configured for the scope t is not nested inside allowedRegistries");
  EXPECT_EQ(NamespacePolicyJson(kPolicyTemplate, {{}, scopes, kPayload}, Signed({"s/x"})).error().message(),
            "imagePolicy configured for the scope s/x is nested inside blockedRegistries");
}

}  // namespace
}  // namespace pintle::generated
