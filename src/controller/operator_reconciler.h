// SPDX-License-Identifier: Apache-2.0
#pragma once

// Maintains the objects that the Machine Config Operator makes from the settings of the cluster.
//
// These objects are the ControllerConfig, the ConfigMap with the API server's authorities for nodes, the ConfigMap with
// the registries' authorities for other operators, and the objects of ServerUpkeep.  A cluster that lacks the kind
// Infrastructure is not OpenShift, and then nothing is written: its ControllerConfig belongs to the administrator.  If
// a setting that is needed is missing or cannot be read, the ClusterOperator reports a failure, and the objects and
// fields that were made from the setting stay as they are; the others follow their own settings.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "controller/kubeconfig_data_pass.h"
#include "controller/operator_sources.h"
#include "controller/operator_writes.h"
#include "controller/server_upkeep.h"
#include "controller/view.h"
#include "kube/client.h"
#include "pool/status.h"

namespace pintle::controller {

struct OperatorReconcilerSettings {
  std::string namespace_name = {};  // The namespace of the operator.
  std::string release = {};         // The release that the cluster is to have; if empty, the release in images.json.
  pool::Features features = {};
  std::string token_keys_file = {};  // The keys for the tokens of new machines; empty if they need no token.
};

class OperatorReconciler {
 public:
  using Listener = OperatorWrites::Listener;  // `changed` is also called when an object has changed.

  // The clock must outlive this object.
  OperatorReconciler(kube::Client client, const Clock& clock, OperatorReconcilerSettings settings, Listener listener);
  OperatorReconciler(const OperatorReconciler&) = delete;
  OperatorReconciler& operator=(const OperatorReconciler&) = delete;

  // Decides and writes; called while this replica acts as the operator.  `is_installing` is true if no release has been
  // installed completely yet.
  void Look(const View& view, bool is_installing);

  // Returns the failures of the latest look, and those of writes, by task of the operator.
  std::map<std::string, std::string, std::less<>> Failures() const;
  // Returns the release that the cluster is to have, or "" if it is not known.
  std::string ExpectedRelease() const;

  // Returns when the certificates of the Ignition server expire, by the names of their Secrets.
  std::map<std::string, WallTime> CertificateExpiries() const;

 private:
  void Reconcile(const View& view, bool is_installing);
  std::unique_ptr<ServerUpkeep> BeginServerUpkeep();
  void KeepUpControllerConfig(const View& view, bool is_installing);
  void KeepUpAuthorities();
  void KeepUpRegistries();
  // Reports that the action `what` has failed, also as a failure of the operator's task.
  void ReportProblem(std::string_view task, std::string_view what, const std::string& why);

  kube::Client client_;
  const Clock& clock_;
  const OperatorReconcilerSettings settings_;
  const Listener listener_;
  std::map<std::string, std::string, std::less<>> problems_;  // The key is the task.
  OperatorWrites writes_;
  OperatorSources sources_;
  std::unique_ptr<ServerUpkeep> server_;         // Exists once the cluster is known to be OpenShift.
  std::optional<SettlingAuthorities> settling_;  // Of the latest KubeconfigDataPass().
  bool are_authorities_new_ = false;             // Of the latest KubeconfigDataPass().
  std::string settled_;                          // Identifies the inputs for which the ControllerConfig needs no write.
};

}  // namespace pintle::controller
