// SPDX-License-Identifier: Apache-2.0
#include "generated/machine_config.h"

#include <gtest/gtest.h>

#include "json/fields.h"
#include "json/parse.h"

namespace pintle::generated {
namespace {

TEST(ConfigText, HasTheMembersOfAFileInTheirOrder) {
  EXPECT_EQ(ConfigText(ConfigOf({{"/etc/a", "hi\n"}})),
            R"({"ignition":{"version":"3.5.0"},"storage":{"files":[{"overwrite":true,"path":"/etc/a",)"
            R"("contents":{"compression":"","source":"data:text/plain;charset=utf-8;base64,aGkK"},"mode":420}]}})");
}

TEST(ConfigText, KeepsEmptyStructsWhereBootstrapDoes) {
  EXPECT_EQ(ConfigText(ConfigOf({{"/etc/a", ""}}), ignition::EmptyStructs::kWritten),
            R"({"ignition":{"config":{"replace":{"verification":{}}},"proxy":{},"security":{"tls":{}},"timeouts":{},)"
            R"("version":"3.5.0"},"kernelArguments":{},"passwd":{},"storage":{"files":[{"group":{},"overwrite":true,)"
            R"("path":"/etc/a","user":{},"contents":{"compression":"","source":)"
            R"("data:text/plain;charset=utf-8;base64,","verification":{}},"mode":420}]},"systemd":{}})");
}

TEST(ConfigText, HasOnlyTheVersionForAnEmptyConfig) {
  EXPECT_EQ(ConfigText(ConfigOf({})), R"({"ignition":{"version":"3.5.0"}})");
  EXPECT_EQ(ConfigText(ignition::Config()), R"({"ignition":{"version":""}})");
}

TEST(ConfigText, EscapesWhatHtmlWouldTakeForMarkup) {
  ignition::Config config = ConfigOf({});
  config.storage.files.emplace_back().path = "/<&>\xE2\x80\xA8";
  EXPECT_NE(ConfigText(config).find(R"("path":"/\u003c\u0026\u003e\u2028")"), std::string::npos);
}

TEST(ToObject, IsTheObjectThatTheApiServerReceives) {
  api::ObjectMeta owner;
  owner.name = "kc";
  owner.uid = "u-1";
  const MachineConfig config{
      .name = "99-worker-generated-kubelet",
      .role = "worker",
      .annotations = MadeBy("HASH"),
      .owner_references = {ControlledBy("KubeletConfig", owner)},
      .config = ConfigText(ConfigOf({})),
      .kernel_arguments = std::vector<std::string>{"quiet"},
      .extensions = {},
  };
  EXPECT_EQ(json::ToText(json::Encode(ToObject(config))),
            R"({"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfig","metadata":{"annotations":)"
            R"({"machineconfiguration.openshift.io/generated-by-controller-version":"HASH"},"labels":)"
            R"({"machineconfiguration.openshift.io/role":"worker"},"name":"99-worker-generated-kubelet",)"
            R"("ownerReferences":[{"apiVersion":"machineconfiguration.openshift.io/v1","blockOwnerDeletion":true,)"
            R"("controller":true,"kind":"KubeletConfig","name":"kc","uid":"u-1"}]},"spec":)"
            R"({"baseOSExtensionsContainerImage":"","config":{"ignition":{"version":"3.5.0"}},"extensions":null,)"
            R"("fips":false,"kernelArguments":["quiet"],"kernelType":"","osImageURL":""}})");
}

TEST(OwnedAtBootstrap, HasNoNameAndNoUid) {
  EXPECT_EQ(json::ToText(json::Encode(OwnedAtBootstrap("config.openshift.io/v1", "Image"))),
            R"({"apiVersion":"config.openshift.io/v1","kind":"Image","name":"","uid":""})");
}

}  // namespace
}  // namespace pintle::generated
