// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/yaml.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/base64.h"
#include "gotext/quote.h"
#include "ignition/butane.h"
#include "machineconfig/yaml_error.h"
#include "machineconfig/yaml_nodes.h"
#include "machineconfig/yaml_scalar.h"

namespace pintle::machineconfig {
namespace {

// The most text that aliases may add to a document; real documents stay far below it.
constexpr std::size_t kMostAliasedBytes = 32 << 20;

// Returns the name that yaml.v2 prints for the type of a plain scalar that does not fit its tag.  A time is a string,
// because yaml.v2 recognizes no times in a scalar with a tag such as !!int.
std::string_view GoNameOfType(const PlainScalar& meaning) {
  if (std::holds_alternative<Null>(meaning)) return "!!null";
  if (std::holds_alternative<bool>(meaning)) return "!!bool";
  if (std::holds_alternative<double>(meaning)) return "!!float";
  const bool is_integer =
      std::holds_alternative<std::int64_t>(meaning) || std::holds_alternative<std::uint64_t>(meaning);
  return is_integer ? "!!int" : "!!str";
}

std::string_view GoNameOf(YamlTag tag) {
  switch (tag) {
    case YamlTag::kBool:
      return "!!bool";
    case YamlTag::kInteger:
      return "!!int";
    case YamlTag::kFloat:
      return "!!float";
    case YamlTag::kNull:
      return "!!null";
    case YamlTag::kTimestamp:
      return "!!timestamp";
    default:
      return "!!str";
  }
}

// Writes a value as Go's %#v prints it when yaml.v2 has decoded it.
std::string AsGoSource(const json::Value& value) {
  switch (value.type()) {
    case json::Value::Type::kNull:
      return "interface {}(nil)";
    case json::Value::Type::kString:
      return gotext::Quoted(value.text());
    case json::Value::Type::kReal:
      return GoNumberText(value.real());
    case json::Value::Type::kArray:
    case json::Value::Type::kObject:
      break;
    default:
      return json::ToText(value);
  }
  std::string source = value.is_array() ? "[]interface {}{" : "map[interface {}]interface {}{";
  const char* separator = "";
  if (value.is_array()) {
    for (const json::Value& element : value) {
      source += separator + AsGoSource(element);
      separator = ", ";
    }
    return source + '}';
  }
  for (const auto& [key, member] : value.members()) {
    source += separator + gotext::Quoted(key) + ':' + AsGoSource(member);
    separator = ", ";
  }
  return source + '}';
}

// Converts nodes to values.
class Converter {
 public:
  Converter(std::vector<YamlNode> nodes, json::Report* report, const YamlReading& reading)
      : nodes_(std::move(nodes)), report_(report), reading_(reading) {}

  Result<json::Value> Convert() {
    if (nodes_.empty()) return json::Value(nullptr);
    is_butane_ = reading_.reader == YamlReader::kOurs && IsButane();
    return Convert(0, Context(), json::Path());
  }

 private:
  struct Context {
    std::size_t depth = 0;
    bool in_alias = false;
    bool is_key = false;
    bool is_shared = false;  // Whether another alias may need the value.  Then the value is copied.
  };

  // Returns an error about a node.  Go's errors about nodes have no line.
  Error ErrorAt(const YamlNode& node, std::string_view problem, std::string_view problem_in_go) const {
    return reading_.reader == YamlReader::kGo ? GoYamlError(problem_in_go) : YamlErrorAt(node.line, problem);
  }

  // Returns an error about a node.  Go's text of this error quotes the document, so it is replaced if quotes are
  // forbidden.
  Error ErrorThatMayQuote(const YamlNode& node, std::string_view problem, std::string_view problem_in_go) const {
    const bool must_not_quote = reading_.reader == YamlReader::kGo && reading_.quotes == Quotes::kForbidden;
    return must_not_quote ? GoYamlError(fmt::format("line {}: {}", node.line, problem))
                          : ErrorAt(node, problem, problem_in_go);
  }

  Error ContainsItself(const YamlNode& alias, const YamlNode& target) const {
    return ErrorThatMayQuote(target, "an anchor's value contains itself",
                             fmt::format("anchor '{}' value contains itself", alias.text));
  }

  // Predicts the result of ignition::IsButane().
  bool IsButane() const {
    const YamlNode& root = nodes_.front();
    if (root.kind != YamlNodeKind::kMap) return false;
    for (std::size_t i = 0; i < root.children.size(); i += 2) {
      if (nodes_[root.children[i]].text == "variant") return true;
    }
    return false;
  }

