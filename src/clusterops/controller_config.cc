// SPDX-License-Identifier: Apache-2.0
#include "clusterops/controller_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "api/machine_config.h"
#include "base/ascii.h"
#include "base/base64.h"
#include "clusterops/authorities.h"
#include "clusterops/cluster_settings.h"
#include "clusterops/empty_members.h"
#include "clusterops/service_network.h"
#include "json/parse.h"
#include "net/certificates.h"

namespace pintle::clusterops {
namespace {

using json::Value;

constexpr std::string_view kBundleKey = "ca-bundle.crt";
constexpr std::string_view kCloudConfigKey = "cloud.conf";
constexpr std::string_view kOsImage = "baseOSContainerImage";
constexpr std::string_view kExtensionsImage = "baseOSExtensionsContainerImage";
constexpr std::string_view kRegistryCredentials = "internalRegistryPullSecret";
constexpr std::string_view kKubeletSigner = "kube-apiserver-to-kubelet-signer";

const std::string& TextIn(const std::optional<api::ConfigMap>& map, std::string_view key) {
  static const std::string kNone;
  if (!map) return kNone;
  const auto found = map->data.find(std::string(key));
  return found == map->data.end() ? kNone : found->second;
}

std::string ReadBundle(const std::optional<api::ConfigMap>& map, std::string_view key) {
  return map ? AuthoritiesIn(*map, key) : "";
}

// Replaces each certificate of kKubeletSigner in the bundle with `signers`.  The config that the installer rendered has
// the bundle in this form, and so keeps its name.
std::string WithSigner(std::string_view bundle, const std::string& signers) {
  std::string replaced;
  for (const PemCertificate& certificate : PemCertificatesIn(bundle)) {
    const auto read = net::ReadCertificates(certificate.text);
    const bool is_signer = read && !read->empty() && read->front().subject.find(kKubeletSigner) != std::string::npos;
    bundle.remove_prefix(certificate.before.size() + certificate.text.size());
    replaced += certificate.before;
    replaced += is_signer ? std::string_view(signers) : certificate.text;
    // The last line of `signers` may lack its end.
    if (is_signer && !bundle.empty() && replaced.back() != '\n') replaced += '\n';
  }
  return replaced.append(bundle);
}

// Encodes a text.  If it is base64 already, it is decoded first: it may have line breaks, which the API server refuses.
std::string OneLineBase64(const std::string& text) { return EncodeBase64(DecodeBase64(text).value_or(text)); }

// Returns a list with an entry for each registry: first the keys of `data`, and then those of `binaryData`, each
// sorted.
Value RegistryBundle(const api::ConfigMap& map) {
  Value bundle = Value::array();
  for (const auto& [file, text] : map.data) bundle.push_back({{"data", OneLineBase64(text)}, {"file", file}});
  for (const auto& [file, bytes] : map.binary_data) bundle.push_back({{"data", OneLineBase64(bytes)}, {"file", file}});
  return bundle;
}

// Removes the members of an object that change with each write of the object.
void EraseVersion(Value& object) {
  if (Value* const metadata = object.Find("metadata")) {
    metadata->Erase("resourceVersion");
    metadata->Erase("managedFields");
  }
}

// Copies an object without its version.
Value CopyOf(const Value& object, std::string_view kind) {
  Value copy = object;
  copy["apiVersion"] = "config.openshift.io/v1";
  copy["kind"] = kind;
  EraseVersion(copy);
  return copy;
}

// Returns the reasons why inputs cannot be used, because they cannot be read or have values of wrong types.
std::map<ConfigInput, std::string> UnusableInputs(const ControllerConfigInputs& inputs) {
  std::map<ConfigInput, std::string> unusable = inputs.unreadable;
  const auto note = [&](ConfigInput input, std::string why) {
    if (!why.empty()) unusable.emplace(input, std::move(why));
  };
  note(ConfigInput::kInfrastructure, WhyInfrastructureIsWrong(inputs.infrastructure));
  note(ConfigInput::kNetwork, WhyNetworkIsWrong(inputs.network));
  note(ConfigInput::kDns, WhyDnsIsWrong(inputs.dns));
  note(ConfigInput::kProxy, WhyProxyIsWrong(inputs.proxy));
  note(ConfigInput::kImageSetting, WhyImageSettingIsWrong(inputs.image_setting));
  note(ConfigInput::kReleaseImages, WhyReleaseImagesAreWrong(inputs.release_images));
  return unusable;
}

class Drafter {
 public:
  explicit Drafter(const ControllerConfigInputs& inputs) : inputs_(inputs), unusable_(UnusableInputs(inputs)) {}

