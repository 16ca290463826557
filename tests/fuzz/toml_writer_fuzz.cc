// SPDX-License-Identifier: Apache-2.0

// Written TOML is parsed to the same values, whatever the keys and texts are.

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

  // A file that is its own template does not change.
  const auto conf = pintle::generated::StorageConf(bytes, {});
  if (conf && *pintle::generated::StorageConf(*conf, {}) != *conf) std::abort();
  if (!conf && conf.error().message().empty()) std::abort();
  return 0;
}
