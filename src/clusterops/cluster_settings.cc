// SPDX-License-Identifier: Apache-2.0
#include "clusterops/cluster_settings.h"

#include <fmt/core.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/fields.h"
#include "json/report.h"

namespace pintle::clusterops {
namespace {

// ---- the Infrastructure ----

struct ControlPlaneAddresses {
  std::string single;
  std::vector<std::string> all;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"apiServerInternalIP", &ControlPlaneAddresses::single},
      json::Field{"apiServerInternalIPs", &ControlPlaneAddresses::all},
  };
};

struct PlatformFields {
  std::string type;
  ControlPlaneAddresses baremetal;
  ControlPlaneAddresses nutanix;
  ControlPlaneAddresses openstack;
  ControlPlaneAddresses ovirt;
  ControlPlaneAddresses vsphere;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"type", &PlatformFields::type},       json::Field{"baremetal", &PlatformFields::baremetal},
      json::Field{"nutanix", &PlatformFields::nutanix}, json::Field{"openstack", &PlatformFields::openstack},
      json::Field{"ovirt", &PlatformFields::ovirt},     json::Field{"vsphere", &PlatformFields::vsphere},
  };
};

struct InfrastructureStatusFields {
  std::string api_server_internal_url;
  std::string control_plane_topology;
  std::string etcd_discovery_domain;
  std::string platform;
  PlatformFields platform_status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"apiServerInternalURI", &InfrastructureStatusFields::api_server_internal_url},
      json::Field{"controlPlaneTopology", &InfrastructureStatusFields::control_plane_topology},
      json::Field{"etcdDiscoveryDomain", &InfrastructureStatusFields::etcd_discovery_domain},
      json::Field{"platform", &InfrastructureStatusFields::platform},
      json::Field{"platformStatus", &InfrastructureStatusFields::platform_status},
  };
};

struct InfrastructureSpecFields {
  api::NameReference cloud_config;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"cloudConfig", &InfrastructureSpecFields::cloud_config}};
};

struct InfrastructureFields {
  InfrastructureSpecFields spec;
  InfrastructureStatusFields status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"spec", &InfrastructureFields::spec},
      json::Field{"status", &InfrastructureFields::status},
  };
};

// ---- the Network ----

struct NetworkSpecFields {
  std::string network_type;
  std::vector<std::string> service_network;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"networkType", &NetworkSpecFields::network_type},
      json::Field{"serviceNetwork", &NetworkSpecFields::service_network},
  };
};

struct MtuFields {
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"from", &MtuFields::from},
      json::Field{"to", &MtuFields::to},
  };
};

struct MtuMigrationFields {
  MtuFields machine;
  MtuFields network;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"machine", &MtuMigrationFields::machine},
      json::Field{"network", &MtuMigrationFields::network},
  };
};

struct NetworkMigrationFields {
  MtuMigrationFields mtu;
  std::string network_type;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"mtu", &NetworkMigrationFields::mtu},
      json::Field{"networkType", &NetworkMigrationFields::network_type},
  };
};

struct NetworkStatusFields {
  NetworkMigrationFields migration;
  std::string network_type;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"migration", &NetworkStatusFields::migration},
      json::Field{"networkType", &NetworkStatusFields::network_type},
  };
};

struct NetworkFields {
  NetworkSpecFields spec;
  NetworkStatusFields status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"spec", &NetworkFields::spec},
      json::Field{"status", &NetworkFields::status},
  };
};

// ---- the DNS, the Proxy and the Image ----

struct DnsSpecFields {
  std::string base_domain;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"baseDomain", &DnsSpecFields::base_domain}};
};

struct DnsFields {
  DnsSpecFields spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"spec", &DnsFields::spec}};
};

struct ProxySpecFields {
  std::string http_proxy;
  std::string https_proxy;
  api::NameReference trusted_ca;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"httpProxy", &ProxySpecFields::http_proxy},
      json::Field{"httpsProxy", &ProxySpecFields::https_proxy},
      json::Field{"trustedCA", &ProxySpecFields::trusted_ca},
  };
};

