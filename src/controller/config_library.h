// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps rendered configs in full for as long as they are compared.
//
// The mirror has them without their long parts.  A config that is needed is fetched, and dropped when nobody needs it
// any more, so between rollouts the library is empty.  Reads that fail are repeated less and less often.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "api/machine_config.h"
#include "base/clock.h"
#include "controller/pause_report.h"
#include "controller/write_backoff.h"
#include "ignition/config.h"
#include "kube/client.h"

namespace pintle::controller {

class ConfigLibrary {
 public:
  struct Listener {
    std::function<void()> changed;
    std::function<void(MonotonicTime when)> retry_at;  // A config could not be read.
    std::function<void(const Error& error)> trouble;
  };

  // The clock must outlive this object.
  ConfigLibrary(kube::Client client, const Clock& clock, Listener listener)
      : client_(std::move(client)), clock_(clock), listener_(std::move(listener)) {}
  ConfigLibrary(const ConfigLibrary&) = delete;
  ConfigLibrary& operator=(const ConfigLibrary&) = delete;

  // Fetches the configs that are missing, and drops all others.
  void Want(const std::set<std::string>& names);
  // Returns whether the config has been read, or cannot be.
  bool IsSettled(const std::string& name) const;
  const WholeConfigs& configs() const { return configs_; }

  void Clear();

 private:
  struct Book {
    std::optional<api::MachineConfig> object;
    std::optional<ignition::Config> ignition;
    bool is_settled = false;
    std::optional<kube::Failure> failure;
    kube::Call call;
  };

  void Fetch(const std::string& name, Book& book);
  void Fetched(const std::string& name, Result<api::MachineConfig>& config);

  kube::Client client_;
  const Clock& clock_;
  Listener listener_;
  WholeConfigs configs_;  // The configs are owned by `books_`.
  std::map<std::string, std::unique_ptr<Book>> books_;
  WriteBackoff backoff_;  // For reads.
};

}  // namespace pintle::controller
