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

// The settings of one driver.  All are texts, and empty ones are not written.
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

// Copies the settings of the template in the order of the operator's structs.
class Copy {
 public:
  Copy(const json::Value& from, toml::Table& to) : from_(from), to_(to) {}

  Result<> Text(std::string_view key) { return Text(key, ""); }

  Result<> Text(std::string_view key, std::string_view instead) {
    std::string text;
    TRY(TakeToml(from_, key, text));
    if (!instead.empty()) text = instead;
    if (!text.empty()) to_.Add(key, text);
    return {};
  }

  Result<> TextEvenIfEmpty(std::string_view key) {
    std::string text;
    TRY(TakeToml(from_, key, text));
    to_.Add(key, text);
    return {};
  }

  Result<> Texts(std::string_view key, const std::vector<std::string>& instead) {
    std::optional<std::vector<std::string>> texts;
    TRY(TakeToml(from_, key, texts));
    if (!instead.empty()) texts = instead;
    if (texts && !texts->empty()) to_.Add(key, *std::move(texts));
    return {};
  }

  // Go's writer omits only empty texts and lists, so it writes a 0.
  Result<> Number(std::string_view key) {
    std::uint32_t number = 0;
    TRY(TakeToml(from_, key, number));
    to_.Add(key, static_cast<std::int64_t>(number));
    return {};
  }

  Result<> Truth(std::string_view key) {
    bool is_true = false;
    TRY(TakeToml(from_, key, is_true));
    if (is_true) to_.Add(key, true);
    return {};
  }

  Result<> Map(std::string_view key) {
    std::map<std::string, std::string> texts;
    TRY(TakeToml(from_, key, texts));
    if (texts.empty()) return {};
    toml::Table table;
    for (const auto& [name, text] : texts) table.Add(name, text);
    to_.Add(key, std::move(table));
    return {};
  }

  Result<> DriverTable(const Driver& driver) {
    toml::Table table;
    Copy copy(*TRY(TableIn(from_, driver.name)), table);
    for (const std::string_view key : driver.keys) TRY(copy.Text(key));
    if (!table.is_empty()) to_.Add(driver.name, std::move(table));
    return {};
  }

 private:
  const json::Value& from_;
  toml::Table& to_;
};

Result<toml::Table> Options(const json::Value& from, const StorageChanges& changes) {
  toml::Table options;
  Copy copy(from, options);
  TRY(copy.Texts("additionalimagestores", changes.additional_image_stores));
  TRY(copy.Text("imagestore"));
  TRY(copy.Texts("additionallayerstores", changes.additional_layer_stores));
  TRY(copy.Text("size", changes.size));
  TRY(copy.Text("ignore_chown_errors"));
  TRY(copy.Text("use_composefs"));
  TRY(copy.Number("force_mask"));
  TRY(copy.Text("root-auto-userns-user"));
  TRY(copy.Number("auto-userns-min-size"));
  TRY(copy.Number("auto-userns-max-size"));
  for (const Driver& driver : kDrivers) TRY(copy.DriverTable(driver));
  TRY(copy.Text("skip_mount_home"));
  TRY(copy.Text("mount_program"));
  TRY(copy.Text("mountopt"));
  TRY(copy.Map("pull_options"));
  TRY(copy.Truth("disable-volatile"));
  return options;
}

}  // namespace

Result<std::string> StorageConf(std::string_view from_template, const StorageChanges& changes) {
  // The suffix makes the store look up layers by the names of their images.
  constexpr std::string_view kReference = ":ref";
  StorageChanges wanted = changes;
  for (std::string& store : wanted.additional_layer_stores) store += kReference;

  const json::Value document = TRY(machineconfig::ParseToml(from_template), "reading the template of storage.conf");
  const json::Value& from = *TRY(TableIn(document, "storage"));
  toml::Table storage;
  Copy copy(from, storage);
  for (const char* key : {"driver", "runroot", "graphroot"}) TRY(copy.TextEvenIfEmpty(key));
  storage.Add("options", TRY(Options(*TRY(TableIn(from, "options")), wanted)));
  return toml::Write(toml::Table().Add("storage", std::move(storage)));
}

}  // namespace pintle::generated
