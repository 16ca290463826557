// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/install_section.h"

#include <fmt/core.h>

#include <utility>

#include "host/stripped.h"

namespace pintle::host {
namespace {

// Splits a text into lines, and joins a line that ends in a backslash with the next line.  Comments and empty lines are
// dropped, even between joined lines.
std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  bool continued = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (begin == 0 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);  // A byte order mark.
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view stripped = Stripped(line);
    if (stripped.empty() || stripped.starts_with('#') || stripped.starts_with(';')) continue;
    if (continued) {
      lines.back() += line;
    } else {
      lines.emplace_back(line);
    }
    const std::string& whole = lines.back();
    const std::size_t last_not_backslash = whole.find_last_not_of('\\');
    const std::size_t backslashes =
        whole.size() - (last_not_backslash == std::string::npos ? 0 : last_not_backslash + 1);
    continued = backslashes % 2 == 1;
    if (continued) lines.back().back() = ' ';
  }
  return lines;
}

// Splits words as systemd does.  If a quote is never closed, its word and the rest of the text are dropped.
std::vector<std::string> QuotedWords(std::string_view value) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = '\0';
  for (const char c : value) {
    const bool is_space = kSpace.find(c) != std::string_view::npos;
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        *word += c;
      }
    } else if (is_space) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
    } else {
      if (!word) word.emplace();
      if (c == '"' || c == '\'') {
        quote = c;
      } else {
        *word += c;
      }
    }
  }
  if (word && quote == '\0') words.push_back(*std::move(word));
  return words;
}

// Splits the words of Also=, where a quote is an ordinary character, and a backslash escapes the next character.
std::vector<std::string> PlainWords(std::string_view value) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (kSpace.find(value[i]) != std::string_view::npos) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (value[i] == '\\' && ++i == value.size()) return words;
    *word += value[i];
  }
  if (word) words.push_back(*std::move(word));
  return words;
}

void AddWords(std::vector<std::string>& list, std::string_view value) {
  if (value.empty()) return list.clear();
  for (std::string& word : QuotedWords(value)) list.push_back(std::move(word));
}

void Assign(InstallSection& section, const UnitName& unit, std::string_view key, std::string_view value) {
  if (key == "Alias" && unit.MayBeAlias()) AddWords(section.aliases, value);
  if (key == "WantedBy") AddWords(section.wanted_by, value);
  if (key == "RequiredBy") AddWords(section.required_by, value);
  if (key == "UpheldBy") AddWords(section.upheld_by, value);
  if (key == "Also") {
    for (std::string& word : PlainWords(value)) section.also.push_back(std::move(word));
  }
  if (key == "DefaultInstance" && unit.kind() == UnitNameKind::kTemplate) section.default_instance = value;
}

Result<std::string> MachineId(const Root& root) {
  const std::string text = TRY(root.ReadFile("/etc/machine-id"), "expanding \"%m\"");
  return std::string(Stripped(text));
}

Result<std::string> Expand(char specifier, const UnitName& unit, std::string_view default_instance, const Root& root) {
  const bool takes_default = unit.kind() == UnitNameKind::kTemplate && !default_instance.empty();
  const std::string_view prefix = unit.prefix();
  switch (specifier) {
    case '%':
      return std::string("%");
    case 'i':
      return std::string(takes_default ? default_instance : unit.instance());
    case 'j':
      return std::string(prefix.substr(prefix.rfind('-') + 1));  // If there is no '-', npos + 1 is 0.
    case 'n':
      return takes_default ? fmt::format("{}@{}.{}", prefix, default_instance, unit.type()) : unit.text();
    case 'N':
      return takes_default ? fmt::format("{}@{}", prefix, default_instance) : std::string(unit.without_type());
    case 'p':
      return std::string(prefix);
    case 'u':
    case 'g':
      return std::string("root");
    case 'U':
    case 'G':
      return std::string("0");
    case 'm':
      return MachineId(root);
    default:
      return Error(ErrorKind::kInvalid,
                   fmt::format("\"%{}\" cannot be expanded for a machine that is perhaps not running", specifier));
  }
}

}  // namespace

Result<> InstallSection::Add(std::string_view text, const UnitName& unit) {
  bool is_in_install = false;
  for (const std::string& whole : LinesOf(text)) {
    const std::string_view line = Stripped(whole);
    if (line.starts_with('[')) {
      if (!line.ends_with(']')) {
        return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not the head of a section", line));
      }
      is_in_install = line == "[Install]";
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!is_in_install || equals == std::string_view::npos) continue;
    Assign(*this, unit, Stripped(line.substr(0, equals)), Stripped(line.substr(equals + 1)));
  }
  return {};
}

Result<std::string> ExpandSpecifiers(std::string_view text, const UnitName& unit, std::string_view default_instance,
                                     const Root& root) {
  std::string expanded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 1 == text.size()) {
      expanded += text[i];
      continue;
    }
    expanded += TRY(Expand(text[++i], unit, default_instance, root), fmt::format("in \"{}\"", text));
  }
  return expanded;
}

}  // namespace pintle::host
