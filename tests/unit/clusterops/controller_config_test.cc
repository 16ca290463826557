// SPDX-License-Identifier: Apache-2.0
#include "clusterops/controller_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <utility>

#include "base/base64.h"
#include "clusterops/empty_members.h"
#include "json/parse.h"
#include "unit/net/made_certificate.h"

namespace pintle::clusterops {
namespace {

using json::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kRelease = "4.21.0";
const std::string kBundleKey = "ca-bundle.crt";

Value Json(std::string_view text) { return *json::Parse(text); }

api::ConfigMap ConfigMapWith(std::map<std::string, std::string> data) {
  return {.metadata = {}, .data = std::move(data), .binary_data = {}};
}

api::Secret CredentialSecret(const std::string& key, const std::string& text) {
  api::Secret secret;
  secret.data = {{key, EncodeBase64(text)}};
  return secret;
}

// The objects of a cluster on a platform that needs no configuration of a cloud.
ControllerConfigInputs CompleteInputs() {
  ControllerConfigInputs inputs;
  inputs.infrastructure =
      Json(R"({"metadata": {"name": "cluster"}, "status": {"apiServerInternalURI": "https://api-int.a:6443",
      "etcdDiscoveryDomain": "a.example", "platformStatus": {"type": "AWS", "aws": {"region": "r"}}}})");
  inputs.network = Json(R"({"spec": {"networkType": "Wanted", "serviceNetwork": ["172.30.0.0/16"]},
      "status": {"networkType": "OVNKubernetes"}})");
  inputs.dns = Json(R"({"metadata": {"name": "cluster"}, "spec": {"baseDomain": "a.example"}})");
  inputs.proxy = Json(R"({"spec": {}, "status": {}})");
  inputs.image_setting = Json(R"({"spec": {"additionalTrustedCA": {"name": ""}}})");
  inputs.registry_authorities = ConfigMapWith({});
  inputs.root_authority = ConfigMapWith({{"ca.crt", NamedCertificate("root")}});
  inputs.client_authority = ConfigMapWith({{kBundleKey, NamedCertificate("clients")}});
  inputs.initial_authority = ConfigMapWith({{kBundleKey, NamedCertificate("initial")}});
  inputs.os_images = ConfigMapWith({{"releaseVersion", kRelease},
                                    {"baseOSContainerImage", "os@sha256:1"},
                                    {"baseOSExtensionsContainerImage", "ext@sha256:2"}});
  inputs.release_images = Json(R"({"releaseVersion": "4.21.0", "machineConfigOperator": "mco", "infraImage": "infra",
      "keepalivedImage": "k", "corednsImage": "c", "haproxyImage": "h", "baremetalRuntimeCfgImage": "b",
      "kubeRbacProxyImage": "r", "dockerRegistryImage": "d"})");
  inputs.registry_credentials.has_account = true;
  inputs.registry_credentials.pull_secret =
      CredentialSecret(".dockerconfigjson", R"({"auths": {"quay.example": {"auth": "YTpi"}}})");
  inputs.operator_version = kRelease;
  return inputs;
}

TEST(DraftControllerConfig, HasEveryFieldOfAWholeCluster) {
  const ControllerConfigDraft draft = DraftControllerConfig(CompleteInputs());
  EXPECT_THAT(draft.problems, IsEmpty());
  Value expected = Json(R"({
      "additionalTrustBundle": null, "baseOSContainerImage": "os@sha256:1", "baseOSExtensionsContainerImage": "ext@sha256:2",
      "cloudProviderCAData": null, "cloudProviderConfig": "", "clusterDNSIP": "172.30.0.10",
      "dns": {"apiVersion": "config.openshift.io/v1", "kind": "DNS", "metadata": {"name": "cluster"},
              "spec": {"baseDomain": "a.example"}},
      "etcdDiscoveryDomain": "a.example",
      "images": {"apiServerWatcherKey": "mco", "baremetalRuntimeCfgImage": "b", "corednsImage": "c",
                 "dockerRegistryImage": "d", "haproxyImage": "h", "infraImageKey": "infra", "keepalivedImage": "k",
                 "kubeRbacProxyImage": "r", "machineConfigOperator": "mco"},
      "imageRegistryBundleData": [], "imageRegistryBundleUserData": [],
      "infra": {"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": {"name": "cluster"},
                "status": {"apiServerInternalURI": "https://api-int.a:6443", "etcdDiscoveryDomain": "a.example",
                           "platformStatus": {"type": "AWS", "aws": {"region": "r"}}}},
      "internalRegistryPullSecret": "eyJhdXRocyI6eyJxdWF5LmV4YW1wbGUiOnsiYXV0aCI6IllUcGkifX19", "ipFamilies": "IPv4",
      "network": {"mtuMigration": null}, "networkType": "OVNKubernetes", "platform": "aws",
      "proxy": null, "pullSecret": {"name": "pull-secret", "namespace": "openshift-config"}, "releaseImage": ""})");
  expected["kubeAPIServerServingCAData"] = EncodeBase64(NamedCertificate("clients"));
  expected["rootCAData"] = EncodeBase64(NamedCertificate("root"));
  EXPECT_EQ(draft.spec, expected);
}

struct Case {
  std::string name;
  std::function<void(ControllerConfigInputs&)> change;
  Value expected;  // The fields that differ from those for CompleteInputs(); "(none)" for a field that is left out.
  std::vector<std::string> problems = {};
};

// Makes an object of a single field.
Value Only(const std::string& field, Value value) {
  Value object;
  object[field] = std::move(value);
  return object;
}

void PrintTo(const Case& row, std::ostream* out) { *out << row.name; }

constexpr const char* kUnreadable = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

const std::string& FirstCa() { return NamedCertificate("first"); }
const std::string& SecondCa() { return NamedCertificate("second"); }
const std::string& SignerCa() {
  return NamedCertificate("openshift-kube-apiserver-operator_kube-apiserver-to-kubelet-signer@1");
}

std::string WithoutLineBreak(const std::string& text) { return text.substr(0, text.find_last_not_of('\n') + 1); }

api::OSImageStream Stream(const std::string& version) {
  api::OSImageStream stream;
  if (!version.empty()) {
    stream.metadata.annotations = {{"machineconfiguration.openshift.io/release-image-version", version}};
  }
  stream.status = {.available_streams = {{"rhel-9", "os9", "ext9"}, {"rhel-10", "os10", "ext10"}},
                   .default_stream = "rhel-10"};
  return stream;
}

// Returns the spec of a ControllerConfig with these authorities.
Value WithRoot(const std::string& authorities) {
  Value spec;
  spec["rootCAData"] = EncodeBase64(authorities);
  return spec;
}

std::string NoCertificateIn(const std::string& map) {
  return "ConfigMap " + map + " has a bundle of authorities in which no certificate can be read";
}

