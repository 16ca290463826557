// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/own_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace pintle::machineconfig {
namespace {

// Each of these paths stands for everything below it, too.  A config may have other files in
// /etc/machine-config-daemon and /etc/pintle.
constexpr auto kOwnPaths = std::to_array<std::string_view>({
    "/etc/machine-config-daemon/currentconfig",
    "/etc/machine-config-daemon/currentimage",
    "/etc/machine-config-daemon/noorig",
    "/etc/machine-config-daemon/orig",
    "/etc/machine-config-daemon/pintle-passwords.json",
    "/etc/machine-config-daemon/pintle-writers.json",
    "/etc/pintle/paused",
    "/run/pintle",
    "/var/lib/pintle",
    "/var/run/pintle",
});

bool IsBelow(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

// A file has such a name while it is being written (TemporaryNameOf() of base/root.h).  After a crash, files with such
// names are removed.
bool HasTemporaryName(std::string_view path) { return path.substr(path.rfind('/') + 1).starts_with(".pintle-"); }

}  // namespace

bool IsOwnFile(std::string_view path) {
  const std::string plain = std::filesystem::path(path).lexically_normal().string();
  return HasTemporaryName(plain) || std::any_of(kOwnPaths.begin(), kOwnPaths.end(), [&](std::string_view own) {
           return plain == own || IsBelow(plain, own) || IsBelow(own, plain);
         });
}

std::string OwnFileText(std::string_view path) {
  return fmt::format("cannot write {}: a file there would be in the way of Pintle's own files", path);
}

Result<> CheckOwnFiles(const ignition::Config& config) {
  for (const ignition::File& file : config.storage.files) {
    if (!IsOwnFile(file.path)) continue;
    return Error(ErrorKind::kInvalid, fmt::format("{}; {}", OwnFileText(file.path), kOwnFileAdvice));
  }
  return {};
}

}  // namespace pintle::machineconfig
