// SPDX-License-Identifier: Apache-2.0
#include "plan/irreconcilable_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "json/fields.h"
#include "json/go_json.h"

namespace pintle::plan {
namespace {

using json::Value;

// Encodes as Go's own encoder does: it leaves out empty lists and texts, but writes a struct in which nothing is set.
template <typename T>
Value EncodeAll(const T& from) {
  if constexpr (json::Described<T>) {
    Value to = Value::object();
    json::ForEachField<T>([&](const auto& field) {
      using Member = typename std::remove_cvref_t<decltype(field)>::Member;
      static const T kFresh{};
      const bool is_struct = json::Described<Member>;
      const bool is_written = is_struct || field.kIsRequired || !json::Equal(from.*field.member, kFresh.*field.member);
      if (is_written) to[std::string(field.name)] = EncodeAll(from.*field.member);
    });
    return to;
  } else if constexpr (json::internal::kIsOptional<T>) {
    return from ? EncodeAll(*from) : Value(nullptr);
  } else if constexpr (json::internal::kIsVector<T>) {
    Value to = Value::array();
    for (const auto& element : from) to.push_back(EncodeAll(element));
    return to;
  } else {
    return json::Encode(from);
  }
}

// Encodes only the sections that are applied once, when a machine is installed.
Value InstalledPart(const ignition::Config& config) {
  ignition::Storage storage;
  storage.disks = config.storage.disks;
  storage.raid = config.storage.raid;
  storage.filesystems = config.storage.filesystems;
  storage.luks = config.storage.luks;
  return EncodeAll(storage);
}

// Compares two documents.  In lists, equal elements are matched first.  Between two matches, objects or lists in the
// same place are compared with each other.  The other elements are reported as removed or added.  Such a report begins
// and ends with the unchanged neighbours, or with a bracket where the list begins or ends.
class Differ {
 public:
  std::vector<IrreconcilableChange> Take() && { return std::move(changes_); }

  void Compare(const Value& from, const Value& to, const std::string& path) {
    if (from == to) return;
    if (from.is_object() && to.is_object()) return CompareObjects(from, to, path);
    if (from.is_array() && to.is_array()) return CompareLists(from, to, path);
    Add(path, Removed(from) + Added(to));
  }

 private:
  static std::string Line(std::string_view mark, const Value& value) {
    return fmt::format("{} {}\n", mark, json::GoJson(value));
  }
  static std::string Removed(const Value& value) { return Line("-", value); }
  static std::string Added(const Value& value) { return Line("+", value); }

  void Add(const std::string& path, std::string diff) { changes_.push_back({path, std::move(diff)}); }

  void CompareObjects(const Value& from, const Value& to, const std::string& path) {
    for (const auto& [key, value] : from.members()) {
      const std::string below = path + "." + key;
      const Value* new_value = to.Find(key);
      if (new_value == nullptr) {
        Add(below, Removed(value));
      } else {
        Compare(value, *new_value, below);
      }
    }
    for (const auto& [key, value] : to.members()) {
      if (!from.contains(key)) Add(path + "." + key, Added(value));
    }
  }

  using Matches = std::vector<std::pair<std::size_t, std::size_t>>;

  // Returns the pairs of indexes of a longest common subsequence, and after them the ends of both lists.  If there are
  // several such sequences, the result is the one that a search from the end finds.
  static Matches MatchesOf(const Value& from, const Value& to) {
    // The table `lengths` needs about as many cells as the product of both lengths.  Lists of disks are short, and
    // longer lists may be hostile.  So the longer lists get no matches.
    constexpr std::size_t kMostCells = 4'000'000;
    Matches matches;
    const std::size_t rows = from.size() + 1;
    const std::size_t columns = to.size() + 1;
    if (rows <= kMostCells / columns) {
      std::vector<std::size_t> lengths(rows * columns, 0);
      const auto length = [&](std::size_t i, std::size_t j) -> std::size_t& { return lengths[i * columns + j]; };
      for (std::size_t i = 1; i < rows; ++i) {
        for (std::size_t j = 1; j < columns; ++j) {
          length(i, j) =
              from[i - 1] == to[j - 1] ? length(i - 1, j - 1) + 1 : std::max(length(i - 1, j), length(i, j - 1));
        }
      }
      for (std::size_t i = from.size(), j = to.size(); i > 0 && j > 0;) {
        if (from[i - 1] == to[j - 1]) {
          matches.emplace_back(--i, --j);
        } else if (length(i - 1, j) >= length(i, j - 1)) {
          --i;
        } else {
          --j;
        }
      }
      std::reverse(matches.begin(), matches.end());
    }
    matches.emplace_back(from.size(), to.size());
    return matches;
  }

  void CompareLists(const Value& from, const Value& to, const std::string& path) {
    std::size_t i = 0;
    std::size_t j = 0;
    for (const auto& [next_i, next_j] : MatchesOf(from, to)) {
      // Two objects, or two lists, in the same place are compared as one element that has changed.
      while (i < next_i && j < next_j && from[i].is_structured() && from[i].type() == to[j].type()) {
        Compare(from[i++], to[j], fmt::format("{}[{}]", path, j));
        ++j;
      }
      ReportElements(from, to, {i, next_i}, {j, next_j}, path);
      i = next_i + 1;
      j = next_j + 1;
    }
  }

  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  void ReportElements(const Value& from, const Value& to, Range removed, Range added, const std::string& path) {
    if (removed.begin == removed.end && added.begin == added.end) return;
    std::string diff = added.begin == 0 ? "[\n" : Line(" ", to[added.begin - 1]);
    for (std::size_t i = removed.begin; i < removed.end; ++i) diff += Removed(from[i]);
    for (std::size_t j = added.begin; j < added.end; ++j) diff += Added(to[j]);
    diff += removed.end == from.size() ? "]\n" : Line(" ", from[removed.end]);
    Add(fmt::format("{}[{}]", path, added.begin), std::move(diff));
  }

  std::vector<IrreconcilableChange> changes_;
};

}  // namespace

std::vector<IrreconcilableChange> IrreconcilableChanges(const ignition::Config& installed,
                                                        const ignition::Config& wanted) {
  Differ differ;
  differ.Compare(InstalledPart(installed), InstalledPart(wanted), "spec.config.storage");
  return std::move(differ).Take();
}

}  // namespace pintle::plan
