// SPDX-License-Identifier: Apache-2.0
#include "agent/server_authorities.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/base64.h"
#include "change/format.h"
#include "net/certificates.h"

namespace pintle::agent {
namespace {

constexpr auto kPatience = std::chrono::minutes(2);
constexpr std::string_view kKey = "certificate-authority-data";
constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";

// Certificates of these signers are only used for connections inside the control plane.  A kubelet need not be
// restarted for them.
constexpr auto kOfControlPlane = std::to_array<std::string_view>({
    "kube-apiserver-localhost-signer",
    "openshift-kube-apiserver-operator_localhost-recovery-serving-signer",
    "kube-apiserver-lb-signer",
});

std::vector<std::string_view> BlocksOf(std::string_view bundle) {
  std::vector<std::string_view> blocks;
  for (std::size_t begin = 0; (begin = bundle.find(kBegin, begin)) != std::string_view::npos;) {
    const std::size_t end = bundle.find(kEnd, begin);
    if (end == std::string_view::npos) break;
    blocks.push_back(bundle.substr(begin, end + kEnd.size() - begin));
    begin = end;
  }
  return blocks;
}

bool IsOfControlPlane(const net::Certificate& certificate) {
  return std::any_of(kOfControlPlane.begin(), kOfControlPlane.end(),
                     [&](std::string_view name) { return certificate.common_name.find(name) != std::string::npos; });
}

// The value of kKey in a kubeconfig.
struct WrittenValue {
  std::string_view scalar;  // The value with its quotes; a part of the kubeconfig.
  std::string_view text;    // Without the quotes; "" for null.
  char quote = 0;           // 0 if there are no quotes.
};

std::string_view UpTo(std::string_view text, std::string_view ends) {
  return text.substr(0, std::min(text.find_first_of(ends), text.size()));
}

// Programs write these kubeconfigs, so each has one cluster, and the value of kKey is on one line.
Result<WrittenValue> ValueIn(std::string_view kubeconfig) {
  const std::size_t key = kubeconfig.find(kKey);
  if (key == std::string_view::npos || kubeconfig.find(kKey, key + 1) != std::string_view::npos) {
    return Error(ErrorKind::kInvalid, fmt::format("it must have one \"{}\"", kKey));
  }
  std::string_view rest = kubeconfig.substr(key + kKey.size());
  if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
  rest.remove_prefix(std::min(rest.find_first_not_of(" :"), rest.size()));
  if (rest.starts_with('"') || rest.starts_with('\'')) {
    const char quote = rest.front();
    const std::string_view text = UpTo(rest.substr(1), {&quote, 1});
    return WrittenValue{.scalar = rest.substr(0, text.size() + 2), .text = text, .quote = quote};
  }
  const std::string_view scalar = UpTo(rest, " \t\r\n,}");
  return WrittenValue{.scalar = scalar, .text = scalar == "null" || scalar == "~" ? "" : scalar};
}

// Returns the text of the new value for the kubeconfig.  JSON needs quotes, and YAML needs a space before a value.
std::string Written(const WrittenValue& instead_of, const std::string& value) {
  if (instead_of.quote != 0) return fmt::format("{0}{1}{0}", instead_of.quote, value);
  if (!instead_of.text.empty()) return value;
  return fmt::format("{}\"{}\"", instead_of.scalar.empty() ? " " : "", value);
}

Result<> Replace(const Root& root, std::string_view path, std::string_view text) {
  const auto status = TRY(root.Status(path));
  if (!status) return Error(ErrorKind::kNotFound, "it is gone");
  return root.WriteFile(path, text, {status->st_mode & 07777, Owner{status->st_uid, status->st_gid}});
}

Result<std::optional<RenewedKubeconfig>> RenewKubeconfigAt(const Root& root, std::string_view path,
                                                           std::string_view bundle) {
  if (!TRY(root.Status(path))) return std::nullopt;
  return WithAuthorities(TRY(root.ReadFile(path)), bundle);
}

}  // namespace

Result<bool> MakeBootstrapKubeconfigPrivate(const Root& root) {
  // Opening must not block on a FIFO in the file's place.
  const auto file = root.OpenFile(kBootstrapKubeconfig, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file && file.error().errno_value() == ENOENT) return false;
  if (!file) return file.error();
  struct stat status = {};
  if (::fstat(file->get(), &status) != 0) return Error::FromErrno("fstat");
  if (!S_ISREG(status.st_mode) || (status.st_mode & 07777) == plan::kBootstrapKubeconfigMode) return false;
  if (::fchmod(file->get(), plan::kBootstrapKubeconfigMode) != 0) return Error::FromErrno("fchmod");
  return true;
}

std::string BundleOf(const ServerAuthorities& authorities) {
  const std::string& binary = authorities.binary_data.bundle;
  const std::string& text = binary.empty() ? authorities.data.bundle : binary;
  // The text in `data` may also be in base64.
  return DecodeBase64(text).value_or(text);
}

Result<std::optional<RenewedKubeconfig>> WithAuthorities(std::string_view kubeconfig, std::string_view bundle) {
  const WrittenValue value = TRY(ValueIn(kubeconfig));
  const auto trusted = DecodeBase64(value.text);
  if (!trusted) return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not base64", kKey));
  const std::vector<std::string_view> known = BlocksOf(*trusted);
  RenewedKubeconfig renewed;
  std::string all;
  for (const std::string_view block : BlocksOf(bundle)) {
    const auto certificate = net::ReadCertificates(block);
    if (!certificate || certificate->size() != 1) continue;
    all += fmt::format("{}\n", block);
    const bool is_new = std::find(known.begin(), known.end(), block) == known.end();
    if (is_new && !IsOfControlPlane(certificate->front())) renewed.needs_restart = true;
  }
  if (all.empty()) return Error(ErrorKind::kInvalid, "there is no certificate to trust");
  if (all == *trusted) return std::nullopt;
  const auto before = static_cast<std::size_t>(value.scalar.data() - kubeconfig.data());
  renewed.text = fmt::format("{}{}{}", kubeconfig.substr(0, before), Written(value, EncodeBase64(all)),
                             kubeconfig.substr(before + value.scalar.size()));
  return renewed;
}

Result<std::vector<std::string>> InstallServerAuthorities(const host::Host& host, const std::string& kubelet_kubeconfig,
                                                          const std::string& bundle) {
  TRY(change::ExpectKnownVersions(host.root));
  std::vector<std::string> changed;
  const auto first = TRY(RenewKubeconfigAt(host.root, kBootstrapKubeconfig, bundle), std::string(kBootstrapKubeconfig));
  if (!first) return changed;
  if (first->needs_restart) {
    const auto own = TRY(RenewKubeconfigAt(host.root, kubelet_kubeconfig, bundle), kubelet_kubeconfig);
    if (own) {
      TRY(Replace(host.root, kubelet_kubeconfig, own->text), "writing " + kubelet_kubeconfig);
      changed.push_back(kubelet_kubeconfig);
    }
    TRY(host.systemd.Run(host::JobKind::kRestart, "kubelet.service", kPatience), "restarting the kubelet");
  }
  TRY(Replace(host.root, kBootstrapKubeconfig, first->text), fmt::format("writing {}", kBootstrapKubeconfig));
  changed.emplace_back(kBootstrapKubeconfig);
  return changed;
}

}  // namespace pintle::agent
