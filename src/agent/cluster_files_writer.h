// SPDX-License-Identifier: Apache-2.0
#pragma once

// Follows the ControllerConfig, and writes its files to this node's disk.
//
// The writer has a thread of its own: the agent's worker may be busy for as long as a change fetches an image, and
// certificates cannot wait for that.  A write that fails is tried again later.  While the files have to wait, the
// writer only reports which files differ.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/cluster_files.h"
#include "api/controller_config.h"
#include "base/root.h"
#include "event/loop.h"
#include "event/watches.h"
#include "event/worker.h"
#include "kube/backoff.h"
#include "kube/client.h"
#include "kube/mirror.h"

namespace pintle::agent {

// The decision about files that differ: they are written, or wait (api/waiting_files.h).  While the decision is
// unknown, nothing is written.
enum class WritePermission { kUnknown, kWrite, kWait };

class ClusterFilesWriter {
 public:
  struct Listener {
    // All files are on the disk now; `changed` are the paths of those that were written or removed.
    std::function<void(const std::string& resource_version, const std::vector<std::string>& changed)> written;
    // These files differ from what is wanted, and wait.
    std::function<void(const std::vector<api::WaitingFile>& files)> waiting;
    // The files could not be read or written.  They are tried again later.
    std::function<void(std::string why)> failed;
    // The ControllerConfig cannot be read or watched at the moment.
    std::function<void(const Error& error)> trouble;
  };

  // The loop, the client and the root must outlive the writer.
  static Result<std::unique_ptr<ClusterFilesWriter>> Begin(event::Loop& loop, kube::Client& client, const Root& root,
                                                           Listener listener, kube::Backoff::Settings backoff = {});
  ClusterFilesWriter(const ClusterFilesWriter&) = delete;
  ClusterFilesWriter& operator=(const ClusterFilesWriter&) = delete;

  // Writes the files, or finds out which of them wait, if the permission has changed.
  void SetWritePermission(WritePermission permission);

  // Returns whether the operator is exchanging the authorities of the API server, or nullopt if there is no
  // ControllerConfig.
  std::optional<bool> rotates_server_authorities() const;

  // Returns whether there is a ControllerConfig to take files from.
  bool has_source() const { return source_->Find({"", api::kControllerConfigName}) != nullptr; }

 private:
  ClusterFilesWriter(event::Loop& loop, kube::Client& client, const Root& root, Listener listener,
                     kube::Backoff::Settings backoff);

  struct Outcome {
    std::vector<std::string> changed;
    std::vector<api::WaitingFile> waiting;
  };

  void Write();
  void OnWriteEnded(const std::string& resource_version, WritePermission permission, const Result<Outcome>& outcome);

  const Root& root_;
  Listener listener_;
  WritePermission permission_ = WritePermission::kUnknown;
  bool is_writing_ = false;
  kube::Backoff backoff_;
  event::Timer again_;
  std::unique_ptr<kube::Mirror<ClusterFilesSource>> source_;
  std::unique_ptr<event::Worker> worker_;  // Destroyed first: its destructor waits for its job.
};

}  // namespace pintle::agent
