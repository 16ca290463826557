// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes configs for tests.

#include <memory>
#include <string>
#include <utility>

#include "api/machine_config.h"
#include "ignition/config.h"
#include "machineconfig/reconcilable.h"

namespace pintle::plan {

// A config and its Ignition part.  Their addresses stay the same when a TestConfig is moved, because a ParsedConfig
// only refers to them.
class TestConfig {
 public:
  TestConfig() {
    object_->metadata.name = "rendered-worker-1";
    ignition_->ignition.version = ignition::kNewestVersion;
  }

  api::MachineConfigSpec& spec() { return object_->spec; }
  api::ObjectMeta& metadata() { return object_->metadata; }
  ignition::Config& ignition() { return *ignition_; }

  TestConfig& WithFile(std::string path, std::string source) {
    ignition::File file;
    file.path = std::move(path);
    file.contents.source = std::move(source);
    ignition_->storage.files.push_back(std::move(file));
    return *this;
  }
  TestConfig& WithUnit(std::string name, std::string contents) {
    ignition::Unit unit;
    unit.name = std::move(name);
    unit.contents = std::move(contents);
    ignition_->systemd.units.push_back(std::move(unit));
    return *this;
  }
  TestConfig& WithUser(std::string name, std::vector<std::string> keys) {
    ignition::PasswdUser user;
    user.name = std::move(name);
    user.ssh_authorized_keys = std::move(keys);
    ignition_->passwd.users.push_back(std::move(user));
    return *this;
  }

  operator machineconfig::ParsedConfig() const { return {*object_, *ignition_}; }

 private:
  std::unique_ptr<api::MachineConfig> object_ = std::make_unique<api::MachineConfig>();
  std::unique_ptr<ignition::Config> ignition_ = std::make_unique<ignition::Config>();
};

}  // namespace pintle::plan
