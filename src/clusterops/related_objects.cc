// SPDX-License-Identifier: Apache-2.0
#include "clusterops/related_objects.h"

#include <array>
#include <string>
#include <string_view>

namespace pintle::clusterops {
namespace {

constexpr std::string_view kRights = "rbac.authorization.k8s.io";

struct Related {
  std::string_view group;
  std::string_view resource;
  std::string_view name;
};

constexpr auto kRelated = std::to_array<Related>({
    {"", "namespaces", "openshift-machine-config-operator"},
    {"machineconfiguration.openshift.io", "machineconfigpools", ""},
    {"machineconfiguration.openshift.io", "controllerconfigs", ""},
    {"machineconfiguration.openshift.io", "kubeletconfigs", ""},
    {"machineconfiguration.openshift.io", "containerruntimeconfigs", ""},
    {"machineconfiguration.openshift.io", "machineconfigs", ""},
    {"operator.openshift.io", "machineconfigurations", ""},
    {"", "nodes", ""},
    {"", "namespaces", "openshift-kni-infra"},
    {"", "namespaces", "openshift-openstack-infra"},
    {"", "namespaces", "openshift-ovirt-infra"},
    {"", "namespaces", "openshift-vsphere-infra"},
    {"", "namespaces", "openshift-nutanix-infra"},
    {"", "namespaces", "openshift-cloud-platform-infra"},
    {kRights, "clusterroles", "machine-config-controller"},
    {kRights, "clusterroles", "machine-config-controller-events"},
    {kRights, "clusterroles", "machine-config-daemon"},
    {kRights, "clusterroles", "machine-config-daemon-events"},
    {kRights, "clusterroles", "machine-config-server"},
    {kRights, "clusterroles", "machine-os-builder"},
    {kRights, "clusterroles", "machine-os-builder-events"},
    {kRights, "clusterroles", "system:openshift:machine-config-operator:cluster-reader"},
    {kRights, "clusterrolebindings", "machine-config-controller"},
    {kRights, "clusterrolebindings", "machine-config-daemon"},
    {kRights, "clusterrolebindings", "machine-config-server"},
    {kRights, "clusterrolebindings", "machine-os-builder"},
    {kRights, "clusterrolebindings", "machine-os-builder-anyuid"},
    {kRights, "clusterrolebindings", "custom-account-openshift-machine-config-operator"},
    {kRights, "clusterrolebindings", "system-bootstrap-node-bootstrapper"},
    {kRights, "clusterrolebindings", "system-bootstrap-node-renewal"},
});

}  // namespace

std::vector<api::RelatedObject> RelatedObjects() {
  std::vector<api::RelatedObject> objects;
  for (const Related& related : kRelated) {
    api::RelatedObject& object = objects.emplace_back();
    object.group = related.group;
    object.resource = related.resource;
    object.name = related.name;
  }
  return objects;
}

}  // namespace pintle::clusterops