  ControllerConfigDraft Draft() && {
    AddInfrastructure();
    AddNetwork();
    AddDns();
    AddProxy();
    AddRootAuthority();
    AddServingAuthority();
    AddTrustBundle();
    AddCloud();
    AddRelease();
    AddRegistries();
    AddRegistryCredentials();
    draft_.spec["pullSecret"] = {{"name", "pull-secret"}, {"namespace", "openshift-config"}};
    draft_.spec["releaseImage"] = "";
    return std::move(draft_);
  }

 private:
  void Problem(std::string text) { draft_.problems.push_back(std::move(text)); }

  // Returns whether all of these inputs can be used.  Reports the reason of each that cannot be used.
  bool AreUsable(std::initializer_list<ConfigInput> needed) {
    bool are_usable = true;
    for (const ConfigInput input : needed) {
      const auto found = unusable_.find(input);
      if (found == unusable_.end()) continue;
      are_usable = false;
      if (reported_.insert(input).second) Problem(found->second);
    }
    return are_usable;
  }

  // Sets a field to the base64 of the bytes, or to null if there are none.
  void AddBytes(std::string_view field, const std::string& bytes) {
    draft_.spec[field] = bytes.empty() ? Value() : Value(EncodeBase64(bytes));
  }

  void AddInfrastructure() {
    if (!AreUsable({ConfigInput::kInfrastructure})) return;
    if (!inputs_.infrastructure.is_object()) return Problem("there is no Infrastructure named cluster");
    Value copy = CopyOf(inputs_.infrastructure, "Infrastructure");
    if (copy.TextAt({"status", "platformStatus", "type"}).empty()) {
      const bool is_old = std::as_const(copy)["status"]["platformStatus"].is_null();
      const std::string old = is_old ? copy.TextAt({"status", "platform"}) : "";
      Value platform = Value::object();
      platform["type"] = old.empty() ? "None" : old;
      copy["status"]["platformStatus"] = std::move(platform);
    }
    platform_ = copy.TextAt({"status", "platformStatus", "type"});
    draft_.spec["platform"] = InLowerCase(platform_);
    draft_.spec["etcdDiscoveryDomain"] = copy.TextAt({"status", "etcdDiscoveryDomain"});
    draft_.spec["infra"] = std::move(copy);
  }

  void AddNetwork() {
    if (!AreUsable({ConfigInput::kNetwork})) return;
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
    // Until the network is up, its status does not count.
    if (present.empty()) {
      draft_.spec["networkType"] = network.TextAt({"spec", "networkType"});
      draft_.spec["network"]["mtuMigration"] = nullptr;
    } else {
      draft_.spec["networkType"] = planned.empty() ? present : planned;
      draft_.spec["network"]["mtuMigration"] = network["status"]["migration"]["mtu"];
    }
  }

  void AddDns() {
    if (!AreUsable({ConfigInput::kDns})) return;
    if (!inputs_.dns.is_object()) return Problem("there is no DNS named cluster");
    draft_.spec["dns"] = CopyOf(inputs_.dns, "DNS");
  }

  void AddProxy() {
    if (!AreUsable({ConfigInput::kProxy})) return;
    if (!inputs_.proxy.is_object()) return Problem("there is no Proxy named cluster");
    const Value& status = inputs_.proxy["status"];
    const bool is_empty = WithoutEmptyMembers(status).empty();
    const bool is_wanted =
        !inputs_.proxy.TextAt({"spec", "httpProxy"}).empty() || !inputs_.proxy.TextAt({"spec", "httpsProxy"}).empty();
    if (is_empty && is_wanted) {
      return Problem(
          "the Proxy named cluster has a proxy in its spec and none in its status, which the network's "
          "operator has to set");
    }
    draft_.spec["proxy"] = is_empty ? Value() : status;
  }

