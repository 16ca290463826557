// SPDX-License-Identifier: Apache-2.0

// Compares our writer of YAML, whose output is hashed for the name of a rendered config, with libyaml.  libyaml reads
// the output as the value that was written.  The writer refuses exactly the strings that libyaml refuses in JSON.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "json/go_json.h"
#include "json/parse.h"
#include "machineconfig/go_yaml.h"
#include "machineconfig/yaml.h"

namespace pintle {
namespace {

// Returns the bytes as strings, with 0xFF between them; bytes that are not UTF-8 become U+FFFD.
json::Value TextsIn(std::string_view bytes) {
  json::Value texts = json::Value::array();
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\xFF');
    texts.push_back(std::string(bytes.substr(0, end)));
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
  const auto valid = json::Parse(json::ToText(texts));
  if (!valid) std::abort();
  return *valid;
}

void Try(std::string_view bytes) {
  const json::Value texts = TextsIn(bytes);
  const auto expected = machineconfig::ParseYaml(json::GoJson(texts));
  std::string written;
  const auto result = machineconfig::WriteGoYaml({{"k", &texts}}, [&](std::string_view piece) { written += piece; });
  if (result.has_value() != expected.has_value()) std::abort();
  if (!result) return;
  const auto read = machineconfig::ParseYaml(written);
  if (!read || read->size() != 1 || expected->size() != 1) std::abort();
  if (read->front() != json::Value({{"k", expected->front()}})) std::abort();
}

}  // namespace
}  // namespace pintle

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Longer inputs would take too long.
  if (size <= 4096) pintle::Try(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
