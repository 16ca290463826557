// SPDX-License-Identifier: Apache-2.0
#include "controller/config_library.h"

#include <utility>

#include "machineconfig/ignition_part.h"

namespace pintle::controller {
namespace {

constexpr const char* kRead = "read";

}  // namespace

void ConfigLibrary::Want(const std::set<std::string>& names) {
  std::erase_if(configs_, [&](const auto& config) { return !names.contains(config.first); });
  std::erase_if(books_, [&](const auto& book) { return !names.contains(book.first); });
  for (const std::string& name : names) {
    if (books_.contains(name)) continue;
    if (const auto due = backoff_.DueAt({kRead, name}, clock_.Monotonic())) {
      listener_.retry_at(*due);
      continue;
    }
    const auto book = books_.emplace(name, std::make_unique<Book>()).first;
    Fetch(name, *book->second);
  }
}

bool ConfigLibrary::IsSettled(const std::string& name) const {
  const auto book = books_.find(name);
  return book != books_.end() && book->second->is_settled;
}

void ConfigLibrary::Clear() {
  configs_.clear();
  books_.clear();
  backoff_.Clear();
}

void ConfigLibrary::Fetch(const std::string& name, Book& book) {
  book.call = client_.Once([&book](const kube::Failure& failure) { book.failure = failure; })
                  .Get<api::MachineConfig>(
                      {"", name}, [this, name](Result<api::MachineConfig>&& config) { Fetched(name, config); });
}

void ConfigLibrary::Fetched(const std::string& name, Result<api::MachineConfig>& config) {
  Book& book = *books_.at(name);
  if (!config) {
    listener_.trouble(config.error());
    if (config.error().kind() != ErrorKind::kNotFound) {
      const auto stay_away = book.failure ? book.failure->retry_after : std::nullopt;
      const MonotonicTime now = clock_.Monotonic();
      backoff_.Failed({kRead, name}, now, stay_away.value_or(std::chrono::milliseconds(0)));
      const MonotonicTime due = backoff_.DueAt({kRead, name}, now).value_or(now);
      books_.erase(name);
      return listener_.retry_at(due);
    }
  } else {
    backoff_.Succeeded({kRead, name});
    json::Report report;
    auto ignition = machineconfig::ParseIgnitionPart(*config, report);
    if (ignition) {
      book.object = std::move(*config);
      book.ignition = *std::move(ignition);
      configs_.emplace(name, machineconfig::ParsedConfig{*book.object, *book.ignition});
    } else {
      listener_.trouble(Error(ignition.error()).While(name));
    }
  }
  book.is_settled = true;
  listener_.changed();
}

}  // namespace pintle::controller
