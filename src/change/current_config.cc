// SPDX-License-Identifier: Apache-2.0
#include "change/current_config.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "change/image_mode.h"
#include "change/set_aside_remedy.h"
#include "json/field_list.h"
#include "json/fields.h"
#include "json/parse.h"
#include "machineconfig/ignition_part.h"
#include "machineconfig/objects.h"

namespace pintle::change {
namespace {

// The list of writers is only used in reports to people, so a damaged file is treated as a missing one.
machineconfig::Writers ReadWriters(const Root& root) {
  const auto text = root.ReadFile(kWriters);
  if (!text) return {};
  auto document = json::Parse(*text);
  if (!document) return {};
  auto writers = WithoutVersion(format::kWriters, *std::move(document));
  if (!writers) return {};
  json::Report report;
  return json::Decode<machineconfig::Writers>(*std::move(writers), report);
}

}  // namespace

bool IsNoConfig(const api::MachineConfig& config) { return config.metadata.name == kNoConfig; }

CurrentConfig EmptyCurrentConfig() {
  CurrentConfig config;
  config.object.metadata.name = kNoConfig;
  config.ignition.ignition.version = ignition::kNewestVersion;
  config.object.spec.config = ignition::Encode(config.ignition);
  return config;
}

Result<std::string> ReadCurrentImage(const Root& root) {
  const auto read = [&]() -> Result<std::string> {
    if (!TRY(root.Status(kCurrentImage))) return std::string();
    std::string image = TRY(root.ReadFile(kCurrentImage));
    const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
    image.erase(std::remove_if(image.begin(), image.end(), is_space), image.end());
    return image;
  };
  return WithSetAsideRemedy(kCurrentImage, read());
}

Result<CurrentConfig> ReadCurrentConfig(const Root& root) {
  const auto read = [&]() -> Result<CurrentConfig> {
    if (!TRY(root.Status(kCurrentConfig))) return EmptyCurrentConfig();
    CurrentConfig config;
    config.object = TRY(machineconfig::ReadMachineConfig(TRY(json::Parse(TRY(root.ReadFile(kCurrentConfig))))));
    json::Report report;
    config.ignition = TRY(machineconfig::ParseIgnitionPart(config.object, report));
    return config;
  };
  CurrentConfig config = TRY(WithSetAsideRemedy(kCurrentConfig, read()));
  if (IsNoConfig(config.object)) return config;
  config.writers = ReadWriters(root);
  Embed(TRY(ReadCurrentImage(root)), config.object);
  return config;
}

}  // namespace pintle::change
