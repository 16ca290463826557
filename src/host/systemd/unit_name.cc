// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/unit_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace pintle::host {
namespace {

constexpr std::size_t kLongestName = 255;

constexpr std::array<std::string_view, 11> kTypes = {"service", "mount",     "swap", "socket", "target", "device",
                                                     "timer",   "automount", "path", "slice",  "scope"};
constexpr std::array<std::string_view, 6> kTypesWithAliases = {"service", "socket", "target",
                                                               "device",  "timer",  "path"};
constexpr std::array<std::string_view, 5> kTypesWithTemplates = {"service", "socket", "target", "timer", "path"};

template <std::size_t kSize>
bool Has(const std::array<std::string_view, kSize>& types, std::string_view type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool HasOnlyCharactersOfNames(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:-_.\\@") ==
         std::string_view::npos;
}

}  // namespace

bool IsValidInstance(std::string_view text) { return !text.empty() && HasOnlyCharactersOfNames(text); }

std::optional<UnitName> UnitName::Parse(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (text.size() > kLongestName || dot == std::string_view::npos || dot == 0) return std::nullopt;
  const std::string_view name = text.substr(0, dot);
  if (!Has(kTypes, text.substr(dot + 1)) || !HasOnlyCharactersOfNames(name)) return std::nullopt;
  const std::size_t at = name.find('@');
  if (at == std::string_view::npos) return UnitName(text, UnitNameKind::kPlain);
  if (at == 0) return std::nullopt;
  return UnitName(text, at + 1 == dot ? UnitNameKind::kTemplate : UnitNameKind::kInstance);
}

std::string_view UnitName::without_type() const { return std::string_view(text_).substr(0, text_.rfind('.')); }
std::string_view UnitName::type() const { return std::string_view(text_).substr(text_.rfind('.') + 1); }
std::string_view UnitName::prefix() const { return without_type().substr(0, without_type().find('@')); }

std::string_view UnitName::instance() const {
  return kind_ == UnitNameKind::kPlain ? std::string_view() : without_type().substr(prefix().size() + 1);
}

std::optional<UnitName> UnitName::Template() const {
  if (kind_ != UnitNameKind::kInstance) return std::nullopt;
  return Parse(fmt::format("{}@.{}", prefix(), type()));
}

std::optional<UnitName> UnitName::WithInstance(std::string_view instance) const {
  if (kind_ == UnitNameKind::kPlain || !IsValidInstance(instance)) return std::nullopt;
  return Parse(fmt::format("{}@{}.{}", prefix(), instance, type()));
}

bool UnitName::MayBeAlias() const { return Has(kTypesWithAliases, type()); }
bool UnitName::MayBeTemplate() const { return Has(kTypesWithTemplates, type()); }

}  // namespace pintle::host
