// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/yaml_nodes.h"

#include <fmt/core.h>
#include <yaml.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "machineconfig/yaml_error.h"

namespace pintle::machineconfig {
namespace {

// libyaml compares each %TAG with all before it, so their number is limited.
constexpr std::size_t kMostTagDirectives = 1000;

YamlTag TagNamed(const yaml_char_t* name) {
  if (name == nullptr) return YamlTag::kNone;
  static const std::map<std::string_view, YamlTag> kTags = {
      {YAML_STR_TAG, YamlTag::kString},          {"tag:yaml.org,2002:binary", YamlTag::kBinary},
      {YAML_BOOL_TAG, YamlTag::kBool},           {YAML_INT_TAG, YamlTag::kInteger},
      {YAML_FLOAT_TAG, YamlTag::kFloat},         {YAML_NULL_TAG, YamlTag::kNull},
      {YAML_TIMESTAMP_TAG, YamlTag::kTimestamp}, {"tag:yaml.org,2002:merge", YamlTag::kMerge},
  };
  const auto found = kTags.find(reinterpret_cast<const char*>(name));
  return found == kTags.end() ? YamlTag::kOther : found->second;
}

// Reads libyaml's events one by one.  Each event is freed when the next one is read.
class Events {
 public:
  Events(std::string_view text, YamlReader reader) : reader_(reader) {
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
    return YamlErrorAt(parser_.problem_mark.line + 1, problem);
  }

  // Go counts lines from zero, except in errors of its scanner, and leaves a line number of zero out.
  Error MakeGoError(std::string_view problem) const {
    const bool is_scanner = parser_.error == YAML_SCANNER_ERROR;
    const std::size_t line =
        parser_.problem_mark.line != 0 ? parser_.problem_mark.line + (is_scanner ? 1 : 0) : parser_.context_mark.line;
    if (line == 0 || parser_.error == YAML_READER_ERROR) return GoYamlError(problem);
    return GoYamlError(fmt::format("line {}: {}", line, problem));
  }

  const YamlReader reader_;
  yaml_parser_t parser_ = {};
  yaml_event_t event_ = {};
  bool is_ready_ = false;
};

// Refuses what libyaml reads and yaml.v2 does not: a question mark in a text without quotes inside of brackets or
// braces, which begins a key for yaml.v2, and the escape of a slash.
class GoRefusals {
 public:
  explicit GoRefusals(std::string_view text) : text_(text) {
    if (text.starts_with("\xEF\xBB\xBF")) byte_ = 3;
    // In UTF-16, places of characters are not found, and so the escape of a slash is accepted.
    is_utf8_ = !text.starts_with("\xFF\xFE") && !text.starts_with("\xFE\xFF");
  }

  Result<> Check(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_SEQUENCE_START_EVENT:
        ends_.push_back(event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE ? ']' : kNone);
        return {};
      case YAML_MAPPING_START_EVENT:
        ends_.push_back(EndOfMapping(event));
        return {};
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        ends_.pop_back();
        return {};
      case YAML_SCALAR_EVENT:
        return CheckScalar(event);
      default:
        return {};
    }
  }

 private:
  static constexpr char kNone = '\0';

  // A mapping without braces, such as [a: b], is inside of brackets.
  static char EndOfMapping(const yaml_event_t& event) {
    if (event.data.mapping_start.style != YAML_FLOW_MAPPING_STYLE) return kNone;
    return event.start_mark.index == event.end_mark.index ? ']' : '}';
  }

  Result<> CheckScalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    const std::string_view value(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const char end = ends_.empty() ? kNone : ends_.back();
    if (scalar.style == YAML_PLAIN_SCALAR_STYLE && end != kNone && value.find('?') != std::string_view::npos) {
      const std::string_view source = SourceOf(event);
      const std::size_t line = event.start_mark.line + CountLines(source.substr(0, source.find('?')));
      const std::string problem = fmt::format("did not find expected ',' or '{}'", end);
      return GoYamlError(line == 0 ? problem : fmt::format("line {}: {}", line, problem));
    }
    if (scalar.style != YAML_DOUBLE_QUOTED_SCALAR_STYLE || value.find('/') == std::string_view::npos) return {};
    const std::string_view source = SourceOf(event);
    for (std::size_t at = source.find('\\'); at < source.size(); at = source.find('\\', at + 2)) {
      if (source.substr(at + 1, 1) != "/") continue;
      const std::size_t line = event.start_mark.line + CountLines(source.substr(0, at));
      constexpr std::string_view kProblem = "found unknown escape character";
      return GoYamlError(line == 0 ? std::string(kProblem) : fmt::format("line {}: {}", line + 1, kProblem));
    }
    return {};
  }

