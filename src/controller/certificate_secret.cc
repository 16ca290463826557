// SPDX-License-Identifier: Apache-2.0
#include "controller/certificate_secret.h"

#include <utility>

#include "clusterops/server_certificates.h"
#include "controller/secret_entry.h"

namespace pintle::controller {
namespace {

bool AreEqual(const net::TlsRules& a, const net::TlsRules& b) {
  return a.oldest == b.oldest && a.ciphers == b.ciphers && a.unknown_ciphers == b.unknown_ciphers;
}

}  // namespace

CertificateSecret::CertificateSecret(const kube::Client& client, Settings settings, Listener listener)
    : settings_(std::move(settings)),
      listener_(std::move(listener)),
      again_(client.transport()->loop(), [this] { Look(); }),
      secret_(client,
              {.changed = [this] { Look(); },
               // Look() reports why the Secret cannot be read.
               .trouble = [](const Error&) {}},
              settings_.secret) {}

void CertificateSecret::SetRules(net::TlsRules rules) {
  if (settings_.rules && AreEqual(*settings_.rules, rules)) return;
  settings_.rules = std::move(rules);
  certificate_.clear();
  Look();
}

void CertificateSecret::Look() {
  if (!settings_.rules || !secret_.is_ready()) return;
  const auto used = UseIfNew();
  if (used) {
    reported_.clear();
    return again_.Cancel();
  }
  // The Secret is tried again even if it stays the same, because the cause may be elsewhere: `use` may fail until
  // another server has left its port.
  again_.After(settings_.try_again);
  if (reported_ == used.error().message()) return;
  reported_ = used.error().message();
  listener_.trouble(used.error());
}

Result<> CertificateSecret::UseIfNew() {
  const std::string certificate = TRY(SecretEntry(secret_, clusterops::kCertificateKey));
  const std::string key = TRY(SecretEntry(secret_, clusterops::kPrivateKeyKey));
  if (certificate == certificate_ && key == key_) return {};
  auto identity =
      TRY(net::TlsIdentity::Create(certificate, key, *settings_.rules), "the Secret " + secret_.name().ToString());
  TRY(listener_.use(std::move(identity)));
  certificate_ = certificate;
  key_ = key;
  expiry_ = clusterops::CertificateExpiry(secret_.Find());
  return {};
}

}  // namespace pintle::controller
