// SPDX-License-Identifier: Apache-2.0
#include "clusterops/controller_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/base64.h"
#include "clusterops/service_network.h"
#include "net/certificates.h"

namespace pintle::clusterops {
namespace {

using json::Value;

constexpr std::string_view kBundleKey = "ca-bundle.crt";
constexpr std::string_view kKubeletSigner = "kube-apiserver-to-kubelet-signer";
constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";

const std::string& TextIn(const std::optional<api::ConfigMap>& map, std::string_view key) {
  static const std::string kNone;
  if (!map) return kNone;
  const auto found = map->data.find(std::string(key));
  return found == map->data.end() ? kNone : found->second;
}

bool HasCertificate(std::string_view text) {
  const auto certificates = net::ReadCertificates(text);
  return certificates && !certificates->empty();
}

// Replaces each certificate of kKubeletSigner in the bundle with `signers`, so that the installer's rendered config
// keeps its name.
std::string WithSigner(std::string_view bundle, const std::string& signers) {
  std::string replaced;
  while (!bundle.empty()) {
    const std::size_t begin = bundle.find(kBegin);
    const std::size_t end = begin == std::string_view::npos ? begin : bundle.find(kEnd, begin);
    if (end == std::string_view::npos) break;
    std::size_t after = end + kEnd.size();
    if (after < bundle.size() && bundle[after] == '\n') ++after;
    const std::string_view certificate = bundle.substr(begin, after - begin);
    const auto read = net::ReadCertificates(certificate);
    const bool is_signer = read && !read->empty() && read->front().subject.find(kKubeletSigner) != std::string::npos;
    replaced += bundle.substr(0, begin);
    replaced += is_signer ? std::string_view(signers) : certificate;
    bundle.remove_prefix(after);
  }
  return replaced.append(bundle);
}

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Lists the authorities of each registry: first the entries of the ConfigMap's `data`, then those of its `binaryData`,
// both sorted by key.
Value RegistryBundle(const std::optional<api::ConfigMap>& map) {
  Value bundle = Value::array();
  if (!map) return bundle;
  for (const auto& [file, text] : map->data) {
    // A value that is base64 already is not encoded again.
    const bool is_encoded = DecodeBase64(text).has_value();
    bundle.push_back({{"data", is_encoded ? text : EncodeBase64(text)}, {"file", file}});
  }
  for (const auto& [file, bytes] : map->binary_data) bundle.push_back({{"data", bytes}, {"file", file}});
  return bundle;
}

class Drafter {
 public:
  explicit Drafter(const ControllerConfigInputs& inputs) : inputs_(inputs) {}

  ControllerConfigDraft Draft() && {
    AddInfrastructure();
    AddNetwork();
    AddDns();
    AddProxy();
    AddRootAuthority();
    AddServingAuthority();
    AddTrustBundle();
    AddCloud();
    AddOsImages();
    AddImages();
    draft_.spec["imageRegistryBundleData"] = RegistryBundle(inputs_.registry_authorities);
    draft_.spec["imageRegistryBundleUserData"] = RegistryBundle(inputs_.user_registry_authorities);
    draft_.spec["pullSecret"] = {{"name", "pull-secret"}, {"namespace", "openshift-config"}};
    draft_.spec["internalRegistryPullSecret"] = inputs_.is_installing || inputs_.internal_pull_secret.empty()
                                                    ? Value()
                                                    : Value(EncodeBase64(inputs_.internal_pull_secret));
    draft_.spec["osImageURL"] = "";
    draft_.spec["releaseImage"] = "";
    return std::move(draft_);
  }

 private:
  void Problem(std::string text) { draft_.problems.push_back(std::move(text)); }

  void AddBytes(std::string_view field, const std::string& bytes) {
    draft_.spec[field] = bytes.empty() ? Value() : Value(EncodeBase64(bytes));
  }

