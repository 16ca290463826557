// SPDX-License-Identifier: Apache-2.0
#include "generated/pull_secret.h"

#include <string>

#include "base/base64.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::generated {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kPrefix = "could not merge IRI registry credentials into pull secret: ";

api::Secret PullSecretOf(const std::string& text) {
  api::Secret secret;
  secret.metadata.name = "pull-secret";
  secret.type = "kubernetes.io/dockerconfigjson";
  secret.data = {{".dockerconfigjson", EncodeBase64(text)}};
  return secret;
}

api::Secret RegistryWith(const std::string& password) {
  api::Secret secret;
  secret.metadata.name = kReleaseRegistrySecret;
  secret.data = {{"password", EncodeBase64(password)}};
  return secret;
}

TEST(PullSecretIn, IsTheDecodedValue) {
  EXPECT_EQ(ValueOf(PullSecretIn(PullSecretOf(R"({"auths": {}})"))), R"({"auths": {}})");
}

TEST(PullSecretIn, RefusesOtherSecretsAndDoesNotPrintThem) {
  api::Secret secret = PullSecretOf("hunter2");
  secret.type = "Opaque";
  EXPECT_EQ(MessageOf(PullSecretIn(secret)), "expected secret type kubernetes.io/dockerconfigjson found Opaque");
  secret = PullSecretOf("");
  secret.data = {{".dockerconfigjson", "hunter2!"}};
  EXPECT_EQ(MessageOf(PullSecretIn(secret)),
            "the secret pull-secret has no valid .dockerconfigjson; set it to the credentials in base64");
  secret.data.clear();
  EXPECT_THAT(MessageOf(PullSecretIn(secret)), HasSubstr("has no valid .dockerconfigjson"));
}

TEST(WithReleaseRegistry, AddsBothAddressesAndSortsTheKeys) {
  const api::Secret registry = RegistryWith("s3cret");
  const std::string merged =
      ValueOf(WithReleaseRegistry(R"({ "z": "<", "auths": {"r.test": {"auth": "eDp5"}} })", &registry, "demo.test"));
  const std::string auth = EncodeBase64("openshift:s3cret");
  EXPECT_EQ(merged, R"({"auths":{"api-int.demo.test:22625":{"auth":")" + auth + R"("},"localhost:22625":{"auth":")" +
                        auth + R"("},"r.test":{"auth":"eDp5"}},"z":"\u003c"})");
}

TEST(WithReleaseRegistry, ReplacesOnlyOutdatedCredentials) {
  const api::Secret registry = RegistryWith("s3cret");
  const std::string auth = EncodeBase64("openshift:s3cret");
  const std::string current = "{ \"auths\": {\"localhost:22625\": {\"auth\": \"" + auth +
                              "\"}, \"api-int.demo.test:22625\": {\"auth\": \"" + auth + "\"}} }";
  EXPECT_EQ(ValueOf(WithReleaseRegistry(current, &registry, "demo.test")), current);
  const api::Secret renewed = RegistryWith("other");
  const std::string merged = ValueOf(WithReleaseRegistry(current, &renewed, "demo.test"));
  EXPECT_THAT(merged, HasSubstr(EncodeBase64("openshift:other")));
  EXPECT_THAT(merged, Not(HasSubstr(auth)));
}

TEST(WithReleaseRegistry, NamesTheMissingPartAndPrintsNoCredentials) {
  const api::Secret registry = RegistryWith("s3cret");
  EXPECT_THAT(MessageOf(WithReleaseRegistry("{}", nullptr, "demo.test")),
              StartsWith(std::string(kPrefix) + "there is no Secret internal-release-image-registry-auth"));
  EXPECT_THAT(MessageOf(WithReleaseRegistry("{}", &registry, "")), HasSubstr("spec.dns.spec.baseDomain"));
  const api::Secret empty = RegistryWith("");
  EXPECT_THAT(MessageOf(WithReleaseRegistry("{}", &empty, "demo.test")), HasSubstr("has an empty password; set it to"));
  for (const char* wrong : {"[\"hunter2\"]", "{\"auths\": \"hunter2\"}", "hunter2"}) {
    const std::string message = MessageOf(WithReleaseRegistry(wrong, &registry, "demo.test"));
    EXPECT_THAT(message, StartsWith(kPrefix));
    EXPECT_THAT(message, Not(HasSubstr("hunter2")));
  }
}

}  // namespace
}  // namespace pintle::generated
