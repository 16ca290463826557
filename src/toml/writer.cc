// SPDX-License-Identifier: Apache-2.0
#include "toml/writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/ascii.h"

namespace pintle::toml {
namespace {

constexpr std::size_t kIndentation = 2;

bool IsBareKeyCharacter(char c) { return IsLetterOrDigit(c) || c == '_' || c == '-'; }

void AppendEscaped(std::string& text, char c) {
  constexpr unsigned char kDelete = 0x7F;
  switch (c) {
    case '"':
    case '\\':
      text += '\\';
      text += c;
      return;
    case '\b':
      text += "\\b";
      return;
    case '\t':
      text += "\\t";
      return;
    case '\n':
      text += "\\n";
      return;
    case '\f':
      text += "\\f";
      return;
    case '\r':
      text += "\\r";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte < ' ' || byte == kDelete) {
    text += fmt::format("\\u{:04x}", byte);
  } else {
    text += c;
  }
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) AppendEscaped(quoted, c);
  return quoted + '"';
}

std::string AsKey(std::string_view key) {
  const bool is_bare = !key.empty() && std::all_of(key.begin(), key.end(), IsBareKeyCharacter);
  return is_bare ? std::string(key) : Quoted(key);
}

std::string ListOf(const Texts& texts) {
  std::string list = "[";
  for (const std::string& text : texts) {
    if (list.size() > 1) list += ", ";
    list += Quoted(text);
  }
  return list + ']';
}

}  // namespace

Table& Table::Push(std::string_view key, Value value) {
  members_.push_back({std::string(key), std::move(value)});
  return *this;
}

bool Table::is_empty() const { return members_.empty(); }

Table& Table::Add(std::string_view key, std::string_view text) { return Push(key, std::string(text)); }

Table& Table::Add(std::string_view key, const char* text) { return Push(key, std::string(text)); }

Table& Table::Add(std::string_view key, bool truth) { return Push(key, truth); }

Table& Table::Add(std::string_view key, std::int64_t number) { return Push(key, number); }

Table& Table::Add(std::string_view key, Texts texts) { return Push(key, std::move(texts)); }

Table& Table::Add(std::string_view key, Table table) {
  OneTable one;
  one.table.push_back(std::move(table));
  return Push(key, std::move(one));
}

Table& Table::Add(std::string_view key, Tables tables) { return Push(key, ListOfTables{std::move(tables)}); }

class Writer {
 public:
  void WriteMembers(const Table& table) {
    for (const auto& member : table.members_) WriteIfPlain(member);
    for (const auto& member : table.members_) WriteIfTable(member);
  }

  std::string TakeText() { return std::move(text_); }

 private:
  using Texts = toml::Texts;

  std::string Indentation(std::size_t levels) const { return std::string(levels * kIndentation, ' '); }

  // Writes the member unless it is a table or a list of tables.
  void WriteIfPlain(const Table::Member& member) {
    const auto write = [&](std::string_view value) {
      text_ += fmt::format("{}{} = {}\n", Indentation(depth_), AsKey(member.key), value);
    };
    if (const auto* text = std::get_if<std::string>(&member.value)) write(Quoted(*text));
    if (const auto* truth = std::get_if<bool>(&member.value)) write(*truth ? "true" : "false");
    if (const auto* number = std::get_if<std::int64_t>(&member.value)) write(std::to_string(*number));
    if (const auto* texts = std::get_if<Texts>(&member.value)) write(ListOf(*texts));
  }

  // Writes the member if it is a table or a list of tables.
  void WriteIfTable(const Table::Member& member) {
    if (const auto* one = std::get_if<Table::OneTable>(&member.value)) {
      if (depth_ == 0) WriteBlankLine();
      WriteTable("[", "]", member.key, one->table.front());
    } else if (const auto* list = std::get_if<Table::ListOfTables>(&member.value)) {
      for (const Table& table : list->tables) {
        WriteBlankLine();
        WriteTable("[[", "]]", member.key, table);
      }
    }
  }

  // A file does not begin with a blank line.
  void WriteBlankLine() {
    if (!text_.empty()) text_ += '\n';
  }

  void WriteTable(std::string_view open, std::string_view close, std::string_view key, const Table& table) {
    const std::size_t length = path_.size();
    if (!path_.empty()) path_ += '.';
    path_ += AsKey(key);
    text_ += fmt::format("{}{}{}{}\n", Indentation(depth_), open, path_, close);
    ++depth_;
    WriteMembers(table);
    --depth_;
    path_.resize(length);
  }

  std::string text_;
  std::string path_;  // The path of the table that is being written.
  std::size_t depth_ = 0;
};

std::string Write(const Table& document) {
  Writer writer;
  writer.WriteMembers(document);
  return writer.TakeText();
}

}  // namespace pintle::toml
