// SPDX-License-Identifier: Apache-2.0
#pragma once

// Objects for tests of kubelets' configs.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "api/kubelet_config.h"
#include "api/machine_config_pool.h"
#include "generated/kubelet_base.h"
#include "generated/machine_config.h"
#include "ignition/data_url.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::generated {

template <typename T>
T FromJson(std::string_view text) {
  Result<json::Value> document = json::Parse(text);
  EXPECT_TRUE(document) << text;
  json::Report report;
  return json::Decode<T>(document ? *std::move(document) : json::Value(), report);
}

// Makes a KubeletConfig with this spec.
inline api::KubeletConfig Kubelet(const std::string& spec) {
  return FromJson<api::KubeletConfig>(R"({"metadata":{"name":"kc","uid":"kc-uid","generation":1},"spec":)" + spec +
                                      "}");
}

// Makes a pool that has its name as a label.
inline api::MachineConfigPool Pool(const std::string& name, const std::string& spec = "{}") {
  return FromJson<api::MachineConfigPool>(R"({"metadata":{"name":")" + name + R"(","labels":{"pool":")" + name +
                                          R"("}},"spec":)" + spec + "}");
}

// Makes configs, one of which contains this kubelet.conf.
inline std::vector<MachineConfig> Templates(const std::string& kubelet_conf) {
  std::vector<MachineConfig> configs(2);
  configs[0].name = "01-worker-kubelet";
  configs[0].config = ConfigText(ConfigOf({{std::string(kKubeletConfPath), kubelet_conf}}));
  configs[1].name = "00-worker";
  configs[1].config = ConfigText(ConfigOf({{"/etc/other", "x"}}));
  return configs;
}

// Returns the contents of a file in a config, "" if there is no such file, or the error if the config cannot be read.
inline std::string FileOf(const MachineConfig& config, std::string_view path) {
  json::Report report;
  const Result<ignition::Config> parsed = ignition::Parse(config.config, report);
  if (!parsed) return parsed.error().message();
  for (const ignition::File& file : parsed->storage.files) {
    if (file.path == path) return *ignition::DecodeDataUrl(file.contents.source.value_or("data:,"));
  }
  return "";
}

}  // namespace pintle::generated
