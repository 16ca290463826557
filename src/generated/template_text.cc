// SPDX-License-Identifier: Apache-2.0
#include "generated/template_text.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generated/go_field.h"
#include "generated/go_struct.h"
#include "ignition/data_url.h"

namespace pintle::generated {
namespace {

// Go's int.  Errors name it "int", not "int64".
struct GoInt {
  std::int64_t number = 0;
};

// The next structs are those into which the operator decodes the text.  In JSON, their fields have the names that they
// have in Go.
struct TemplateVerification {
  std::optional<std::string> hash;

  static constexpr std::string_view kGoName = "v0_1.Verification";
  static constexpr auto kFields = json::FieldList{OmitEmpty("Hash", &TemplateVerification::hash)};
};

struct TemplateContents {
  std::optional<std::string> compression;
  std::optional<std::string> inlined;
  std::optional<std::string> source;
  TemplateVerification verification;

  static constexpr std::string_view kGoName = "v0_1.FileContents";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("Compression", &TemplateContents::compression),
      OmitEmpty("Inline", &TemplateContents::inlined),
      OmitEmpty("Source", &TemplateContents::source),
      OmitEmpty("Verification", &TemplateContents::verification),
  };
};

struct TemplateUser {
  std::optional<GoInt> id;
  std::optional<std::string> name;

  static constexpr std::string_view kGoName = "v0_1.NodeUser";
  static constexpr auto kFields =
      json::FieldList{OmitEmpty("ID", &TemplateUser::id), OmitEmpty("Name", &TemplateUser::name)};
};

struct TemplateGroup {
  std::optional<GoInt> id;
  std::optional<std::string> name;

  static constexpr std::string_view kGoName = "v0_1.NodeGroup";
  static constexpr auto kFields =
      json::FieldList{OmitEmpty("ID", &TemplateGroup::id), OmitEmpty("Name", &TemplateGroup::name)};
};

struct TemplateFile {
  TemplateGroup group;
  std::optional<bool> overwrite;
  std::string path;
  TemplateUser user;
  std::vector<TemplateContents> append;
  TemplateContents contents;
  std::optional<GoInt> mode;

  static constexpr std::string_view kGoName = "v0_1.File";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("Group", &TemplateFile::group),   OmitEmpty("Overwrite", &TemplateFile::overwrite),
      OmitEmpty("Path", &TemplateFile::path),     OmitEmpty("User", &TemplateFile::user),
      OmitEmpty("Append", &TemplateFile::append), OmitEmpty("Contents", &TemplateFile::contents),
      OmitEmpty("Mode", &TemplateFile::mode),
  };
};

struct TemplateDropin {
  std::optional<std::string> contents;
  std::string name;

  static constexpr std::string_view kGoName = "v0_1.Dropin";
  static constexpr auto kFields =
      json::FieldList{OmitEmpty("Contents", &TemplateDropin::contents), OmitEmpty("Name", &TemplateDropin::name)};
};

struct TemplateUnit {
  std::optional<std::string> contents;
  std::vector<TemplateDropin> dropins;
  std::optional<bool> enabled;
  std::optional<bool> mask;
  std::string name;

  static constexpr std::string_view kGoName = "v0_1.Unit";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("Contents", &TemplateUnit::contents), OmitEmpty("Dropins", &TemplateUnit::dropins),
      OmitEmpty("Enabled", &TemplateUnit::enabled),   OmitEmpty("Mask", &TemplateUnit::mask),
      OmitEmpty("Name", &TemplateUnit::name),
  };
};

}  // namespace

template <>
struct GoType<GoInt> {
  static std::string Name() { return "int"; }
  static void Read(const json::Value& from, GoInt& to, const GoPlace* place, GoReading& reading) {
    GoType<std::int64_t>::ReadAs(Name(), from, to.number, place, reading);
  }
};

namespace {

std::optional<std::int64_t> NumberOf(const std::optional<GoInt>& number) {
  return number ? std::optional(number->number) : std::nullopt;
}

ignition::Resource ToResource(const TemplateContents& contents) {
  ignition::Resource resource;
  resource.compression = contents.compression;
  // Inline contents take precedence over a source.
  resource.source = contents.inlined ? std::optional(ignition::EncodeDataUrl(*contents.inlined)) : contents.source;
  resource.verification.hash = contents.verification.hash;
  return resource;
}

template <GoStruct T>
Result<T> ReadDocument(std::string_view text, Quotes quotes) {
  constexpr std::string_view kConverting = "error converting YAML to JSON";
  const json::Value document = TRY(machineconfig::ParseGoYaml(text, quotes), kConverting);
  GoReading reading(GoSource::kYaml, quotes);
  T decoded;
  GoRead(document, decoded, nullptr, reading);
  TRY(reading.CheckNumbersOf(document), kConverting);
  TRY(reading.ToResult(), "error unmarshaling JSON: while decoding JSON");
  return decoded;
}

}  // namespace

Result<ignition::File> ReadTemplateFile(std::string_view text, Quotes quotes) {
  TemplateFile from = TRY(ReadDocument<TemplateFile>(text, quotes));
  ignition::File file;
  file.path = std::move(from.path);
  file.overwrite = true;
  file.user.id = NumberOf(from.user.id);
  file.user.name = std::move(from.user.name);
  file.group.id = NumberOf(from.group.id);
  file.group.name = std::move(from.group.name);
  for (const TemplateContents& appended : from.append) file.append.push_back(ToResource(appended));
  file.contents = ToResource(from.contents);
  file.mode = NumberOf(from.mode);
  return file;
}

Result<ignition::Unit> ReadTemplateUnit(std::string_view text, Quotes quotes) {
  TemplateUnit from = TRY(ReadDocument<TemplateUnit>(text, quotes));
  ignition::Unit unit;
  unit.name = std::move(from.name);
  unit.contents = std::move(from.contents);
  unit.enabled = from.enabled;
  unit.mask = from.mask;
  for (TemplateDropin& dropin : from.dropins) {
    unit.dropins.push_back({.contents = std::move(dropin.contents), .name = std::move(dropin.name)});
  }
  return unit;
}

}  // namespace pintle::generated
