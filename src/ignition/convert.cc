// SPDX-License-Identifier: Apache-2.0
#include "ignition/convert.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "ignition/go_text.h"
#include "ignition/losses.h"
#include "ignition/v2/translate.h"
#include "ignition/v3_1/translate.h"
#include "ignition/v3_2/translate.h"
#include "ignition/v3_3/translate.h"
#include "ignition/v3_4/translate.h"
#include "ignition/v3_5/translate.h"
#include "json/fields.h"
#include "json/go_text.h"

namespace pintle::ignition {
namespace {

// A config of an older version may lack fields that the newest version requires.  Like the Machine Config Operator's
// error, the error names places in the text that the operator would write for the config.
Result<> CheckComplete(const Config& config) {
  json::Report report;
  v3_5::Validate(config, report);
  if (!report.has_errors()) return {};
  std::string text;
  WriteGoText(config, text);
  json::Report text_report;
  TRY(Parse(text, text_report));
  return {};
}

// `write` makes the result from the converted config, whose type depends on the version.
template <typename Write>
auto Convert(Config config, SpecVersion version, json::Report* lost, const Write& write)
    -> Result<decltype(write(config))> {
  TRY(CheckComplete(config));
  if (version == SpecVersion::k3_0) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("conversion for source version {} to target version {} is not supported the requested "
                             "conversion is not supported",
                             kNewestVersion, ToText(version)));
  }
  if (version == SpecVersion::k3_5) return write(config);
  json::Report discarded;
  auto v3_4 = TRY(v3_5::ToPrevious(std::move(config), lost != nullptr ? *lost : discarded));
  if (version == SpecVersion::k3_4) return write(v3_4);
  auto v3_3 = TRY(v3_4::ToPrevious(std::move(v3_4)));
  if (version == SpecVersion::k3_3) return write(v3_3);
  auto v3_2 = TRY(v3_3::ToPrevious(std::move(v3_3)));
  if (version == SpecVersion::k3_2) return write(v3_2);
  if (version == SpecVersion::k2_2) return write(TRY(v2::FromV3_2(std::move(v3_2))));
  return write(TRY(v3_2::ToPrevious(std::move(v3_2))));
}

}  // namespace

Result<json::Value> ConvertTo(Config config, SpecVersion version, json::Report* lost) {
  return Convert(std::move(config), version, lost, [](const auto& converted) { return json::Encode(converted); });
}

Result<std::string> ConvertToText(Config config, SpecVersion version, json::Report* lost) {
  return Convert(std::move(config), version, lost, [](const auto& converted) { return json::GoText(converted); });
}

}  // namespace pintle::ignition