  void AddInfrastructure() {
    if (!inputs_.infrastructure.is_object()) return Problem("there is no Infrastructure named cluster");
    Value copy = inputs_.infrastructure;
    copy["apiVersion"] = "config.openshift.io/v1";
    copy["kind"] = "Infrastructure";
    if (std::as_const(copy)["status"]["platformStatus"].is_null()) {
      const std::string old = copy.TextAt({"status", "platform"});
      copy["status"]["platformStatus"]["type"] = old.empty() ? "None" : old;
    }
    platform_ = copy.TextAt({"status", "platformStatus", "type"});
    draft_.spec["platform"] = LowerCase(platform_);
    draft_.spec["etcdDiscoveryDomain"] = copy.TextAt({"status", "etcdDiscoveryDomain"});
    draft_.spec["infra"] = std::move(copy);
  }

  void AddNetwork() {
    const Value& network = inputs_.network;
    if (!network.is_object()) return Problem("there is no Network named cluster");
    std::vector<std::string> ranges;
    for (const Value& range : network["spec"]["serviceNetwork"]) {
      if (range.is_string()) ranges.push_back(range.text());
    }
    if (auto dns = ClusterDnsAddress(ranges)) {
      draft_.spec["clusterDNSIP"] = *std::move(dns);
    } else {
      Problem(dns.error().message());
    }
    if (auto families = IpFamiliesOf(ranges)) {
      draft_.spec["ipFamilies"] = std::string(*families);
    } else {
      Problem(families.error().message());
    }
    const std::string& planned = network.TextAt({"status", "migration", "networkType"});
    const std::string& present = network.TextAt({"status", "networkType"});
    if (present.empty()) {
      draft_.spec["networkType"] = network.TextAt({"spec", "networkType"});
    } else {
      draft_.spec["networkType"] = planned.empty() ? present : planned;
    }
    draft_.spec["network"]["mtuMigration"] = network["status"]["migration"]["mtu"];
  }

  void AddDns() {
    if (!inputs_.dns.is_object()) return Problem("there is no DNS named cluster");
    Value copy = inputs_.dns;
    copy["apiVersion"] = "config.openshift.io/v1";
    copy["kind"] = "DNS";
    draft_.spec["dns"] = std::move(copy);
  }

  void AddProxy() {
    if (!inputs_.proxy.is_object()) return Problem("there is no Proxy named cluster");
    const Value& status = inputs_.proxy["status"];
    draft_.spec["proxy"] = status.empty() ? Value() : status;
  }

  void AddRootAuthority() {
    const std::string& own = TextIn(inputs_.server_authority, kBundleKey);
    const std::string& root = own.empty() ? TextIn(inputs_.root_authority, "ca.crt") : own;
    if (root.empty()) {
      return Problem("neither ConfigMap machine-config-server-ca nor kube-system/root-ca has an authority");
    }
    AddBytes("rootCAData", root);
  }

  void AddServingAuthority() {
    if (inputs_.is_bootstrapped && !inputs_.is_installing) {
      const std::string& authority = TextIn(inputs_.client_authority, kBundleKey);
      if (authority.empty()) {
        return Problem("ConfigMap openshift-config-managed/kube-apiserver-client-ca has no ca-bundle.crt");
      }
      return AddBytes("kubeAPIServerServingCAData", authority);
    }
    const std::string& initial = TextIn(inputs_.initial_authority, kBundleKey);
    if (initial.empty()) {
      return Problem("ConfigMap openshift-config/initial-kube-apiserver-server-ca has no ca-bundle.crt");
    }
    const std::string& signers = TextIn(inputs_.kubelet_client_ca, kBundleKey);
    AddBytes("kubeAPIServerServingCAData", signers.empty() ? initial : WithSigner(initial, signers));
  }

  void AddTrustBundle() {
    // Without the Proxy, nobody knows which other authorities belong to the bundle.
    if (!inputs_.proxy.is_object()) return;
    std::string bundle;
    if (!AddAuthorities(inputs_.user_authorities, "user-ca-bundle", bundle)) return;
    const std::string& name = inputs_.proxy.TextAt({"spec", "trustedCA", "name"});
    if (!name.empty() && name != "user-ca-bundle") {
      if (!inputs_.proxy_authorities) {
        return Problem(fmt::format("there is no ConfigMap openshift-config/{}, which the Proxy names", name));
      }
      if (!AddAuthorities(inputs_.proxy_authorities, name, bundle)) return;
    }
    AddBytes("additionalTrustBundle", bundle);
  }

