// SPDX-License-Identifier: Apache-2.0
#pragma once

// A small cluster that is being installed: templates for two roles, and manifests.

#include <string>
#include <vector>

#include "generated/bootstrap.h"
#include "generated/manifests.h"
#include "generated/template_folder.h"
#include "json/parse.h"
#include "support/expect.h"

namespace pintle::generated {

// Returns templates with the files that other configs are based on.
inline TemplateFolder SmallTemplates() {
  TemplateFolder templates("t");
  const auto add = [&](const std::string& role, const std::string& name, const std::string& path,
                       const std::string& contents) {
    templates.Add(role + "/01-" + role + "/_base/files/" + name,
                  "path: " + path + "\nmode: 0644\ncontents: {inline: '" + contents + "'}\n");
  };
  for (const std::string role : {"master", "worker"}) {
    add(role, "kubelet", "/etc/kubernetes/kubelet.conf", "{kind: KubeletConfiguration, maxPods: 250}");
    add(role, "policy", "/etc/containers/policy.json", R"({"default": [{"type": "insecureAcceptAnything"}]})");
    add(role, "pull-secret", "/var/lib/kubelet/config.json", "{{.PullSecret}}");
    add(role, "registries", "/etc/containers/registries.conf", "unqualified-search-registries = [\"r.test\"]");
    add(role, "storage", "/etc/containers/storage.conf", "[storage]");
  }
  return templates;
}

inline void AddText(const std::string& text, Manifests& manifests) {
  const auto added = AddManifest(ValueOf(json::Parse(text)), "\"manifests/a.yaml\" [1]", manifests);
  EXPECT_TRUE(Succeeded(added));
}

inline void AddPoolNamed(const std::string& name, Manifests& manifests) {
  AddText(R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
              "metadata": {"name": ")" +
              name + R"(", "uid": "uid-of-)" + name + R"(", "labels": {"pool": ")" + name +
              R"("}}, "spec": {"machineConfigSelector": {"matchLabels":
              {"machineconfiguration.openshift.io/role": ")" +
              name + R"("}}}})",
          manifests);
}

// Returns the manifests that each installation has, with these pools.
inline Manifests SmallManifests(const std::vector<std::string>& pools = {"master", "worker"}) {
  Manifests manifests;
  AddText(R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "ControllerConfig",
              "metadata": {"name": "machine-config-controller",
                           "annotations": {"machineconfiguration.openshift.io/generated-by-version": "v1"}},
              "spec": {"baseOSContainerImage": "r.test/os@sha256:1",
                       "releaseImage": ")"
          "r.test/release@sha256:"
          "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
          R"(",
                       "dns": {"spec": {"baseDomain": "demo.test"}},
                       "infra": {"status": {"platformStatus": {"type": "None"}}}}})",
          manifests);
  AddText(R"({"apiVersion": "config.openshift.io/v1", "kind": "FeatureGate", "metadata": {"name": "cluster"},
              "status": {"featureGates": [{"version": "0.0.1-snapshot", "enabled": [{"name": "GateOn"}]}]}})",
          manifests);
  for (const std::string& pool : pools) AddPoolNamed(pool, manifests);
  return manifests;
}

inline BootstrapSettings SmallSettings() {
  return {.pull_secret = R"({"auths": {}})", .controller_version = "HASH", .release = "0.0.1-snapshot"};
}

}  // namespace pintle::generated