  Result<json::Value> Convert(std::uint32_t index, Context context, const json::Path& path) {
    YamlNode& node = nodes_[index];
    TRY(CountNode(node, context));
    context.is_shared = context.is_shared || node.is_shared;
    switch (node.kind) {
      case YamlNodeKind::kScalar:
        return ConvertScalar(node, context);
      case YamlNodeKind::kAlias:
        if (nodes_[node.target].is_open) return ContainsItself(node, nodes_[node.target]);
        context.in_alias = true;
        return Convert(node.target, context, path);
      case YamlNodeKind::kList:
      case YamlNodeKind::kMap:
        break;
    }
    if (++context.depth > reading_.limits.depth) {
      return YamlErrorAt(node.line, fmt::format("nested more than {} levels deep", reading_.limits.depth));
    }
    node.is_open = true;
    auto value = node.kind == YamlNodeKind::kList ? ConvertList(node, context, path) : ConvertMap(node, context, path);
    node.is_open = false;
    return value;
  }

  // A few anchors that refer to each other many times could expand without bound.  yaml.v2 stops when most values
  // come from aliases.  This reader stops then, too, and also limits the text that comes from aliases.
  Result<> CountNode(const YamlNode& node, const Context& context) {
    ++converted_;
    if (!context.in_alias) return {};
    ++from_aliases_;
    bytes_from_aliases_ += node.text.size();
    // These numbers, and those of AllowedShare(), are yaml.v2's.
    const bool too_many = from_aliases_ > 100 && converted_ > 1000 &&
                          static_cast<double>(from_aliases_) > AllowedShare() * static_cast<double>(converted_);
    if (too_many || bytes_from_aliases_ > std::min(reading_.limits.bytes, kMostAliasedBytes)) {
      return ErrorAt(node, "the document has excessive aliasing", "document contains excessive aliasing");
    }
    return {};
  }

  // Returns which share of the values may come from aliases.
  double AllowedShare() const {
    constexpr double kFew = 400'000;
    constexpr double kMany = 4'000'000;
    const auto count = static_cast<double>(converted_);
    if (count <= kFew) return 0.99;
    if (count >= kMany) return 0.10;
    return 0.99 - 0.89 * (count - kFew) / (kMany - kFew);
  }

  Result<json::Value> ConvertScalar(YamlNode& node, const Context& context) {
    const auto text = [&]() -> json::Value {
      if (context.is_shared) return node.text;
      return std::move(node.text);
    };
    if (node.tag == YamlTag::kNone && !node.is_plain) return text();
    switch (node.tag) {
      case YamlTag::kString:
      case YamlTag::kMerge:  // The tag has a meaning for keys only; see IsMerge().
      case YamlTag::kOther:
        return text();
      case YamlTag::kBinary:
        return ConvertBinary(node);
      default:
        break;
    }
    const PlainScalar meaning = MeaningOf(node.text);
    if (!FitsTag(node.tag, meaning)) {
      return ErrorThatMayQuote(
          node, "the value does not fit its tag",
          fmt::format("cannot decode {} `{}` as a {}", GoNameOfType(meaning), node.text, GoNameOf(node.tag)));
    }
    if (std::holds_alternative<Text>(meaning) || std::holds_alternative<Timestamp>(meaning)) return text();
    if (std::holds_alternative<Null>(meaning)) return json::Value(nullptr);
    if (is_butane_ && ignition::IsPlaceOfText(keys_)) return text();
    if (const auto* truth = std::get_if<bool>(&meaning)) return json::Value(*truth);
    return ConvertNumber(node, meaning, context);
  }

  static bool FitsTag(YamlTag tag, const PlainScalar& meaning) {
    const bool is_integer = std::holds_alternative<std::int64_t>(meaning) ||  //
                            std::holds_alternative<std::uint64_t>(meaning);
    switch (tag) {
      case YamlTag::kBool:
        return std::holds_alternative<bool>(meaning);
      case YamlTag::kInteger:
        return is_integer;
      case YamlTag::kFloat:
        return is_integer || std::holds_alternative<double>(meaning);
      case YamlTag::kNull:
        return std::holds_alternative<Null>(meaning);
      case YamlTag::kTimestamp:
        return std::holds_alternative<Timestamp>(meaning);
      default:
        return true;
    }
  }

