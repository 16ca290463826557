// SPDX-License-Identifier: Apache-2.0
#include "agent/server_authorities.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/base64.h"
#include "change/format.h"
#include "machineconfig/yaml.h"
#include "net/certificates.h"

namespace pintle::agent {
namespace {

// A restart of the kubelet that takes longer than this counts as hung.
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

// Returns the PEM blocks of a bundle, each with its first and its last line.
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

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kBlanksAndBreaks = " \t\r\n";

// The value of kKey in a kubeconfig.
struct WrittenValue {
  std::string_view scalar;  // The value with its quotes or its "|"; a part of the kubeconfig.
  std::string_view text;    // The value without its quotes or its "|", possibly on several lines; "" for null.
  char quote = 0;           // 0 if there are no quotes.
};

std::string_view UpTo(std::string_view text, std::string_view ends) {
  return text.substr(0, std::min(text.find_first_of(ends), text.size()));
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Returns the number of bytes before `text` on its line of the kubeconfig.
std::size_t ColumnOf(std::string_view text, std::string_view kubeconfig) {
  const auto offset = static_cast<std::size_t>(text.data() - kubeconfig.data());
  return offset - (kubeconfig.substr(0, offset).rfind('\n') + 1);
}

bool IsBase64Line(std::string_view line) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  return !line.empty() && line.find_first_not_of(kLetters) == std::string_view::npos;
}

// Extends a value without quotes, whose first line has `size` bytes of `text`, by the following lines that belong to
// it: they are base64, and are indented by more than the `column` of the key.  Returns the size of the whole value.
std::size_t SizeWithNextLines(std::string_view text, std::size_t size, std::size_t column) {
  if (!Trimmed(UpTo(text.substr(size), "\n")).empty()) return size;
  for (std::size_t end = text.find('\n', size); end != std::string_view::npos; end = text.find('\n', end + 1)) {
    const std::string_view line = UpTo(text.substr(end + 1), "\n");
    const std::string_view letters = Trimmed(line);
    if (letters.empty()) continue;
    if (!IsBase64Line(letters) || line.find_first_not_of(' ') <= column) break;
    size = static_cast<std::size_t>(letters.data() - text.data()) + letters.size();
  }
  return size;
}

// Finds the value of kKey.  Programs write these kubeconfigs, so each has one cluster, and kKey occurs once.
Result<WrittenValue> ValueIn(std::string_view kubeconfig) {
  const std::size_t key = kubeconfig.find(kKey);
  if (key == std::string_view::npos || kubeconfig.find(kKey, key + 1) != std::string_view::npos) {
    return Error(ErrorKind::kInvalid, fmt::format("the kubeconfig must have exactly one \"{}\"", kKey));
  }
  const std::size_t column = ColumnOf(kubeconfig.substr(key), kubeconfig);
  std::string_view tail = kubeconfig.substr(key + kKey.size());  // The kubeconfig from the value on.
  if (tail.starts_with('"') || tail.starts_with('\'')) tail.remove_prefix(1);
  tail.remove_prefix(std::min(tail.find_first_not_of(" :"), tail.size()));
  // The value may begin on another line, if it is indented more than its key or if the kubeconfig is JSON.
  const std::string_view next = tail.substr(std::min(tail.find_first_not_of(kBlanksAndBreaks), tail.size()));
  if (kubeconfig.starts_with('{') || (!next.empty() && ColumnOf(next, kubeconfig) > column)) tail = next;
  if (tail.starts_with('"') || tail.starts_with('\'')) {
    const char quote = tail.front();
    const std::string_view text = UpTo(tail.substr(1), {&quote, 1});
    return WrittenValue{.scalar = tail.substr(0, text.size() + 2), .text = text, .quote = quote};
  }
  const bool is_block = tail.starts_with('|') || tail.starts_with('>');
  const std::size_t first = is_block ? UpTo(tail, "\r\n").size() : UpTo(tail, " \t\r\n,}").size();
  const std::string_view scalar = tail.substr(0, SizeWithNextLines(tail, first, column));
  if (is_block) return WrittenValue{.scalar = scalar, .text = scalar.substr(first)};
  return WrittenValue{.scalar = scalar, .text = scalar == "null" || scalar == "~" ? "" : scalar};
}

// Base64 on several lines has line breaks and the indentation of the lines in it.
std::optional<std::string> DecodeLines(std::string_view text) {
  std::string letters(text);
  std::erase_if(letters, [](char c) { return kBlanks.find(c) != std::string_view::npos; });
  return DecodeBase64(letters);
}

// Returns whether a value of kKey in the document is this text.
bool HasValue(const json::Value& document, std::string_view text) {
  if (document.is_array()) {
    return std::any_of(document.begin(), document.end(), [&](const json::Value& each) { return HasValue(each, text); });
  }
  if (!document.is_object()) return false;
  return std::any_of(document.members().begin(), document.members().end(), [&](const auto& member) {
    const auto& [key, value] = member;
    return (key == kKey && value.is_string() && value.text() == text) || HasValue(value, text);
  });
}

// Checks that the value was replaced as a whole: YAML has more forms than ValueIn() knows.
Result<> CheckReplaced(std::string_view kubeconfig, std::string_view value) {
  const auto documents = machineconfig::ParseYaml(kubeconfig);  // Its error could quote a secret.
  if (documents && documents->size() == 1 && HasValue(documents->front(), value)) return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("cannot replace the value of \"{}\"; write it on the line of its key", kKey));
}

// Returns the text of the new value for the kubeconfig.  JSON needs quotes, and YAML needs a space before a value.
std::string Written(const WrittenValue& instead_of, const std::string& value) {
  if (instead_of.quote != 0) return fmt::format("{0}{1}{0}", instead_of.quote, value);
  if (!instead_of.text.empty()) return value;
  return fmt::format("{}\"{}\"", instead_of.scalar.empty() ? " " : "", value);
}

Result<> Replace(const Root& root, std::string_view path, std::string_view text) {
  const auto status = TRY(root.Status(path));
  if (!status) return Error(ErrorKind::kNotFound, "the file no longer exists");
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
  const auto trusted = DecodeLines(value.text);
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
  const std::string encoded = EncodeBase64(all);
  renewed.text = fmt::format("{}{}{}", kubeconfig.substr(0, before), Written(value, encoded),
                             kubeconfig.substr(before + value.scalar.size()));
  TRY(CheckReplaced(renewed.text, encoded));
  return renewed;
}

Result<std::vector<std::string>> InstallServerAuthorities(const host::Host& host, const std::string& kubelet_kubeconfig,
                                                          const std::string& bundle) {
  TRY(change::ExpectKnownVersions(host.root));
  std::vector<std::string> changed;
  const auto bootstrap =
      TRY(RenewKubeconfigAt(host.root, kBootstrapKubeconfig, bundle), std::string(kBootstrapKubeconfig));
  if (!bootstrap) return changed;
  if (bootstrap->needs_restart) {
    const auto own = TRY(RenewKubeconfigAt(host.root, kubelet_kubeconfig, bundle), kubelet_kubeconfig);
    if (own) {
      TRY(Replace(host.root, kubelet_kubeconfig, own->text), "writing " + kubelet_kubeconfig);
      changed.push_back(kubelet_kubeconfig);
    }
    TRY(host.systemd.Run(host::JobKind::kRestart, "kubelet.service", kPatience), "restarting the kubelet");
  }
  TRY(Replace(host.root, kBootstrapKubeconfig, bootstrap->text), fmt::format("writing {}", kBootstrapKubeconfig));
  changed.emplace_back(kBootstrapKubeconfig);
  return changed;
}

}  // namespace pintle::agent
