// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps whole rendered configs while they are compared.
//
// The mirror has rendered configs without their long parts.  A whole config is fetched when it is needed, and dropped
// when nobody needs it any more, so between rollouts the library is empty.  Configs are large, so only a few are
// fetched at a time.
//
// A config may be missing or invalid, or the server may refuse the read.  The read is then repeated less and less
// often, since a target that was deleted may be rendered again, and rights may be given.  But nobody may wait for the
// config without an end: while the report on a paused pool waits for a config, nothing is done to the pool, and its
// nodes do not even get the requests that have to be renewed (files_wait.h).  So a config that is missing or invalid
// counts as fetched at once, and a config that cannot be read counts as fetched after some failures.  Whoever compares
// configs takes such a config for unknown.

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
    // Called when a config could not be read, with the time at which Want() has to be called again.
    std::function<void(MonotonicTime when)> retry_at;
    // Each config has an action of its own, so that a listener can log the same trouble of a config only once.
    std::function<void(const std::string& action, const Error& error)> trouble;
  };

  // The clock must outlive this object.
  ConfigLibrary(kube::Client client, const Clock& clock, Listener listener)
      : client_(std::move(client)), clock_(clock), listener_(std::move(listener)) {}
  ConfigLibrary(const ConfigLibrary&) = delete;
  ConfigLibrary& operator=(const ConfigLibrary&) = delete;

  // Fetches the configs in `names` that the library does not have, and drops all configs that are not in `names`.  A
  // config that could not be read is fetched again only when its back-off has ended.
  void Want(const std::set<std::string>& names);
  // Returns whether the config has been read, or counts as fetched although it could not be read.
  bool IsFetchDone(const std::string& name) const;
  const WholeConfigs& configs() const { return configs_; }

  void Clear();

 private:
  struct Entry {
    std::optional<api::MachineConfig> object;
    std::optional<ignition::Config> ignition;
    bool is_requested = false;             // If false, FetchNext() begins a read.
    bool is_under_way = false;             // A read has begun and has not ended yet.
    bool is_done = false;                  // The value of IsFetchDone().
    bool is_read_again = false;            // The latest read gave no config, so Want() begins another one.
    bool is_missing = false;               // At the latest read, the cluster had no such config.
    bool is_reported = false;              // The listener knows that the config is missing or invalid.
    std::optional<kube::Failure> failure;  // The failure of the latest read.
    kube::Call call;
  };

  void FetchNext();
  void Fetch(const std::string& name, Entry& entry);
  void Fetched(const std::string& name, Result<api::MachineConfig>& config);
  void NotFetched(const std::string& name, const Error& error);
  // Plans another read of a config that is missing or invalid, or could not be read.
  void ReadAgain(const std::string& name, Entry& entry);

  kube::Client client_;
  const Clock& clock_;
  Listener listener_;
  WholeConfigs configs_;  // The configs are owned by `entries_`.
  std::map<std::string, std::unique_ptr<Entry>> entries_;
  WriteBackoff backoff_;  // The back-offs of reads; this class is not limited to writes.
};

}  // namespace pintle::controller
