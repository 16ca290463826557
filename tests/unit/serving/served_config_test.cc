// SPDX-License-Identifier: Apache-2.0
#include "serving/served_config.h"

#include <string>
#include <vector>

#include "base/base64.h"
#include "ignition/data_url.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::serving {
namespace {

using ignition::SpecVersion;
using json::Value;

api::MachineConfig Config(Value ignition) {
  api::MachineConfig config;
  config.metadata.name = "rendered-worker-1";
  config.spec.os_image_url = "registry/os@sha256:1";
  ignition["ignition"]["version"] = "3.5.0";
  config.spec.config = std::move(ignition);
  return config;
}

Value Served(const ServedSources& sources, SpecVersion version = SpecVersion::k3_5) {
  return ValueOf(json::Parse(ValueOf(ServedText(sources, version))));
}

std::vector<std::string> PathsOf(const Value& served) {
  std::vector<std::string> paths;
  for (const Value& file : served["storage"]["files"]) paths.push_back(file["path"].text());
  return paths;
}

const Value& FileOf(const Value& served, const std::string& path) {
  for (const Value& file : served["storage"]["files"]) {
    if (file["path"] == path) return file;
  }
  throw std::runtime_error("there is no " + path);
}

std::string ContentsOf(const Value& served, const std::string& path) {
  return ValueOf(ignition::DecodeDataUrl(FileOf(served, path)["contents"]["source"].text()));
}

Value MachineConfigIn(const Value& served) {
  return ValueOf(json::Parse(ContentsOf(served, "/etc/ignition-machine-config-encapsulated.json")));
}

TEST(ServedConfig, IsTheNewestOneOnceAMachineOfThePoolRunsIt) {
  api::MachineConfigPool pool;
  pool.spec.configuration.name = "new";
  pool.status.configuration.name = "old";
  EXPECT_EQ(ServedConfigName(pool), "old");
  pool.status.updated_machine_count = 1;
  EXPECT_EQ(ServedConfigName(pool), "new");
}

TEST(ServedText, AddsThePartsThatMakeAMachineANode) {
  const Value served = Served({.config = Config({}), .kubelet_authorities = "K", .cloud_authorities = "C"});
  EXPECT_THAT(
      PathsOf(served),
      testing::ElementsAre("/etc/kubernetes/kubelet-ca.crt",
                           "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem",
                           "/etc/machine-config-daemon/node-annotations.json", "/etc/kubernetes/kubeconfig",
                           "/etc/mcs-machine-config-content.json", "/etc/ignition-machine-config-encapsulated.json"));
  for (const Value& file : served["storage"]["files"]) {
    EXPECT_EQ(file["mode"], 0644);
    EXPECT_EQ(file["overwrite"], true);
  }
}

// The file is compressed, so the bundle cannot be inserted directly.  The digest of the old contents must not stay.
TEST(ServedText, ReplacesTheWholeContentsOfAnExistingFile) {
  const Value file = {{"path", "/etc/kubernetes/kubelet-ca.crt"},
                      {"mode", 0600},
                      {"contents",
                       {{"source", "data:;base64,H4sIAAAAAAAC/6uooD0AAI9dDl5kAAAA"},
                        {"compression", "gzip"},
                        {"verification", {{"hash", "sha512-" + std::string(128, 'a')}}}}}};
  const ServedSources sources = {.config = Config({{"storage", {{"files", Value::array({file})}}}}),
                                 .kubelet_authorities = "PEM"};
  const Value served = FileOf(Served(sources), "/etc/kubernetes/kubelet-ca.crt");
  EXPECT_EQ(served["contents"], Value({{"source", "data:,PEM"}}));
  EXPECT_EQ(served["mode"], 0600);

  ServedSources without = sources;
  without.kubelet_authorities.clear();
  EXPECT_EQ(FileOf(Served(without), "/etc/kubernetes/kubelet-ca.crt"), file);
}

TEST(ServedText, MovesKernelArgumentsToTheMachineConfigForAVersionWithoutThem) {
  ServedSources sources = {.config = Config({{"kernelArguments", {{"shouldExist", {"foo"}}}}})};
  sources.config.spec.kernel_arguments = {"base"};
  const Value newer = Served(sources, SpecVersion::k3_3);
  EXPECT_EQ(newer["kernelArguments"]["shouldExist"], Value::array({"foo"}));
  EXPECT_EQ(MachineConfigIn(newer)["spec"]["kernelArguments"], Value::array({"base"}));
  // The list does not grow when the config is served again.
  for (int i = 0; i < 2; ++i) {
    const Value older = Served(sources, SpecVersion::k3_2);
    EXPECT_FALSE(older.contains("kernelArguments"));
    EXPECT_EQ(MachineConfigIn(older)["spec"]["kernelArguments"], Value({"base", "foo"}));
  }
  sources.config = Config({{"kernelArguments", {{"shouldNotExist", {"foo"}}}}});
  EXPECT_EQ(MessageOf(ServedText(sources, SpecVersion::k3_2)),
            "can't serve version 3.2.0 with ignition KernelArguments.ShouldNotExist populated");
  EXPECT_TRUE(Succeeded(ServedText(sources, SpecVersion::k3_3)));
}

TEST(ServedText, NamesTheImageOfTheMachinesPool) {
  ServedSources sources = {.config = Config({}), .image = "registry/built@sha256:2"};
  const Value served = Served(sources);
  EXPECT_THAT(ContentsOf(served, "/etc/machine-config-daemon/node-annotations.json"),
              testing::AllOf(
                  testing::HasSubstr(R"("machineconfiguration.openshift.io/currentImage":"registry/built@sha256:2")"),
                  testing::HasSubstr(R"("machineconfiguration.openshift.io/desiredImage":"registry/built@sha256:2")"),
                  testing::HasSubstr(R"("machineconfiguration.openshift.io/firstPivotConfig":"rendered-worker-1")")));
  EXPECT_EQ(MachineConfigIn(served)["spec"]["osImageURL"], "registry/built@sha256:2");
  EXPECT_THAT(ContentsOf(served, "/etc/mcs-machine-config-content.json"),
              testing::HasSubstr("\n        \"osImageURL\": \"registry/built@sha256:2\",\n"));
  sources.image.clear();
  EXPECT_EQ(MachineConfigIn(Served(sources))["spec"]["osImageURL"], "registry/os@sha256:1");
}

TEST(ServedText, HasAnEmptyConfigOfTheRequestedVersionInTheMachineConfig) {
  const ServedSources sources = {.config = Config({{"passwd", {{"users", {{{"name", "core"}}}}}}})};
  EXPECT_EQ(MachineConfigIn(Served(sources, SpecVersion::k3_1))["spec"]["config"],
            Value({{"ignition", {{"version", "3.1.0"}}}}));
  EXPECT_EQ(MachineConfigIn(Served(sources, SpecVersion::k2_2))["spec"]["config"],
            Value({{"ignition", {{"version", "2.2.0"}}}}));
}

TEST(ServedText, NamesThePartsThatAnOlderVersionCannotHold) {
  const ServedSources sources = {.config = Config({{"storage", {{"files", {{{"path", "no/slash"}}}}}}})};
  EXPECT_THAT(MessageOf(ServedText(sources, SpecVersion::k3_5)), testing::HasSubstr("path"));
  EXPECT_THAT(MessageOf(ServedText({.config = Config({})}, SpecVersion::k3_0)), testing::HasSubstr("not supported"));
}

TEST(AddAuthorities, DecodesTheAuthoritiesOrNamesTheBrokenOne) {
  api::ControllerConfig config;
  config.spec.kube_apiserver_serving_ca = EncodeBase64("kube");
  config.spec.cloud_provider_ca = EncodeBase64("cloud");
  ServedSources sources;
  EXPECT_TRUE(Succeeded(AddAuthorities(config, sources)));
  EXPECT_EQ(sources.kubelet_authorities, "kube");
  EXPECT_EQ(sources.cloud_authorities, "cloud");
  config.spec.cloud_provider_ca = "%";
  EXPECT_EQ(MessageOf(AddAuthorities(config, sources)),
            "spec.cloudProviderCAData of the ControllerConfig is not base64");
}

TEST(KubeconfigText, IsTheKubeconfigThatNewMachinesGet) {
  EXPECT_EQ(ValueOf(KubeconfigText("https://api-int:6443", "CA", "token")),
            "clusters:\n"
            "- cluster:\n"
            "    certificate-authority-data: Q0E=\n"
            "    server: https://api-int:6443\n"
            "  name: local\n"
            "contexts:\n"
            "- context:\n"
            "    cluster: local\n"
            "    user: kubelet\n"
            "  name: kubelet\n"
            "current-context: kubelet\n"
            "users:\n"
            "- name: kubelet\n"
            "  user:\n"
            "    token: token\n");
}

}  // namespace
}  // namespace pintle::serving