  Result<json::Value> ConvertNumber(const YamlNode& node, PlainScalar meaning, const Context& context) const {
    if (const auto* integer = std::get_if<std::int64_t>(&meaning); integer != nullptr && node.tag == YamlTag::kFloat) {
      meaning = static_cast<double>(*integer);
    }
    if (const auto* integer = std::get_if<std::int64_t>(&meaning)) return json::Value(*integer);
    if (const auto* integer = std::get_if<std::uint64_t>(&meaning)) return json::Value(*integer);
    if (reading_.reader == YamlReader::kGo || context.is_key) return json::Value(std::get<double>(meaning));
    const auto number = ThroughJson(std::get<double>(meaning));
    if (!number) return YamlErrorAt(node.line, "JSON cannot represent this number (infinity or NaN)");
    return std::visit([](auto n) { return json::Value(n); }, *number);
  }

  Result<json::Value> ConvertBinary(const YamlNode& node) const {
    constexpr std::string_view kProblem = "!!binary value contains invalid base64 data";
    auto bytes = DecodeBase64(node.text);
    if (!bytes) return ErrorAt(node, kProblem, kProblem);
    // JSON can hold only characters, so other bytes become U+FFFD, as with kubectl.
    const std::string valid = json::ToText(json::Value(*std::move(bytes)));
    return json::Parse(valid);
  }

  Result<json::Value> ConvertList(const YamlNode& node, const Context& context, const json::Path& path) {
    json::Value list = json::Value::array();
    auto& elements = list.elements();
    elements.reserve(node.children.size());
    for (const std::uint32_t child : node.children) {
      elements.push_back(TRY(Convert(child, context, json::Path(path, elements.size()))));
    }
    return list;
  }

  Result<json::Value> ConvertMap(const YamlNode& node, const Context& context, const json::Path& path) {
    json::Value map = json::Value::object();
    TRY(ConvertInto(map.members(), node, context, path));
    return map;
  }

  Result<> ConvertInto(json::Value::Object& map, const YamlNode& node, const Context& context, const json::Path& path) {
    std::set<std::string> merged;    // Keys that only a `<<` has set so far.  Such a key is no duplicate.
    std::set<std::string> repeated;  // Keys whose repetition has been reported.
    // A mapping is converted again for each alias to it, but its duplicate keys are reported only once.
    json::Report* const report = context.in_alias ? nullptr : report_;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const std::uint32_t key_index = node.children[i];
      const std::uint32_t value_index = node.children[i + 1];
      if (IsMerge(nodes_[key_index])) {
        json::Value::Object from_merge;
        TRY(Merge(from_merge, value_index, context, path));
        for (auto& [key, value] : from_merge) {
          if (map.insert_or_assign(key, std::move(value)).second) merged.insert(key);
        }
        continue;
      }
      std::string key = TRY(ConvertKey(key_index, context, path));
      keys_.push_back(key);
      auto converted = Convert(value_index, context, json::Path(path, key));
      keys_.pop_back();
      json::Value value = TRY(std::move(converted));
      const auto [member, is_new] = map.insert_or_assign(std::move(key), std::move(value));
      const bool is_duplicate = !is_new && merged.erase(member->first) == 0;
      if (is_duplicate && report != nullptr && repeated.insert(member->first).second) {
        report->Warning(json::Path(path, member->first),
                        "occurs more than once in its mapping; the last value is used");
      }
    }
    return {};
  }

  static bool IsMerge(const YamlNode& key) {
    const bool has_tag_of_merge = key.tag == YamlTag::kMerge || (key.is_plain && key.tag == YamlTag::kNone);
    return key.kind == YamlNodeKind::kScalar && has_tag_of_merge && key.text == "<<";
  }

  // A merge takes effect where the `<<` is: it overrides keys above it, and keys below override it.
  Result<> Merge(json::Value::Object& map, std::uint32_t index, Context context, const json::Path& path) {
    TRY(CountNode(nodes_[index], context));
    const YamlNode& node = nodes_[index];
    if (node.kind == YamlNodeKind::kList) {
      // The first element of the list has precedence.
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
        TRY(MergeOne(map, *child, context, path));
      }
      return {};
    }
    return MergeOne(map, index, context, path);
  }

  Result<> MergeOne(json::Value::Object& map, std::uint32_t index, Context context, const json::Path& path) {
    constexpr std::string_view kNoMap = "map merge requires map or sequence of maps as the value";
    const YamlNode& merged_node = nodes_[index];
    if (merged_node.kind == YamlNodeKind::kAlias) {
      index = merged_node.target;
      context.in_alias = true;
    }
    YamlNode& node = nodes_[index];
    if (node.kind != YamlNodeKind::kMap) return ErrorAt(node, kNoMap, kNoMap);
    if (node.is_open) return ContainsItself(merged_node, node);
    if (++context.depth > reading_.limits.depth) {
      return YamlErrorAt(node.line, fmt::format("nested more than {} levels deep", reading_.limits.depth));
    }
    TRY(CountNode(node, context));
    context.is_shared = context.is_shared || node.is_shared;
    node.is_open = true;
    json::Value::Object merged;
    auto result = ConvertInto(merged, node, context, path);
    node.is_open = false;
    TRY(std::move(result));
    for (auto& [key, value] : merged) map.insert_or_assign(key, std::move(value));
    return {};
  }

