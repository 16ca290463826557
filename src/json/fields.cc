// SPDX-License-Identifier: Apache-2.0
#include "json/fields.h"

#include <algorithm>

#include "json/field_rows.h"

namespace pintle::json {

namespace {

void* MemberOf(void* object, const internal::FieldRow& row) { return static_cast<char*>(object) + row.offset; }
const void* MemberOf(const void* object, const internal::FieldRow& row) {
  return static_cast<const char*>(object) + row.offset;
}

}  // namespace

namespace internal {

void DecodeStrictly(std::span<const FieldRow> rows, Value&& from, void* to, const Path& path, Report& report) {
  if (!from.is_object()) return report.Error(path, "must be an object");
  auto& members = from.members();
  for (const FieldRow& row : rows) {
    const auto member = members.find(row.name);
    if (member != members.end() && (row.is_required || !member->second.is_null())) {
      row.decode(std::move(member->second), MemberOf(to, row), Path(path, row.name), report);
    } else if (member == members.end() && row.is_required) {
      report.Error(Path(path, row.name), "is required");
    }
  }
  for (const auto& member : members) {
    const std::string& key = member.first;
    const bool is_known = std::any_of(rows.begin(), rows.end(), [&](const FieldRow& row) { return row.name == key; });
    if (!is_known) report.Warning(Path(path, key), "unknown key");
  }
}

void DecodeLeniently(std::span<const FieldRow> rows, Value&& from, void* to, const Path& path, Report& report) {
  if (!from.is_object()) return report.Error(path, "must be an object");
  auto& members = from.members();
  for (const FieldRow& row : rows) {
    const auto member = members.find(row.name);
    if (member == members.end() || member->second.is_null()) continue;
    row.decode(std::move(member->second), MemberOf(to, row), Path(path, row.name), report);
  }
}

Value EncodeRows(std::span<const FieldRow> rows, const void* from, const void* default_object) {
  Value to = Value::object();
  for (const FieldRow& row : rows) {
    const void* const member = MemberOf(from, row);
    if (row.is_required || !row.equal(member, MemberOf(default_object, row))) to[row.name] = row.encode(member);
  }
  return to;
}

void ReportRange(const Path& path, Report& report, const std::string& least, const std::string& most) {
  report.Error(path, "must be between " + least + " and " + most);
}

std::optional<std::size_t> IndexOfName(const Value& from, std::span<const char* const> names, const Path& path,
                                       Report& report) {
  if (!from.is_string()) {
    report.Error(path, "must be a string");
    return std::nullopt;
  }
  const auto& name = from.text();
  std::string allowed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == names[i]) return i;
    allowed += (allowed.empty() ? "\"" : ", \"") + std::string(names[i]) + "\"";
  }
  report.Error(path, "\"" + name + "\" is none of " + allowed);
  return std::nullopt;
}

void DecodeElements(Value&& from, void* first, std::size_t size,
                    void (*decode)(Value&& from, void* element, const Path& path, Report& report), const Path& path,
                    Report& report) {
  char* at = static_cast<char*>(first);
  std::size_t index = 0;
  for (Value& element : from) {
    decode(std::move(element), at, Path(path, index++), report);
    at += size;
  }
}

std::optional<std::string> TakeKind(Value& from, const Path& path, Report& report) {
  Value* kind = nullptr;
  if (!from.is_object()) {
    report.Error(path, "must be an object");
  } else if (kind = from.Find("kind"); kind == nullptr || !kind->is_string()) {
    report.Error(Path(path, "kind"), "must be a string");
  } else {
    std::string name = std::move(kind->text());
    from.Erase("kind");
    return name;
  }
  return std::nullopt;
}

}  // namespace internal

void Codec<std::string>::Decode(Value&& from, std::string& to, const Path& path, Report& report) {
  if (!from.is_string()) return report.Error(path, "must be a string");
  to = std::move(from.text());
}

void Codec<bool>::Decode(Value&& from, bool& to, const Path& path, Report& report) {
  if (!from.is_boolean()) return report.Error(path, "must be true or false");
  to = from.boolean();
}

void Codec<double>::Decode(Value&& from, double& to, const Path& path, Report& report) {
  if (!from.is_number()) return report.Error(path, "must be a number");
  to = from.real();
}

}  // namespace pintle::json
