// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/size_limits.h"
#include "machineconfig/contents.h"

namespace pintle::machineconfig {
namespace {

// systemd and Pintle read the files in this directory as a whole, so their limit is smaller.
constexpr std::string_view kUnits = "/etc/systemd/";

// Contents are decoded only if they may be too long.  Contents that are not compressed are never longer than their
// source.
Result<> CheckFile(const ignition::File& file) {
  const bool is_unit = file.path.starts_with(kUnits);
  const std::size_t limit = is_unit ? limits::kRecord : limits::kFileContents;
  if (file.contents.compression.value_or("").empty() && file.contents.source.value_or("").size() <= limit) return {};
  std::size_t size = 0;
  const auto count = [&](std::string_view piece) {
    size += piece.size();
    return size <= limit;
  };
  // Counting beyond the limit ends the walk.  Contents that cannot be decoded are reported elsewhere.
  static_cast<void>(WalkContents(file.contents, count, std::numeric_limits<std::size_t>::max()));
  if (size <= limit) return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("{} has more than {} bytes, which is the most that a {} may have; let a "
                           "unit fetch it",
                           file.path, limit, is_unit ? "unit" : "file"));
}

Result<> CheckUser(const ignition::PasswdUser& user) {
  std::size_t size = 0;
  for (const std::string& key : user.ssh_authorized_keys) size += key.size() + 1;
  if (size <= limits::kKeys) return {};
  return Error(ErrorKind::kInvalid, fmt::format("the SSH keys of {} have {} bytes, more than the limit of {}",
                                                user.name, size, limits::kKeys));
}

std::size_t LengthOf(const ignition::File& file) { return file.contents.source ? file.contents.source->size() : 0; }
std::size_t LengthOf(const std::optional<std::string>& text) { return text ? text->size() : 0; }

// Returns the minimal length of the record that a machine keeps of its config.
std::size_t LengthOf(const ignition::Config& config) {
  std::size_t length = 0;
  for (const ignition::File& file : config.storage.files) length += LengthOf(file);
  for (const ignition::Unit& unit : config.systemd.units) {
    length += LengthOf(unit.contents);
    for (const ignition::Dropin& dropin : unit.dropins) length += LengthOf(dropin.contents);
  }
  return length;
}

}  // namespace

std::string LargestFileText(const ignition::Config& config) {
  const auto& files = config.storage.files;
  const auto largest =
      std::max_element(files.begin(), files.end(),
                       [](const ignition::File& a, const ignition::File& b) { return LengthOf(a) < LengthOf(b); });
  if (largest == files.end()) return "";
  return fmt::format("; of that, {} has {} bytes: compress it with gzip, or let a unit fetch it", largest->path,
                     LengthOf(*largest));
}

Result<> CheckFitsNode(const ignition::Config& config) {
  if (const std::size_t length = LengthOf(config); length > limits::kRecord) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("the contents in the config are {} bytes long, more than the {} that a "
                             "machine keeps of its config{}",
                             length, limits::kRecord, LargestFileText(config)));
  }
  for (const ignition::File& file : config.storage.files) TRY(CheckFile(file));
  for (const ignition::PasswdUser& user : config.passwd.users) TRY(CheckUser(user));
  return {};
}

}  // namespace pintle::machineconfig
