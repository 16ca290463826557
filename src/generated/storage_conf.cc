// SPDX-License-Identifier: Apache-2.0
#include "generated/storage_conf.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "generated/toml_members.h"
#include "machineconfig/toml.h"
#include "toml/writer.h"

namespace pintle::generated {
namespace {

// The settings of one storage driver.  All values are texts, and empty texts are not written.
struct Driver {
  std::string_view name;
  std::span<const std::string_view> keys;
};

constexpr auto kBtrfsKeys = std::to_array<std::string_view>({"min_space", "size"});
constexpr auto kOverlayKeys =
    std::to_array<std::string_view>({"ignore_chown_errors", "mountopt", "mount_program", "size", "inodes",
                                     "skip_mount_home", "use_composefs", "force_mask"});
constexpr auto kVfsKeys = std::to_array<std::string_view>({"ignore_chown_errors"});
constexpr auto kZfsKeys = std::to_array<std::string_view>({"mountopt", "fsname", "size"});
constexpr auto kDrivers =
    std::to_array<Driver>({{"btrfs", kBtrfsKeys}, {"overlay", kOverlayKeys}, {"vfs", kVfsKeys}, {"zfs", kZfsKeys}});

// Copies settings from the template in the order of the operator's structs.  If `instead` is not empty, it replaces the
// template's value.
class SettingsCopier {
 public:
  SettingsCopier(const json::Value& from, toml::Table& to) : from_(from), to_(to) {}

  Result<> CopyText(std::string_view key) { return CopyText(key, ""); }

  Result<> CopyText(std::string_view key, std::string_view instead) {
    std::string text;
    TRY(ReadToml(from_, key, text));
    if (!instead.empty()) text = instead;
    if (!text.empty()) to_.Add(key, text);
    return {};
  }

  Result<> CopyTextEvenIfEmpty(std::string_view key) {
    std::string text;
    TRY(ReadToml(from_, key, text));
    to_.Add(key, text);
    return {};
  }

  Result<> CopyTexts(std::string_view key, const std::vector<std::string>& instead) {
    std::optional<std::vector<std::string>> texts;
    TRY(ReadToml(from_, key, texts));
    if (!instead.empty()) texts = instead;
    if (texts && !texts->empty()) to_.Add(key, *std::move(texts));
    return {};
  }

  // Writes the number even if it is 0: Go's writer omits false and empty texts, lists and tables, but not numbers.
  Result<> CopyNumber(std::string_view key) {
    std::uint32_t number = 0;
    TRY(ReadToml(from_, key, number));
    to_.Add(key, static_cast<std::int64_t>(number));
    return {};
  }

  Result<> CopyBoolean(std::string_view key) {
    bool is_true = false;
    TRY(ReadToml(from_, key, is_true));
    if (is_true) to_.Add(key, true);
    return {};
  }

  Result<> CopyMap(std::string_view key) {
    std::map<std::string, std::string> texts;
    TRY(ReadToml(from_, key, texts));
    if (texts.empty()) return {};
    toml::Table table;
    for (const auto& [name, text] : texts) table.Add(name, text);
    to_.Add(key, std::move(table));
    return {};
  }

  Result<> CopyDriverTable(const Driver& driver) {
    toml::Table table;
    SettingsCopier copier(*TRY(TableIn(from_, driver.name)), table);
    for (const std::string_view key : driver.keys) TRY(copier.CopyText(key));
    if (!table.is_empty()) to_.Add(driver.name, std::move(table));
    return {};
  }

 private:
  const json::Value& from_;
  toml::Table& to_;
};

Result<toml::Table> OptionsTable(const json::Value& from, const StorageChanges& changes) {
  toml::Table options;
  SettingsCopier copier(from, options);
  TRY(copier.CopyTexts("additionalimagestores", changes.additional_image_stores));
  TRY(copier.CopyText("imagestore"));
  TRY(copier.CopyTexts("additionallayerstores", changes.additional_layer_stores));
  TRY(copier.CopyText("size", changes.size));
  TRY(copier.CopyText("ignore_chown_errors"));
  TRY(copier.CopyText("use_composefs"));
  TRY(copier.CopyNumber("force_mask"));
  TRY(copier.CopyText("root-auto-userns-user"));
  TRY(copier.CopyNumber("auto-userns-min-size"));
  TRY(copier.CopyNumber("auto-userns-max-size"));
  for (const Driver& driver : kDrivers) TRY(copier.CopyDriverTable(driver));
  TRY(copier.CopyText("skip_mount_home"));
  TRY(copier.CopyText("mount_program"));
  TRY(copier.CopyText("mountopt"));
  TRY(copier.CopyMap("pull_options"));
  TRY(copier.CopyBoolean("disable-volatile"));
  return options;
}

}  // namespace

Result<std::string> StorageConf(std::string_view template_text, const StorageChanges& changes) {
  // The suffix makes the store look up layers by the names of their images.
  constexpr std::string_view kReference = ":ref";
  StorageChanges wanted = changes;
  for (std::string& store : wanted.additional_layer_stores) store += kReference;

  const json::Value document = TRY(machineconfig::ParseToml(template_text), "reading the template of storage.conf");
  const json::Value& from = *TRY(TableIn(document, "storage"));
  toml::Table storage;
  SettingsCopier copier(from, storage);
  for (const char* key : {"driver", "runroot", "graphroot"}) TRY(copier.CopyTextEvenIfEmpty(key));
  storage.Add("options", TRY(OptionsTable(*TRY(TableIn(from, "options")), wanted)));
  return toml::Write(toml::Table().Add("storage", std::move(storage)));
}

}  // namespace pintle::generated
