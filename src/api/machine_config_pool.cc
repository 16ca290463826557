// SPDX-License-Identifier: Apache-2.0
#include "api/machine_config_pool.h"

#include "json/fields.h"

namespace pintle::json {

void Codec<api::IntOrString>::Decode(Value&& from, api::IntOrString& to, const Path& path, Report& report) {
  if (from.is_string()) return DecodeInto(std::move(from), to.value.emplace<std::string>(), path, report);
  if (!from.is_number()) return report.Error(path, "must be a whole number or a text such as \"10%\"");
  DecodeInto(std::move(from), to.value.emplace<std::int32_t>(), path, report);
}

Value Codec<api::IntOrString>::Encode(const api::IntOrString& from) {
  return std::visit([](const auto& value) { return json::Encode(value); }, from.value);
}

}  // namespace pintle::json
