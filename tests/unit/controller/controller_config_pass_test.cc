// SPDX-License-Identifier: Apache-2.0
#include "controller/controller_config_pass.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kRelease = "machineconfiguration.openshift.io/release-image-version";
constexpr const char* kMaker = "machineconfiguration.openshift.io/generated-by-version";
constexpr const char* kRotates = "machineconfiguration.openshift.io/service-ca-rotate";

json::Value ParsedSource(std::string_view text) { return ValueOf(json::Parse(text)); }

clusterops::ControllerConfigInputs Sources() {
  const auto map = [](std::map<std::string, std::string> data) {
    return api::ConfigMap{.metadata = {}, .data = std::move(data), .binary_data = {}};
  };
  clusterops::ControllerConfigInputs sources;
  sources.infrastructure =
      ParsedSource(R"({"metadata": {"name": "cluster"}, "status": {"platformStatus": {"type": "AWS"}}})");
  sources.network =
      ParsedSource(R"({"spec": {"serviceNetwork": ["172.30.0.0/16"]}, "status": {"networkType": "OVN"}})");
  sources.dns = ParsedSource(R"({"metadata": {"name": "cluster"}, "spec": {"baseDomain": "a.example"}})");
  sources.proxy = ParsedSource(R"({"spec": {}, "status": {"httpProxy": "http://p"}})");
  sources.image = ParsedSource(R"({"spec": {}})");
  sources.root_authority = map({{"ca.crt", "the root"}});
  sources.client_authority = map({{"ca-bundle.crt", "the clients"}});
  sources.os_images = map({{"releaseVersion", "4.21.0"}, {"baseOSContainerImage", "os@sha256:1"}});
  sources.images = ParsedSource(R"({"releaseVersion": "4.21.0", "machineConfigOperator": "mco"})");
  sources.registry_credentials.has_account = true;
  sources.registry_credentials.pull_secret.emplace().data = {{".dockerconfigjson", EncodeBase64(R"({"auths": {}})")}};
  return sources;
}

// Carries out a change as the API server does.
TemplateInput After(const TemplateInput& known, const ControllerConfigChange& change) {
  if (!change.patch) return known;
  auto document = nlohmann::json::parse(json::ToText(json::Encode(known)));
  document = document.patch(nlohmann::json::parse(json::ToText(*change.patch)));
  json::Report report;
  return json::Decode<TemplateInput>(ParsedSource(document.dump()), report);
}

// Returns the ControllerConfig that is made from Sources().
TemplateInput Made() {
  const auto sources = Sources();
  const ControllerConfigChange change = ControllerConfigPass({.sources = sources});
  TemplateInput made;
  if (!change.created) return made;
  made.metadata = change.created->metadata;
  made.metadata.resource_version = "7";
  made.spec = change.created->spec;
  return made;
}

TEST(ControllerConfigPass, CreatesTheControllerConfigOfANewCluster) {
  const TemplateInput made = Made();
  EXPECT_EQ(made.metadata.name, "machine-config-controller");
  EXPECT_EQ(made.metadata.Annotation(kRelease), "4.21.0");
  EXPECT_THAT(made.metadata.Annotation(kMaker), StartsWith("pintle-"));
  EXPECT_EQ(made.spec.TextAt({"clusterDNSIP"}), "172.30.0.10");
}

TEST(ControllerConfigPass, CreatesNothingWhileAnInputIsMissing) {
  auto sources = Sources();
  sources.root_authority.reset();
  const ControllerConfigChange change = ControllerConfigPass({.sources = sources});
  EXPECT_FALSE(change.created);
  EXPECT_THAT(change.problem, HasSubstr("kube-system/root-ca"));
}

TEST(ControllerConfigPass, ChangesNothingThatIsRight) {
  const auto sources = Sources();
  const TemplateInput known = Made();
  EXPECT_FALSE(ControllerConfigPass({.sources = sources, .known = &known}).patch);
}

TEST(ControllerConfigPass, TakesOverTheOperatorsAnnotations) {
  const auto sources = Sources();
  TemplateInput known = Made();
  known.metadata.annotations[kMaker] = "v4.21.0-operator";
  known.metadata.annotations[kRotates] = "false";
  EXPECT_FALSE(ControllerConfigPass({.sources = sources, .known = &known}).patch);
}

TEST(ControllerConfigPass, ReplacesWhatHasChanged) {
  auto sources = Sources();
  TemplateInput known = Made();
  known.spec["of somebody else"] = 1;
  sources.proxy = ParsedSource(R"({"spec": {}, "status": {}})");
  sources.client_authority->data["ca-bundle.crt"] = "renewed";
  const TemplateInput now = After(known, ControllerConfigPass({.sources = sources, .known = &known}));
  EXPECT_TRUE(now.spec["proxy"].is_null());
  EXPECT_TRUE(now.spec.contains("proxy"));
  EXPECT_EQ(now.spec["kubeAPIServerServingCAData"], json::Value("cmVuZXdlZA=="));
  EXPECT_EQ(now.spec["of somebody else"], json::Value(1));
  EXPECT_FALSE(ControllerConfigPass({.sources = sources, .known = &now}).patch);
}

TEST(ControllerConfigPass, PatchesTheVersionThatItKnows) {
  auto sources = Sources();
  const TemplateInput known = Made();
  sources.dns["spec"]["baseDomain"] = "b.example";
  const ControllerConfigChange change = ControllerConfigPass({.sources = sources, .known = &known});
  ASSERT_TRUE(change.patch);
  EXPECT_EQ((*change.patch)[0],
            ParsedSource(R"({"op": "replace", "path": "/metadata/resourceVersion", "value": "7"})"));
}

TEST(ControllerConfigPass, GoesOnWithTheOthersWhileAnInputIsMissing) {
  auto sources = Sources();
  const TemplateInput known = Made();
  sources.root_authority.reset();
  sources.dns["spec"]["baseDomain"] = "b.example";
  const ControllerConfigChange change = ControllerConfigPass({.sources = sources, .known = &known});
  EXPECT_THAT(change.problem, HasSubstr("kube-system/root-ca"));
  const TemplateInput now = After(known, change);
  EXPECT_EQ(now.spec.TextAt({"dns", "spec", "baseDomain"}), "b.example");
  EXPECT_EQ(now.spec["rootCAData"], known.spec["rootCAData"]);
}

TEST(ControllerConfigPass, NamesANewReleaseTogetherWithItsImages) {
  auto sources = Sources();
  const TemplateInput known = Made();
  sources.images["releaseVersion"] = "4.22.0";
  sources.images["machineConfigOperator"] = "newer";
  ControllerConfigChange change = ControllerConfigPass({.sources = sources, .known = &known});
  EXPECT_FALSE(change.patch);
  sources.os_images->data = {{"releaseVersion", "4.22.0"}, {"baseOSContainerImage", "os@sha256:2"}};
  change = ControllerConfigPass({.sources = sources, .known = &known});
  const TemplateInput now = After(known, change);
  EXPECT_EQ(now.metadata.Annotation(kRelease), "4.22.0");
  EXPECT_EQ(now.spec.TextAt({"images", "machineConfigOperator"}), "newer");
  EXPECT_EQ(now.spec.TextAt({"baseOSContainerImage"}), "os@sha256:2");
}

TEST(ControllerConfigPass, AsksNodesToLookAtNewAuthoritiesForATime) {
  const auto sources = Sources();
  const TemplateInput known = Made();
  const TemplateInput asking =
      After(known, ControllerConfigPass({.sources = sources, .known = &known, .are_authorities_new = true}));
  EXPECT_EQ(asking.metadata.Annotation(kRotates), "true");
  const TemplateInput after = After(asking, ControllerConfigPass({.sources = sources, .known = &asking}));
  EXPECT_EQ(after.metadata.Annotation(kRotates), "false");
  EXPECT_EQ(after.metadata.Annotation(kRelease), "4.21.0");
}

TEST(ControllerConfigPass, AddsAnnotationsWhereThereAreNone) {
  const auto sources = Sources();
  TemplateInput known = Made();
  known.metadata.annotations.clear();
  const TemplateInput now = After(known, ControllerConfigPass({.sources = sources, .known = &known}));
  EXPECT_EQ(now.metadata.Annotation(kRelease), "4.21.0");
}

}  // namespace
}  // namespace pintle::controller
