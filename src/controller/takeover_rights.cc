// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_rights.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "api/rollout_policy.h"
#include "base/command_line.h"
#include "controller/operator_kinds.h"

namespace pintle::controller {
namespace {

// API groups.
constexpr std::string_view kCore = "";
constexpr std::string_view kApps = "apps";
constexpr std::string_view kConfigs = "machineconfiguration.openshift.io";
constexpr std::string_view kSettings = "config.openshift.io";
constexpr std::string_view kOperators = "operator.openshift.io";
constexpr std::string_view kLeases = "coordination.k8s.io";
constexpr std::string_view kReviews = "authorization.k8s.io";
// Namespaces.  kTheirs and kOwn stand for those of the Machine Config Operator and of Pintle, which options can change.
constexpr std::string_view kEverywhere = "";
constexpr std::string_view kTheirs = "openshift-machine-config-operator";
constexpr std::string_view kOwn = "pintle";

// Several rights.  Verbs, resources and names are lists with commas.  Without names, the rights are for all objects.
struct Grant {
  std::string_view verbs;
  std::string_view group;
  std::string_view resources;
  std::string_view namespace_name = kEverywhere;
  std::string_view names = "";
};

// The rights that the person who runs `takeover` needs in addition to those in kForTheCheck.
constexpr auto kOfTheCaller = std::to_array<Grant>({
    {"get,create,patch,delete", kCore, "configmaps", kOwn, "pintle-takeover"},
    {"get,patch", kSettings, "clusterversions", kEverywhere, "version"},
    {"get,patch", kLeases, "leases", kTheirs, "machine-config,machine-config-controller"},
    {"get,patch", kApps, "deployments", kTheirs, "machine-config-operator,machine-config-controller"},
    {"get,patch", kApps, "deployments", kOwn, "pintle-controller"},
    {"get", kApps, "daemonsets", kTheirs, "machine-config-server,machine-config-daemon"},
    {"list", kCore, "pods", kTheirs},
    {"list,patch", kCore, "nodes"},
    {"list,patch", kConfigs, "controllerconfigs,machineconfigpools"},
    {"patch", kConfigs, "machineconfigpools/status"},
    {"get,patch", kCore, "configmaps", kTheirs, "kubeconfig-data"},
    // With this right, `check` reads the rights of Pintle's account.
    {"create", kReviews, "subjectaccessreviews"},
});

// Before the first step, `check` and `start` read the cluster as Pintle's controller does, with the rights of the
// person who runs them.
constexpr auto kForTheCheck = std::to_array<Grant>({
    {"watch", kCore, "nodes"},
    {"watch", kCore, "pods", kTheirs},
    {"list,watch", kConfigs,
     "controllerconfigs,machineconfignodes,machineconfigpools,machineconfigs,machineosbuilds,machineosconfigs,"
     "osimagestreams"},
    {"list", kConfigs, "internalreleaseimages,pinnedimagesets"},
    {"list,watch", kOperators, "machineconfigurations"},
    {"list,watch", api::kRolloutPolicyGroup, "rolloutpolicies"},
    {"list,watch", kSettings, "dnses,images,infrastructures,networks,proxies,schedulers"},
    {"get", kSettings, "clusteroperators", kEverywhere, "machine-config"},
    {"get", kCore, "namespaces", kEverywhere, kMachineNamespace},
    {"list,watch", kCore, "configmaps", kTheirs,
     "kubeconfig-data,machine-config-operator-images,machine-config-osimageurl,machine-config-server-ca"},
    {"list,watch", kCore, "configmaps", "kube-system", "bootstrap,root-ca"},
    // The Proxy and the Image name some of these ConfigMaps.
    {"list,watch", kCore, "configmaps", "openshift-config"},
    {"list,watch", kCore, "configmaps", "openshift-config-managed",
     "image-registry-ca,kube-apiserver-client-ca,kube-apiserver-server-ca,kube-cloud-config,"
     "merged-trusted-image-registry-ca"},
    {"list,watch", kCore, "configmaps", "openshift-kube-apiserver-operator", "kube-apiserver-to-kubelet-client-ca"},
    {"list,watch", kCore, "secrets", "openshift-config", "pull-secret"},
    // The ServiceAccount names these Secrets, and OpenShift chooses their names.
    {"list,watch", kCore, "serviceaccounts", kTheirs, "machine-os-puller"},
    {"list,watch", kCore, "secrets", kTheirs},
});

// With --templates, `check` and `start` also read all that MachineConfigs are generated from.
constexpr auto kForTheComparison = std::to_array<Grant>({
    {"list,watch", kConfigs, "containerruntimeconfigs,kubeletconfigs"},
    {"watch", kConfigs, "internalreleaseimages"},
    {"list,watch", kSettings,
     "apiservers,clusterimagepolicies,clusterversions,criocredentialproviderconfigs,featuregates,"
     "imagedigestmirrorsets,imagepolicies,imagetagmirrorsets,nodes"},
    {"list,watch", kOperators, "imagecontentsourcepolicies"},
    {"list,watch", kCore, "secrets", "openshift-machine-config-operator", "internal-release-image-registry-auth"},
});

constexpr auto kForTheServer = std::to_array<Grant>({
    {"patch", kApps, "daemonsets", kTheirs, "machine-config-server"},
    {"list", kCore, "pods", kOwn},
    // The API server asks Pintle's server in each pod whether it answers.
    {"get", kCore, "pods/proxy", kOwn},
});

constexpr auto kForTheDaemons = std::to_array<Grant>({
    {"patch", kApps, "daemonsets", kTheirs, "machine-config-daemon"},
});

// These are the rules of the files in deploy/openshift; a test compares them.
constexpr auto kOperatorStatus = std::to_array<Grant>({
    {"list,watch", kSettings, "clusteroperators", kEverywhere, "machine-config"},
    {"create", kSettings, "clusteroperators"},
    {"patch", kSettings, "clusteroperators/status", kEverywhere, "machine-config"},
    {"create", kOperators, "machineconfigurations"},
    {"patch", kOperators, "machineconfigurations/status", kEverywhere, "cluster"},
    {"create,delete", kConfigs, "machineconfignodes"},
    {"get,patch", kLeases, "leases", kTheirs, "machine-config"},
});

constexpr auto kOperatorSettings = std::to_array<Grant>({
    {"list,watch", kSettings, "dnses,images,infrastructures,networks,proxies"},
    {"create,patch", kConfigs, "controllerconfigs"},
    {"list,watch", kCore, "namespaces", kEverywhere, kMachineNamespace},
    {"list,watch", kCore, "configmaps", kTheirs,
     "machine-config-server-ca,machine-config-osimageurl,machine-config-operator-images"},
    {"patch", kCore, "configmaps", kTheirs, "kubeconfig-data,machine-config-server-ca"},
    {"list,watch,patch", kCore, "secrets", kTheirs, "machine-config-server-ca,machine-config-server-tls"},
    {"get", kCore, "secrets", kTheirs, "machine-config-server-ca"},
    {"list,watch", kCore, "serviceaccounts", kTheirs, "machine-os-puller"},
    {"list,watch", kCore, "secrets", kTheirs},
    {"create", kCore, "configmaps,secrets", kTheirs},
    {"list,watch", kCore, "configmaps", "openshift-config"},
    {"list,watch", kCore, "secrets", "openshift-config", "pull-secret"},
    {"list,watch", kCore, "configmaps", "openshift-config-managed",
     "kube-apiserver-client-ca,kube-apiserver-server-ca,image-registry-ca,kube-cloud-config,"
     "merged-trusted-image-registry-ca"},
    {"patch", kCore, "configmaps", "openshift-config-managed", "merged-trusted-image-registry-ca"},
    {"create", kCore, "configmaps", "openshift-config-managed"},
    {"list,watch", kCore, "configmaps", "openshift-kube-apiserver-operator", "kube-apiserver-to-kubelet-client-ca"},
    {"list,watch", kCore, "configmaps", "kube-system", "root-ca,bootstrap"},
    {"list,watch,create,patch", kCore, "secrets", kMachineNamespace},
    {"list,watch", "machine.openshift.io", "machinesets", kMachineNamespace},
});

constexpr auto kGenerator = std::to_array<Grant>({
    {"list,watch,patch", kConfigs, "kubeletconfigs,containerruntimeconfigs"},
    {"list,watch", kConfigs, "internalreleaseimages"},
    {"patch", kConfigs, "kubeletconfigs/status,containerruntimeconfigs/status,controllerconfigs/status"},
    {"update", kConfigs, "kubeletconfigs/finalizers,containerruntimeconfigs/finalizers,controllerconfigs/finalizers"},
    {"list,watch", kSettings,
     "apiservers,clusterimagepolicies,clusterversions,criocredentialproviderconfigs,featuregates,"
     "imagedigestmirrorsets,imagepolicies,images,imagetagmirrorsets,nodes"},
    {"patch", kSettings, "criocredentialproviderconfigs/status,imagepolicies/status"},
    {"list,watch", kOperators, "imagecontentsourcepolicies"},
    {"list,watch", kCore, "secrets", "openshift-config", "pull-secret"},
    {"list,watch", kCore, "secrets", kTheirs, "internal-release-image-registry-auth"},
});

// These are the rules of deploy/agent/rbac.yaml; a test compares them.
constexpr auto kAgent = std::to_array<Grant>({
    {"get", kConfigs, "machineconfigs"},
    {"get,list,watch", kConfigs, "controllerconfigs", kEverywhere, "machine-config-controller"},
    {"get", kCore, "configmaps", kTheirs, "kubeconfig-data"},
    {"get", kOperators, "machineconfigurations"},
    {"get,create,patch", kConfigs, "machineconfignodes"},
    {"patch", kConfigs, "machineconfignodes/status"},
});

// Every cluster gives these rights to kubelets, and an agent uses them.
constexpr auto kKubelet = std::to_array<Grant>({
    {"create", kCore, "events", "default"},
});
// A kubelet may do this with its own Node, and with no other Node.
constexpr auto kOwnNodeVerbs = std::to_array<std::string_view>({"get", "list", "watch", "patch"});

// Returns the namespace for which a Grant stands.
std::string NamespaceIn(const TakeoverSettings& settings, std::string_view written) {
  if (written == kTheirs) return settings.namespace_name;
  return written == kOwn ? settings.own_namespace : std::string(written);
}

void AddRights(std::span<const Grant> grants, const TakeoverSettings& settings, std::vector<Right>& rights) {
  for (const Grant& grant : grants) {
    std::vector<std::string> names = SplitAtCommas(grant.names);
    if (names.empty()) names.emplace_back();
    for (const std::string& verb : SplitAtCommas(grant.verbs)) {
      for (const std::string& resource : SplitAtCommas(grant.resources)) {
        for (const std::string& name : names) {
          rights.push_back({.verb = verb,
                            .group = std::string(grant.group),
                            .resource = resource,
                            .namespace_name = NamespaceIn(settings, grant.namespace_name),
                            // RBAC does not know the name of an object that is being created.
                            .name = verb == "create" ? "" : name});
        }
      }
    }
  }
}

RightsFile FileWith(std::string file, std::span<const Grant> grants, const TakeoverSettings& settings) {
  RightsFile made = {.file = std::move(file), .rights = {}};
  AddRights(grants, settings, made.rights);
  return made;
}

}  // namespace

std::string RightInWords(const Right& right) {
  std::string words = fmt::format("{} {}", right.verb, right.resource);
  if (!right.group.empty()) words += "." + right.group;
  if (!right.name.empty()) words += " " + right.name;
  if (!right.namespace_name.empty()) words += " in the namespace " + right.namespace_name;
  return words;
}

std::vector<Right> RightsForTakeover(const TakeoverSettings& settings) {
  std::vector<Right> rights;
  AddRights(kOfTheCaller, settings, rights);
  AddRights(kForTheCheck, settings, rights);
  if (settings.with_templates) AddRights(kForTheComparison, settings, rights);
  if (settings.with_server) AddRights(kForTheServer, settings, rights);
  if (settings.with_daemons) AddRights(kForTheDaemons, settings, rights);
  return rights;
}

std::vector<RightsFile> RightsOfAccount(const TakeoverSettings& settings) {
  return {FileWith("operator-status-rbac.yaml", kOperatorStatus, settings),
          FileWith("operator-settings-rbac.yaml", kOperatorSettings, settings),
          FileWith("rbac.yaml", kGenerator, settings)};
}

std::vector<Right> RightsOfAgent(const std::string& node, const TakeoverSettings& settings) {
  std::vector<Right> rights;
  AddRights(kAgent, settings, rights);
  AddRights(kKubelet, settings, rights);
  for (const std::string_view verb : kOwnNodeVerbs) {
    rights.push_back({.verb = std::string(verb), .group = "", .resource = "nodes", .namespace_name = "", .name = node});
  }
  return rights;
}

RightsHolder HolderOfAccount(const kube::ObjectName& account) {
  return {
      .user = fmt::format("system:serviceaccount:{}:{}", account.namespace_name, account.name),
      .groups = {"system:serviceaccounts", "system:serviceaccounts:" + account.namespace_name, "system:authenticated"}};
}

RightsHolder HolderOnNode(const std::string& node) {
  return {.user = "system:node:" + node, .groups = {"system:nodes", "system:authenticated"}};
}

json::Value ReviewOf(const Right& right, const std::optional<RightsHolder>& holder) {
  const std::size_t slash = right.resource.find('/');
  json::Value review;
  review["apiVersion"] = "authorization.k8s.io/v1";
  review["kind"] = holder ? "SubjectAccessReview" : "SelfSubjectAccessReview";
  json::Value& attributes = review["spec"]["resourceAttributes"];
  attributes["verb"] = right.verb;
  attributes["group"] = right.group;
  attributes["resource"] = right.resource.substr(0, slash);
  if (slash != std::string::npos) attributes["subresource"] = right.resource.substr(slash + 1);
  attributes["namespace"] = right.namespace_name;
  attributes["name"] = right.name;
  if (!holder) return review;
  json::Value& spec = review["spec"];
  spec["user"] = holder->user;
  for (const std::string& group : holder->groups) spec["groups"].push_back(group);
  return review;
}

std::vector<TakeoverFinding> FindingsAbout(const std::vector<Right>& of_caller,
                                           const std::vector<RightsFile>& of_account,
                                           const std::vector<AgentRights>& of_agents,
                                           const TakeoverSettings& settings) {
  std::vector<TakeoverFinding> findings;
  for (const Right& right : of_caller) {
    findings.push_back({Weight::kObstacle, fmt::format("you may not {}; use an administrator's kubeconfig, or get this "
                                                       "right",
                                                       RightInWords(right))});
  }
  const auto add = [&](const std::string& whose, const std::vector<Right>& lacking, const std::string& file) {
    if (lacking.empty()) return;
    const std::size_t others = lacking.size() - 1;
    findings.push_back(
        {Weight::kObstacle,
         fmt::format(
             "{} may not {}{}; apply deploy/{}", whose, RightInWords(lacking.front()),
             others == 0 ? "" : fmt::format(" (and lacks {} more {})", others, others == 1 ? "right" : "rights"),
             file)});
  };
  for (const RightsFile& file : of_account) {
    add(fmt::format("Pintle's account {}/{}", settings.own_namespace, settings.own_account), file.rights,
        "openshift/" + file.file);
  }
  for (const AgentRights& agent : of_agents) {
    add(fmt::format("the agent on the node {}", agent.node), agent.rights, "agent/rbac.yaml");
  }
  return findings;
}

}  // namespace pintle::controller
