// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/writers.h"

namespace pintle::machineconfig {
namespace {

constexpr const char* kUnitDirectory = "/etc/systemd/system/";

// A config that has a thing more than once is added only once.
void Add(const std::string& thing, const std::string& config, Writers& writers) {
  std::vector<std::string>& configs = writers[thing];
  if (configs.empty() || configs.back() != config) configs.push_back(config);
}

void AddUnit(const ignition::Unit& unit, const std::string& name, Writers& writers) {
  Add(unit.name, name, writers);
  const std::string path = kUnitDirectory + unit.name;
  if (unit.contents || unit.mask) Add(path, name, writers);
  for (const ignition::Dropin& dropin : unit.dropins) Add(path + ".d/" + dropin.name, name, writers);
}

}  // namespace

Writers WritersOf(std::span<const NamedConfig> configs) {
  Writers writers;
  for (const NamedConfig& config : configs) {
    for (const ignition::File& file : config.ignition.storage.files) Add(file.path, config.name, writers);
    for (const ignition::Unit& unit : config.ignition.systemd.units) AddUnit(unit, config.name, writers);
    for (const ignition::PasswdUser& user : config.ignition.passwd.users) Add(user.name, config.name, writers);
  }
  return writers;
}

}  // namespace pintle::machineconfig
