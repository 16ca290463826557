// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows the Secret that has the certificate and the key of a server.  Others may renew the Secret at any time.
//
// If the Secret is missing or cannot be used, this is reported once, and the Secret is tried again later.  Until then,
// the server keeps the certificate that it has.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/secret.h"
#include "base/clock.h"
#include "base/result.h"
#include "controller/followed_object.h"
#include "controller/generated_kinds.h"
#include "event/watches.h"
#include "kube/client.h"
#include "kube/resource_kind.h"
#include "net/tls_identity.h"

namespace pintle::controller {

class CertificateSecret {
 public:
  struct Settings {
    kube::ObjectName secret;
    std::optional<net::TlsRules> rules = net::TlsRules();  // If unset, no certificate is used before SetRules().
    // The time after which a Secret that could not be used is tried again.
    std::chrono::milliseconds try_again = std::chrono::seconds(10);
  };
  struct Listener {
    // Called with each identity that differs from the one in use.  If the function returns an error, it is called again
    // later.
    std::function<Result<>(std::shared_ptr<const net::TlsIdentity> identity)> use;
    // Called when the Secret cannot be used.  The same message is not reported twice in a row.
    std::function<void(const Error& error)> trouble;
  };

  CertificateSecret(const kube::Client& client, Settings settings, Listener listener);
  CertificateSecret(const CertificateSecret&) = delete;
  CertificateSecret& operator=(const CertificateSecret&) = delete;

  // If the rules differ from the present ones, the certificate is used again, with the new rules.
  void SetRules(net::TlsRules rules);
  bool has_rules() const { return settings_.rules.has_value(); }

  // Returns the time at which the certificate in use expires.  Returns nullopt if there is no certificate, or if the
  // time cannot be read from it.
  std::optional<WallTime> expiry() const { return expiry_; }

 private:
  void Look();
  Result<> UseIfNew();

  Settings settings_;
  const Listener listener_;
  // These two are the PEM texts that `use` has accepted last.
  std::string certificate_;
  std::string key_;
  std::optional<WallTime> expiry_;
  std::string reported_;  // The message that was reported last; empty if the Secret has been used since.
  event::Timer again_;    // Armed while the Secret cannot be used.
  FollowedObject<api::Secret> secret_;
};

}  // namespace pintle::controller
