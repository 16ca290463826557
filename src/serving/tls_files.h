// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a server's certificate and key from files, and reads them again whenever they change.
//
// While the new certificate and key do not match, the previous ones stay in use.  A key that everyone may read is
// refused.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "event/loop.h"
#include "net/tls_identity.h"
#include "serving/file_watch.h"

namespace pintle::serving {

class TlsFiles {
 public:
  using Identity = std::shared_ptr<const net::TlsIdentity>;
  // Called with the new identity when the files have changed, with an error when the new contents cannot be used, and
  // with an error each time that the files cannot be read.
  using Renewed = std::function<void(Result<Identity>)>;

  // Reads the files, and begins to watch them.
  static Result<std::unique_ptr<TlsFiles>> Open(event::Loop& loop, std::string certificate, std::string key,
                                                net::TlsRules rules, Renewed renewed);

  // Returns the identity that Open() read.
  const Identity& first_identity() const { return first_identity_; }

  // Returns the time at which the certificate in use expires, or nullopt if that time cannot be read.
  std::optional<WallTime> expiry() const { return expiry_; }

  // Reads the files now, and passes on what has changed.
  void ReadAgain();

 private:
  struct Texts {
    std::string certificate;
    std::string key;
    bool is_key_readable_by_all = false;
    bool operator==(const Texts&) const = default;
  };

  TlsFiles(std::string certificate, std::string key, net::TlsRules rules, Renewed renewed);

  Result<Texts> Read() const;
  Result<Identity> Make(const Texts& texts) const;

  const std::string certificate_;
  const std::string key_;
  const net::TlsRules rules_;
  const Renewed renewed_;
  Texts last_;
  Identity first_identity_;
  std::optional<WallTime> expiry_;
  std::unique_ptr<FileWatch> watch_;
};

}  // namespace pintle::serving
