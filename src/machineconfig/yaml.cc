// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/yaml.h"

#include <fmt/core.h>
#include <yaml.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/base64.h"
#include "gotext/quote.h"
#include "ignition/butane.h"
#include "machineconfig/yaml_scalar.h"

namespace pintle::machineconfig {
namespace {

// The most text that aliases may add to a document; real documents stay far below it.
constexpr std::size_t kMostAliasedBytes = 32 << 20;
// libyaml compares each %TAG with all before it, so their number is limited.
constexpr std::size_t kMostTagDirectives = 1000;

enum class Tag : std::uint8_t { kNone, kString, kBinary, kBool, kInteger, kFloat, kNull, kTimestamp, kMerge, kOther };

enum class NodeKind : std::uint8_t { kScalar, kList, kMap, kAlias };

// Documents are first read into nodes, since an alias stands for a node, and `<<` depends on the kind of the node.
struct Node {
  NodeKind kind = NodeKind::kScalar;
  Tag tag = Tag::kNone;
  bool is_plain = false;     // A scalar without quotes.
  bool is_shared = false;    // An alias refers to the node, so its value is copied and not moved.
  bool is_open = false;      // The node is being converted, and an alias to it would be a cycle.
  std::uint32_t target = 0;  // The node that an alias stands for.
  std::size_t line = 0;
  std::string text;  // The text of a scalar; for an alias with YamlReader::kGo, the name of its anchor.
  std::vector<std::uint32_t> children;  // For a mapping these are key, value, key, value ...
};

Error AtLine(std::size_t line, std::string_view problem) {
  return Error(ErrorKind::kInvalid, fmt::format("not YAML: line {}: {}", line, problem));
}

Tag TagNamed(const yaml_char_t* name) {
  if (name == nullptr) return Tag::kNone;
  static const std::map<std::string_view, Tag> kTags = {
      {YAML_STR_TAG, Tag::kString},          {"tag:yaml.org,2002:binary", Tag::kBinary},
      {YAML_BOOL_TAG, Tag::kBool},           {YAML_INT_TAG, Tag::kInteger},
      {YAML_FLOAT_TAG, Tag::kFloat},         {YAML_NULL_TAG, Tag::kNull},
      {YAML_TIMESTAMP_TAG, Tag::kTimestamp}, {"tag:yaml.org,2002:merge", Tag::kMerge},
  };
  const auto found = kTags.find(reinterpret_cast<const char*>(name));
  return found == kTags.end() ? Tag::kOther : found->second;
}

// kGo copies the error texts of Go's yaml.v2, and 1.0 stays a double.  With kOurs, 1.0 becomes the integer 1, as after
// it was written as JSON and read back.
enum class YamlReader : std::uint8_t { kOurs, kGo };

// Makes an error in the form of yaml.v2.
Error GoError(std::string_view problem) { return Error(ErrorKind::kInvalid, fmt::format("yaml: {}", problem)); }

// Returns the name that yaml.v2 prints for the type of a plain scalar.  A time without a tag is a string for yaml.v2.
std::string_view GoNameOfType(const PlainScalar& meaning) {
  if (std::holds_alternative<Null>(meaning)) return "!!null";
  if (std::holds_alternative<bool>(meaning)) return "!!bool";
  if (std::holds_alternative<double>(meaning)) return "!!float";
  const bool is_integer =
      std::holds_alternative<std::int64_t>(meaning) || std::holds_alternative<std::uint64_t>(meaning);
  return is_integer ? "!!int" : "!!str";
}

std::string_view GoNameOf(Tag tag) {
  switch (tag) {
    case Tag::kBool:
      return "!!bool";
    case Tag::kInteger:
      return "!!int";
    case Tag::kFloat:
      return "!!float";
    case Tag::kNull:
      return "!!null";
    case Tag::kTimestamp:
      return "!!timestamp";
    default:
      return "!!str";
  }
}

// Writes a value as Go's %#v writes the value that yaml.v2 makes.
std::string AsGoSource(const json::Value& value) {
  switch (value.type()) {
    case json::Value::Type::kNull:
      return "interface {}(nil)";
    case json::Value::Type::kString:
      return gotext::Quoted(value.text());
    case json::Value::Type::kReal:
      return GoText(value.real());
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

// Reads libyaml's events one by one.  Each event is freed when the next one is read.
class Events {
 public:
  explicit Events(std::string_view text, YamlReader reader = YamlReader::kOurs) : reader_(reader) {
    is_ready_ = yaml_parser_initialize(&parser_) == 1;
    if (!is_ready_) return;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Events() {
    yaml_event_delete(&event_);
    if (is_ready_) yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  Result<const yaml_event_t*> Next() {
    yaml_event_delete(&event_);
    if (!is_ready_ || yaml_parser_parse(&parser_, &event_) != 1) return MakeError();
    return &event_;
  }

 private:
  Error MakeError() const {
    if (!is_ready_ || parser_.error == YAML_MEMORY_ERROR) return Error(ErrorKind::kSystem, "out of memory");
    const std::string_view problem = parser_.problem == nullptr ? "unreadable" : parser_.problem;
    if (reader_ == YamlReader::kGo) return MakeGoError(problem);
    // libyaml's reader, which decodes the bytes, runs ahead of the parser and does not count lines.
    if (parser_.error == YAML_READER_ERROR) {
      return Error(ErrorKind::kInvalid, fmt::format("not YAML: byte {}: {}", parser_.problem_offset, problem));
    }
    return AtLine(parser_.problem_mark.line + 1, problem);
  }

  // Go counts lines from zero, except in errors of its scanner, and leaves a line number of zero out.
  Error MakeGoError(std::string_view problem) const {
    const bool is_scanner = parser_.error == YAML_SCANNER_ERROR;
    const std::size_t line =
        parser_.problem_mark.line != 0 ? parser_.problem_mark.line + (is_scanner ? 1 : 0) : parser_.context_mark.line;
    if (line == 0 || parser_.error == YAML_READER_ERROR) return GoError(problem);
    return GoError(fmt::format("line {}: {}", line, problem));
  }

  const YamlReader reader_;
  yaml_parser_t parser_ = {};
  yaml_event_t event_ = {};
  bool is_ready_ = false;
};

// Builds the nodes of one document; the first is the root.
class Composer {
 public:
  explicit Composer(const json::ParseLimits& limits, YamlReader reader = YamlReader::kOurs,
                    Quotes quotes = Quotes::kAllowed)
      : limits_(limits), reader_(reader), quotes_(quotes) {}

  Result<> Add(const yaml_event_t& event) {
    if (nodes_.size() >= limits_.values && !IsEnd(event)) {
      return AtLine(event.start_mark.line + 1, fmt::format("more than {} values", limits_.values));
    }
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        return AddScalar(event);
      case YAML_ALIAS_EVENT:
        return AddAlias(event);
      case YAML_SEQUENCE_START_EVENT:
        return Enter(event, NodeKind::kList, event.data.sequence_start.anchor);
      case YAML_MAPPING_START_EVENT:
        return Enter(event, NodeKind::kMap, event.data.mapping_start.anchor);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        open_.pop_back();
        return {};
      default:
        return {};
    }
  }

  std::vector<Node> Take() && { return std::move(nodes_); }

 private:
  static bool IsEnd(const yaml_event_t& event) {
    return event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
  }

  std::uint32_t AddNode(const yaml_event_t& event, NodeKind kind) {
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    Node node;
    node.kind = kind;
    node.line = event.start_mark.line + 1;
    nodes_.push_back(std::move(node));
    if (!open_.empty()) nodes_[open_.back()].children.push_back(index);
    return index;
  }

  void SetAnchor(const yaml_char_t* name, std::uint32_t index) {
    if (name != nullptr) anchors_[reinterpret_cast<const char*>(name)] = index;
  }

  Result<> AddScalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    const std::uint32_t index = AddNode(event, NodeKind::kScalar);
    Node& node = nodes_[index];
    node.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    node.is_plain = scalar.plain_implicit == 1;
    node.tag = TagNamed(scalar.tag);
    SetAnchor(scalar.anchor, index);
    return {};
  }

  Result<> AddAlias(const yaml_event_t& event) {
    const std::string name = reinterpret_cast<const char*>(event.data.alias.anchor);
    const auto anchor = anchors_.find(name);
    if (anchor == anchors_.end()) {
      if (reader_ == YamlReader::kGo) return GoErrorOfUnknown(name, event.start_mark.line + 1);
      return AtLine(event.start_mark.line + 1,
                    "an alias to an anchor that is unknown: put a text that begins with * in quotes");
    }
    nodes_[anchor->second].is_shared = true;
    const std::uint32_t index = AddNode(event, NodeKind::kAlias);
    nodes_[index].target = anchor->second;
    if (reader_ == YamlReader::kGo) nodes_[index].text = name;
    return {};
  }

  Error GoErrorOfUnknown(const std::string& anchor, std::size_t line) const {
    return GoError(quotes_ == Quotes::kAllowed ? fmt::format("unknown anchor '{}' referenced", anchor)
                                               : fmt::format("line {}: unknown anchor referenced", line));
  }

  Result<> Enter(const yaml_event_t& event, NodeKind kind, const yaml_char_t* anchor) {
    if (open_.size() >= limits_.depth) {
      return AtLine(event.start_mark.line + 1, fmt::format("nested more than {} levels deep", limits_.depth));
    }
    const std::uint32_t index = AddNode(event, kind);
    SetAnchor(anchor, index);
    open_.push_back(index);
    return {};
  }

  const json::ParseLimits& limits_;
  const YamlReader reader_;
  const Quotes quotes_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> open_;  // The lists and mappings that are being filled.
  std::map<std::string, std::uint32_t> anchors_;
};

// Converts nodes to values.
class Converter {
 public:
  Converter(std::vector<Node> nodes, json::Report* report, const json::ParseLimits& limits,
            YamlReader reader = YamlReader::kOurs, Quotes quotes = Quotes::kAllowed)
      : nodes_(std::move(nodes)), report_(report), limits_(limits), reader_(reader), quotes_(quotes) {}

  Result<json::Value> Convert() {
    if (nodes_.empty()) return json::Value(nullptr);
    is_butane_ = reader_ == YamlReader::kOurs && IsButane();
    return Convert(0, Context(), json::Path());
  }

 private:
  struct Context {
    std::size_t depth = 0;
    bool in_alias = false;
    bool is_key = false;
    bool is_shared = false;  // Another alias may need the value, too, so it is copied.
  };

  // Returns an error about a node.  Go's errors about nodes have no line.
  Error ErrorAt(const Node& node, std::string_view problem, std::string_view problem_in_go) const {
    return reader_ == YamlReader::kGo ? GoError(problem_in_go) : AtLine(node.line, problem);
  }

  // Returns an error about a node.  Go's text of this error quotes the document, so it is replaced if quotes are
  // forbidden.
  Error ErrorThatMayQuote(const Node& node, std::string_view problem, std::string_view problem_in_go) const {
    const bool must_not_quote = reader_ == YamlReader::kGo && quotes_ == Quotes::kForbidden;
    return must_not_quote ? GoError(fmt::format("line {}: {}", node.line, problem))
                          : ErrorAt(node, problem, problem_in_go);
  }

  Error ContainsItself(const Node& alias, const Node& target) const {
    return ErrorThatMayQuote(target, "an anchor's value contains itself",
                             fmt::format("anchor '{}' value contains itself", alias.text));
  }

  // Predicts the result of ignition::IsButane().
  bool IsButane() const {
    const Node& root = nodes_.front();
    if (root.kind != NodeKind::kMap) return false;
    for (std::size_t i = 0; i < root.children.size(); i += 2) {
      if (nodes_[root.children[i]].text == "variant") return true;
    }
    return false;
  }

  Result<json::Value> Convert(std::uint32_t index, Context context, const json::Path& path) {
    Node& node = nodes_[index];
    TRY(CountNode(node, context));
    context.is_shared = context.is_shared || node.is_shared;
    switch (node.kind) {
      case NodeKind::kScalar:
        return ConvertScalar(node, context);
      case NodeKind::kAlias:
        if (nodes_[node.target].is_open) return ContainsItself(node, nodes_[node.target]);
        context.in_alias = true;
        return Convert(node.target, context, path);
      case NodeKind::kList:
      case NodeKind::kMap:
        break;
    }
    if (++context.depth > limits_.depth) {
      return AtLine(node.line, fmt::format("nested more than {} levels deep", limits_.depth));
    }
    node.is_open = true;
    auto value = node.kind == NodeKind::kList ? ConvertList(node, context, path) : ConvertMap(node, context, path);
    node.is_open = false;
    return value;
  }

  // A few anchors that refer to each other many times could expand without bound.  yaml.v2 stops when most values
  // come from aliases.  This reader stops then, too, and also limits the text that comes from aliases.
  Result<> CountNode(const Node& node, const Context& context) {
    ++converted_;
    if (!context.in_alias) return {};
    ++from_aliases_;
    bytes_from_aliases_ += node.text.size();
    // These numbers, and those of AllowedShare(), are yaml.v2's.
    const bool too_many = from_aliases_ > 100 && converted_ > 1000 &&
                          static_cast<double>(from_aliases_) > AllowedShare() * static_cast<double>(converted_);
    if (too_many || bytes_from_aliases_ > std::min(limits_.bytes, kMostAliasedBytes)) {
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

  Result<json::Value> ConvertScalar(Node& node, const Context& context) {
    const auto text = [&]() -> json::Value {
      if (context.is_shared) return node.text;
      return std::move(node.text);
    };
    if (node.tag == Tag::kNone && !node.is_plain) return text();
    switch (node.tag) {
      case Tag::kString:
      case Tag::kMerge:  // The tag has a meaning for keys only; see IsMerge().
      case Tag::kOther:
        return text();
      case Tag::kBinary:
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

  static bool FitsTag(Tag tag, const PlainScalar& meaning) {
    const bool is_integer = std::holds_alternative<std::int64_t>(meaning) ||  //
                            std::holds_alternative<std::uint64_t>(meaning);
    switch (tag) {
      case Tag::kBool:
        return std::holds_alternative<bool>(meaning);
      case Tag::kInteger:
        return is_integer;
      case Tag::kFloat:
        return is_integer || std::holds_alternative<double>(meaning);
      case Tag::kNull:
        return std::holds_alternative<Null>(meaning);
      case Tag::kTimestamp:
        return std::holds_alternative<Timestamp>(meaning);
      default:
        return true;
    }
  }

  Result<json::Value> ConvertNumber(const Node& node, PlainScalar meaning, const Context& context) const {
    if (const auto* integer = std::get_if<std::int64_t>(&meaning); integer != nullptr && node.tag == Tag::kFloat) {
      meaning = static_cast<double>(*integer);
    }
    if (const auto* integer = std::get_if<std::int64_t>(&meaning)) return json::Value(*integer);
    if (const auto* integer = std::get_if<std::uint64_t>(&meaning)) return json::Value(*integer);
    if (reader_ == YamlReader::kGo || context.is_key) return json::Value(std::get<double>(meaning));
    const auto number = ThroughJson(std::get<double>(meaning));
    if (!number) return AtLine(node.line, "JSON cannot represent this number (infinity or NaN)");
    return std::visit([](auto n) { return json::Value(n); }, *number);
  }

  Result<json::Value> ConvertBinary(const Node& node) const {
    constexpr std::string_view kProblem = "!!binary value contains invalid base64 data";
    auto bytes = DecodeBase64(node.text);
    if (!bytes) return ErrorAt(node, kProblem, kProblem);
    // JSON can hold only characters, so other bytes become U+FFFD, as with kubectl.
    const std::string valid = json::ToText(json::Value(*std::move(bytes)));
    return json::Parse(valid);
  }

  Result<json::Value> ConvertList(const Node& node, const Context& context, const json::Path& path) {
    json::Value list = json::Value::array();
    auto& elements = list.elements();
    elements.reserve(node.children.size());
    for (const std::uint32_t child : node.children) {
      elements.push_back(TRY(Convert(child, context, json::Path(path, elements.size()))));
    }
    return list;
  }

  Result<json::Value> ConvertMap(const Node& node, const Context& context, const json::Path& path) {
    json::Value map = json::Value::object();
    TRY(ConvertInto(map.members(), node, context, path));
    return map;
  }

  Result<> ConvertInto(json::Value::Object& map, const Node& node, const Context& context, const json::Path& path) {
    std::set<std::string> merged;    // Keys that only a `<<` has set so far.  The mapping may override each once.
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

  static bool IsMerge(const Node& key) {
    const bool has_tag_of_merge = key.tag == Tag::kMerge || (key.is_plain && key.tag == Tag::kNone);
    return key.kind == NodeKind::kScalar && has_tag_of_merge && key.text == "<<";
  }

  // A merge takes effect where the `<<` is: it overrides keys above it, and keys below override it.
  Result<> Merge(json::Value::Object& map, std::uint32_t index, Context context, const json::Path& path) {
    TRY(CountNode(nodes_[index], context));
    const Node& node = nodes_[index];
    if (node.kind == NodeKind::kList) {
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
    const Node& merged_node = nodes_[index];
    if (merged_node.kind == NodeKind::kAlias) {
      index = merged_node.target;
      context.in_alias = true;
    }
    Node& node = nodes_[index];
    if (node.kind != NodeKind::kMap) return ErrorAt(node, kNoMap, kNoMap);
    if (node.is_open) return ContainsItself(merged_node, node);
    if (++context.depth > limits_.depth) {
      return AtLine(node.line, fmt::format("nested more than {} levels deep", limits_.depth));
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
    const Node& node = nodes_[index];
    if (is_butane_ && nodes_[index].kind == NodeKind::kScalar) {
      TRY(CountNode(nodes_[index], context));
      return nodes_[index].text;
    }
    context.is_key = true;
    const json::Value key = TRY(Convert(index, context, path));
    constexpr std::string_view kWrongKey = "a key must be a text, a number, true or false";
    if (reader_ == YamlReader::kGo && key.is_structured()) {
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
        return AtLine(node.line, kWrongKey);
    }
  }

  // Returns the key that kubectl makes of a floating-point number.
  std::string KeyOf(double number) const {
    // Go rounds to 32 bits when it formats the number, so a large number becomes infinity.
    const std::string text = GoText(static_cast<float>(number));
    if (reader_ == YamlReader::kGo) return text;
    if (text == "+Inf") return ".inf";
    if (text == "-Inf") return "-.inf";
    return text == "NaN" ? ".nan" : text;
  }

  std::vector<Node> nodes_;
  json::Report* report_;
  const json::ParseLimits& limits_;
  const YamlReader reader_;
  const Quotes quotes_;
  bool is_butane_ = false;
  std::vector<std::string_view> keys_;  // The keys that lead to the value that is being converted.
  std::size_t converted_ = 0;
  std::size_t from_aliases_ = 0;
  std::size_t bytes_from_aliases_ = 0;
};

Result<> LimitTagDirectives(std::string_view text) {
  // The last bytes of the characters that end a line for libyaml: LF, CR, U+0085, U+2028 and U+2029.
  constexpr std::string_view kEndsOfBreaks = "\n\r\x85\xA8\xA9";
  // libyaml also reads UTF-16 behind a byte order mark.
  const bool is_utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  const std::string_view directive = is_utf16 ? std::string_view("%\0T\0A\0G", 7) : "%TAG";
  std::size_t count = 0;
  for (std::size_t at = text.find(directive); at != text.npos; at = text.find(directive, at + directive.size())) {
    const bool begins_line = is_utf16 || at == 0 || kEndsOfBreaks.find(text[at - 1]) != std::string_view::npos;
    if (begins_line && ++count > kMostTagDirectives) {
      return Error(ErrorKind::kInvalid, fmt::format("not YAML: more than {} %TAG directives", kMostTagDirectives));
    }
  }
  return {};
}

// Refuses versions other than YAML 1.1, as yaml.v2 does.  libyaml also reads YAML 1.2.
Result<> CheckGoVersion(const yaml_event_t& document_start) {
  const yaml_version_directive_t* const version = document_start.data.document_start.version_directive;
  if (version == nullptr || (version->major == 1 && version->minor == 1)) return {};
  const std::size_t line = document_start.start_mark.line;
  constexpr std::string_view kProblem = "found incompatible YAML document";
  return GoError(line == 0 ? std::string(kProblem) : fmt::format("line {}: {}", line, kProblem));
}

Result<std::vector<json::Value>> ReadStream(std::string_view text, json::Report* report,
                                            const json::ParseLimits& limits) {
  TRY(LimitTagDirectives(text));
  std::vector<json::Value> documents;
  Events events(text);
  std::optional<Composer> composer;
  for (;;) {
    const yaml_event_t* event = TRY(events.Next());
    if (event->type == YAML_STREAM_END_EVENT) return documents;
    if (event->type == YAML_DOCUMENT_START_EVENT) {
      composer.emplace(limits);
    } else if (event->type == YAML_DOCUMENT_END_EVENT) {
      json::Value document = TRY(Converter((*std::move(composer)).Take(), report, limits).Convert());
      if (!document.is_null()) documents.push_back(std::move(document));
    } else if (composer) {
      TRY(composer->Add(*event));
    }
  }
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
  TRY(LimitTagDirectives(text));
  Events events(text, YamlReader::kGo);
  Composer composer(limits, YamlReader::kGo, quotes);
  for (;;) {
    const yaml_event_t* event = TRY(events.Next());
    if (event->type == YAML_STREAM_END_EVENT) return json::Value(nullptr);
    if (event->type == YAML_DOCUMENT_START_EVENT) TRY(CheckGoVersion(*event));
    if (event->type == YAML_DOCUMENT_END_EVENT) {
      return Converter(std::move(composer).Take(), nullptr, limits, YamlReader::kGo, quotes).Convert();
    }
    TRY(composer.Add(*event));
  }
}

}  // namespace pintle::machineconfig
