// SPDX-License-Identifier: Apache-2.0
#include "generated/template_functions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "generated/go_url.h"
#include "generated/invalid.h"
#include "generated/render_config.h"
#include "generated/render_config_type.h"
#include "gotemplate/print.h"

namespace pintle::generated {
namespace {

using gotemplate::Function;
using gotemplate::Functions;
using gotemplate::Kind;
using gotemplate::Memory;
using gotemplate::Type;
using gotemplate::Value;

using Values = std::span<const Value>;

// Makes the error that templates report where the operator's functions panic.
Error NilPointer() { return Invalid("runtime error: invalid memory address or nil pointer dereference"); }

Result<Value> ToString(Values values, Memory& memory) {
  const Value& value = values.front();
  if (value.kind() == Kind::kString && !value.type().is_named) return value;
  if (value.kind() == Kind::kSlice && &value.type() == &gotemplate::kBytesType) return Value::Text(value.text());
  if (!value.is_valid()) return Value::Text("<nil>");
  return Value::Text(memory.Keep(gotemplate::FormattedValue(value)));
}

Result<Value> Indent(Values values, Memory& memory) {
  if (values[0].integer() < 0) return Invalid("strings: negative Repeat count");
  if (values[0].integer() > 1'000'000) return Invalid("the indent is too large");
  const std::string padding(static_cast<std::size_t>(values[0].integer()), ' ');
  std::string indented = padding;
  for (const char c : values[1].text()) {
    indented += c;
    if (c == '\n') indented += padding;
    if (indented.size() > gotemplate::kLongestPrint) return Invalid("the text would be too long");
  }
  return Value::Text(memory.Keep(std::move(indented)));
}

Result<Value> Join(Values values, Memory& memory) {
  std::string joined;
  for (std::size_t i = 0; i < values[0].size(); ++i) {
    if (i > 0) joined += values[1].text();
    joined += values[0].ElementAt(i).text();
    if (joined.size() > gotemplate::kLongestPrint) return Invalid("the text would be too long");
  }
  return Value::Text(memory.Keep(std::move(joined)));
}

// Prints {{.KEY}} for a key, as the operator does.  Nothing replaces the printed text later.
Result<Value> Skip(Values values, Memory& memory) {
  const std::string_view key = values.front().text();
  const auto is_word = [](char c) { return IsLetterOrDigit(c) || c == '_'; };
  const bool is_key =
      !key.empty() && (key.front() == '_' || IsLower(key.front())) && std::all_of(key.begin(), key.end(), is_word);
  if (!is_key) return Invalid("invalid key for skipKey");
  return Value::Text(memory.Keep(fmt::format("{{{{.{}}}}}", key)));
}

Result<Value> UrlHost(Values values, Memory& memory) {
  GoUrl url = TRY(ReadGoUrl(values.front().text()), "invalid url");
  return Value::Text(memory.Keep(std::move(url.host)));
}

Result<Value> UrlPort(Values values, Memory& memory) {
  GoUrl url = TRY(ReadGoUrl(values.front().text()), "invalid url");
  if (!url.port.empty()) return Value::Text(memory.Keep(std::move(url.port)));
  if (url.scheme == "https") return Value::Text("443");
  if (url.scheme == "http") return Value::Text("80");
  return Invalid(fmt::format("unknown scheme in {}", values.front().text()));
}

// Returns the status of the platform, or an invalid Value if there is none.  It is an error if there is no
// Infrastructure.
Result<Value> PlatformStatus(const Value& config) {
  if (FieldOf(config, {"Infra"}).is_nil()) return NilPointer();
  const auto [status, is_nil] = gotemplate::Follow(FieldOf(config, {"Infra", "Status", "PlatformStatus"}));
  return is_nil ? Value() : status;
}

std::string_view TypeOf(const Value& status) { return FieldOf(status, {"Type"}).text(); }

Result<Value> PlatformType(Values values, Memory&) {
  const Value status = TRY(PlatformStatus(values.front()));
  if (!status.is_valid()) return Invalid("could not determine platform type");
  return FieldOf(status, {"Type"});
}

bool IsOneOf(std::string_view platform, std::span<const std::string_view> platforms) {
  return std::find(platforms.begin(), platforms.end(), platform) != platforms.end();
}

bool HasExternalCloudProvider(const Value& status) {
  constexpr auto kAlwaysExternal = std::to_array<std::string_view>(
      {"AlibabaCloud", "AWS", "Azure", "GCP", "IBMCloud", "KubeVirt", "Nutanix", "OpenStack", "PowerVS", "VSphere"});
  const std::string_view platform = TypeOf(status);
  if (platform != "External") return IsOneOf(platform, kAlwaysExternal);
  const Value state = FieldOf(status, {"External", "CloudControllerManager", "State"});
  return state.is_valid() && state.text() == "External";
}

Result<Value> CloudProvider(Values values, Memory&) {
  const Value status = TRY(PlatformStatus(values.front()));
  return Value::Text(status.is_valid() && HasExternalCloudProvider(status) ? "external" : "");
}

constexpr std::string_view kEcrFlags =
    "--image-credential-provider-bin-dir=/usr/libexec/kubelet-image-credential-provider-plugins "
    "--image-credential-provider-config=/etc/kubernetes/credential-providers/ecr-credential-provider.yaml";
constexpr std::string_view kGcrFlags =
    "--image-credential-provider-bin-dir=/usr/libexec/kubelet-image-credential-provider-plugins "
    "--image-credential-provider-config=/etc/kubernetes/credential-providers/gcr-credential-provider.yaml";
constexpr std::string_view kAcrFlags =
    "--image-credential-provider-bin-dir=/usr/libexec/kubelet-image-credential-provider-plugins "
    "--image-credential-provider-config=/etc/kubernetes/credential-providers/acr-credential-provider.yaml";

Result<Value> CredentialProviderFlags(Values values, Memory&) {
  const Value type = FieldOf(values.front(), {"Infra", "Status", "PlatformStatus", "Type"});
  const std::string_view platform = type.is_valid() ? type.text() : "";
  return Value::Text(platform == "AWS"     ? kEcrFlags
                     : platform == "GCP"   ? kGcrFlags
                     : platform == "Azure" ? kAcrFlags
                                           : "");
}

// A platform without a load balancer of its own.
struct OnPremises {
  std::string_view platform;
  std::string_view short_name;  // The name in the namespace of its pods, such as openshift-kni-infra.
  std::string_view field;       // The name of the platform's field in the status.
};
constexpr auto kOnPremises = std::to_array<OnPremises>({{"BareMetal", "kni", "BareMetal"},
                                                        {"oVirt", "ovirt", "Ovirt"},
                                                        {"OpenStack", "openstack", "OpenStack"},
                                                        {"VSphere", "vsphere", "VSphere"},
                                                        {"Nutanix", "nutanix", "Nutanix"}});

const OnPremises* FindOnPremises(std::string_view platform) {
  const auto found = std::find_if(kOnPremises.begin(), kOnPremises.end(),
                                  [&](const OnPremises& candidate) { return candidate.platform == platform; });
  return found == kOnPremises.end() ? nullptr : &*found;
}

Result<Value> OnPremisesShortName(Values values, Memory&) {
  const Value status = TRY(PlatformStatus(values.front()));
  const OnPremises* on_premises = status.is_valid() ? FindOnPremises(TypeOf(status)) : nullptr;
  return Value::Text(on_premises == nullptr ? "" : on_premises->short_name);
}

// Returns the addresses in a field of the platform's status.  On vSphere, this status is missing if the installer did
// not make the machines; then the result is empty.  `name` is the name of the addresses in errors.
Result<Value> OnPremisesAddresses(const Value& config, std::string_view field, const char* name, Memory& memory) {
  const Value status = TRY(PlatformStatus(config));
  if (!status.is_valid()) return Invalid("");  // The operator's error is empty, too.
  const OnPremises* on_premises = FindOnPremises(TypeOf(status));
  if (on_premises == nullptr) return Invalid(fmt::format("invalid platform for {}", name));
  const Value addresses = FieldOf(status, {on_premises->field, field});
  if (addresses.is_valid()) return addresses;
  if (on_premises->platform == "VSphere") return memory.Strings({});
  return NilPointer();
}

// Returns the first address in a field of the platform's status.  On vSphere, there may be no address; then the result
// is an invalid Value.
Result<Value> OnPremisesAddress(const Value& config, std::string_view field, const char* name, Memory& memory) {
  const Value addresses = TRY(OnPremisesAddresses(config, field, name, memory));
  if (addresses.size() > 0) return addresses.ElementAt(0);
  if (TypeOf(TRY(PlatformStatus(config))) == "VSphere") return Value();
  return Invalid("runtime error: index out of range [0] with length 0");
}

constexpr const char* kApiServer = "API Server Internal IP";
constexpr const char* kIngress = "Ingress IP";

Result<Value> ApiServerAddress(Values values, Memory& memory) {
  return OnPremisesAddress(values.front(), "APIServerInternalIPs", kApiServer, memory);
}
Result<Value> ApiServerAddresses(Values values, Memory& memory) {
  return OnPremisesAddresses(values.front(), "APIServerInternalIPs", kApiServer, memory);
}
Result<Value> IngressAddress(Values values, Memory& memory) {
  return OnPremisesAddress(values.front(), "IngressIPs", kIngress, memory);
}
Result<Value> IngressAddresses(Values values, Memory& memory) {
  return OnPremisesAddresses(values.front(), "IngressIPs", kIngress, memory);
}

Result<Value> HasManagedLoadBalancer(Values values, Memory&) {
  const Value status = TRY(PlatformStatus(values.front()));
  if (!status.is_valid()) return Value::Bool(false);
  const OnPremises* on_premises = FindOnPremises(TypeOf(status));
  if (on_premises == nullptr) return Value::Bool(true);
  const Value addresses = FieldOf(status, {on_premises->field, "APIServerInternalIPs"});
  // On vSphere, a cluster without addresses uses a load balancer of its administrator.
  const bool has_other_balancer = on_premises->platform == "VSphere" && addresses.size() == 0;
  if (!addresses.is_valid() || has_other_balancer) return Value::Bool(false);
  const Value type = FieldOf(status, {on_premises->field, "LoadBalancer", "Type"});
  return Value::Bool(!type.is_valid() || type.text() == "OpenShiftManagedDefault");
}

// Returns the field DNSRecordsType of the platform's status.  oVirt also has this field, but the operator does not read
// it there.
Result<Value> DnsRecordsType(Values values, Memory&) {
  const Value status = TRY(PlatformStatus(values.front()));
  const bool is_read = status.is_valid() && TypeOf(status) != "oVirt";
  const OnPremises* on_premises = is_read ? FindOnPremises(TypeOf(status)) : nullptr;
  const Value type = on_premises == nullptr ? Value() : FieldOf(status, {on_premises->field, "DNSRecordsType"});
  return Value::Text(type.is_valid() ? type.text() : "Internal");
}

enum class LoadBalancerState {
  kDefault,   // The cluster does not serve its own DNS in the cloud (its DNSType is not ClusterHosted).
  kAbsent,    // The cluster serves its own DNS, but its status has no addresses of load balancers.
  kAvailable  // The status has the addresses.
};

LoadBalancerState StateOf(const Value& status, std::string_view platform) {
  const Value config = FieldOf(status, {platform, "CloudLoadBalancerConfig"});
  const Value type = config.is_valid() ? FieldOf(config, {"DNSType"}) : Value();
  if (!type.is_valid() || type.text() != "ClusterHosted") return LoadBalancerState::kDefault;
  return FieldOf(config, {"ClusterHosted"}).is_nil() ? LoadBalancerState::kAbsent : LoadBalancerState::kAvailable;
}

bool IsCloudWithLoadBalancer(std::string_view platform) {
  return platform == "AWS" || platform == "Azure" || platform == "GCP";
}

// kName is the load balancer's name in errors, and kField is the field with its addresses.
template <const char* kName, const char* kField>
Result<Value> CloudAddresses(Values values, Memory&) {
  const Value status = TRY(PlatformStatus(values.front()));
  // As in the operator, some of these errors are empty.
  if (!status.is_valid()) return Invalid("");
  const std::string_view platform = TypeOf(status);
  if (!IsCloudWithLoadBalancer(platform)) return Invalid("invalid cloud platform for API Server Internal IPs");
  switch (StateOf(status, platform)) {
    case LoadBalancerState::kAvailable:
      return FieldOf(status, {platform, "CloudLoadBalancerConfig", "ClusterHosted", kField});
    case LoadBalancerState::kAbsent:
      // Only in this error, the operator writes "azure" with a small letter.
      return Invalid(fmt::format("{} {} Load Balancer IPs unavailable when the DNSType is ClusterHosted",
                                 platform == "Azure" ? "azure" : platform, kName));
    default:
      return Invalid("");
  }
}

constexpr char kInternalName[] = "Internal API Server";
constexpr char kInternalField[] = "APIIntLoadBalancerIPs";
constexpr char kApiName[] = "API Server";
constexpr char kApiField[] = "APILoadBalancerIPs";
constexpr char kIngressName[] = "Ingress";
constexpr char kIngressField[] = "IngressLoadBalancerIPs";

Functions MakeFunctions() {
  const std::vector<const Type*> config = {&RenderConfigType()};
  const std::vector<const Type*> text = {&gotemplate::kStringType};
  const Type* const any = &gotemplate::kAnyType;
  const Type* const string = &gotemplate::kStringType;
  return {
      {"toString", {{any}, false, string, ToString}},
      {"indent", {{&gotemplate::kIntType, string}, false, string, Indent}},
      {"join", {{&gotemplate::kStringsType, string}, false, string, Join}},
      {"skip", {text, false, any, Skip}},
      {"urlHost", {text, false, any, UrlHost}},
      {"urlPort", {text, false, any, UrlPort}},
      {"platformType", {config, false, any, PlatformType}},
      {"cloudProvider", {config, false, any, CloudProvider}},
      {"credentialProviderConfigFlag", {config, false, any, CredentialProviderFlags}},
      {"onPremPlatformShortName", {config, false, any, OnPremisesShortName}},
      {"onPremPlatformAPIServerInternalIP", {config, false, any, ApiServerAddress}},
      {"onPremPlatformAPIServerInternalIPs", {config, false, any, ApiServerAddresses}},
      {"onPremPlatformIngressIP", {config, false, any, IngressAddress}},
      {"onPremPlatformIngressIPs", {config, false, any, IngressAddresses}},
      {"isOpenShiftManagedDefaultLB", {config, false, &gotemplate::kBoolType, HasManagedLoadBalancer}},
      {"dnsRecordsType", {config, false, any, DnsRecordsType}},
      {"cloudPlatformAPIIntLoadBalancerIPs", {config, false, any, CloudAddresses<kInternalName, kInternalField>}},
      {"cloudPlatformAPILoadBalancerIPs", {config, false, any, CloudAddresses<kApiName, kApiField>}},
      {"cloudPlatformIngressLoadBalancerIPs", {config, false, any, CloudAddresses<kIngressName, kIngressField>}},
  };
}

}  // namespace

const Functions& TemplateFunctions() {
  static const Functions kFunctions = MakeFunctions();
  return kFunctions;
}

bool IsTemplateFunction(std::string_view name) {
  return TemplateFunctions().contains(name) || gotemplate::Builtins().contains(name);
}

bool HasCloudLoadBalancerAddresses(const Value& render_config) {
  const auto [status, is_nil] = gotemplate::Follow(FieldOf(render_config, {"Infra", "Status", "PlatformStatus"}));
  if (is_nil || !status.is_valid()) return false;
  const std::string_view platform = TypeOf(status);
  return IsCloudWithLoadBalancer(platform) && StateOf(status, platform) == LoadBalancerState::kAvailable;
}

bool IsOnPremises(std::string_view platform) { return FindOnPremises(platform) != nullptr; }

}  // namespace pintle::generated
