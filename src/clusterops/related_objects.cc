// SPDX-License-Identifier: Apache-2.0
#include "clusterops/related_objects.h"

#include <array>
#include <string_view>

namespace pintle::clusterops {
namespace {

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

// An object, or all objects of a resource if the name is empty.
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
    {kRbacGroup, "clusterroles", "machine-config-controller"},
    {kRbacGroup, "clusterroles", "machine-config-controller-events"},
    {kRbacGroup, "clusterroles", "machine-config-daemon"},
    {kRbacGroup, "clusterroles", "machine-config-daemon-events"},
    {kRbacGroup, "clusterroles", "machine-config-server"},
    {kRbacGroup, "clusterroles", "machine-os-builder"},
    {kRbacGroup, "clusterroles", "machine-os-builder-events"},
    {kRbacGroup, "clusterroles", "system:openshift:machine-config-operator:cluster-reader"},
    {kRbacGroup, "clusterrolebindings", "machine-config-controller"},
    {kRbacGroup, "clusterrolebindings", "machine-config-daemon"},
    {kRbacGroup, "clusterrolebindings", "machine-config-server"},
    {kRbacGroup, "clusterrolebindings", "machine-os-builder"},
    {kRbacGroup, "clusterrolebindings", "machine-os-builder-anyuid"},
    {kRbacGroup, "clusterrolebindings", "custom-account-openshift-machine-config-operator"},
    {kRbacGroup, "clusterrolebindings", "system-bootstrap-node-bootstrapper"},
    {kRbacGroup, "clusterrolebindings", "system-bootstrap-node-renewal"},
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