  void AddRootAuthority() {
    if (!AreUsable({ConfigInput::kServerAuthority})) return;
    const std::string own = ReadBundle(inputs_.server_authority, kBundleKey);
    if (!own.empty()) return AddAuthority("rootCAData", own, "machine-config-server-ca");
    if (!AreUsable({ConfigInput::kRootAuthority})) return;
    const std::string root = ReadBundle(inputs_.root_authority, "ca.crt");
    if (root.empty()) {
      return Problem("neither ConfigMap machine-config-server-ca nor kube-system/root-ca has an authority");
    }
    // If machines trust an authority that is not in kube-system/root-ca, that authority has signed the server's
    // certificate.
    const std::string trusted = DecodeBase64(PresentText("rootCAData")).value_or("");
    if (net::HasCertificate(trusted) && !ContainsCertificates(root, trusted)) {
      return Problem(
          "ConfigMap machine-config-server-ca has no ca-bundle.crt, and machines trust other authorities than those of "
          "kube-system/root-ca: create ca-bundle.crt again with the authorities in rootCAData of the ControllerConfig");
    }
    AddAuthority("rootCAData", root, "kube-system/root-ca");
  }

  // Returns a text of the present spec, or "".
  std::string PresentText(std::string_view field) const {
    return inputs_.present == nullptr ? "" : inputs_.present->TextAt({field});
  }

  void AddServingAuthority() {
    if (!AreUsable({ConfigInput::kBootstrap})) return;
    if (inputs_.is_bootstrapped && !inputs_.is_installing) {
      if (!AreUsable({ConfigInput::kClientAuthority})) return;
      const std::string authority = ReadBundle(inputs_.client_authority, kBundleKey);
      if (authority.empty()) {
        return Problem("ConfigMap openshift-config-managed/kube-apiserver-client-ca has no ca-bundle.crt");
      }
      return AddAuthority("kubeAPIServerServingCAData", authority, "openshift-config-managed/kube-apiserver-client-ca");
    }
    if (!AreUsable({ConfigInput::kInitialAuthority, ConfigInput::kKubeletClientCa})) return;
    const std::string initial = ReadBundle(inputs_.initial_authority, kBundleKey);
    if (initial.empty()) {
      return Problem("ConfigMap openshift-config/initial-kube-apiserver-server-ca has no ca-bundle.crt");
    }
    const std::string signers = ReadBundle(inputs_.kubelet_client_ca, kBundleKey);
    AddAuthority("kubeAPIServerServingCAData", net::HasCertificate(signers) ? WithSigner(initial, signers) : initial,
                 "openshift-config/initial-kube-apiserver-server-ca");
  }

  // Adds a bundle, or a problem if the bundle has no certificate: with such a bundle, machines would trust no server.
  void AddAuthority(std::string_view field, const std::string& bundle, std::string_view map) {
    if (!net::HasCertificate(bundle)) {
      return Problem(fmt::format("ConfigMap {} has a bundle of authorities in which no certificate can be read", map));
    }
    AddBytes(field, bundle);
  }

  void AddTrustBundle() {
    if (!AreUsable({ConfigInput::kProxy, ConfigInput::kUserAuthorities})) return;
    // Without the Proxy, nobody knows which other authorities belong to the bundle.
    if (!inputs_.proxy.is_object()) return;
    std::string bundle;
    if (!AddAuthorities(inputs_.user_authorities, "user-ca-bundle", bundle)) return;
    const std::string& name = inputs_.proxy.TextAt({"spec", "trustedCA", "name"});
    if (!name.empty() && name != "user-ca-bundle") {
      if (!AreUsable({ConfigInput::kProxyAuthorities})) return;
      if (!inputs_.proxy_authorities) {
        return Problem(fmt::format("there is no ConfigMap openshift-config/{}, which the Proxy names", name));
      }
      if (!AddAuthorities(inputs_.proxy_authorities, name, bundle)) return;
    }
    AddBytes("additionalTrustBundle", bundle);
  }

