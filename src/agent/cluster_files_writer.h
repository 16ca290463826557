// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows the ControllerConfig, and has what it holds for nodes on this node's disk.
//
// It has a thread of its own, since the other may be busy with a change for as long as an image takes to come, and
// certificates do not wait for that.  What could not be written is tried again.  For a pause they do wait: then it only
// finds out what would be written.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/cluster_files.h"
#include "base/root.h"
#include "event/loop.h"
#include "event/watches.h"
#include "event/worker.h"
#include "kube/backoff.h"
#include "kube/client.h"
#include "kube/mirror.h"

namespace pintle::agent {

inline constexpr const char* kControllerConfig = "machine-config-controller";

// What is to be done about files that differ; before it is known, nothing.
enum class Passing { kUnknown, kPasses, kWaits };

class ClusterFilesWriter {
 public:
  struct Listener {
    // All of it is on the disk, of which these have changed.
    std::function<void(const std::string& resource_version, const std::vector<std::string>& changed)> written;
    // These differ from what is on the disk, and wait.
    std::function<void(const std::vector<api::WaitingFile>& files)> waiting;
    std::function<void(std::string why)> failed;
    std::function<void(const Error& error)> trouble;  // Why it is not heard of for now.
  };

  // What is given must outlive it.
  static Result<std::unique_ptr<ClusterFilesWriter>> Begin(event::Loop& loop, kube::Client& client, const Root& root,
                                                           Listener listener, kube::Backoff::Settings backoff = {});
  ClusterFilesWriter(const ClusterFilesWriter&) = delete;
  ClusterFilesWriter& operator=(const ClusterFilesWriter&) = delete;

  void Let(Passing passing);

  // Whether the operator is exchanging the authorities of the API server; nothing: there is no ControllerConfig.
  std::optional<bool> rotates_server_authorities() const;

  // Whether there is a ControllerConfig, so that its files are looked after.
  bool has_source() const { return source_->Find({"", kControllerConfig}) != nullptr; }

 private:
  ClusterFilesWriter(event::Loop& loop, kube::Client& client, const Root& root, Listener listener,
                     kube::Backoff::Settings backoff);

  struct Outcome {
    std::vector<std::string> changed;
    std::vector<api::WaitingFile> waiting;
  };

  void Write();
  void Wrote(const std::string& resource_version, Passing passing, const Result<Outcome>& outcome);

  const Root& root_;
  Listener listener_;
  Passing passing_ = Passing::kUnknown;
  bool is_writing_ = false;
  kube::Backoff backoff_;
  event::Timer again_;
  std::unique_ptr<kube::Mirror<ClusterFilesSource>> source_;
  std::unique_ptr<event::Worker> worker_;  // Destroyed first: it waits for its job.
};

}  // namespace pintle::agent
