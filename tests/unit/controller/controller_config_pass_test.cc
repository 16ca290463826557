// SPDX-License-Identifier: Apache-2.0
#include "controller/controller_config_pass.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"
#include "unit/net/made_certificate.h"

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
  sources.image_setting = ParsedSource(R"({"spec": {}})");
  sources.root_authority = map({{"ca.crt", NamedCertificate("root")}});
  sources.client_authority = map({{"ca-bundle.crt", NamedCertificate("clients")}});
  sources.os_images = map({{"releaseVersion", "4.21.0"}, {"baseOSContainerImage", "os@sha256:1"}});
  sources.release_images = ParsedSource(R"({"releaseVersion": "4.21.0", "machineConfigOperator": "mco"})");
  sources.registry_credentials.has_account = true;
  sources.registry_credentials.pull_secret.emplace().data = {{".dockerconfigjson", EncodeBase64(R"({"auths": {}})")}};
  return sources;
}

// Carries out a change as the API server does.
WholeControllerConfig After(const WholeControllerConfig& known, const ControllerConfigChange& change) {
  if (!change.patch) return known;
  auto document = nlohmann::json::parse(json::ToText(json::Encode(known)));
  document = document.patch(nlohmann::json::parse(json::ToText(*change.patch)));
  json::Report report;
  return json::Decode<WholeControllerConfig>(ParsedSource(document.dump()), report);
}

// Returns the ControllerConfig that is made from Sources(), as if the API server had created it.
WholeControllerConfig ControllerConfigOfSources() {
  const auto sources = Sources();
  const ControllerConfigChange change = ControllerConfigPass({.sources = sources});
  WholeControllerConfig made;
  if (!change.created) return made;
  made.metadata = change.created->metadata;
  made.metadata.resource_version = "7";
  made.spec = change.created->spec;
  return made;
}

