// SPDX-License-Identifier: Apache-2.0

// Any template with any data prints a text within the limits, or fails with an error that has a place.  The bytes are a
// template and, after a zero byte, its data as JSON.  Without a zero byte, the template gets the default data.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "gotemplate/execute.h"
#include "gotemplate/json_value.h"
#include "json/parse.h"

namespace pintle::gotemplate {
namespace {

void Try(std::string_view bytes) {
  constexpr std::string_view kDefaultData =
      R"({"n": 3, "f": 2.5, "s": "str", "t": true, "nil": null, "l": ["x", "y"], "m": {"a": 2, "c": {"d": "deep"}}})";
  const std::size_t end = bytes.find('\0');
  const std::string_view json = end == std::string_view::npos ? kDefaultData : bytes.substr(end + 1);
  const auto data = json::Parse(json);
  if (!data) return;
  const auto parsed = Template::Parse("t", std::string(bytes.substr(0, end)),
                                      [](std::string_view name) { return Builtins().contains(name); });
  if (!parsed) return;
  Memory memory;
  std::string output;
  const ExecuteOptions options{.max_steps = 20'000, .max_output = 1 << 20, .max_memory = 16 << 20};
  const auto result = Execute(*parsed, {}, WithoutInterface(FromJson(*data, kAnyType, memory)), output, options);
  if (output.size() > options.max_output) std::abort();
  if (!result && !result.error().message().starts_with("template: ")) std::abort();
}

}  // namespace
}  // namespace pintle::gotemplate

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pintle::gotemplate::Try(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
