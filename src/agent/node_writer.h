// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes annotations of one Node in the order in which they are given, and repeats each write until it succeeds.
//
// While writes fail, all changes that wait are merged into one write, because the values in between are outdated by
// then.  This write is tried again at growing intervals, and not before the time that the server demands.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "event/watches.h"
#include "kube/backoff.h"
#include "kube/client.h"

namespace pintle::agent {

// Nullopt removes the annotation.
using AnnotationChanges = std::map<std::string, std::optional<std::string>>;

class NodeWriter {
 public:
  struct Listener {
    std::function<void(const api::Node& node)> wrote;  // Called with the Node as it is after a write.
    std::function<void(const Error& error)> trouble;   // Called with the reason why writes fail.
  };

  NodeWriter(event::Loop& loop, const kube::Client& client, std::string node, Listener listener,
             kube::Backoff::Settings backoff = {});
  NodeWriter(const NodeWriter&) = delete;
  NodeWriter& operator=(const NodeWriter&) = delete;

  // Calls `written` when the changes are written.
  void Write(AnnotationChanges changes, std::function<void()> written = {});
  bool is_idle() const { return waiting_.empty(); }

 private:
  struct AnnotationWrite {
    AnnotationChanges changes;
    std::vector<std::function<void()>> written;
  };

  void WriteNext();
  void OnAnswer(const Result<api::Node>& node);
  void MergeWaiting();

  kube::Client client_;
  std::string node_;
  Listener listener_;
  std::deque<AnnotationWrite> waiting_;   // The first one is being written, or is about to be tried again.
  std::optional<kube::Failure> failure_;  // The failure of the last request.
  kube::Backoff backoff_;
  event::Timer again_;
  kube::Call call_;
};

}  // namespace pintle::agent
