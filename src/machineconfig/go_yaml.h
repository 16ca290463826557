// SPDX-License-Identifier: Apache-2.0
#pragma once

// YAML as Go's yaml.v2 (2.4.0, behind ghodss/yaml) writes it, byte for byte.
//
// The name of a rendered config is a digest of such a text, so every quirk counts: which texts are quoted and how,
// where long lines are folded, in which order keys stand.  A value takes the way it takes there: it is written as JSON,
// that is read as YAML, and what was read is written as YAML.  The text goes to a sink in pieces, so that long strings
// are not copied.

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

// Writes a mapping with these members, in whatever order they come.  The error is Go's: a text may hold characters that
// YAML does not allow.
Result<> WriteGoYaml(std::vector<GoYamlMember> members, const TextSink& sink);

// The same of any value: a mapping, a list or one text.
Result<> WriteGoYamlDocument(const json::Value& value, const TextSink& sink);

}  // namespace pintle::machineconfig
