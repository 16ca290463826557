// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/crio_runtime.h"

#include <map>
#include <optional>

#include "machineconfig/contents.h"
#include "machineconfig/toml.h"

namespace pintle::machineconfig {
namespace {

constexpr std::string_view kDropins = "/etc/crio/crio.conf.d/";

std::optional<std::string> RuntimeIn(const json::Value& document) {
  const std::string& runtime = document.TextAt({"crio", "runtime", "default_runtime"});
  return runtime.empty() ? std::nullopt : std::optional(runtime);
}

std::optional<std::string> RuntimeIn(const ignition::File& file) {
  const auto bytes = ContentsOf(file.contents, kParsedContentsLimit);
  if (!bytes) return std::nullopt;
  const auto document = ParseToml(*bytes);
  if (!document) return std::nullopt;
  return RuntimeIn(*document);
}

}  // namespace

std::string DefaultRuntimeOf(const ignition::Config& config) {
  std::map<std::string_view, const ignition::File*> dropins;
  for (const ignition::File& file : config.storage.files) {
    if (file.path.starts_with(kDropins)) dropins[file.path] = &file;
  }
  std::string runtime;
  for (const auto& [path, file] : dropins) {
    if (auto wanted = RuntimeIn(*file)) runtime = *std::move(wanted);
  }
  return runtime;
}

bool IsRhel10Stream(std::string_view stream) {
  return stream.starts_with("rhel-10") || stream.starts_with("centos-10");
}

}  // namespace pintle::machineconfig
