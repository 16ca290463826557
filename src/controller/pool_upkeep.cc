// SPDX-License-Identifier: Apache-2.0
#include "controller/pool_upkeep.h"

#include <fmt/core.h>

#include <utility>

#include "controller/default_pools.h"
#include "controller/events.h"
#include "controller/garbage.h"

namespace pintle::controller {

PoolUpkeep::PoolUpkeep(kube::Client client, const Clock& clock, Cluster& cluster, std::size_t kept_configs,
                       Listener listener)
    : client_(std::move(client)),
      clock_(clock),
      cluster_(cluster),
      kept_configs_(kept_configs),
      listener_(std::move(listener)) {}

void PoolUpkeep::MakePools(const View& view) {
  if (!cluster_.KnowsWhetherOpenShift()) return;
  for (const api::MachineConfigPool& pool : MissingPools(view)) {
    const std::string action = "making the pool " + pool.metadata.name;
    if (!MayBegin(action)) continue;
    calls_[action] = client_.Once({}).Create<api::MachineConfigPool>(
        pool,
        [this, action](const Result<api::MachineConfigPool>& made) { End(action, made ? nullptr : &made.error()); });
  }
}

void PoolUpkeep::KeepRenderedConfigs(const View& view) {
  for (const api::MachineConfigPool* pool : view.pools) {
    const std::string& name = pool->metadata.name;
    // A pool that cannot be read is left alone, because the answer to a patch could not be read either.  While there is
    // such a pool, CollectGarbage() removes nothing.
    const bool is_read = !view.unreadable_pools.contains(name);
    if (pool->metadata.deletion_timestamp || KeptUntil(*pool) || !is_read) continue;
    const std::string action = "keeping the rendered configs of pool " + name;
    if (!MayBegin(action)) continue;
    const std::string until = ToRfc3339(clock_.Wall() + kKeptAfterTakeover);
    json::Value patch;
    patch["metadata"]["annotations"][std::string(kKeptUntilAnnotation)] = until;
    calls_[action] = client_.Once({}).Patch<api::MachineConfigPool>(
        {"", name}, kube::MergePatch{std::move(patch)},
        [this, action, until, name](Result<api::MachineConfigPool>&& kept) {
          if (!kept) return End(action, &kept.error());
          log::Info(
              fmt::format("the rendered configs of pool {} are kept until {}, also those that nobody needs; "
                          "`pintle-controller garbage` lists those that are removed then",
                          name, until));
          cluster_.StoreAnswer(*std::move(kept));
          End(action, nullptr);
        });
  }
}

void PoolUpkeep::CollectGarbage(const View& view, const pool::PoolNames& rendering) {
  const WallTime now = clock_.Wall();
  for (const Garbage& config : FindGarbage(view, kept_configs_)) {
    if (rendering.contains(config.pool)) continue;
    const auto kept_until = KeptUntil(*view.PoolNamed(config.pool));
    if (!kept_until || *kept_until > now) continue;
    const std::string action = "removing " + config.name;
    if (!MayBegin(action)) continue;
    calls_[action] = client_.Once({}).Delete<api::MachineConfig>(
        {"", config.name}, config.uid, [this, action, name = config.name](const Result<>& removed) {
          if (removed) log::Notice(fmt::format("removed {}, which nobody needs any more", name), kRemovedConfig);
          const bool is_gone = removed || removed.error().kind() == ErrorKind::kNotFound;
          End(action, is_gone ? nullptr : &removed.error());
        });
  }
}

void PoolUpkeep::Stop() {
  calls_.clear();
  backoff_.Clear();
}

bool PoolUpkeep::MayBegin(const std::string& action) {
  const auto due = backoff_.DueAt({"", action}, clock_.Monotonic());
  if (due) listener_.retry_at(*due);
  return !due && !calls_.contains(action);
}

void PoolUpkeep::End(const std::string& action, const Error* error) {
  // The callback of the call owns the string `action`, so the call is kept until this function ends.
  const auto call = calls_.extract(action);
  // Back off even after a success: while the mirror lags behind, the action would be repeated at once.
  const int count = backoff_.Failed({"", action}, clock_.Monotonic());
  // A conflict at the first try may mean that another client has done the same.
  const bool may_be_done = error != nullptr && error->kind() == ErrorKind::kConflict && count == 1;
  if (error != nullptr && !may_be_done) listener_.trouble(action, *error);
  listener_.done();
}

}  // namespace pintle::controller
