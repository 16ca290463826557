// SPDX-License-Identifier: Apache-2.0
#include "clusterops/server_certificates.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "base/base64.h"
#include "clusterops/authorities.h"
#include "net/certificates.h"

namespace pintle::clusterops {
namespace {

// Certificates are valid for this long, and are renewed at this age.
constexpr auto kLife = std::chrono::years(10);
constexpr auto kRenewedAfter = std::chrono::years(8);
// Certificates are valid from this long before they are made, because the clocks of new machines may be slow.
constexpr auto kBackdated = std::chrono::hours(1);
// A machine boots within this time after its creation.
constexpr auto kUntilMachinesTrust = std::chrono::hours(24);
constexpr const char* kServerName = "machine-config-server";

// Returns the decoded value of a key, or "".
std::string DecodedIn(const api::Secret* secret, const char* key) {
  if (secret == nullptr) return "";
  const auto found = secret->data.find(key);
  return found == secret->data.end() ? "" : DecodeBase64(found->second).value_or("");
}

std::string BundleIn(const api::ConfigMap* map, std::string_view key) {
  return map == nullptr ? "" : AuthoritiesIn(*map, key);
}

bool HasKey(const api::Secret* secret) {
  if (secret == nullptr) return false;
  const auto found = secret->data.find(kPrivateKeyKey);
  return found != secret->data.end() && !found->second.empty();
}

std::optional<net::Certificate> FirstCertificate(const api::Secret* secret) {
  const auto read = net::ReadCertificates(DecodedIn(secret, kCertificateKey));
  return read && !read->empty() ? std::optional(read->front()) : std::nullopt;
}

// Returns the first certificate in the Secret.  Returns nullopt if the Secret has no key or no certificate, or if the
// certificate has expired or does not become valid within a day.
std::optional<net::Certificate> UsableCertificate(const api::Secret* secret, WallTime now) {
  if (!HasKey(secret)) return std::nullopt;
  auto first = FirstCertificate(secret);
  // A certificate that becomes valid within a day is kept: machines would not trust a new authority any earlier.
  const bool is_usable = first && first->not_before <= now + kUntilMachinesTrust && now < first->not_after;
  return is_usable ? std::move(first) : std::nullopt;
}

// A certificate is renewed after eight years, or after four fifths of its life if its life is shorter than ten years.
bool HasToBeRenewed(const net::Certificate& certificate, WallTime now) {
  const auto life = std::min<WallTime::duration>(kLife, certificate.not_after - certificate.not_before);
  return now >= certificate.not_before + life / 10 * (kRenewedAfter / std::chrono::years(1));
}

// Returns whether a bundle contains the first certificate of an authority's Secret.  Two authorities can have the same
// name and the same times, so the texts are compared.
bool ContainsAuthority(const std::string& bundle, const api::Secret& authority) {
  const std::string text = DecodedIn(&authority, kCertificateKey);
  const std::vector<PemCertificate> certificates = PemCertificatesIn(text);
  return !certificates.empty() && ContainsCertificates(bundle, certificates.front().text);
}

// Returns whether a certificate is for all of the hosts.
bool IsForHosts(const std::string& certificate, const std::vector<std::string>& hosts) {
  const auto named = net::HostsOf(certificate);
  return named && std::all_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
           return std::find(named->begin(), named->end(), net::CanonicalHost(host)) != named->end();
         });
}

bool IsIssuedByOneOf(const std::string& bundle, const net::Certificate& certificate) {
  const auto read = net::ReadCertificates(bundle);
  return read && std::any_of(read->begin(), read->end(), [&](const net::Certificate& authority) {
           return authority.subject == certificate.issuer;
         });
}

// Returns the certificates of a bundle that have not expired or whose subject is `issuer`, without other text.
std::string KeptAuthorities(const std::string& bundle, const std::string& issuer, WallTime now) {
  std::string kept;
  for (const PemCertificate& certificate : PemCertificatesIn(bundle)) {
    const auto read = net::ReadCertificates(certificate.text);
    if (!read || read->empty()) continue;
    if (now >= read->front().not_after && read->front().subject != issuer) continue;
    kept += certificate.text;
    if (!kept.ends_with('\n')) kept += '\n';
  }
  return kept;
}

// Returns the authorities that machines trust today, even if somebody has removed their ConfigMap.
std::string TrustedBundle(const ServerCertificateInputs& inputs) {
  std::string own = BundleIn(inputs.bundle, "ca-bundle.crt");
  if (net::HasCertificate(own)) return own;
  return net::HasCertificate(inputs.trusted) ? inputs.trusted : BundleIn(inputs.root, "ca.crt");
}

net::Validity TenYearsFrom(WallTime now) {
  const auto begin = std::chrono::floor<std::chrono::seconds>(now) - kBackdated;
  return {.begin = begin, .end = begin + kLife};
}

}  // namespace

CertificateStep NextCertificateStep(const ServerCertificateInputs& inputs) {
  if (inputs.hosts.empty()) return CertificateStep::kNone;
  const auto certificate = UsableCertificate(inputs.certificate, inputs.now);
  const bool is_good = certificate && inputs.now >= certificate->not_before &&
                       !HasToBeRenewed(*certificate, inputs.now) &&
                       IsForHosts(DecodedIn(inputs.certificate, kCertificateKey), inputs.hosts);
  if (is_good && inputs.authority == nullptr) return CertificateStep::kNone;

  const auto authority = UsableCertificate(inputs.authority, inputs.now);
  if (!authority || HasToBeRenewed(*authority, inputs.now)) return CertificateStep::kAuthority;
  const std::string bundle = TrustedBundle(inputs);
  if (!ContainsAuthority(BundleIn(inputs.bundle, "ca-bundle.crt"), *inputs.authority)) return CertificateStep::kBundle;
  if (is_good && IsIssuedByOneOf(bundle, *certificate)) return CertificateStep::kNone;

  const bool is_trusted = inputs.now >= authority->not_before + kBackdated + kUntilMachinesTrust;
  const bool can_wait = certificate && inputs.now + kUntilMachinesTrust < certificate->not_after;
  return is_trusted || !can_wait ? CertificateStep::kCertificate : CertificateStep::kNone;
}

std::optional<WallTime> CertificateExpiry(const api::Secret* secret) {
  const auto read = net::ReadCertificates(DecodedIn(secret, kCertificateKey));
  if (!read || read->empty()) return std::nullopt;
  return read->front().not_after;
}

Result<net::CertifiedKey> NewServerAuthority(WallTime now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return net::MakeAuthority(fmt::format("machine-config.machine-config-server-signer@{}", seconds), TenYearsFrom(now));
}

Result<std::string> NewServerBundle(const ServerCertificateInputs& inputs) {
  const std::string authority = DecodedIn(inputs.authority, kCertificateKey);
  if (authority.empty()) return Error(ErrorKind::kNotFound, "there is no authority yet");
  const auto in_use = FirstCertificate(inputs.certificate);
  const std::string issuer = in_use ? in_use->issuer : "";
  std::string bundle = KeptAuthorities(TrustedBundle(inputs), issuer, inputs.now);
  if (!ContainsAuthority(bundle, *inputs.authority)) bundle += KeptAuthorities(authority, issuer, inputs.now);
  return bundle;
}

Result<net::CertifiedKey> NewServerCertificate(const net::CertifiedKey& authority,
                                               const std::vector<std::string>& hosts, WallTime now) {
  return net::MakeServerCertificate(authority, kServerName, hosts, TenYearsFrom(now));
}

}  // namespace pintle::clusterops