struct ProxyStatusFields {
  std::string http_proxy;
  std::string https_proxy;
  std::string no_proxy;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"httpProxy", &ProxyStatusFields::http_proxy},
      json::Field{"httpsProxy", &ProxyStatusFields::https_proxy},
      json::Field{"noProxy", &ProxyStatusFields::no_proxy},
  };
};

struct ProxyFields {
  ProxySpecFields spec;
  ProxyStatusFields status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"spec", &ProxyFields::spec},
      json::Field{"status", &ProxyFields::status},
  };
};

struct ImageSettingSpecFields {
  api::NameReference additional_trusted_ca;

  static constexpr bool kLenient = true;
  static constexpr auto kFields =
      json::FieldList{json::Field{"additionalTrustedCA", &ImageSettingSpecFields::additional_trusted_ca}};
};

struct ImageSettingFields {
  ImageSettingSpecFields spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"spec", &ImageSettingFields::spec}};
};

// ---- images.json ----

struct ReleaseImagesFields {
  std::string api_server_watcher_key;
  std::string baremetal_runtime_cfg_image;
  std::string coredns_image;
  std::string docker_registry_image;
  std::string haproxy_image;
  std::string infra_image;
  std::string infra_image_key;
  std::string keepalived_image;
  std::string kube_rbac_proxy_image;
  std::string machine_config_operator;
  std::string release_version;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"apiServerWatcherKey", &ReleaseImagesFields::api_server_watcher_key},
      json::Field{"baremetalRuntimeCfgImage", &ReleaseImagesFields::baremetal_runtime_cfg_image},
      json::Field{"corednsImage", &ReleaseImagesFields::coredns_image},
      json::Field{"dockerRegistryImage", &ReleaseImagesFields::docker_registry_image},
      json::Field{"haproxyImage", &ReleaseImagesFields::haproxy_image},
      json::Field{"infraImage", &ReleaseImagesFields::infra_image},
      json::Field{"infraImageKey", &ReleaseImagesFields::infra_image_key},
      json::Field{"keepalivedImage", &ReleaseImagesFields::keepalived_image},
      json::Field{"kubeRbacProxyImage", &ReleaseImagesFields::kube_rbac_proxy_image},
      json::Field{"machineConfigOperator", &ReleaseImagesFields::machine_config_operator},
      json::Field{"releaseVersion", &ReleaseImagesFields::release_version},
  };
};

// Decodes the object as a T, and returns the problems, or "" if there is none.
template <typename T>
std::string WhyWrong(std::string_view name, const json::Value& object) {
  if (object.is_null()) return "";
  json::Report report;
  json::Decode<T>(object, report);
  const auto problems = report.ToResult();
  return problems ? "" : fmt::format("{}: {}", name, problems.error().message());
}

}  // namespace

std::string WhyInfrastructureIsWrong(const json::Value& infrastructure) {
  return WhyWrong<InfrastructureFields>("the Infrastructure named cluster", infrastructure);
}

std::string WhyNetworkIsWrong(const json::Value& network) {
  return WhyWrong<NetworkFields>("the Network named cluster", network);
}

std::string WhyDnsIsWrong(const json::Value& dns) { return WhyWrong<DnsFields>("the DNS named cluster", dns); }

std::string WhyProxyIsWrong(const json::Value& proxy) {
  return WhyWrong<ProxyFields>("the Proxy named cluster", proxy);
}

std::string WhyImageSettingIsWrong(const json::Value& image_setting) {
  return WhyWrong<ImageSettingFields>("the Image named cluster", image_setting);
}

std::string WhyReleaseImagesAreWrong(const json::Value& images) {
  return WhyWrong<ReleaseImagesFields>("ConfigMap machine-config-operator-images: images.json", images);
}

}  // namespace pintle::clusterops
