// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes YAML byte for byte as Go's yaml.v2 (2.4.0, behind ghodss/yaml) does.
//
// The name of a rendered config is a digest of such a text, so every quirk matters: which texts are quoted and how,
// where long lines are folded, how keys are ordered.  A value goes through the same steps as in ghodss/yaml: it is
// written as JSON, the JSON is read as YAML, and the result is written as YAML.  The text goes to a sink in pieces, so
// that long strings are not copied.

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/parse.h"

namespace pintle::machineconfig {

using TextSink = std::function<void(std::string_view piece)>;

struct GoYamlMember {
  std::string_view key;
  const json::Value* value;
};

// Writes a mapping with these members, which may be in any order.  Characters that YAML does not allow are
// an error, in Go's words.
Result<> WriteGoYaml(std::vector<GoYamlMember> members, const TextSink& sink);

// Writes any value: a mapping, a list or a single text.
Result<> WriteGoYamlDocument(const json::Value& value, const TextSink& sink);

}  // namespace pintle::machineconfig
