// SPDX-License-Identifier: Apache-2.0
#pragma once

// The data of the Operator's templates: the spec of a ControllerConfig with Go's names of its fields, the pull secret
// and the TLS settings.

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "generated/tls_settings.h"
#include "gotemplate/value.h"
#include "json/value.h"

namespace pintle::generated {

// The Go type of this data.
const gotemplate::Type& RenderConfigType();

class RenderConfig {
 public:
  RenderConfig(json::Value controller_config_spec, std::string pull_secret, const TlsSettings& tls);
  RenderConfig(RenderConfig&&) = default;

  const json::Value& spec() const { return *spec_; }
  const gotemplate::Value& value() const { return value_; }

  // Returns whether a text contains a line of the pull secrets, which must not be printed.
  bool HasSecret(std::string_view text) const;

  // From the status of the infrastructure; "" if there is none.
  const std::string& platform() const;
  const std::string& control_plane_topology() const;

 private:
  // The values point into these objects.
  std::unique_ptr<const json::Value> spec_;
  std::unique_ptr<const std::string> pull_secret_;
  std::unique_ptr<gotemplate::Memory> memory_;
  gotemplate::Value value_;
};

// Returns a field of a field of a struct; no value if a pointer on the way is nil.
gotemplate::Value FieldOf(gotemplate::Value value, std::initializer_list<std::string_view> names);

}  // namespace pintle::generated
