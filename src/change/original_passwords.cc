// SPDX-License-Identifier: Apache-2.0
#include "change/original_passwords.h"

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

// A broken file is as good as none: users are locked then, which is safe, and no change is held up.
OriginalPasswords Read(const Root& root) {
  const auto text = root.ReadFile(kOriginalPasswords);
  auto document = text ? json::Parse(*text) : text.error();
  if (!document) return {};
  json::Report report;
  auto kept = json::Decode<OriginalPasswords>(*std::move(document), report);
  return report.ToResult() ? kept : OriginalPasswords();
}

std::set<std::string_view> UsersOf(const ignition::Config& config) {
  std::set<std::string_view> names;
  for (const ignition::PasswdUser& user : config.passwd.users) names.insert(user.name);
  return names;
}

}  // namespace

Result<OriginalPasswords> GiveBackPasswords(const Root& root, const plan::ParsedConfig& from,
                                            const plan::ParsedConfig& to, std::vector<plan::Step>& steps) {
  OriginalPasswords kept = Read(root);
  const auto before = UsersOf(from.ignition);
  const auto after = UsersOf(to.ignition);
  for (plan::Step& step : steps) {
    auto* put = std::get_if<resource::Put<PasswordHash>>(&step);
    if (put == nullptr || after.contains(put->key)) continue;
    if (const auto found = kept.find(put->key); found != kept.end()) put->want = found->second;
  }
  std::erase_if(kept, [&](const auto& password) { return !after.contains(password.first); });
  for (const std::string_view user : after) {
    const std::string name(user);
    // Of one that a config had already, the password is that config's.
    if (before.contains(user) || kept.contains(name)) continue;
    if (auto have = TRY(host::ObservePasswordHash(root, name))) kept.emplace(name, *std::move(have));
  }
  return kept;
}

}  // namespace pintle::change
