// SPDX-License-Identifier: Apache-2.0
#pragma once

// The data that the Machine Config Operator's templates read: the spec of a ControllerConfig, the pull secret and the
// TLS settings.

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generated/tls_settings.h"
#include "gotemplate/value.h"
#include "json/value.h"

namespace pintle::generated {

// Returns an error if Go could not decode the spec of a ControllerConfig.  The error has the words of Go.
Result<> CheckControllerConfigSpec(const json::Value& spec);

class RenderConfig {
 public:
  RenderConfig(json::Value controller_config_spec, std::string pull_secret, const TlsSettings& tls);
  RenderConfig(RenderConfig&&) = default;

  const json::Value& spec() const { return *spec_; }
  const gotemplate::Value& value() const { return value_; }

  // Returns whether a text contains a line of the pull secrets, even if the line is quoted or escaped.  Such a text
  // must not be printed.
  bool HasSecret(std::string_view text) const;

  // Returns the same config with other pull secrets, each as long as the real one.  If a template has the same outcome
  // with both configs, the outcome contains nothing of the secrets, in whatever form.
  RenderConfig WithOtherSecrets() const;

  // These two come from the status of the cluster's Infrastructure, and are "" if the status does not have them.
  const std::string& platform() const;
  const std::string& control_plane_topology() const;

 private:
  // `value_` points into these objects.
  std::unique_ptr<const json::Value> spec_;
  std::unique_ptr<const std::string> pull_secret_;
  TlsSettings tls_;
  std::unique_ptr<gotemplate::Memory> memory_;
  gotemplate::Value value_;
};

// Follows field names through nested structs and returns the value of the last field.  Returns an invalid Value if a
// field does not exist or a pointer on the way is nil.
gotemplate::Value FieldOf(gotemplate::Value value, std::initializer_list<std::string_view> names);

}  // namespace pintle::generated
