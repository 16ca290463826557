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
  // Returns nullopt if systemd would not accept the name.
  static std::optional<UnitName> Parse(std::string_view text);
  static bool IsValid(std::string_view text) { return Parse(text).has_value(); }

  const std::string& text() const { return text_; }
  UnitNameKind kind() const { return kind_; }

  // For "getty@tty1.service", the next four functions return "getty", "tty1", "service" and "getty@tty1".
  std::string_view prefix() const;
  std::string_view instance() const;
  std::string_view type() const;
  std::string_view without_type() const;

  // Returns the name of an instance's template, or nullopt if this is not an instance.
  std::optional<UnitName> Template() const;
  // Returns the name of another instance of this template or of this instance's template.  Returns nullopt for a plain
  // name, or if the result is not a valid name.
  std::optional<UnitName> WithInstance(std::string_view instance) const;

  // Return whether systemd allows a unit of this type to be an alias, and to be a template or an instance.
  bool MayBeAlias() const;
  bool MayBeTemplate() const;

  auto operator<=>(const UnitName&) const = default;

 private:
  explicit UnitName(std::string_view text, UnitNameKind kind) : text_(text), kind_(kind) {}

  std::string text_;
  UnitNameKind kind_;
};

// Returns whether the text may be the instance in a unit's name: the part between "@" and the type.
bool IsValidInstance(std::string_view text);

}  // namespace pintle::host