constexpr const char* kServerAuthorityGone =
    "ConfigMap machine-config-server-ca has no ca-bundle.crt, and machines trust other authorities than those of "
    "kube-system/root-ca: create ca-bundle.crt again with the authorities in rootCAData of the ControllerConfig";

std::vector<Case> Cases() {
  using Inputs = ControllerConfigInputs;
  const Value none = "(none)";
  const Value no_images = {{"images", none}, {"baseOSContainerImage", none}, {"baseOSExtensionsContainerImage", none}};
  return {
      // The network.
      {"services of IPv6",
       [](Inputs& in) { in.network["spec"]["serviceNetwork"] = Value::array({"fd02::/112"}); },
       {{"clusterDNSIP", "fd02::a"}, {"ipFamilies", "IPv6"}}},
      {"both families",
       [](Inputs& in) {
         in.network["spec"]["serviceNetwork"] = Value::array({"10.0.0.0/16", "fd02::/112"});
       },
       {{"clusterDNSIP", "10.0.0.10"}, {"ipFamilies", "DualStack"}}},
      {"both families, IPv6 first",
       [](Inputs& in) {
         in.network["spec"]["serviceNetwork"] = Value::array({"fd02::/112", "10.0.0.0/16"});
       },
       {{"clusterDNSIP", "fd02::a"}, {"ipFamilies", "DualStackIPv6Primary"}}},
      {"no service network",
       [](Inputs& in) { in.network["spec"]["serviceNetwork"] = Value::array(); },
       {{"clusterDNSIP", none}, {"ipFamilies", none}},
       {"service cidr is empty in Network", "could not determine cluster IP families from config"}},
      {"a network that is not up yet", [](Inputs& in) { in.network.Erase("status"); }, {{"networkType", "Wanted"}}},
      {"a migration to another network",
       [](Inputs& in) { in.network["status"]["migration"]["networkType"] = "Other"; },
       {{"networkType", "Other"}}},
      {"a migration of the MTU",
       [](Inputs& in) {
         in.network["status"]["migration"]["mtu"] = {{"machine", {{"to", 9000}}}};
       },
       {{"network", {{"mtuMigration", {{"machine", {{"to", 9000}}}}}}}}},
      {"a migration of a network that is not up yet",
       [](Inputs& in) {
         in.network["status"] = Json(R"({"migration": {"networkType": "Other", "mtu": {"machine": {"to": 9000}}}})");
       },
       Only("networkType", "Wanted")},
      {"no Network",
       [](Inputs& in) { in.network = nullptr; },
       {{"clusterDNSIP", none}, {"ipFamilies", none}, {"networkType", none}, {"network", none}},
       {"there is no Network named cluster"}},

      // The platform.
      {"an old platform",
       [](Inputs& in) {
         in.infrastructure["status"] = {{"platform", "BareMetal"}, {"x", 1}};
       },
       {{"platform", "baremetal"},
        {"etcdDiscoveryDomain", ""},
        {"infra",
         {{"apiVersion", "config.openshift.io/v1"},
          {"kind", "Infrastructure"},
          {"metadata",
           {
               {"name", "cluster"},
           }},
          {"status",
           {{"platform", "BareMetal"},
            {"platformStatus",
             {
                 {"type", "BareMetal"},
             }},
            {"x", 1}}}}}}},
      {"no platform",
       [](Inputs& in) {
         in.infrastructure = {{"status", Value::object()}, {"metadata", Value::object()}};
       },
       {{"platform", "none"},
        {"etcdDiscoveryDomain", ""},
        {"infra",
         {{"apiVersion", "config.openshift.io/v1"},
          {"kind", "Infrastructure"},
          {"metadata", Value::object()},
          {"status", Json(R"({"platformStatus": {"type": "None"}})")}}}}},
      {"a platform without a type",
       [](Inputs& in) {
         in.infrastructure = {
             {"status", Json(R"({"platform": "AWS", "platformStatus": {"type": "", "aws": {"region": "r"}}})")},
             {"metadata", Value::object()}};
       },
       {{"platform", "none"},
        {"etcdDiscoveryDomain", ""},
        {"infra",
         {{"apiVersion", "config.openshift.io/v1"},
          {"kind", "Infrastructure"},
          {"metadata", Value::object()},
          {"status", Json(R"({"platform": "AWS", "platformStatus": {"type": "None"}})")}}}}},
      {"no Infrastructure",
       [](Inputs& in) { in.infrastructure = nullptr; },
       {{"platform", none}, {"etcdDiscoveryDomain", none}, {"infra", none}},
       {"there is no Infrastructure named cluster"}},
      {"no DNS",
       [](Inputs& in) { in.dns = nullptr; },
       {{"dns", none}, {"internalRegistryPullSecret", none}},
       {"there is no DNS named cluster"}},

      // The cloud.
      {"the configuration of a cloud",
       [](Inputs& in) {
         in.cloud_config = ConfigMapWith({{"cloud.conf", "[Global]"}, {"ca-bundle.pem", FirstCa()}});
       },
       {{"cloudProviderConfig", "[Global]"}, {"cloudProviderCAData", EncodeBase64(FirstCa())}}},
      {"a cloud whose authorities cannot be read",
       [](Inputs& in) {
         in.cloud_config = ConfigMapWith({{"cloud.conf", "[Global]"}, {"ca-bundle.pem", "garbage"}});
       },
       {{"cloudProviderConfig", "[Global]"}, {"cloudProviderCAData", none}},
       {NoCertificateIn("openshift-config-managed/kube-cloud-config")}},
      {"authorities of a cloud as bytes",
       [](Inputs& in) {
         in.cloud_config = ConfigMapWith({{"cloud.conf", "[Global]"}});
         in.cloud_config->binary_data = {{"ca-bundle.pem", EncodeBase64(FirstCa())}};
       },
       {{"cloudProviderConfig", "[Global]"}, {"cloudProviderCAData", EncodeBase64(FirstCa())}}},
      {"a cloud whose authorities alone are configured",
       [](Inputs& in) {
         in.cloud_config = ConfigMapWith({{"ca-bundle.pem", FirstCa()}});
       },
       Only("cloudProviderCAData", EncodeBase64(FirstCa()))},
      {"the Infrastructure names a configuration of the cloud that is missing",
       [](Inputs& in) { in.infrastructure["spec"]["cloudConfig"]["name"] = "cloud-provider-config"; },
       Only("infra",
            Json(R"({"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": {"name": "cluster"},
                  "spec": {"cloudConfig": {"name": "cloud-provider-config"}},
                  "status": {"apiServerInternalURI": "https://api-int.a:6443", "etcdDiscoveryDomain": "a.example",
                             "platformStatus": {"type": "AWS", "aws": {"region": "r"}}}})"))},
      {"a cloud without authorities",
       [](Inputs& in) {
         in.cloud_config = ConfigMapWith({{"cloud.conf", "[Global]"}});
       },
       Only("cloudProviderConfig", "[Global]")},

      // Proxies and authorities.
      {"a proxy",
       [](Inputs& in) {
         in.proxy["status"] = {{"httpProxy", "http://p"}, {"noProxy", "a"}};
       },
       Only("proxy", {{"httpProxy", "http://p"}, {"noProxy", "a"}})},
      {"a proxy that has no status yet",
       [](Inputs& in) { in.proxy = Json(R"({"spec": {"httpsProxy": "http://p"}, "status": {"httpProxy": ""}})"); },
       Only("proxy", none),
       {"the Proxy named cluster has a proxy in its spec and none in its status, which the network's operator has to "
        "set"}},
      {"no Proxy",
       [](Inputs& in) { in.proxy = nullptr; },
       {{"additionalTrustBundle", none}, {"proxy", none}},
       {"there is no Proxy named cluster"}},
      {"the user's authorities",
       [](Inputs& in) {
         in.user_authorities = ConfigMapWith({{kBundleKey, FirstCa()}});
       },
       Only("additionalTrustBundle", EncodeBase64(FirstCa()))},
      {"the proxy's authorities",
       [](Inputs& in) {
         in.proxy["spec"]["trustedCA"]["name"] = "of-the-proxy";
         in.proxy_authorities = ConfigMapWith({{kBundleKey, SecondCa()}});
       },
       Only("additionalTrustBundle", EncodeBase64(SecondCa()))},
      {"the user's and the proxy's authorities",
       [](Inputs& in) {
         in.proxy["spec"]["trustedCA"]["name"] = "of-the-proxy";
         in.user_authorities = ConfigMapWith({{kBundleKey, FirstCa()}});
         in.proxy_authorities = ConfigMapWith({{kBundleKey, SecondCa()}});
       },
       Only("additionalTrustBundle", EncodeBase64(FirstCa() + SecondCa()))},
      {"a proxy with the user's authorities",
       [](Inputs& in) {
         in.proxy["spec"]["trustedCA"]["name"] = "user-ca-bundle";
         in.user_authorities = ConfigMapWith({{kBundleKey, FirstCa()}});
         in.proxy_authorities = in.user_authorities;
       },
       Only("additionalTrustBundle", EncodeBase64(FirstCa()))},
      {"a user's bundle without a certificate",
       [](Inputs& in) {
         in.user_authorities = ConfigMapWith({{kBundleKey, "none"}});
       },
       Only("additionalTrustBundle", none),
       {"configmap openshift-config/user-ca-bundle doesn't have a valid PEM bundle"}},
      {"a proxy's bundle without a certificate",
       [](Inputs& in) {
         in.proxy["spec"]["trustedCA"]["name"] = "of-the-proxy";
         in.proxy_authorities = ConfigMapWith({});
       },
       Only("additionalTrustBundle", none),
       {"configmap openshift-config/of-the-proxy doesn't have a valid PEM bundle"}},
      {"a user's bundle that is empty",
       [](Inputs& in) {
         in.proxy["spec"]["trustedCA"]["name"] = "of-the-proxy";
         in.user_authorities = ConfigMapWith({{kBundleKey, ""}});
         in.proxy_authorities = ConfigMapWith({{kBundleKey, SecondCa()}});
       },
       Only("additionalTrustBundle", EncodeBase64(SecondCa()))},
      {"a user's bundle with a certificate that cannot be read",
       [](Inputs& in) {
         in.user_authorities = ConfigMapWith({{kBundleKey, FirstCa() + kUnreadable}});
       },
       Only("additionalTrustBundle", EncodeBase64(FirstCa() + kUnreadable))},
      {"a user's bundle whose first certificate cannot be read",
       [](Inputs& in) {
         in.user_authorities = ConfigMapWith({{kBundleKey, kUnreadable + FirstCa()}});
       },
       Only("additionalTrustBundle", EncodeBase64(kUnreadable + FirstCa()))},
      {"a user's bundle of which no certificate can be read",
       [](Inputs& in) {
         in.user_authorities = ConfigMapWith({{kBundleKey, std::string(kUnreadable) + kUnreadable}});
       },
       Only("additionalTrustBundle", none),
       {"configmap openshift-config/user-ca-bundle doesn't have a valid PEM bundle"}},
      {"bundles as bytes, and in base64",
       [](Inputs& in) {
         in.proxy["spec"]["trustedCA"]["name"] = "of-the-proxy";
         in.user_authorities = ConfigMapWith({});
         in.user_authorities->binary_data = {{kBundleKey, EncodeBase64(FirstCa())}};
         in.proxy_authorities = ConfigMapWith({{kBundleKey, EncodeBase64(SecondCa())}});
       },
       Only("additionalTrustBundle", EncodeBase64(FirstCa() + SecondCa()))},
      {"bundles without a line break at the end",
       [](Inputs& in) {
         in.proxy["spec"]["trustedCA"]["name"] = "of-the-proxy";
         in.user_authorities = ConfigMapWith({{kBundleKey, WithoutLineBreak(FirstCa())}});
         in.proxy_authorities = ConfigMapWith({{kBundleKey, SecondCa()}});
       },
       Only("additionalTrustBundle", EncodeBase64(WithoutLineBreak(FirstCa()) + "\n" + SecondCa()))},
      {"the proxy's authorities are missing",
       [](Inputs& in) {
         in.proxy["spec"]["trustedCA"]["name"] = "of-the-proxy";
         in.user_authorities = ConfigMapWith({{kBundleKey, FirstCa()}});
       },
       Only("additionalTrustBundle", none),
       {"there is no ConfigMap openshift-config/of-the-proxy, which the Proxy names"}},
      {"the user's authorities without a Proxy",
       [](Inputs& in) {
         in.proxy = nullptr;
         in.user_authorities = ConfigMapWith({{kBundleKey, FirstCa()}});
       },
       {{"additionalTrustBundle", none}, {"proxy", none}},
       {"there is no Proxy named cluster"}},
      {"an authority of the Ignition server",
       [](Inputs& in) {
         in.server_authority = ConfigMapWith({{kBundleKey, FirstCa()}});
       },
       Only("rootCAData", EncodeBase64(FirstCa()))},
      {"an authority of the Ignition server that cannot be read",
       [](Inputs& in) {
         in.server_authority = ConfigMapWith({{kBundleKey, "garbage"}});
       },
       Only("rootCAData", none),
       {NoCertificateIn("machine-config-server-ca")}},
      {"a root authority that cannot be read",
       [](Inputs& in) { in.root_authority->data["ca.crt"] = "garbage"; },
       Only("rootCAData", none),
       {NoCertificateIn("kube-system/root-ca")}},
      {"the authority of the Ignition server that machines trust is gone",
       [](Inputs& in) {
         static const Value kPresent = WithRoot(FirstCa());
         in.server_authority = ConfigMapWith({});
         in.present = &kPresent;
       },
       Only("rootCAData", none),
       {kServerAuthorityGone}},
      {"the root authority is what machines trust",
       [](Inputs& in) {
         static const Value kPresent = WithRoot(NamedCertificate("root"));
         in.present = &kPresent;
       },
       Only("rootCAData", EncodeBase64(NamedCertificate("root")))},
      {"the root authority gets a successor",
       [](Inputs& in) {
         static const Value kPresent = WithRoot(FirstCa());
         in.root_authority->data["ca.crt"] = SecondCa() + FirstCa();
         in.present = &kPresent;
       },
       Only("rootCAData", EncodeBase64(SecondCa() + FirstCa()))},
      {"the root authority gets a line break",
       [](Inputs& in) {
         static const Value kPresent = WithRoot(FirstCa());
         in.root_authority->data["ca.crt"] = "# the root\n" + FirstCa() + "\n";
         in.present = &kPresent;
       },
       Only("rootCAData", EncodeBase64("# the root\n" + FirstCa() + "\n"))},
      {"machines trust the root authority and one of the Ignition server, which is gone",
       [](Inputs& in) {
         static const Value kPresent = WithRoot(NamedCertificate("root") + FirstCa());
         in.present = &kPresent;
       },
       Only("rootCAData", none),
       {kServerAuthorityGone}},
      {"what machines trust is no certificate",
       [](Inputs& in) {
         static const Value kPresent = WithRoot("garbage");
         in.present = &kPresent;
       },
       Only("rootCAData", EncodeBase64(NamedCertificate("root")))},
      {"no root authority",
       [](Inputs& in) { in.root_authority.reset(); },
       Only("rootCAData", none),
       {"neither ConfigMap machine-config-server-ca nor kube-system/root-ca has an authority"}},
      {"no authority of clients",
       [](Inputs& in) { in.client_authority.reset(); },
       Only("kubeAPIServerServingCAData", none),
       {"ConfigMap openshift-config-managed/kube-apiserver-client-ca has no ca-bundle.crt"}},
      {"authorities of clients that cannot be read",
       [](Inputs& in) { in.client_authority->data[kBundleKey] = "garbage"; },
       Only("kubeAPIServerServingCAData", none),
       {NoCertificateIn("openshift-config-managed/kube-apiserver-client-ca")}},
      {"before the bootstrap has ended", [](Inputs& in) { in.is_bootstrapped = false; },
       Only("kubeAPIServerServingCAData", EncodeBase64(NamedCertificate("initial")))},
      {"during the installation, the successor replaces the signer",
       [](Inputs& in) {
         in.is_installing = true;
         in.initial_authority = ConfigMapWith({{kBundleKey, FirstCa() + SignerCa() + SecondCa()}});
         in.kubelet_client_ca = ConfigMapWith({{kBundleKey, NamedCertificate("successor")}});
       },
       {{"kubeAPIServerServingCAData", EncodeBase64(FirstCa() + NamedCertificate("successor") + SecondCa())},
        {"internalRegistryPullSecret", Value()}}},
      {"successors of the signer without a line break at the end",
       [](Inputs& in) {
         in.is_installing = true;
         in.initial_authority = ConfigMapWith({{kBundleKey, SignerCa() + SecondCa()}});
         in.kubelet_client_ca = ConfigMapWith({{kBundleKey, WithoutLineBreak(FirstCa())}});
       },
       {{"kubeAPIServerServingCAData", EncodeBase64(FirstCa() + SecondCa())}, {"internalRegistryPullSecret", Value()}}},
      {"the signer is the last certificate, and its successors have no line break at the end",
       [](Inputs& in) {
         in.is_installing = true;
         in.initial_authority = ConfigMapWith({{kBundleKey, SignerCa()}});
         in.kubelet_client_ca = ConfigMapWith({{kBundleKey, WithoutLineBreak(FirstCa())}});
       },
       {{"kubeAPIServerServingCAData", EncodeBase64(WithoutLineBreak(FirstCa()))},
        {"internalRegistryPullSecret", Value()}}},
      {"a signer without successors stays",
       [](Inputs& in) {
         in.is_installing = true;
         in.initial_authority = ConfigMapWith({{kBundleKey, SignerCa()}});
       },
       {{"kubeAPIServerServingCAData", EncodeBase64(SignerCa())}, {"internalRegistryPullSecret", Value()}}},
      {"a signer whose successors cannot be read stays",
       [](Inputs& in) {
         in.is_installing = true;
         in.initial_authority = ConfigMapWith({{kBundleKey, SignerCa()}});
         in.kubelet_client_ca = ConfigMapWith({{kBundleKey, "garbage"}});
       },
       {{"kubeAPIServerServingCAData", EncodeBase64(SignerCa())}, {"internalRegistryPullSecret", Value()}}},
      {"no initial authority",
       [](Inputs& in) {
         in.is_bootstrapped = false;
         in.initial_authority.reset();
       },
       Only("kubeAPIServerServingCAData", none),
       {"ConfigMap openshift-config/initial-kube-apiserver-server-ca has no ca-bundle.crt"}},

      // Registries.
      {"authorities of registries",
       [](Inputs& in) {
         in.registry_authorities = ConfigMapWith({{"registry..5000", "a text"}, {"b", "dGV4dA=="}});
         in.registry_authorities->binary_data = {{"a", "AAE="}};
         in.image_setting["spec"]["additionalTrustedCA"]["name"] = "of-the-user";
         in.user_registry_authorities = ConfigMapWith({{"mine", "a text"}});
       },
       {{"imageRegistryBundleData",
         Json(R"([{"data": "dGV4dA==", "file": "b"}, {"data": "YSB0ZXh0", "file": "registry..5000"},
                  {"data": "AAE=", "file": "a"}])")},
        {"imageRegistryBundleUserData", Json(R"([{"data": "YSB0ZXh0", "file": "mine"}])")}}},
      {"authorities of registries in base64 with line breaks",
       [](Inputs& in) {
         in.registry_authorities = ConfigMapWith({{"b", "dGV4\r\ndA==\n"}});
         in.registry_authorities->binary_data = {{"a", "AAE\n="}};
       },
       Only("imageRegistryBundleData", Json(R"([{"data": "dGV4dA==", "file": "b"}, {"data": "AAE=", "file": "a"}])"))},
      {"no authorities of the cluster's registry", [](Inputs& in) { in.registry_authorities.reset(); },
       Only("imageRegistryBundleData", none)},
      {"authorities of the user's registries that nobody names",
       [](Inputs& in) {
         in.user_registry_authorities = ConfigMapWith({{"mine", "a text"}});
       },
       Only("imageRegistryBundleUserData", Value::array())},
      {"no Image config",
       [](Inputs& in) { in.image_setting = nullptr; },
       Only("imageRegistryBundleUserData", none),
       {"there is no Image named cluster"}},
      {"credentials of the cluster's own registry",
       [](Inputs& in) {
         in.registry_credentials.account_secrets = {
             {.name = "puller",
              .secret = CredentialSecret(
                  ".dockercfg", R"({"image-registry.openshift-image-registry.svc:5000": {"auth": "YzpkCg=="}})")}};
       },
       Only("internalRegistryPullSecret",
            EncodeBase64(R"({"auths":{"default-route-openshift-image-registry.apps.a.example":{"auth":"YzpkCg=="},)"
                         R"("image-registry.openshift-image-registry.svc:5000":{"auth":"YzpkCg=="},)"
                         R"("quay.example":{"auth":"YTpi"}}})"))},
      {"no credentials at all",
       [](Inputs& in) {
         in.registry_credentials.pull_secret = CredentialSecret(".dockerconfigjson", R"({"auths": {}})");
       },
       Only("internalRegistryPullSecret", Value())},
      {"no account for the cluster's own registry",
       [](Inputs& in) { in.registry_credentials.has_account = false; },
       Only("internalRegistryPullSecret", none),
       {"the credentials for the cluster's own registry: there is no ServiceAccount machine-os-puller"}},
      {"credentials of the cluster's own registry before the installation has ended",
       [](Inputs& in) {
         in.registry_credentials = {};
         in.is_installing = true;
       },
       {{"kubeAPIServerServingCAData", EncodeBase64(NamedCertificate("initial"))},
        {"internalRegistryPullSecret", Value()}}},

      // The release.
      {"images of another release",
       [](Inputs& in) { in.release_images["releaseVersion"] = "4.22.0"; },
       no_images,
       {R"(refusing to read images.json version "4.22.0", operator version "4.21.0")"}},
      {"no images",
       [](Inputs& in) { in.release_images = nullptr; },
       no_images,
       {"ConfigMap machine-config-operator-images has no images.json"}},
      {"OS images of another release",
       [](Inputs& in) { in.os_images->data["releaseVersion"] = "4.22.0"; },
       no_images,
       {R"(refusing to read osImageURL version "4.22.0", operator version "4.21.0")"}},
      {"no OS images",
       [](Inputs& in) { in.os_images.reset(); },
       no_images,
       {"there is no ConfigMap machine-config-osimageurl"}},
      {"the OS images of the default stream",
       [](Inputs& in) {
         in.has_os_streams = true;
         in.os_images.reset();
         in.os_image_stream = Stream("HASH");
       },
       {{"baseOSContainerImage", "os10"}, {"baseOSExtensionsContainerImage", "ext10"}}},
      {"an OSImageStream without the version of a release",
       [](Inputs& in) {
         in.has_os_streams = true;
         in.os_image_stream = Stream("");
       },
       no_images,
       {"the OSImageStream cluster has no annotation machineconfiguration.openshift.io/release-image-version, so "
        "nobody "
        "knows for which release it is"}},
      {"an OSImageStream of the release before",
       [](Inputs& in) {
         in.has_os_streams = true;
         in.os_image_stream = Stream("OLD");
         in.present_release = "4.20.0";
         in.present_stream_version = "OLD";
       },
       no_images,
       {"the OSImageStream cluster is not that of the release 4.21.0: its version is OLD, and the OSImageStream of the "
        "release 4.20.0 has the version OLD"}},
      {"an OSImageStream of the release after",
       [](Inputs& in) {
         in.has_os_streams = true;
         in.os_image_stream = Stream("NEW");
         in.present_release = kRelease;
         in.present_stream_version = "HASH";
       },
       no_images,
       {"the OSImageStream cluster is not that of the release 4.21.0: its version is NEW, and the OSImageStream of the "
        "release 4.21.0 has the version HASH"}},
      {"a new release and its OSImageStream",
       [](Inputs& in) {
         in.has_os_streams = true;
         in.os_image_stream = Stream("HASH");
         in.present_release = "4.20.0";
         in.present_stream_version = "OLD";
       },
       {{"baseOSContainerImage", "os10"}, {"baseOSExtensionsContainerImage", "ext10"}}},
      {"no OSImageStream, though the feature is on",
       [](Inputs& in) { in.has_os_streams = true; },
       no_images,
       {"there is no OSImageStream named cluster"}},
      {"an OSImageStream without its default",
       [](Inputs& in) {
         in.has_os_streams = true;
         in.os_image_stream = Stream("HASH");
         in.os_image_stream->status.available_streams.clear();
       },
       no_images,
       {R"(the OSImageStream cluster lacks its default stream "rhel-10")"}},
  };
}

// Merges the draft into a ControllerConfig whose fields, except images and pullSecret, have other values.  A field that
// the draft lacks, or has as null or an empty text, must keep its value; proxy and network may be cleared.
void ExpectLastGoodValues(const ControllerConfigDraft& draft) {
  Value present;
  for (const auto& [field, value] : DraftControllerConfig(CompleteInputs()).spec.members()) {
    present[field] = field == "images" || field == "pullSecret" ? value : Value("the last good value");
  }
  const Value merged = MergedControllerConfig(present, draft.spec);
  for (const auto& [field, value] : present.members()) {
    const Value* const made = draft.spec.Find(field);
    const bool can_be_cleared = field == "proxy" || field == "network";
    const bool is_kept = made == nullptr || (!can_be_cleared && (made->is_null() || *made == Value("")));
    EXPECT_EQ(merged[field], is_kept ? value : *made) << field;
  }
}

class DraftControllerConfigTest : public testing::TestWithParam<Case> {};

TEST_P(DraftControllerConfigTest, ChangesWithItsInputs) {
  ControllerConfigInputs inputs = CompleteInputs();
  GetParam().change(inputs);
  const ControllerConfigDraft draft = DraftControllerConfig(inputs);
  EXPECT_EQ(draft.problems, GetParam().problems);
  Value expected = DraftControllerConfig(CompleteInputs()).spec;
  for (const auto& [field, value] : GetParam().expected.members()) {
    if (value == Value("(none)")) {
      expected.Erase(field);
    } else {
      expected[field] = value;
    }
  }
  EXPECT_EQ(draft.spec, expected);
  ExpectLastGoodValues(draft);
}

INSTANTIATE_TEST_SUITE_P(All, DraftControllerConfigTest, testing::ValuesIn(Cases()));

TEST(DraftControllerConfig, NeedsTheConfigurationOfSomeClouds) {
  for (const char* platform : {"Azure", "GCP", "OpenStack", "VSphere"}) {
    ControllerConfigInputs inputs = CompleteInputs();
    inputs.infrastructure["status"]["platformStatus"]["type"] = platform;
    EXPECT_THAT(DraftControllerConfig(inputs).problems, ElementsAre(HasSubstr(platform)));
  }
}

TEST(DraftControllerConfig, NeedsTheKeyCloudConfForSomeClouds) {
  for (const char* platform : {"Azure", "GCP", "OpenStack", "VSphere"}) {
    ControllerConfigInputs inputs = CompleteInputs();
    inputs.infrastructure["status"]["platformStatus"]["type"] = platform;
    inputs.cloud_config = ConfigMapWith({{"ca-bundle.pem", FirstCa()}});
    const ControllerConfigDraft draft = DraftControllerConfig(inputs);
    EXPECT_THAT(draft.problems, ElementsAre(std::string("ConfigMap openshift-config-managed/kube-cloud-config has no "
                                                        "cloud.conf, which ") +
                                            platform + " needs"));
    EXPECT_FALSE(draft.spec.contains("cloudProviderConfig"));
    EXPECT_EQ(draft.spec["cloudProviderCAData"], Value(EncodeBase64(FirstCa())));
    inputs.cloud_config->data["cloud.conf"] = "";
    EXPECT_THAT(DraftControllerConfig(inputs).problems, IsEmpty());
  }
}

TEST(DraftControllerConfig, FollowsTheReleaseOfImagesJsonIfNoOtherIsSet) {
  ControllerConfigInputs inputs = CompleteInputs();
  inputs.operator_version = "";
  EXPECT_EQ(DraftControllerConfig(inputs).release, kRelease);
  // The ConfigMaps of a new release appear one after the other.
  inputs.release_images["releaseVersion"] = "4.22.0";
  const ControllerConfigDraft between = DraftControllerConfig(inputs);
  EXPECT_THAT(between.problems,
              ElementsAre(R"(refusing to read osImageURL version "4.21.0", operator version "4.22.0")"));
  EXPECT_EQ(between.release, "");
  EXPECT_FALSE(between.spec.contains("images"));
  inputs.os_images->data["releaseVersion"] = "4.22.0";
  EXPECT_EQ(DraftControllerConfig(inputs).release, "4.22.0");
}

TEST(DraftControllerConfig, CopiesNoVersionsOfObjects) {
  ControllerConfigInputs inputs = CompleteInputs();
  inputs.dns["metadata"]["resourceVersion"] = "7";
  inputs.infrastructure["metadata"]["resourceVersion"] = "8";
  inputs.infrastructure["metadata"]["managedFields"] = Value::array();
  EXPECT_EQ(DraftControllerConfig(inputs).spec, DraftControllerConfig(CompleteInputs()).spec);
}

TEST(DraftControllerConfig, WarnsOfMissingAuthoritiesOfTheUsersRegistries) {
  ControllerConfigInputs inputs = CompleteInputs();
  inputs.image_setting["spec"]["additionalTrustedCA"]["name"] = "gone";
  const ControllerConfigDraft draft = DraftControllerConfig(inputs);
  EXPECT_THAT(draft.problems, IsEmpty());
  EXPECT_THAT(draft.warnings, ElementsAre("there is no ConfigMap openshift-config/gone, which the Image config names"));
  EXPECT_FALSE(draft.spec.contains("imageRegistryBundleUserData"));
}

// An input, and the fields that need it in a cluster that uses all inputs.
struct UnreadableInput {
  ConfigInput input;
  std::vector<std::string> fields;
};

TEST(DraftControllerConfig, LeavesOutOnlyTheFieldsThatNeedAnUnreadableInput) {
  ControllerConfigInputs complete = CompleteInputs();
  complete.proxy["spec"]["trustedCA"]["name"] = "of-the-proxy";
  complete.proxy_authorities = ConfigMapWith({{kBundleKey, FirstCa()}});
  complete.image_setting["spec"]["additionalTrustedCA"]["name"] = "of-the-user";
  complete.user_registry_authorities = ConfigMapWith({});
  const Value whole = DraftControllerConfig(complete).spec;
  const std::vector<std::string> images = {"images", "baseOSContainerImage", "baseOSExtensionsContainerImage"};
  const std::vector<UnreadableInput> rows = {
      {ConfigInput::kInfrastructure, {"infra", "platform", "etcdDiscoveryDomain"}},
      {ConfigInput::kNetwork, {"clusterDNSIP", "ipFamilies", "networkType", "network"}},
      {ConfigInput::kDns, {"dns", "internalRegistryPullSecret"}},
      {ConfigInput::kProxy, {"proxy", "additionalTrustBundle"}},
      {ConfigInput::kImageSetting, {"imageRegistryBundleUserData"}},
      {ConfigInput::kServerAuthority, {"rootCAData"}},
      {ConfigInput::kRootAuthority, {"rootCAData"}},
      {ConfigInput::kBootstrap, {"kubeAPIServerServingCAData"}},
      {ConfigInput::kClientAuthority, {"kubeAPIServerServingCAData"}},
      {ConfigInput::kUserAuthorities, {"additionalTrustBundle"}},
      {ConfigInput::kProxyAuthorities, {"additionalTrustBundle"}},
      {ConfigInput::kRegistryAuthorities, {"imageRegistryBundleData"}},
      {ConfigInput::kUserRegistryAuthorities, {"imageRegistryBundleUserData"}},
      {ConfigInput::kCloudConfig, {"cloudProviderConfig", "cloudProviderCAData"}},
      {ConfigInput::kOsImages, images},
      {ConfigInput::kReleaseImages, images},
      {ConfigInput::kOsImageStream, images},
  };
  for (const UnreadableInput& row : rows) {
    ControllerConfigInputs inputs = complete;
    inputs.unreadable = {{row.input, "access is forbidden"}};
    // With an OSImageStream, the OS images come from there alone.
    inputs.has_os_streams = row.input == ConfigInput::kOsImageStream;
    Value expected = whole;
    for (const std::string& field : row.fields) expected.Erase(field);
    const ControllerConfigDraft draft = DraftControllerConfig(inputs);
    EXPECT_EQ(draft.spec, expected) << row.fields.front();
    EXPECT_THAT(draft.problems, ElementsAre("access is forbidden")) << row.fields.front();
  }
  // Once the cluster is installed, no field needs these two inputs.
  complete.unreadable = {{ConfigInput::kInitialAuthority, "a"}, {ConfigInput::kKubeletClientCa, "b"}};
  EXPECT_EQ(DraftControllerConfig(complete).spec, whole);
  EXPECT_THAT(DraftControllerConfig(complete).problems, IsEmpty());
  complete.is_bootstrapped = false;
  EXPECT_FALSE(DraftControllerConfig(complete).spec.contains("kubeAPIServerServingCAData"));
  EXPECT_THAT(DraftControllerConfig(complete).problems, ElementsAre("a", "b"));
}

// An input with a value of a wrong type, and the fields that need this input.
struct WrongInput {
  std::string name;
  std::function<void(ControllerConfigInputs&)> change;
  std::vector<std::string> fields;
  std::string problem;

  friend void PrintTo(const WrongInput& row, std::ostream* out) { *out << row.name; }
};

std::vector<WrongInput> WrongInputs() {
  const std::vector<std::string> infra = {"infra", "platform", "etcdDiscoveryDomain"};
  const std::vector<std::string> network = {"clusterDNSIP", "ipFamilies", "networkType", "network"};
  const std::vector<std::string> dns = {"dns", "internalRegistryPullSecret"};
  const std::vector<std::string> proxy = {"proxy", "additionalTrustBundle"};
  const std::vector<std::string> images = {"images", "baseOSContainerImage", "baseOSExtensionsContainerImage"};
  const auto change = [](Value ControllerConfigInputs::*input, const std::string& text) {
    return [input, text](ControllerConfigInputs& inputs) { inputs.*input = Json(text); };
  };
  constexpr auto kInfra = &ControllerConfigInputs::infrastructure;
  constexpr auto kNetwork = &ControllerConfigInputs::network;
  constexpr auto kProxy = &ControllerConfigInputs::proxy;
  constexpr auto kImages = &ControllerConfigInputs::release_images;
  return {
      {"an Infrastructure", change(kInfra, "5"), infra, "the Infrastructure named cluster: $: must be an object"},
      {"its status", change(kInfra, R"({"status": "AWS"})"), infra,
       "the Infrastructure named cluster: $.status: must be an object"},
      {"its platform", change(kInfra, R"({"status": {"platformStatus": "AWS"}})"), infra,
       "the Infrastructure named cluster: $.status.platformStatus: must be an object"},
      {"the type of its platform", change(kInfra, R"({"status": {"platformStatus": {"type": 5}}})"), infra,
       "the Infrastructure named cluster: $.status.platformStatus.type: must be a string"},
      {"the addresses of the control plane",
       change(kInfra, R"({"status": {"platformStatus": {"vsphere": {"apiServerInternalIPs": "192.0.2.1"}}}})"), infra,
       "the Infrastructure named cluster: $.status.platformStatus.vsphere.apiServerInternalIPs: must be a list"},
      {"a Network", change(kNetwork, R"("OVNKubernetes")"), network, "the Network named cluster: $: must be an object"},
      {"its ranges", change(kNetwork, R"({"spec": {"serviceNetwork": "172.30.0.0/16"}})"), network,
       "the Network named cluster: $.spec.serviceNetwork: must be a list"},
      {"one of its ranges", change(kNetwork, R"({"spec": {"serviceNetwork": [5, "172.30.0.0/16"]}})"), network,
       "the Network named cluster: $.spec.serviceNetwork.0: must be a string"},
      {"its migration", change(kNetwork, R"({"spec": {"serviceNetwork": ["172.30.0.0/16"]},
                            "status": {"networkType": "OVNKubernetes", "migration": {"mtu": {"machine": 9000}}}})"),
       network, "the Network named cluster: $.status.migration.mtu.machine: must be an object"},
      {"the domain of a DNS", change(&ControllerConfigInputs::dns, R"({"spec": {"baseDomain": ["a.example"]}})"), dns,
       "the DNS named cluster: $.spec.baseDomain: must be a string"},
      {"the status of a Proxy", change(kProxy, R"({"status": "http://p"})"), proxy,
       "the Proxy named cluster: $.status: must be an object"},
      {"the authorities of a Proxy", change(kProxy, R"({"spec": {"trustedCA": "mine"}, "status": {}})"), proxy,
       "the Proxy named cluster: $.spec.trustedCA: must be an object"},
      {"the authorities of an Image",
       change(&ControllerConfigInputs::image_setting, R"({"spec": {"additionalTrustedCA": {"name": 5}}})"),
       {"imageRegistryBundleUserData"},
       "the Image named cluster: $.spec.additionalTrustedCA.name: must be a string"},
      {"images.json", change(kImages, "[]"), images,
       "ConfigMap machine-config-operator-images: images.json: $: must be an object"},
      {"an image", change(kImages, R"({"releaseVersion": "4.21.0", "machineConfigOperator": 5})"), images,
       "ConfigMap machine-config-operator-images: images.json: $.machineConfigOperator: must be a string"},
  };
}

class WrongInputTest : public testing::TestWithParam<WrongInput> {};

TEST_P(WrongInputTest, LeavesOutOnlyTheFieldsThatNeedIt) {
  ControllerConfigInputs inputs = CompleteInputs();
  Value expected = DraftControllerConfig(inputs).spec;
  for (const std::string& field : GetParam().fields) EXPECT_TRUE(expected.Erase(field)) << field;
  GetParam().change(inputs);
  const ControllerConfigDraft draft = DraftControllerConfig(inputs);
  EXPECT_EQ(draft.spec, expected);
  EXPECT_THAT(draft.problems, ElementsAre(GetParam().problem));
}

INSTANTIATE_TEST_SUITE_P(All, WrongInputTest, testing::ValuesIn(WrongInputs()));

TEST(DraftControllerConfig, TakesNoEmptyImageFromAnOsImageStream) {
  ControllerConfigInputs inputs = CompleteInputs();
  inputs.has_os_streams = true;
  inputs.os_image_stream = Stream("HASH");
  for (api::OSImageStreamSet& stream : inputs.os_image_stream->status.available_streams) stream.os_image = "";
  const ControllerConfigDraft draft = DraftControllerConfig(inputs);
  EXPECT_THAT(draft.problems,
              ElementsAre(R"(the OSImageStream cluster has no osImage in its default stream "rhel-10")"));
  EXPECT_EQ(draft.release, "");
  EXPECT_FALSE(draft.spec.contains("baseOSContainerImage"));
}

TEST(DraftControllerConfig, WarnsOfAMissingConfigurationThatACloudDoesNotNeed) {
  ControllerConfigInputs inputs = CompleteInputs();
  inputs.infrastructure["spec"]["cloudConfig"]["name"] = "cloud-provider-config";
  EXPECT_THAT(DraftControllerConfig(inputs).warnings,
              ElementsAre("there is no ConfigMap openshift-config-managed/kube-cloud-config, though the Infrastructure "
                          "named cluster names a configuration of the cloud"));
}

TEST(MergedControllerConfig, KeepsFieldsThatCannotBeComputed) {
  const Value present = DraftControllerConfig(CompleteInputs()).spec;
  ControllerConfigInputs nothing;
  nothing.operator_version = kRelease;
  nothing.proxy = Json("{}");
  EXPECT_EQ(MergedControllerConfig(present, DraftControllerConfig(nothing).spec), present);
}

TEST(MergedControllerConfig, ClearsTheProxyAndTheMigrationButNoText) {
  const Value present =
      Json(R"({"additionalTrustBundle": "b2xk", "cloudProviderConfig": "old", "proxy": {"httpProxy": "p"},
      "network": {"mtuMigration": {"machine": {"to": 9000}}}, "imageRegistryBundleData": [{"file": "a", "data": ""}],
      "of somebody else": 1})");
  const Value merged = MergedControllerConfig(present, DraftControllerConfig(CompleteInputs()).spec);
  EXPECT_EQ(merged["additionalTrustBundle"], Value("b2xk"));
  EXPECT_EQ(merged["cloudProviderConfig"], Value("old"));
  EXPECT_TRUE(merged["proxy"].is_null());
  EXPECT_TRUE(merged["network"]["mtuMigration"].is_null());
  EXPECT_EQ(merged["imageRegistryBundleData"], Value::array());
  EXPECT_EQ(merged["of somebody else"], Value(1));
}

TEST(MergedControllerConfig, ReplacesImagesOneByOne) {
  const Value present = Json(R"({"images": {"corednsImage": "old", "haproxyImage": "old", "mine": "m"}})");
  ControllerConfigInputs inputs = CompleteInputs();
  inputs.release_images.Erase("haproxyImage");
  const Value merged = MergedControllerConfig(present, DraftControllerConfig(inputs).spec);
  EXPECT_EQ(merged["images"]["corednsImage"], Value("c"));
  EXPECT_EQ(merged["images"]["haproxyImage"], Value("old"));
  EXPECT_EQ(merged["images"]["mine"], Value("m"));
}

TEST(MergedControllerConfig, ReplacesPresentValuesOfWrongTypes) {
  const Value draft = DraftControllerConfig(CompleteInputs()).spec;
  for (const auto& [field, value] : draft.members()) {
    for (const char* wrong : {"5", R"("none")", "[5]"}) {
      Value present = draft;
      present[field] = Json(wrong);
      const Value merged = MergedControllerConfig(present, draft);
      // An empty value does not replace a present value.
      if (!WithoutEmptyMembers(value).empty() || (value.is_string() && !value.text().empty())) {
        EXPECT_EQ(merged[field], value) << field << " " << wrong;
      }
      EXPECT_EQ(merged["dns"], draft["dns"]) << field << " " << wrong;
    }
  }
  EXPECT_EQ(MergedControllerConfig("none", draft), MergedControllerConfig(Value(), draft));
}

// A way in which a ControllerConfig of the Machine Config Operator differs from ours, and which needs no write.
struct Difference {
  std::string name;
  std::function<void(Value& present)> change;

  friend void PrintTo(const Difference& row, std::ostream* out) { *out << row.name; }
};

std::vector<Difference> Differences() {
  return {
      {"nothing", [](Value&) {}},
      {"an empty domain of etcd is left out", [](Value& present) { present.Erase("etcdDiscoveryDomain"); }},
      {"an empty domain of etcd is null", [](Value& present) { present["etcdDiscoveryDomain"] = Value(); }},
      {"an old field for the OS image", [](Value& present) { present["osImageURL"] = ""; }},
      {"a network without a migration", [](Value& present) { present["network"] = Value::object(); }},
      {"no proxy, as an object", [](Value& present) { present["proxy"] = Value::object(); }},
      {"an empty list of authorities of registries is null",
       [](Value& present) { present["imageRegistryBundleData"] = Value(); }},
      {"an empty list of authorities of registries is left out",
       [](Value& present) { present.Erase("imageRegistryBundleUserData"); }},
      {"the version of the DNS", [](Value& present) { present["dns"]["metadata"]["resourceVersion"] = "7"; }},
      {"the managers of the DNS",
       [](Value& present) {
         present["dns"]["metadata"]["managedFields"] = Value::array({{{"manager", "m"}}});
       }},
      {"the version of the Infrastructure",
       [](Value& present) { present["infra"]["metadata"]["resourceVersion"] = "8"; }},
      {"the managers of the Infrastructure",
       [](Value& present) {
         present["infra"]["metadata"]["managedFields"] = Value::array({{{"manager", "m"}}});
       }},
      {"empty members of a copy",
       [](Value& present) {
         present["infra"]["metadata"]["creationTimestamp"] = nullptr;
         present["infra"]["spec"]["cloudConfig"]["name"] = "";
       }},
      {"empty members of credentials",
       [](Value& present) {
         present["internalRegistryPullSecret"] = EncodeBase64(
             R"({"auths": {"quay.example": {"username": "", "password": "", "email": "", "auth": "YTpi"}}})");
       }},
  };
}

class MergedControllerConfigTest : public testing::TestWithParam<Difference> {};

TEST_P(MergedControllerConfigTest, KeepsAValueThatDiffersInFormOnly) {
  ControllerConfigInputs inputs = CompleteInputs();
  inputs.infrastructure["status"].Erase("etcdDiscoveryDomain");
  const Value draft = DraftControllerConfig(inputs).spec;
  Value present = draft;
  GetParam().change(present);
  EXPECT_EQ(MergedControllerConfig(present, draft), present);
}

INSTANTIATE_TEST_SUITE_P(All, MergedControllerConfigTest, testing::ValuesIn(Differences()));

TEST(MergedControllerConfig, ReplacesAnEmbeddedObjectWhenMoreThanItsVersionDiffers) {
  const Value draft = DraftControllerConfig(CompleteInputs()).spec;
  Value present = draft;
  present["infra"]["metadata"]["resourceVersion"] = "8";
  present["infra"]["status"]["apiServerInternalURI"] = "https://old:6443";
  EXPECT_EQ(MergedControllerConfig(present, draft), draft);
}

TEST(MergedControllerConfig, TakesRenewedCredentialsAndReplacesUnreadableCredentials) {
  const Value draft = DraftControllerConfig(CompleteInputs()).spec;
  for (const char* before : {R"({"auths": {"quay.example": {"auth": "b2xk"}}})", "not JSON", ""}) {
    Value present = draft;
    present["internalRegistryPullSecret"] = EncodeBase64(before);
    EXPECT_EQ(MergedControllerConfig(present, draft), draft) << before;
  }
}

TEST(MergedControllerConfig, HasTheFieldsThatTheApiRequiresIfThereIsNoneYet) {
  ControllerConfigInputs inputs = CompleteInputs();
  inputs.is_installing = true;
  inputs.infrastructure["status"].Erase("etcdDiscoveryDomain");
  const Value made = MergedControllerConfig(Value(), DraftControllerConfig(inputs).spec);
  for (const char* field : {"additionalTrustBundle", "cloudProviderCAData", "cloudProviderConfig", "proxy",
                            "releaseImage", "network", "infra", "dns", "images", "rootCAData"}) {
    EXPECT_TRUE(made.contains(field)) << field;
  }
  EXPECT_FALSE(made.contains("etcdDiscoveryDomain"));
  EXPECT_FALSE(made.contains("internalRegistryPullSecret"));
}

}  // namespace
}  // namespace pintle::clusterops