  static std::size_t CountLines(std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  // Returns the part of the text that an event was read from.
  std::string_view SourceOf(const yaml_event_t& event) {
    if (!is_utf8_) return {};
    const std::size_t begin = ByteOf(event.start_mark.index);
    return text_.substr(begin, ByteOf(event.end_mark.index) - begin);
  }

  // Returns the place of a character.  libyaml counts characters.  They must be asked for in the order of the text.
  std::size_t ByteOf(std::size_t character) {
    const auto continues = [&] { return byte_ < text_.size() && (text_[byte_] & 0xC0) == 0x80; };
    for (; character_ < character && byte_ < text_.size(); ++character_) {
      ++byte_;
      while (continues()) ++byte_;
    }
    return byte_;
  }

  const std::string_view text_;
  bool is_utf8_ = true;
  std::size_t byte_ = 0;
  std::size_t character_ = 0;  // The number of the character at byte_.
  std::vector<char> ends_;     // For each open list and mapping, the bracket or brace that ends it; kNone if none does.
};

// Builds the nodes of one document; the first is the root.
class Composer {
 public:
  explicit Composer(const YamlReading& reading) : reading_(reading) {}

  Result<> Add(const yaml_event_t& event) {
    if (nodes_.size() >= reading_.limits.values && !IsEnd(event)) {
      return YamlErrorAt(event.start_mark.line + 1, fmt::format("more than {} values", reading_.limits.values));
    }
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        return AddScalar(event);
      case YAML_ALIAS_EVENT:
        return AddAlias(event);
      case YAML_SEQUENCE_START_EVENT:
        return Enter(event, YamlNodeKind::kList, event.data.sequence_start.anchor);
      case YAML_MAPPING_START_EVENT:
        return Enter(event, YamlNodeKind::kMap, event.data.mapping_start.anchor);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        open_.pop_back();
        return {};
      default:
        return {};
    }
  }

  std::vector<YamlNode> Take() && { return std::move(nodes_); }

 private:
  static bool IsEnd(const yaml_event_t& event) {
    return event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
  }

  std::uint32_t AddNode(const yaml_event_t& event, YamlNodeKind kind) {
    const auto index = static_cast<std::uint32_t>(nodes_.size());
    YamlNode node;
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
    const std::uint32_t index = AddNode(event, YamlNodeKind::kScalar);
    YamlNode& node = nodes_[index];
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
      if (reading_.reader == YamlReader::kGo) return GoErrorOfUnknown(name, event.start_mark.line + 1);
      return YamlErrorAt(event.start_mark.line + 1,
                         "an alias to an anchor that is unknown: put a text that begins with * in quotes");
    }
    nodes_[anchor->second].is_shared = true;
    const std::uint32_t index = AddNode(event, YamlNodeKind::kAlias);
    nodes_[index].target = anchor->second;
    if (reading_.reader == YamlReader::kGo) nodes_[index].text = name;
    return {};
  }

  Error GoErrorOfUnknown(const std::string& anchor, std::size_t line) const {
    return GoYamlError(reading_.quotes == Quotes::kAllowed ? fmt::format("unknown anchor '{}' referenced", anchor)
                                                           : fmt::format("line {}: unknown anchor referenced", line));
  }

  Result<> Enter(const yaml_event_t& event, YamlNodeKind kind, const yaml_char_t* anchor) {
    if (open_.size() >= reading_.limits.depth) {
      return YamlErrorAt(event.start_mark.line + 1,
                         fmt::format("nested more than {} levels deep", reading_.limits.depth));
    }
    const std::uint32_t index = AddNode(event, kind);
    SetAnchor(anchor, index);
    open_.push_back(index);
    return {};
  }

  const YamlReading& reading_;
  std::vector<YamlNode> nodes_;
  std::vector<std::uint32_t> open_;  // The lists and mappings that are being filled.
  std::map<std::string, std::uint32_t> anchors_;
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
  return GoYamlError(line == 0 ? std::string(kProblem) : fmt::format("line {}: {}", line, kProblem));
}

}  // namespace

Result<> ReadYamlNodes(std::string_view text, const YamlReading& reading, const TakeYamlDocument& take) {
  TRY(LimitTagDirectives(text));
  Events events(text, reading.reader);
  std::optional<GoRefusals> refusals;
  if (reading.reader == YamlReader::kGo) refusals.emplace(text);
  std::optional<Composer> composer;
  for (;;) {
    const yaml_event_t& event = *TRY(events.Next());
    if (event.type == YAML_STREAM_END_EVENT) return {};
    if (refusals) TRY(refusals->Check(event));
    if (event.type == YAML_DOCUMENT_START_EVENT) {
      if (reading.reader == YamlReader::kGo) TRY(CheckGoVersion(event));
      composer.emplace(reading);
    } else if (event.type == YAML_DOCUMENT_END_EVENT) {
      if (!TRY(take((*std::move(composer)).Take()))) return {};
    } else if (composer) {
      TRY(composer->Add(event));
    }
  }
}

}  // namespace pintle::machineconfig