  // Appends the authorities in a ConfigMap to the bundle, if there is such a ConfigMap.  An empty ca-bundle.crt adds
  // nothing.  If ca-bundle.crt is missing, or none of its certificates can be read, reports the problem and
  // returns false.
  bool AddAuthorities(const std::optional<api::ConfigMap>& map, std::string_view name, std::string& bundle) {
    if (!map) return true;
    const std::string key(kBundleKey);
    const std::string text = ReadBundle(map, kBundleKey);
    if (text.empty() && (map->data.contains(key) || map->binary_data.contains(key))) return true;
    // One certificate is enough: the programs that use the bundle skip certificates that they cannot read.
    if (!HasReadableCertificate(text)) {
      Problem(fmt::format("configmap openshift-config/{} doesn't have a valid PEM bundle", name));
      return false;
    }
    if (!bundle.empty() && bundle.back() != '\n') bundle += '\n';
    bundle += text;
    return true;
  }

  void AddCloud() {
    if (!AreUsable({ConfigInput::kCloudConfig})) return;
    constexpr std::array kWithCloudConfig = {"Azure", "GCP", "OpenStack", "VSphere"};
    const bool is_needed =
        std::find(kWithCloudConfig.begin(), kWithCloudConfig.end(), platform_) != kWithCloudConfig.end();
    if (!inputs_.cloud_config) {
      if (is_needed) {
        return Problem(
            fmt::format("there is no ConfigMap openshift-config-managed/kube-cloud-config, which {} needs", platform_));
      }
      if (!inputs_.infrastructure.TextAt({"spec", "cloudConfig", "name"}).empty()) {
        draft_.warnings.emplace_back(
            "there is no ConfigMap openshift-config-managed/kube-cloud-config, though the Infrastructure named cluster "
            "names a configuration of the cloud");
      }
    }
    const std::string key(kCloudConfigKey);
    if (is_needed && !inputs_.cloud_config->data.contains(key)) {
      Problem(fmt::format("ConfigMap openshift-config-managed/kube-cloud-config has no {}, which {} needs", key,
                          platform_));
    } else {
      draft_.spec["cloudProviderConfig"] = TextIn(inputs_.cloud_config, key);
    }
    const std::string authorities = ReadBundle(inputs_.cloud_config, "ca-bundle.pem");
    if (authorities.empty()) return AddBytes("cloudProviderCAData", authorities);
    AddAuthority("cloudProviderCAData", authorities, "openshift-config-managed/kube-cloud-config");
  }

  void AddRegistries() {
    if (AreUsable({ConfigInput::kRegistryAuthorities}) && inputs_.registry_authorities) {
      draft_.spec["imageRegistryBundleData"] = RegistryBundle(*inputs_.registry_authorities);
    }
    if (!AreUsable({ConfigInput::kImageSetting})) return;
    if (!inputs_.image_setting.is_object()) return Problem("there is no Image named cluster");
    Value bundle = Value::array();
    const std::string& name = inputs_.image_setting.TextAt({"spec", "additionalTrustedCA", "name"});
    if (!name.empty()) {
      if (!AreUsable({ConfigInput::kUserRegistryAuthorities})) return;
      if (!inputs_.user_registry_authorities) {
        draft_.warnings.push_back(
            fmt::format("there is no ConfigMap openshift-config/{}, which the Image config names", name));
        return;
      }
      bundle = RegistryBundle(*inputs_.user_registry_authorities);
    }
    draft_.spec["imageRegistryBundleUserData"] = std::move(bundle);
  }

