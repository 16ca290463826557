// SPDX-License-Identifier: Apache-2.0
#include "change/original_passwords.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "host/password_hash.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::change {
namespace {

using resource::PasswordHash;

std::set<std::string_view> UsersOf(const ignition::Config& config) {
  std::set<std::string_view> names;
  for (const ignition::PasswdUser& user : config.passwd.users) names.insert(user.name);
  return names;
}

// Users of the old config have the password of that config now, so only the passwords of new users are stored.
Result<> StorePasswordsOfNewUsers(const Root& root, const std::set<std::string_view>& before,
                                  const std::set<std::string_view>& after, OriginalPasswords& kept) {
  for (const std::string_view user : after) {
    const std::string name(user);
    if (before.contains(user) || kept.contains(name)) continue;
    if (auto have = TRY(host::ObservePasswordHash(root, name))) kept.emplace(name, *std::move(have));
  }
  return {};
}

}  // namespace

bool IsDamage(const Error& error) { return error.kind() == ErrorKind::kInvalid; }

Result<OriginalPasswords> ReadOriginalPasswords(const Root& root) {
  if (!TRY(root.Status(kOriginalPasswords))) return OriginalPasswords();
  json::Report report;
  const std::string text = TRY(root.ReadFile(kOriginalPasswords));
  auto document =
      TRY(WithoutVersion(format::kPasswords, TRY(json::Parse(text), kOriginalPasswords)), kOriginalPasswords);
  auto kept = json::Decode<OriginalPasswords>(std::move(document), report);
  TRY(report.ToResult(), kOriginalPasswords);
  return kept;
}

Result<std::optional<OriginalPasswords>> GiveBackPasswords(const Root& root, const plan::ParsedConfig& from,
                                                           const plan::ParsedConfig& to,
                                                           std::vector<plan::Step>& steps) {
  const auto before = UsersOf(from.ignition);
  const auto after = UsersOf(to.ignition);
  const auto read = ReadOriginalPasswords(root);
  if (!read && !IsDamage(read.error())) return read.error();
  const auto is_in_both = [&](std::string_view user) { return before.contains(user); };
  if (!read && std::any_of(after.begin(), after.end(), is_in_both)) {
    if (std::all_of(after.begin(), after.end(), is_in_both)) return std::nullopt;
    return Error(
        ErrorKind::kConflict,
        fmt::format("{}; so the passwords of new users cannot be stored: `pintle restore {}` creates the file anew",
                    read.error().message(), *std::find_if(after.begin(), after.end(), is_in_both)));
  }
  OriginalPasswords kept = read ? *read : OriginalPasswords();
  for (plan::Step& step : steps) {
    auto* put = std::get_if<resource::Put<PasswordHash>>(&step);
    if (put == nullptr || after.contains(put->key)) continue;
    if (const auto found = kept.find(put->key); found != kept.end()) put->want = found->second;
  }
  std::erase_if(kept, [&](const auto& password) { return !after.contains(password.first); });
  TRY(StorePasswordsOfNewUsers(root, before, after, kept));
  return std::optional(std::move(kept));
}

void AddLostPasswords(const Root& root, const ignition::Config& config, std::vector<Finding>& findings) {
  const auto read = ReadOriginalPasswords(root);
  if (read) return;
  const std::string& why = read.error().message();
  for (const std::string_view user : UsersOf(config)) {
    std::string text =
        fmt::format("could not read the password that the user {} had before a config managed the user: {}", user, why);
    if (IsDamage(read.error())) {
      text = fmt::format(
          "the password that the user {} had before a config managed the user is lost: {}; the user {} will be locked "
          "when no config has the user any more; `pintle restore {}` accepts the loss",
          user, why, user, user);
    }
    findings.push_back({std::string(user), std::move(text), ""});
  }
}

OriginalPasswords AcceptedLoss(const ignition::Config& config) {
  OriginalPasswords accepted;
  PasswordHash::State locked;
  locked.hash = PasswordHash::kLocked;
  for (const std::string_view user : UsersOf(config)) accepted.emplace(user, locked);
  return accepted;
}

std::vector<std::string> UsersLockedBy(const Root& root, const plan::ParsedConfig& from, const plan::ParsedConfig& to) {
  std::vector<std::string> locked;
  const auto read = ReadOriginalPasswords(root);
  // After another error the change fails, and locks nobody.
  if (read || !IsDamage(read.error())) return locked;
  const auto after = UsersOf(to.ignition);
  for (const std::string_view user : UsersOf(from.ignition)) {
    if (!after.contains(user)) locked.emplace_back(user);
  }
  return locked;
}

}  // namespace pintle::change
