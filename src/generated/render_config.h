// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the Operator's templates see: the spec of a ControllerConfig, by the names that its fields have in Go, the pull
// secret and the TLS settings.

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "generated/tls_settings.h"
#include "gotemplate/value.h"
#include "json/value.h"

namespace pintle::generated {

// The type of what templates see.
const gotemplate::Type& RenderConfigType();

class RenderConfig {
 public:
  RenderConfig(json::Value controller_config_spec, std::string pull_secret, const TlsSettings& tls);
  RenderConfig(RenderConfig&&) = default;

  const json::Value& spec() const { return *spec_; }
  const gotemplate::Value& value() const { return value_; }

  // Whether a text has a line in it of what must not be shown: pull secrets.
  bool HasSecret(std::string_view text) const;

  // Of the status of the infrastructure: "" where there is none.
  const std::string& platform() const;
  const std::string& control_plane_topology() const;

 private:
  // Values point into these.
  std::unique_ptr<const json::Value> spec_;
  std::unique_ptr<const std::string> pull_secret_;
  std::unique_ptr<gotemplate::Memory> memory_;
  gotemplate::Value value_;
};

// A field of a field of a struct.  No value: a pointer on the way is nil.
gotemplate::Value FieldOf(gotemplate::Value value, std::initializer_list<std::string_view> names);

}  // namespace pintle::generated
