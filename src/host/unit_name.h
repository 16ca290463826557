// SPDX-License-Identifier: Apache-2.0
#pragma once

// The name of a systemd unit: "sshd.service", the template "getty@.service", its instance "getty@tty1.service".

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace pintle::host {

enum class UnitNameKind { kPlain, kTemplate, kInstance };

class UnitName {
 public:
  // Nothing if systemd would not take the text for a name.
  static std::optional<UnitName> Parse(std::string_view text);
  static bool IsValid(std::string_view text) { return Parse(text).has_value(); }

  const std::string& text() const { return text_; }
  UnitNameKind kind() const { return kind_; }

  // Of "getty@tty1.service": "getty", "tty1", "service", "getty@tty1".
  std::string_view prefix() const;
  std::string_view instance() const;
  std::string_view type() const;
  std::string_view without_type() const;

  // The template of an instance, by its name; of what is not an instance, nothing.
  std::optional<UnitName> Template() const;
  // A template or an instance with this instance put in; nothing if that is no name.
  std::optional<UnitName> WithInstance(std::string_view instance) const;

  bool MayBeAlias() const;
  bool MayBeTemplate() const;

  auto operator<=>(const UnitName&) const = default;

 private:
  explicit UnitName(std::string_view text, UnitNameKind kind) : text_(text), kind_(kind) {}

  std::string text_;
  UnitNameKind kind_;
};

// What may stand between "@" and the type.
bool IsValidInstance(std::string_view text);

}  // namespace pintle::host
