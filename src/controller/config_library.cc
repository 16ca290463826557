// SPDX-License-Identifier: Apache-2.0
#include "controller/config_library.h"

#include <utility>

#include "machineconfig/ignition_part.h"

namespace pintle::controller {

void ConfigLibrary::Want(const std::set<std::string>& names) {
  std::erase_if(configs_, [&](const auto& config) { return !names.contains(config.first); });
  std::erase_if(books_, [&](const auto& book) { return !names.contains(book.first); });
  for (const std::string& name : names) {
    const auto [book, is_new] = books_.try_emplace(name);
    if (!is_new) continue;
    book->second = std::make_unique<Book>();
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
}

void ConfigLibrary::Fetch(const std::string& name, Book& book) {
  book.call = client_.Get<api::MachineConfig>(
      {"", name}, [this, name](Result<api::MachineConfig>&& config) { Fetched(name, config); });
}

void ConfigLibrary::Fetched(const std::string& name, Result<api::MachineConfig>& config) {
  Book& book = *books_.at(name);
  if (!config) {
    listener_.trouble(config.error());
    if (config.error().kind() != ErrorKind::kNotFound) {
      books_.erase(name);
      return listener_.retry_later();
    }
  } else {
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
