// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rendered configs in full, for as long as somebody compares them.
//
// The mirror has them without what is long.  What is to be compared is fetched, and given away when nobody wants it any
// more: between rollouts there is nothing here.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "api/machine_config.h"
#include "controller/pause_report.h"
#include "ignition/config.h"
#include "kube/client.h"

namespace pintle::controller {

class ConfigLibrary {
 public:
  struct Listener {
    std::function<void()> changed;
    std::function<void()> retry_later;
    std::function<void(const Error& error)> trouble;
  };

  ConfigLibrary(kube::Client client, Listener listener) : client_(std::move(client)), listener_(std::move(listener)) {}
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
    kube::Call call;
  };

  void Fetch(const std::string& name, Book& book);
  void Fetched(const std::string& name, Result<api::MachineConfig>& config);

  kube::Client client_;
  Listener listener_;
  WholeConfigs configs_;  // They point into the books.
  std::map<std::string, std::unique_ptr<Book>> books_;
};

}  // namespace pintle::controller
