// SPDX-License-Identifier: Apache-2.0
#pragma once

// Maintains what new machines and the Ignition server need to trust each other: the user data of each pool's machines,
// and, if the cluster makes machines by itself, the server's authority and certificate.  A cluster without the
// namespace of the Machine API makes no machines, and there is nothing to maintain until the namespace exists.
//
// The user data of a pool has a token if the server asks for tokens.  The token is renewed when half of its life is
// over, so that a machine that is created from the user data has the other half to boot.  Tokens are signed with the
// first key in the file of keys.  A new first key is used only when all servers have it; until then, the second key
// signs.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/secret.h"
#include "base/clock.h"
#include "clusterops/server_certificates.h"
#include "controller/followed_object.h"
#include "controller/generated_kinds.h"
#include "controller/operator_kinds.h"
#include "controller/operator_sources.h"
#include "controller/operator_writes.h"
#include "controller/overlaid_mirror.h"
#include "controller/view.h"
#include "controller/watched.h"
#include "kube/client.h"

namespace pintle::controller {

class ServerUpkeep {
 public:
  struct Settings {
    std::string namespace_name = {};   // The namespace of the operator.
    std::string token_keys_file = {};  // The keys that tokens are signed with; empty if machines need no token.
  };
  struct Listener {
    std::function<void()> changed;
    std::function<void(MonotonicTime when)> retry_at;
    std::function<void(const std::string& what, const Error& error)> trouble;
    // Called for each failure of a task of the operator; `what` is the action that has failed.
    std::function<void(std::string_view task, const std::string& what, const std::string& why)> problem;
  };

  // All references must outlive this object.
  ServerUpkeep(kube::Client& client, const Clock& clock, OperatorSources& sources, OperatorWrites& writes,
               Settings settings, Listener listener);
  ServerUpkeep(const ServerUpkeep&) = delete;
  ServerUpkeep& operator=(const ServerUpkeep&) = delete;

  // Decides and writes.  Must be called only when the sources are ready.
  void Look(const View& view);

  // Returns when the server's authority and its certificate expire, by the names of their Secrets.
  const std::map<std::string, WallTime>& certificate_expiries() const { return expiries_; }

 private:
  // The objects in the namespace of the Machine API.
  struct MachineObjects {
    OverlaidMirror<MachineSet> sets;
    OverlaidMirror<api::Secret> user_data;
  };

  // Follows the objects in the namespace of the Machine API while the namespace exists.
  void FollowMachines();
  void ReadExpiries();
  // If `clock_problem` is not empty, the clock is wrong, and these two functions sign nothing.
  void KeepUpCertificates(const json::Value& spec, const std::string& clock_problem);
  void KeepUpUserData(const View& view, const json::Value& spec, const std::string& clock_problem);
  // Writes the object that the step is about.
  void Make(clusterops::CertificateStep step, const clusterops::ServerCertificateInputs& inputs);
  // Reads the key of the authority, and makes a certificate for the hosts.  In this function and the next ones, `what`
  // is the description of the write (operator_writes.h).
  void MakeCertificate(const std::string& what, std::vector<std::string> hosts);
  // Signs a certificate for the hosts with the key of the authority, and writes the certificate.  The arguments are
  // copies: the originals belong to the callback of a call, which OperatorWrites::Start() replaces and so destroys.
  void Sign(std::string what, std::vector<std::string> hosts, Result<api::Secret> authority);
  // Writes a certificate and its key into a Secret.
  void WriteKey(FollowedObject<WatchedCertificate>& followed, net::CertifiedKey key, const std::string& what);
  void WriteUserData(const api::MachineConfigPool& pool, const json::Value& pointer);
  // Gives the Secret `name` the label of user data.  The arguments are copies, as those of Sign().
  void RestoreLabel(std::string what, std::string name);
  // Returns the token for a pool: the known token if it is still good, or else a new token; "" without keys.
  std::string TokenFor(const std::string& pool, const std::string& known) const;
  // Reads the file of keys, at most once a minute.  If the file cannot be used, the earlier keys stay.
  Result<> ReadKeys();
  // Returns whether all servers have read the present first key.
  bool DoServersUseFirstKey() const;

  kube::Client& client_;
  const Clock& clock_;
  OperatorSources& sources_;
  OperatorWrites& writes_;
  const Settings settings_;
  const Listener listener_;
  FollowedObject<Namespace> machine_namespace_;
  bool lacks_machine_namespace_ = false;
  std::unique_ptr<MachineObjects> machines_;  // Exists while the namespace may exist.
  FollowedObject<WatchedCertificate> authority_;
  FollowedObject<WatchedCertificate> certificate_;
  std::map<std::string, WallTime> expiries_;
  std::string expiries_key_;                // Identifies the versions of the Secrets that `expiries_` was read from.
  std::vector<std::string> keys_;           // The keys of tokens, in the order of the file.
  MonotonicTime first_key_since_ = {};      // When the present first key was first read as the first one.
  std::optional<MonotonicTime> keys_read_;  // When the file of keys was read last.
};

}  // namespace pintle::controller