  // Appends the authorities in a ConfigMap to the bundle, if there is such a ConfigMap.  Returns false if it exists and
  // contains no certificate.
  bool AddAuthorities(const std::optional<api::ConfigMap>& map, std::string_view name, std::string& bundle) {
    if (!map) return true;
    const std::string& text = TextIn(map, kBundleKey);
    if (!HasCertificate(text)) {
      Problem(fmt::format("configmap openshift-config/{} doesn't have a valid PEM bundle", name));
      return false;
    }
    if (!bundle.empty() && bundle.back() != '\n') bundle += '\n';
    bundle += text;
    return true;
  }

  void AddCloud() {
    constexpr std::array kWithCloudConfig = {"Azure", "GCP", "OpenStack", "VSphere"};
    const bool is_needed =
        std::find(kWithCloudConfig.begin(), kWithCloudConfig.end(), platform_) != kWithCloudConfig.end();
    if (!inputs_.cloud_config) {
      if (is_needed) {
        return Problem(
            fmt::format("there is no ConfigMap openshift-config-managed/kube-cloud-config, which {} needs", platform_));
      }
    }
    draft_.spec["cloudProviderConfig"] = TextIn(inputs_.cloud_config, "cloud.conf");
    AddBytes("cloudProviderCAData", TextIn(inputs_.cloud_config, "ca-bundle.pem"));
  }

  void AddOsImages() {
    if (!inputs_.os_images) return Problem("there is no ConfigMap machine-config-osimageurl");
    const std::string& version = TextIn(inputs_.os_images, "releaseVersion");
    if (version != inputs_.operator_version) {
      return Problem(fmt::format("refusing to read osImageURL version \"{}\", operator version \"{}\"", version,
                                 inputs_.operator_version));
    }
    draft_.spec["baseOSContainerImage"] = TextIn(inputs_.os_images, "baseOSContainerImage");
    draft_.spec["baseOSExtensionsContainerImage"] = TextIn(inputs_.os_images, "baseOSExtensionsContainerImage");
  }

  void AddImages() {
    if (!inputs_.images.is_object()) return Problem("ConfigMap machine-config-operator-images has no images.json");
    const std::string& version = inputs_.images.TextAt({"releaseVersion"});
    if (version != inputs_.operator_version) {
      return Problem(fmt::format("refusing to read images.json version \"{}\", operator version \"{}\"", version,
                                 inputs_.operator_version));
    }
    Value& images = draft_.spec["images"];
    images = Value::object();
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kImages = {{
        {"machineConfigOperator", "machineConfigOperator"},
        {"apiServerWatcherKey", "machineConfigOperator"},
        {"infraImageKey", "infraImage"},
        {"keepalivedImage", "keepalivedImage"},
        {"corednsImage", "corednsImage"},
        {"haproxyImage", "haproxyImage"},
        {"baremetalRuntimeCfgImage", "baremetalRuntimeCfgImage"},
        {"kubeRbacProxyImage", "kubeRbacProxyImage"},
        {"dockerRegistryImage", "dockerRegistryImage"},
    }};
    for (const auto& [field, key] : kImages) {
      // Some releases use the names of the ControllerConfig's fields as keys.
      const std::string& image = inputs_.images.TextAt({key});
      images[field] = image.empty() ? inputs_.images.TextAt({field}) : image;
    }
  }

  const ControllerConfigInputs& inputs_;
  ControllerConfigDraft draft_;
  std::string platform_;
};

bool IsEmptyText(const Value& value) { return value.is_null() || (value.is_string() && value.text().empty()); }

}  // namespace

ControllerConfigDraft DraftControllerConfig(const ControllerConfigInputs& inputs) { return Drafter(inputs).Draft(); }

Value MergedControllerConfig(Value present, const Value& draft) {
  for (const auto& [field, value] : draft.members()) {
    const bool can_be_cleared = field == "proxy" || field == "network";
    Value& merged = present[field];
    if (field == "images") {
      for (const auto& [name, image] : value.members()) {
        if (!IsEmptyText(image) || !merged.contains(name)) merged[name] = image;
      }
    } else if (can_be_cleared || !IsEmptyText(value) || merged.is_null()) {
      merged = value;
    }
  }
  return present;
}

}  // namespace pintle::clusterops
