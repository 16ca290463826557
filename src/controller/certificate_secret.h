// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows the Secret with the certificate of a server and its key, which others may renew at any time.
//
// A certificate that cannot be used is reported once, and tried again later.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "api/secret.h"
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
    net::TlsRules rules = {};
    std::chrono::milliseconds try_again = std::chrono::seconds(10);
  };
  struct Listener {
    // Gets each identity that differs from the one that was used last.
    std::function<Result<>(std::shared_ptr<const net::TlsIdentity> identity)> use;
    std::function<void(const Error& error)> trouble;
  };

  CertificateSecret(const kube::Client& client, Settings settings, Listener listener);
  CertificateSecret(const CertificateSecret&) = delete;
  CertificateSecret& operator=(const CertificateSecret&) = delete;

 private:
  void Look();
  Result<> UseIfNew();

  const Settings settings_;
  const Listener listener_;
  // These two are the PEM texts that the server uses.
  std::string certificate_;
  std::string key_;
  std::string reported_;  // The message of the last trouble.
  event::Timer again_;    // Armed while there is trouble.
  FollowedObject<api::Secret> secret_;
};

}  // namespace pintle::controller