  void AddRegistryCredentials() {
    if (inputs_.is_installing) {
      // The cluster's registry is installed later, and the installer's machines have no credentials for it.
      draft_.spec[kRegistryCredentials] = Value();
      return;
    }
    // The registry's address contains the domain in the object DNS.  AddDns() reports a missing DNS.
    if (!AreUsable({ConfigInput::kDns})) return;
    if (!inputs_.dns.is_object()) return;
    const auto merged =
        MergedRegistryCredentials(inputs_.registry_credentials, inputs_.dns.TextAt({"spec", "baseDomain"}));
    if (!merged) {
      return Problem(fmt::format("the credentials for the cluster's own registry: {}", merged.error().message()));
    }
    AddBytes(kRegistryCredentials, *merged);
  }

  // Returns why the OSImageStream must not be used for a release, or an empty text if it may be.  The operator that
  // makes the OSImageStream writes its own version into one of the stream's annotations.  So this version has to change
  // exactly when the release changes.  Otherwise the stream belongs to another release, and nodes would get the OS of
  // that release.
  std::string WhyStreamIsRefused(const std::string& release) const {
    const std::string& version = StreamVersion();
    if (version.empty()) {
      return fmt::format("the OSImageStream cluster has no annotation {}, so nobody knows for which release it is",
                         api::kReleaseImageVersionAnnotation);
    }
    const bool is_known = !inputs_.present_release.empty() && !inputs_.present_stream_version.empty();
    const bool is_same_release = inputs_.present_release == release;
    const bool is_same_stream = inputs_.present_stream_version == version;
    if (!is_known || is_same_release == is_same_stream) return "";
    return fmt::format(
        "the OSImageStream cluster is not that of the release {}: its version is {}, and the OSImageStream of the "
        "release {} has the version {}",
        release, version, inputs_.present_release, inputs_.present_stream_version);
  }

  const std::string& StreamVersion() const {
    return inputs_.os_image_stream->metadata.Annotation(api::kReleaseImageVersionAnnotation);
  }

  void AddOsImagesOfStream(const std::string& release) {
    if (!inputs_.os_image_stream) return Problem("there is no OSImageStream named cluster");
    if (std::string why = WhyStreamIsRefused(release); !why.empty()) return Problem(std::move(why));
    const api::OSImageStreamStatus& status = inputs_.os_image_stream->status;
    const auto& streams = status.available_streams;
    const auto found = std::find_if(streams.begin(), streams.end(), [&](const api::OSImageStreamSet& stream) {
      return stream.name == status.default_stream;
    });
    if (found == streams.end()) {
      return Problem(fmt::format("the OSImageStream cluster lacks its default stream \"{}\"", status.default_stream));
    }
    if (found->os_image.empty()) {
      return Problem(
          fmt::format("the OSImageStream cluster has no osImage in its default stream \"{}\"", status.default_stream));
    }
    draft_.spec[kOsImage] = found->os_image;
    draft_.spec[kExtensionsImage] = found->os_extensions_image;
  }

  // All images of a release are replaced together, since nodes would be updated twice otherwise.
  void AddRelease() {
    if (!AreUsable({ConfigInput::kReleaseImages})) return;
    if (!AreUsable({inputs_.has_os_streams ? ConfigInput::kOsImageStream : ConfigInput::kOsImages})) return;
    const std::string& images_release = inputs_.release_images.TextAt({"releaseVersion"});
    const std::string& release = inputs_.operator_version.empty() ? images_release : inputs_.operator_version;
    AddOsImages(release);
    AddImages(release);
    if (draft_.spec.contains("images") && draft_.spec.contains(kOsImage)) {
      draft_.release = release;
      if (inputs_.has_os_streams) draft_.stream_version = StreamVersion();
    } else {
      for (const std::string_view field : {std::string_view("images"), kOsImage, kExtensionsImage}) {
        draft_.spec.Erase(field);
      }
    }
  }

  void AddOsImages(const std::string& release) {
    if (release.empty()) return;  // AddImages() reports the problem.
    if (inputs_.has_os_streams) return AddOsImagesOfStream(release);
    if (!inputs_.os_images) return Problem("there is no ConfigMap machine-config-osimageurl");
    const std::string& version = TextIn(inputs_.os_images, "releaseVersion");
    if (version != release) {
      return Problem(
          fmt::format("refusing to read osImageURL version \"{}\", operator version \"{}\"", version, release));
    }
    const std::string& image = TextIn(inputs_.os_images, kOsImage);
    if (image.empty()) return Problem("ConfigMap machine-config-osimageurl has no baseOSContainerImage");
    draft_.spec[kOsImage] = image;
    draft_.spec[kExtensionsImage] = TextIn(inputs_.os_images, kExtensionsImage);
  }

