// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads YAML documents into nodes: scalars, lists, mappings and aliases.
//
// Nodes are needed before there can be values, since an alias stands for a node, and the meaning of `<<` depends on the
// kind of the node behind it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/parse.h"
#include "machineconfig/yaml_error.h"

namespace pintle::machineconfig {

enum class YamlTag : std::uint8_t {
  kNone,
  kString,
  kBinary,
  kBool,
  kInteger,
  kFloat,
  kNull,
  kTimestamp,
  kMerge,
  kOther
};

enum class YamlNodeKind : std::uint8_t { kScalar, kList, kMap, kAlias };

struct YamlNode {
  YamlNodeKind kind = YamlNodeKind::kScalar;
  YamlTag tag = YamlTag::kNone;
  bool is_plain = false;     // A scalar without quotes.
  bool is_shared = false;    // Whether an alias refers to the node.  Then its value is copied and not moved.
  bool is_open = false;      // Whether the node is being converted.  Then an alias to the node would be a cycle.
  std::uint32_t target = 0;  // The node that an alias stands for.
  std::size_t line = 0;
  std::string text;  // The text of a scalar; for an alias with YamlReader::kGo, the name of its anchor.
  std::vector<std::uint32_t> children;  // For a mapping these are key, value, key, value ...
};

// kGo copies the error texts of Go's yaml.v2, and 1.0 stays a double.  With kOurs, 1.0 becomes the integer 1, as if
// it had been written as JSON and read back.
enum class YamlReader : std::uint8_t { kOurs, kGo };

struct YamlReading {
  YamlReader reader = YamlReader::kOurs;
  Quotes quotes = Quotes::kAllowed;  // Matters for kGo only, because our own errors never quote a document.
  json::ParseLimits limits = {};
};

// Takes the nodes of one document, of which the first is the root.  Returns false to stop.
using TakeYamlDocument = std::function<Result<bool>(std::vector<YamlNode> nodes)>;

// Passes the nodes of each document of a stream to `take`.
Result<> ReadYamlNodes(std::string_view text, const YamlReading& reading, const TakeYamlDocument& take);

}  // namespace pintle::machineconfig
