// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rendered configs in full, for as long as somebody compares them.
//
// The mirror has them without what is long.  What is to be compared is fetched, and given away when nobody wants it any
// more: between rollouts there is nothing here.  What the API server refuses is asked for again less and less often.

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
    std::function<void(MonotonicTime when)> retry_at;  // One could not be read.
    std::function<void(const Error& error)> trouble;
  };

  // The clock must outlive it.
  ConfigLibrary(kube::Client client, const Clock& clock, Listener listener)
      : client_(std::move(client)), clock_(clock), listener_(std::move(listener)) {}
  ConfigLibrary(const ConfigLibrary&) = delete;
  ConfigLibrary& operator=(const ConfigLibrary&) = delete;

  // Fetches those that are not here, and gives away all others.
  void Want(const std::set<std::string>& names);
  // Whether nothing more will come of one.
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
  WholeConfigs configs_;  // They point into the books.
  std::map<std::string, std::unique_ptr<Book>> books_;
  WriteBackoff backoff_;  // Of reads.
};

}  // namespace pintle::controller
