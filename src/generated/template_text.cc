// SPDX-License-Identifier: Apache-2.0
#include "generated/template_text.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "generated/go_json_reader.h"
#include "ignition/data_url.h"
#include "machineconfig/yaml.h"

namespace pintle::generated {
namespace {

// Reads a value into a member of a struct.
template <typename T>
GoJsonReader::Field Into(GoJsonReader& reader, std::string_view name, T& to) {
  return {name, [&reader, &to](const json::Value& value) { reader.Read(value, to); }};
}

void ReadOwner(GoJsonReader& reader, const json::Value& value, std::string_view type, ignition::NodeOwner& to) {
  reader.ReadStruct(value, type, {Into(reader, "ID", to.id), Into(reader, "Name", to.name)});
}

void ReadContents(GoJsonReader& reader, const json::Value& value, ignition::Resource& to) {
  std::optional<std::string> inlined;
  const auto read_verification = [&](const json::Value& verification) {
    reader.ReadStruct(verification, "v0_1.Verification", {Into(reader, "Hash", to.verification.hash)});
  };
  reader.ReadStruct(value, "v0_1.FileContents",
                    {Into(reader, "Compression", to.compression),
                     Into(reader, "Inline", inlined),
                     Into(reader, "Source", to.source),
                     {"Verification", read_verification}});
  // Inline contents take precedence over a source.
  if (inlined) to.source = ignition::EncodeDataUrl(*inlined);
}

// What a text says, as JSON has it.
Result<json::Value> DocumentIn(std::string_view text) {
  return TRY(machineconfig::ParseGoYaml(text), "error converting YAML to JSON");
}

}  // namespace

Result<ignition::File> ReadTemplateFile(std::string_view text) {
  const json::Value document = TRY(DocumentIn(text));
  GoJsonReader reader;
  ignition::File file;
  std::optional<bool> overwrite;
  const auto read_appended = [&](const json::Value& value) { ReadContents(reader, value, file.append.emplace_back()); };
  const auto read_list = [&](const json::Value& value) { reader.ReadList(value, "v0_1.FileContents", read_appended); };
  reader.ReadStruct(document, "v0_1.File",
                    {{"Group", [&](const json::Value& v) { ReadOwner(reader, v, "v0_1.NodeGroup", file.group); }},
                     Into(reader, "Overwrite", overwrite),
                     Into(reader, "Path", file.path),
                     {"User", [&](const json::Value& v) { ReadOwner(reader, v, "v0_1.NodeUser", file.user); }},
                     {"Append", read_list},
                     {"Contents", [&](const json::Value& v) { ReadContents(reader, v, file.contents); }},
                     Into(reader, "Mode", file.mode)});
  TRY(reader.Finish(), "error unmarshaling JSON: while decoding JSON");
  file.overwrite = true;
  return file;
}

Result<ignition::Unit> ReadTemplateUnit(std::string_view text) {
  const json::Value document = TRY(DocumentIn(text));
  GoJsonReader reader;
  ignition::Unit unit;
  const auto read_dropin = [&](const json::Value& value) {
    ignition::Dropin& dropin = unit.dropins.emplace_back();
    reader.ReadStruct(value, "v0_1.Dropin",
                      {Into(reader, "Contents", dropin.contents), Into(reader, "Name", dropin.name)});
  };
  const auto read_dropins = [&](const json::Value& value) { reader.ReadList(value, "v0_1.Dropin", read_dropin); };
  reader.ReadStruct(document, "v0_1.Unit",
                    {Into(reader, "Contents", unit.contents),
                     {"Dropins", read_dropins},
                     Into(reader, "Enabled", unit.enabled),
                     Into(reader, "Mask", unit.mask),
                     Into(reader, "Name", unit.name)});
  TRY(reader.Finish(), "error unmarshaling JSON: while decoding JSON");
  return unit;
}

}  // namespace pintle::generated
