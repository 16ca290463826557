// SPDX-License-Identifier: Apache-2.0
#include "clusterops/registry_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "base/base64.h"

namespace pintle::clusterops {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kOldFormat = ".dockercfg";
constexpr const char* kNewFormat = ".dockerconfigjson";

api::Secret SecretWith(const std::string& key, const std::string& text) {
  api::Secret secret;
  secret.data = {{key, EncodeBase64(text)}};
  return secret;
}

// An account with credentials for the cluster's own registry.
RegistryCredentialInputs UsualInputs() {
  RegistryCredentialInputs inputs;
  inputs.has_account = true;
  inputs.account_secrets = {
      {.name = "puller-1",
       .secret = SecretWith(kOldFormat, R"({"image-registry.openshift-image-registry.svc:5000": {"auth": "cmVn"}})")}};
  inputs.pull_secret = SecretWith(kNewFormat, R"({"auths": {"quay.example": {"auth": "cXVheQ=="}}})");
  return inputs;
}

struct CredentialCase {
  std::string name;
  std::function<void(RegistryCredentialInputs&)> change;
  std::string expected;  // The credentials, or the whole error.
  std::string base_domain = "a.example";

  friend void PrintTo(const CredentialCase& row, std::ostream* out) { *out << row.name; }
};

std::vector<CredentialCase> CredentialCases() {
  using Inputs = RegistryCredentialInputs;
  return {
      {"the usual ones", [](Inputs&) {},
       R"({"auths":{"default-route-openshift-image-registry.apps.a.example":{"auth":"cmVn"},)"
       R"("image-registry.openshift-image-registry.svc:5000":{"auth":"cmVn"},"quay.example":{"auth":"cXVheQ=="}}})"},
      {"a cluster without a domain", [](Inputs&) {},
       R"({"auths":{"image-registry.openshift-image-registry.svc:5000":{"auth":"cmVn"},)"
       R"("quay.example":{"auth":"cXVheQ=="}}})",
       ""},
      {"a cluster without a registry", [](Inputs& in) { in.account_secrets.clear(); },
       R"({"auths":{"quay.example":{"auth":"cXVheQ=="}}})"},
      {"several Secrets of the account, in both formats",
       [](Inputs& in) {
         in.account_secrets = {
             {.name = "1", .secret = SecretWith(kOldFormat, R"({"a": {"auth": "MQ=="}})")},
             {.name = "2", .secret = SecretWith(kNewFormat, R"({"auths": {"b": {"auth": "Mg=="}}})")}};
       },
       R"({"auths":{"a":{"auth":"MQ=="},"b":{"auth":"Mg=="},"quay.example":{"auth":"cXVheQ=="}}})"},
      {"a registry that both name",
       [](Inputs& in) {
         in.account_secrets = {
             {.name = "1", .secret = SecretWith(kOldFormat, R"({"quay.example": {"auth": "MQ=="}})")}};
       },
       R"({"auths":{"quay.example":{"auth":"cXVheQ=="}}})"},
      {"a person's credentials for the registry's address from outside",
       [](Inputs& in) {
         in.pull_secret = SecretWith(
             kNewFormat, R"({"auths": {"default-route-openshift-image-registry.apps.a.example": {"auth": "bWU="}}})");
       },
       R"({"auths":{"default-route-openshift-image-registry.apps.a.example":{"auth":"bWU="},)"
       R"("image-registry.openshift-image-registry.svc:5000":{"auth":"cmVn"}}})"},
      {"all members of credentials",
       [](Inputs& in) {
         in.account_secrets.clear();
         in.pull_secret = SecretWith(kNewFormat, R"({"auths": {"a": {"username": "u", "identitytoken": "t"}}})");
       },
       R"({"auths":{"a":{"identitytoken":"t","username":"u"}}})"},
      {"a pull secret without credentials",
       [](Inputs& in) {
         in.account_secrets.clear();
         in.pull_secret = SecretWith(kNewFormat, "{}");
       },
       ""},

      // In these rows, an input is missing or wrong.
      {"no account", [](Inputs& in) { in.has_account = false; }, "there is no ServiceAccount machine-os-puller"},
      {"no Secret of the account", [](Inputs& in) { in.account_secrets[0].secret.reset(); },
       "there is no Secret puller-1, which the ServiceAccount machine-os-puller names"},
      {"no pull secret", [](Inputs& in) { in.pull_secret.reset(); }, "there is no Secret openshift-config/pull-secret"},
      {"something that cannot be read", [](Inputs& in) { in.why_unreadable = "access is forbidden"; },
       "access is forbidden"},
      {"a Secret of another type", [](Inputs& in) { in.account_secrets[0].secret = SecretWith("password", "x"); },
       "the Secret puller-1: it has neither .dockercfg nor .dockerconfigjson"},
      {"no base64", [](Inputs& in) { in.pull_secret->data[kNewFormat] = "&"; },
       "the Secret openshift-config/pull-secret: .dockerconfigjson is not base64"},
      {"a list", [](Inputs& in) { in.pull_secret = SecretWith(kNewFormat, "[]"); },
       "the Secret openshift-config/pull-secret: .dockerconfigjson is not an object"},
      {"a list in the old format", [](Inputs& in) { in.account_secrets[0].secret = SecretWith(kOldFormat, "[]"); },
       "the Secret puller-1: .dockercfg is not an object"},
      {"a list of credentials", [](Inputs& in) { in.pull_secret = SecretWith(kNewFormat, R"({"auths": []})"); },
       "the Secret openshift-config/pull-secret: auths in .dockerconfigjson is not an object"},
  };
}

class MergedRegistryCredentialsTest : public testing::TestWithParam<CredentialCase> {};

TEST_P(MergedRegistryCredentialsTest, AreThoseOfTheAccountAndOfThePullSecret) {
  RegistryCredentialInputs inputs = UsualInputs();
  GetParam().change(inputs);
  const auto merged = MergedRegistryCredentials(inputs, GetParam().base_domain);
  EXPECT_EQ(merged ? *merged : merged.error().message(), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(All, MergedRegistryCredentialsTest, testing::ValuesIn(CredentialCases()));

TEST(MergedRegistryCredentials, AnErrorNamesTheSecretAndHasNoPartOfIt) {
  const std::string sample = R"({"auths": {"quay.example": {"auth": "S3cret"}}})";
  for (std::size_t end = 0; end < sample.size(); ++end) {
    RegistryCredentialInputs inputs = UsualInputs();
    inputs.pull_secret = SecretWith(kNewFormat, sample.substr(0, end));
    const auto merged = MergedRegistryCredentials(inputs, "a.example");
    ASSERT_FALSE(merged) << end;
    EXPECT_THAT(merged.error().message(), HasSubstr("the Secret openshift-config/pull-secret: .dockerconfigjson: "));
    EXPECT_THAT(merged.error().message(), Not(HasSubstr("S3c")));
  }
}

}  // namespace
}  // namespace pintle::clusterops
