// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes TOML byte for byte as the Go library of the container tools (BurntSushi's) does.
//
// The Machine Config Operator writes storage.conf, registries.conf and CRI-O's drop-ins with this library, and nodes
// compare bytes.  Keys of a table come before its subtables.  Each level of tables is indented by two more spaces.  A
// blank line comes before each table of a list, and before each table at the top level.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pintle::toml {

class Table;

using Texts = std::vector<std::string>;
using Tables = std::vector<Table>;

// A table.  Its keys are written in the order in which they were added.
class Table {
 public:
  Table& Add(std::string_view key, std::string_view text);
  Table& Add(std::string_view key, const char* text);
  Table& Add(std::string_view key, bool truth);
  Table& Add(std::string_view key, std::int64_t number);
  Table& Add(std::string_view key, Texts texts);
  Table& Add(std::string_view key, Table table);
  Table& Add(std::string_view key, Tables tables);

  bool is_empty() const;

 private:
  friend class Writer;

  // A table as a value.  It is stored as a list with one element, because Table is an incomplete type here.
  struct OneTable {
    Tables table;
  };
  struct ListOfTables {
    Tables tables;
  };
  using Value = std::variant<std::string, bool, std::int64_t, Texts, OneTable, ListOfTables>;
  struct Member;

  Table& Push(std::string_view key, Value value);

  std::vector<Member> members_;
};

struct Table::Member {
  std::string key;
  Value value;
};

std::string Write(const Table& document);

}  // namespace pintle::toml
