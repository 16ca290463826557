// SPDX-License-Identifier: Apache-2.0
#include "change/inverse.h"

#include <fmt/core.h>

#include <cassert>
#include <utility>
#include <variant>

#include "host/accounts.h"
#include "host/authorized_keys.h"
#include "host/password_hash.h"

namespace pintle::change {
namespace {

using resource::AuthorizedKeys;
using resource::Deployment;
using resource::Enablement;
using resource::FileEntry;
using resource::PasswordHash;
using resource::Put;
using resource::UnitLinks;
using resource::UnitState;

using Inverse = Result<std::optional<plan::Step>>;

class Inverter {
 public:
  Inverter(const host::Host& host, const std::unordered_set<std::string>& changed_units)
      : host_(host), changed_units_(changed_units) {}

  // InverseOf() must not be called for this resource: it stores no contents, and the undo needs them.
  Inverse operator()(const Put<FileEntry>&) const {
    assert(false);
    return std::nullopt;
  }

  // Only systemd knows which links it makes for a unit, so the inverse puts back all links.
  Inverse operator()(const Put<UnitState>& put) const {
    if (!changed_units_.contains(put.key) && TRY(IsAsWanted(put))) return std::nullopt;
    return AllLinks();
  }

  Inverse operator()(const Put<UnitLinks>&) const { return AllLinks(); }

  Inverse operator()(const Put<AuthorizedKeys>& put) const {
    auto have = TRY(host::ObserveAuthorizedKeys(host_.root, put.key));
    if (host::Matches(put.want, have)) return std::nullopt;
    TRY(CheckUser(put.key));
    return Put<AuthorizedKeys>{put.key, std::move(have)};
  }

  Inverse operator()(const Put<PasswordHash>& put) const {
    auto have = TRY(host::ObservePasswordHash(host_.root, put.key));
    if (host::Matches(put.want, have)) return std::nullopt;
    TRY(CheckUser(put.key));
    return Put<PasswordHash>{put.key, std::move(have)};
  }

  // InverseOf() must not be called for this resource.
  Inverse operator()(const Put<Deployment>&) const {
    assert(false);
    return std::nullopt;
  }

 private:
  Result<bool> IsAsWanted(const Put<UnitState>& put) const {
    if (put.want->enablement == Enablement::kPreset) return true;
    const auto status = host_.systemd.Observe(put.key);
    if (!status && status.error().kind() == ErrorKind::kUnavailable) return status.error();
    // A unit that systemd cannot look up counts as different, because the change may correct that unit.
    if (!status) return false;
    const std::string& state = status->file_state;
    const bool is_enabled = state == "enabled";
    const bool cannot_be_enabled = state == "static" || state == "indirect" || state == "generated" || state == "alias";
    // A unit that is enabled only until the next boot is neither enabled nor disabled as the config wants it.
    const bool is_disabled = !is_enabled && state != "enabled-runtime";
    return put.want->enablement == Enablement::kEnabled ? is_enabled || cannot_be_enabled : is_disabled;
  }

  Inverse AllLinks() const {
    auto links = TRY(host_.systemd.ObserveLinks());
    return Put<UnitLinks>{{}, std::move(links)};
  }

  Result<> CheckUser(const std::string& name) const {
    if (TRY(host::FindUser(host_.root, name))) return {};
    return Error(ErrorKind::kNotFound,
                 fmt::format("this machine has no user named \"{0}\"; make the user with `useradd`, or remove \"{0}\" "
                             "from the users of the config",
                             name));
  }

  const host::Host& host_;
  const std::unordered_set<std::string>& changed_units_;
};

}  // namespace

Result<std::optional<plan::Step>> InverseOf(const host::Host& host, const plan::Step& step,
                                            const std::unordered_set<std::string>& changed_units) {
  return std::visit(Inverter(host, changed_units), step);
}

}  // namespace pintle::change
