// SPDX-License-Identifier: Apache-2.0

// What is written as TOML is read as what it was, whatever keys and texts it has.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/toml_steps.h"
#include "generated/storage_conf.h"
#include "machineconfig/toml.h"
#include "toml/writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  pintle::toml_steps::Steps steps(bytes);
  pintle::toml::Table document;
  auto expected = pintle::json::Value::object();
  Fill(steps, document, expected, 0);
  const auto read = pintle::machineconfig::ParseToml(pintle::toml::Write(document));
  if (!read || !(*read == expected)) std::abort();

  // What is made of a template stays as it is when it is one itself.
  const auto conf = pintle::generated::StorageConf(bytes, {});
  if (conf && *pintle::generated::StorageConf(*conf, {}) != *conf) std::abort();
  if (!conf && conf.error().message().empty()) std::abort();
  return 0;
}