  void AddImages(const std::string& release) {
    if (!inputs_.release_images.is_object()) {
      return Problem("ConfigMap machine-config-operator-images has no images.json");
    }
    const std::string& version = inputs_.release_images.TextAt({"releaseVersion"});
    if (version.empty() || version != release) {
      return Problem(
          fmt::format("refusing to read images.json version \"{}\", operator version \"{}\"", version, release));
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
      const std::string& image = inputs_.release_images.TextAt({key});
      images[field] = image.empty() ? inputs_.release_images.TextAt({field}) : image;
    }
  }

  const ControllerConfigInputs& inputs_;
  const std::map<ConfigInput, std::string> unusable_;
  ControllerConfigDraft draft_;
  std::set<ConfigInput> reported_;  // The unusable inputs among the problems.
  std::string platform_;
};

// Returns a copy of an object without its version and without empty members, for comparisons.
Value WithoutVersion(const Value& copy) {
  Value comparable = WithoutEmptyMembers(copy);
  EraseVersion(comparable);
  return comparable;
}

bool IsCopyOfObject(std::string_view field) { return field == "infra" || field == "dns"; }

// Returns whether an empty value replaces the present value of a field.
bool CanBeCleared(std::string_view field) { return field == "proxy" || field == "network"; }

// The API requires these fields even if there is nothing in them.
bool IsRequired(std::string_view field) {
  constexpr auto kRequired = std::to_array<std::string_view>(
      {"additionalTrustBundle", "cloudProviderCAData", "cloudProviderConfig", "network", "proxy", "releaseImage"});
  return std::find(kRequired.begin(), kRequired.end(), field) != kRequired.end();
}

// Returns the credentials in a field, without empty members.  Returns null if they cannot be read.
Value ReadCredentials(const Value& base64) {
  const auto text = base64.is_string() ? DecodeBase64(base64.text()) : std::nullopt;
  const auto credentials = json::Parse(text.value_or(""));
  return credentials ? WithoutEmptyMembers(*credentials) : Value();
}

// Returns whether the value means the same as a field that is left out.
bool StandsForNothing(const Value& value) {
  return IsEmptyText(value) || (value.is_structured() && WithoutEmptyMembers(value).empty());
}

// Returns whether two values of a field mean the same.
bool IsSame(std::string_view field, const Value& a, const Value& b) {
  if (StandsForNothing(a) && StandsForNothing(b)) return true;
  if (field == kRegistryCredentials) return ReadCredentials(a) == ReadCredentials(b);
  if (IsCopyOfObject(field)) return WithoutVersion(a) == WithoutVersion(b);
  if (CanBeCleared(field)) return WithoutEmptyMembers(a) == WithoutEmptyMembers(b);
  return a == b;
}

// Replaces the known images, except for those that `images` lacks.
void MergeImages(Value& known, const Value& images) {
  if (!known.is_object()) known = Value::object();
  for (const auto& [name, image] : images.members()) {
    if (!IsEmptyText(image)) known[name] = image;
  }
}

}  // namespace

ControllerConfigDraft DraftControllerConfig(const ControllerConfigInputs& inputs) { return Drafter(inputs).Draft(); }

Value MergedControllerConfig(Value present, const Value& draft) {
  if (!present.is_object()) present = Value();
  const bool is_new = present.empty();
  for (const auto& [field, value] : draft.members()) {
    if (field == "images") {
      MergeImages(present[field], value);
    } else if (!present.contains(field)) {
      if (!StandsForNothing(value) || (is_new && IsRequired(field))) present[field] = value;
    } else if (!IsEmptyText(value) || CanBeCleared(field)) {
      if (!IsSame(field, std::as_const(present)[field], value)) present[field] = value;
    }
  }
  return present;
}

}  // namespace pintle::clusterops