  Result<std::string> ConvertKey(std::uint32_t index, Context context, const json::Path& path) {
    const YamlNode& node = nodes_[index];
    if (is_butane_ && nodes_[index].kind == YamlNodeKind::kScalar) {
      TRY(CountNode(nodes_[index], context));
      return nodes_[index].text;
    }
    context.is_key = true;
    const json::Value key = TRY(Convert(index, context, path));
    constexpr std::string_view kWrongKey = "a key must be a text, a number, true or false";
    if (reading_.reader == YamlReader::kGo && key.is_structured()) {
      return ErrorThatMayQuote(node, kWrongKey, "invalid map key: " + AsGoSource(key));
    }
    switch (key.type()) {
      case json::Value::Type::kString:
        return key.text();
      case json::Value::Type::kBoolean:
        return std::string(key.boolean() ? "true" : "false");
      case json::Value::Type::kInteger:
        return std::to_string(key.integer());
      case json::Value::Type::kReal:
        return KeyOf(key.real());
      default:
        return YamlErrorAt(node.line, kWrongKey);
    }
  }

  // Returns the key that kubectl makes of a floating-point number.
  std::string KeyOf(double number) const {
    // Go rounds to 32 bits when it formats the number, so a large number becomes infinity.
    const std::string text = GoNumberText(static_cast<float>(number));
    if (reading_.reader == YamlReader::kGo) return text;
    if (text == "+Inf") return ".inf";
    if (text == "-Inf") return "-.inf";
    return text == "NaN" ? ".nan" : text;
  }

  std::vector<YamlNode> nodes_;
  json::Report* report_;
  const YamlReading& reading_;
  bool is_butane_ = false;
  std::vector<std::string_view> keys_;  // The keys that lead to the value that is being converted.
  std::size_t converted_ = 0;
  std::size_t from_aliases_ = 0;
  std::size_t bytes_from_aliases_ = 0;
};

Result<std::vector<json::Value>> ReadStream(std::string_view text, json::Report* report,
                                            const json::ParseLimits& limits) {
  const YamlReading reading{.limits = limits};
  std::vector<json::Value> documents;
  TRY(ReadYamlNodes(text, reading, [&](std::vector<YamlNode> nodes) -> Result<bool> {
    json::Value document = TRY(Converter(std::move(nodes), report, reading).Convert());
    if (!document.is_null()) documents.push_back(std::move(document));
    return true;
  }));
  return documents;
}

}  // namespace

Result<std::vector<json::Value>> ParseYaml(std::string_view text, json::Report* report,
                                           const json::ParseLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("YAML of {} bytes, longer than the limit of {}", text.size(), limits.bytes));
  }
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return ReadStream(text, report, limits);
  // Keep these warnings only if the text is JSON.  Otherwise ReadStream() reads the text and reports its own warnings.
  json::Report of_json;
  auto object = json::Parse(text, report == nullptr ? nullptr : &of_json, limits);
  if (object && report != nullptr) report->Append(of_json);
  if (object && ignition::IsButane(*object)) {
    // Butane is read as YAML; if that fails, the JSON object is used.  Duplicate keys have been reported already.
    if (auto documents = ReadStream(text, nullptr, limits)) return documents;
  }
  if (object) {
    std::vector<json::Value> documents;
    documents.push_back(*std::move(object));
    return documents;
  }
  // The text may be a YAML flow mapping.  If it is not that either, return the JSON error, because the author more
  // likely meant JSON.
  auto documents = ReadStream(text, report, limits);
  if (!documents) return std::move(object).error();
  return documents;
}

Result<json::Value> ParseGoYaml(std::string_view text, Quotes quotes, const json::ParseLimits& limits) {
  const YamlReading reading{.reader = YamlReader::kGo, .quotes = quotes, .limits = limits};
  json::Value first;
  TRY(ReadYamlNodes(text, reading, [&](std::vector<YamlNode> nodes) -> Result<bool> {
    first = TRY(Converter(std::move(nodes), nullptr, reading).Convert());
    return false;
  }));
  return first;
}

}  // namespace pintle::machineconfig