TEST(ControllerConfigPass, CreatesTheControllerConfigOfANewCluster) {
  const WholeControllerConfig made = ControllerConfigOfSources();
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

TEST(ControllerConfigPass, MakesNoPatchIfNoSourceHasChanged) {
  const auto sources = Sources();
  const WholeControllerConfig known = ControllerConfigOfSources();
  EXPECT_FALSE(ControllerConfigPass({.sources = sources, .known = &known}).patch);
}

TEST(ControllerConfigPass, TakesOverTheOperatorsAnnotations) {
  const auto sources = Sources();
  WholeControllerConfig known = ControllerConfigOfSources();
  known.metadata.annotations[kMaker] = "v4.21.0-operator";
  known.metadata.annotations[kRotates] = "false";
  EXPECT_FALSE(ControllerConfigPass({.sources = sources, .known = &known}).patch);
}

TEST(ControllerConfigPass, ReplacesFieldsWhoseSourceHasChanged) {
  auto sources = Sources();
  WholeControllerConfig known = ControllerConfigOfSources();
  known.spec["of somebody else"] = 1;
  sources.proxy = ParsedSource(R"({"spec": {}, "status": {}})");
  sources.client_authority->data["ca-bundle.crt"] = NamedCertificate("renewed");
  const WholeControllerConfig now = After(known, ControllerConfigPass({.sources = sources, .known = &known}));
  EXPECT_TRUE(now.spec["proxy"].is_null());
  EXPECT_TRUE(now.spec.contains("proxy"));
  EXPECT_EQ(now.spec["kubeAPIServerServingCAData"], json::Value(EncodeBase64(NamedCertificate("renewed"))));
  EXPECT_EQ(now.spec["of somebody else"], json::Value(1));
  EXPECT_FALSE(ControllerConfigPass({.sources = sources, .known = &now}).patch);
}

TEST(ControllerConfigPass, PatchesTheVersionThatItKnows) {
  auto sources = Sources();
  const WholeControllerConfig known = ControllerConfigOfSources();
  sources.dns["spec"]["baseDomain"] = "b.example";
  const ControllerConfigChange change = ControllerConfigPass({.sources = sources, .known = &known});
  ASSERT_TRUE(change.patch);
  EXPECT_EQ((*change.patch)[0],
            ParsedSource(R"({"op": "replace", "path": "/metadata/resourceVersion", "value": "7"})"));
}

TEST(ControllerConfigPass, GoesOnWithOtherFieldsWhileAnInputIsMissing) {
  auto sources = Sources();
  const WholeControllerConfig known = ControllerConfigOfSources();
  sources.root_authority.reset();
  sources.dns["spec"]["baseDomain"] = "b.example";
  const ControllerConfigChange change = ControllerConfigPass({.sources = sources, .known = &known});
  EXPECT_THAT(change.problem, HasSubstr("kube-system/root-ca"));
  const WholeControllerConfig now = After(known, change);
  EXPECT_EQ(now.spec.TextAt({"dns", "spec", "baseDomain"}), "b.example");
  EXPECT_EQ(now.spec["rootCAData"], known.spec["rootCAData"]);
}

TEST(ControllerConfigPass, NamesANewReleaseTogetherWithItsImages) {
  auto sources = Sources();
  const WholeControllerConfig known = ControllerConfigOfSources();
  sources.release_images["releaseVersion"] = "4.22.0";
  sources.release_images["machineConfigOperator"] = "newer";
  ControllerConfigChange change = ControllerConfigPass({.sources = sources, .known = &known});
  EXPECT_FALSE(change.patch);
  sources.os_images->data = {{"releaseVersion", "4.22.0"}, {"baseOSContainerImage", "os@sha256:2"}};
  change = ControllerConfigPass({.sources = sources, .known = &known});
  const WholeControllerConfig now = After(known, change);
  EXPECT_EQ(now.metadata.Annotation(kRelease), "4.22.0");
  EXPECT_EQ(now.spec.TextAt({"images", "machineConfigOperator"}), "newer");
  EXPECT_EQ(now.spec.TextAt({"baseOSContainerImage"}), "os@sha256:2");
}

TEST(ControllerConfigPass, WaitsForTheOsImageStreamOfANewRelease) {
  auto sources = Sources();
  sources.has_os_streams = true;
  sources.os_image_stream.emplace();
  auto& stream = *sources.os_image_stream;
  stream.metadata.annotations = {{kRelease, "FIRST"}};
  stream.status = {.available_streams = {{"rhel-9", "os@sha256:1", ""}}, .default_stream = "rhel-9"};
  // The configs that were generated for the present release have the version of its stream.
  api::MachineConfig generated;
  generated.metadata.annotations = {{"machineconfiguration.openshift.io/generated-by-controller-version", "FIRST"}};
  View view;
  view.configs = {&generated};
  WholeControllerConfig known = ControllerConfigOfSources();
  const auto look = [&] {
    AddPresent(known, view, sources);
    const ControllerConfigChange change = ControllerConfigPass({.sources = sources, .known = &known});
    known = After(known, change);
    return change.problem;
  };
  EXPECT_EQ(look(), "");
  EXPECT_EQ(known.metadata.Annotation("pintle.io/os-image-stream"), "4.21.0 FIRST");
  for (const std::string next : {"SECOND", "THIRD"}) {
    const std::string release = next == "SECOND" ? "4.22.0" : "4.23.0";
    const std::string before = known.metadata.Annotation(kRelease);
    sources.release_images["releaseVersion"] = release;
    EXPECT_THAT(look(), HasSubstr("the OSImageStream cluster is not that of the release " + release));
    EXPECT_EQ(known.metadata.Annotation(kRelease), before);
    stream.metadata.annotations[kRelease] = next;
    stream.status.available_streams[0].os_image = "os of " + release;
    EXPECT_EQ(look(), "");
    EXPECT_EQ(known.metadata.Annotation(kRelease), release);
    EXPECT_EQ(known.spec.TextAt({"baseOSContainerImage"}), "os of " + release);
  }
}

TEST(ControllerConfigPass, AsksNodesToLookAtNewAuthoritiesForATime) {
  const auto sources = Sources();
  const WholeControllerConfig known = ControllerConfigOfSources();
  const WholeControllerConfig asking =
      After(known, ControllerConfigPass({.sources = sources, .known = &known, .are_authorities_new = true}));
  EXPECT_EQ(asking.metadata.Annotation(kRotates), "true");
  const WholeControllerConfig after = After(asking, ControllerConfigPass({.sources = sources, .known = &asking}));
  EXPECT_EQ(after.metadata.Annotation(kRotates), "false");
  EXPECT_EQ(after.metadata.Annotation(kRelease), "4.21.0");
}

TEST(ControllerConfigPass, AddsAnnotationsWhereThereAreNone) {
  const auto sources = Sources();
  WholeControllerConfig known = ControllerConfigOfSources();
  known.metadata.annotations.clear();
  const WholeControllerConfig now = After(known, ControllerConfigPass({.sources = sources, .known = &known}));
  EXPECT_EQ(now.metadata.Annotation(kRelease), "4.21.0");
}

}  // namespace
}  // namespace pintle::controller
