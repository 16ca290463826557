// SPDX-License-Identifier: Apache-2.0
#include "controller/config_library.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "machineconfig/ignition_part.h"

namespace pintle::controller {
namespace {

constexpr const char* kRead = "read";  // The kind of action in the keys of the back-offs.
constexpr std::ptrdiff_t kFetchedAtOnce = 4;
// A config counts as fetched after so many failures in a row, which take about two minutes.  An API server restarts in
// less.
constexpr int kFailuresUntilUnknown = 8;

std::string Comparing(const std::string& name) { return "comparing the config " + name; }

}  // namespace

void ConfigLibrary::Want(const std::set<std::string>& names) {
  std::erase_if(configs_, [&](const auto& config) { return !names.contains(config.first); });
  std::erase_if(entries_, [&](const auto& entry) {
    const bool is_unwanted = !names.contains(entry.first);
    if (is_unwanted && entry.second->is_missing) backoff_.Succeeded({kRead, entry.first});
    return is_unwanted;
  });
  for (const std::string& name : names) {
    const auto known = entries_.find(name);
    const bool is_needed = known == entries_.end() || (known->second->is_read_again && !known->second->is_under_way);
    if (!is_needed) continue;
    if (const auto due = backoff_.DueAt({kRead, name}, clock_.Monotonic())) {
      listener_.retry_at(*due);
    } else if (known == entries_.end()) {
      entries_.emplace(name, std::make_unique<Entry>());
    } else {
      known->second->is_requested = false;
    }
  }
  FetchNext();
}

void ConfigLibrary::FetchNext() {
  auto under_way =
      std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) { return entry.second->is_under_way; });
  for (const auto& [name, entry] : entries_) {
    if (under_way >= kFetchedAtOnce) return;
    if (entry->is_requested) continue;
    Fetch(name, *entry);
    ++under_way;
  }
}

bool ConfigLibrary::IsFetchDone(const std::string& name) const {
  const auto entry = entries_.find(name);
  return entry != entries_.end() && entry->second->is_done;
}

void ConfigLibrary::Clear() {
  configs_.clear();
  entries_.clear();
  backoff_.Clear();
}

void ConfigLibrary::Fetch(const std::string& name, Entry& entry) {
  entry.is_requested = true;
  entry.is_under_way = true;
  entry.failure.reset();
  entry.call = client_.Once([&entry](const kube::Failure& failure) { entry.failure = failure; })
                   .Get<api::MachineConfig>(
                       {"", name}, [this, name](Result<api::MachineConfig>&& config) { Fetched(name, config); });
}

void ConfigLibrary::Fetched(const std::string& name, Result<api::MachineConfig>& config) {
  Entry& entry = *entries_.at(name);
  entry.is_under_way = false;
  if (!config) return NotFetched(name, config.error());
  entry.is_missing = false;
  json::Report report;
  auto ignition = machineconfig::ParseIgnitionPart(*config, report);
  if (!ignition) {
    if (!std::exchange(entry.is_reported, true)) listener_.trouble(Comparing(name), ignition.error());
    const bool was_done = std::exchange(entry.is_done, true);
    ReadAgain(name, entry);
    if (!was_done) listener_.changed();
    return;
  }
  backoff_.Succeeded({kRead, name});
  entry.is_read_again = false;
  // Drop the JSON form, which is as large as the parsed form: comparisons read only the parsed form.
  config->spec.config = json::Value();
  entry.object = std::move(*config);
  entry.ignition = *std::move(ignition);
  configs_.emplace(name, machineconfig::ParsedConfig{*entry.object, *entry.ignition});
  entry.is_done = true;
  FetchNext();
  listener_.changed();
}

void ConfigLibrary::NotFetched(const std::string& name, const Error& error) {
  Entry& entry = *entries_.at(name);
  entry.is_missing = error.kind() == ErrorKind::kNotFound;
  if (!entry.is_missing || !std::exchange(entry.is_reported, true)) listener_.trouble(Comparing(name), error);
  const bool was_done = entry.is_done;
  ReadAgain(name, entry);
  if (entry.is_done && !was_done) listener_.changed();
}

void ConfigLibrary::ReadAgain(const std::string& name, Entry& entry) {
  const MonotonicTime now = clock_.Monotonic();
  const int failures = backoff_.Failed({kRead, name}, now, kube::RetryAfterOf(entry.failure));
  entry.is_read_again = true;
  entry.is_done = entry.is_done || entry.is_missing || failures >= kFailuresUntilUnknown;
  FetchNext();
  listener_.retry_at(backoff_.DueAt({kRead, name}, now).value_or(now));
}

}  // namespace pintle::controller
