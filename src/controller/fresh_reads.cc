// SPDX-License-Identifier: Apache-2.0
#include "controller/fresh_reads.h"

#include <utility>
#include <vector>

#include "controller/complaints.h"

namespace pintle::controller {

FreshReads::FreshReads(event::Loop& loop, kube::Client client, Cluster& cluster, Listener listener)
    : client_(std::move(client)),
      cluster_(cluster),
      listener_(std::move(listener)),
      again_(
          loop, [this] { ReadNext(); }, kube::kRetrySlack) {}

void FreshReads::Look() {
  if (awaits_list_) ReadNext();
}

void FreshReads::Stop() {
  call_ = {};
  again_.Cancel();
  ForgetFailures();
  awaits_list_ = are_pools_read_ = are_nodes_read_ = false;
}

bool FreshReads::IsNextListed() const {
  return are_pools_read_ ? cluster_.nodes().is_ready() : cluster_.pools().is_ready();
}

// Waits while the mirror cannot list the kind: the server would refuse this request as well.
void FreshReads::ReadNext() {
  awaits_list_ = !IsNextListed();
  if (awaits_list_) return;
  are_pools_read_ ? ReadNodes() : ReadPools();
}

void FreshReads::ReadPools() {
  call_ = client_.Once({}).List<api::MachineConfigPool>(
      {},
      [this](Result<std::vector<api::MachineConfigPool>> pools) {
        if (!pools) return Failed("reading pools", pools.error());
        for (api::MachineConfigPool& pool : *pools) cluster_.StoreAnswer(std::move(pool));
        are_pools_read_ = true;
        ForgetFailures();
        listener_.pools_read();
        ReadNext();
      },
      // Unreadable pools are ignored here: the mirror sets them aside and reports them.
      [](const kube::ObjectName&, const Error&) {});
}

void FreshReads::ReadNodes() {
  call_ = client_.Once({}).List<WatchedNode>(
      {},
      [this](Result<std::vector<WatchedNode>> nodes) {
        if (!nodes) return Failed("reading nodes", nodes.error());
        for (WatchedNode& node : *nodes) cluster_.StoreAnswer(std::move(node));
        are_nodes_read_ = true;
        ForgetFailures();
        listener_.changed();
      },
      [](const kube::ObjectName&, const Error&) {});
}

void FreshReads::Failed(const std::string& action, const Error& error) {
  listener_.trouble(action, error);
  // A failure that may pass is reported only when it is repeated.
  const bool is_reported = error.kind() == ErrorKind::kInvalid || ++failures_ > kFailuresBeforeReport;
  if (is_reported) error_ = error.message();
  again_.After(backoff_.Next());
  listener_.changed();
}

void FreshReads::ForgetFailures() {
  error_.clear();
  failures_ = 0;
  backoff_.Reset();
}

}  // namespace pintle::controller
