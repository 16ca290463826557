// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_configuration.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "generated/go_reading.h"
#include "generated/go_struct.h"
#include "gotext/quote.h"
#include "json/go_json.h"
#include "machineconfig/go_yaml.h"
#include "machineconfig/yaml.h"

namespace pintle::generated {

template <>
inline constexpr std::string_view kGoListName<VModuleItem> = "v1.VModuleConfiguration";
template <>
inline constexpr std::string_view kGoMapName<api::Quantity> = "v1.ResourceList";

template <>
struct GoType<VerbosityLevel> {
  static std::string Name() { return "v1.VerbosityLevel"; }
  static bool IsEmpty(const VerbosityLevel& value) { return value.level == 0; }
  static void Read(const json::Value& from, VerbosityLevel& to, const GoPlace* place, GoReading& reading) {
    GoType<std::uint32_t>::ReadAs(Name(), from, to.level, place, reading);
  }
  static json::Value Write(const VerbosityLevel& from) { return from.level; }
  static void MergeOver(VerbosityLevel& below, const VerbosityLevel& above) { GoMergeOver(below.level, above.level); }
};

template <>
struct GoType<NanosecondsOrDuration> {
  static std::string Name() { return "v1.TimeOrMetaDuration"; }
  static bool IsEmpty(const NanosecondsOrDuration&) { return false; }
  static void Read(const json::Value& from, NanosecondsOrDuration& to, const GoPlace* place, GoReading& reading) {
    to.is_text = from.is_string();
    if (to.is_text) return GoRead(from, to.duration, place, reading);
    if (from.is_null()) return;
    const auto nanoseconds = WholeNumber<std::int64_t>(from);
    if (!nanoseconds) {
      return reading.Fail(fmt::format("invalid duration {}: {}", gotext::Quoted(json::GoJson(from)),
                                      WrongTypeText(from, "time.Duration")));
    }
    to.duration.nanoseconds = *nanoseconds;
  }
  static json::Value Write(const NanosecondsOrDuration& from) {
    return from.is_text ? GoWrite(from.duration) : json::Value(from.duration.nanoseconds);
  }
  static void MergeOver(NanosecondsOrDuration& below, const NanosecondsOrDuration& above) {
    GoMergeOver(below.duration, above.duration);
    GoMergeOver(below.is_text, above.is_text);
  }
};

template <>
struct GoType<api::Time> {
  static std::string Name() { return "v1.Time"; }
  static bool IsEmpty(const api::Time&) { return false; }
  static void Read(const json::Value& from, api::Time& to, const GoPlace* place, GoReading& reading) {
    if (from.is_null()) return;
    if (!from.is_string()) return reading.FailOnType(from, "string", place);
    const Result<WallTime> time = FromRfc3339(from.text());
    if (!time) return reading.Fail(time.error().message());
    to.at = *time;
  }
  static json::Value Write(const api::Time& from) { return ToRfc3339(from.at); }
  static void MergeOver(api::Time& below, const api::Time& above) { below = above; }
};

namespace {

constexpr const char* kWhileReadingYaml = "error unmarshaling JSON: while decoding JSON: ";

Result<KubeletConfiguration> ReadFrom(const json::Value& document, GoSource source) {
  GoReading reading(source);
  KubeletConfiguration config;
  GoRead(document, config, nullptr, reading);
  TRY(reading.ToResult());
  return config;
}

}  // namespace

Result<KubeletConfiguration> ParseKubeletConf(std::string_view text) {
  const std::vector<json::Value> documents = TRY(machineconfig::ParseYaml(text));
  if (documents.empty()) return KubeletConfiguration{};
  Result<KubeletConfiguration> config = ReadFrom(documents.front(), GoSource::kYaml);
  if (!config) return Error(ErrorKind::kInvalid, kWhileReadingYaml + config.error().message());
  return config;
}

// The operator reads a text that does not begin with a brace as YAML.  Errors about such a text have a prefix.
Result<KubeletConfiguration> ReadKubeletConfiguration(const json::Value& document) {
  Result<KubeletConfiguration> config = ReadFrom(document, GoSource::kJson);
  if (!config && !document.is_object()) {
    return Error(ErrorKind::kInvalid, kWhileReadingYaml + config.error().message());
  }
  return config;
}

void MergeOver(KubeletConfiguration& below, const KubeletConfiguration& above) { GoMergeOver(below, above); }

Result<std::string> KubeletConfText(const KubeletConfiguration& config) {
  json::Value document = GoWrite(config);
  // The operator always writes these values, even if the KubeletConfig has others.
  document["apiVersion"] = "kubelet.config.k8s.io/v1beta1";
  document["kind"] = "KubeletConfiguration";
  std::string text;
  TRY(machineconfig::WriteGoYamlDocument(document, [&](std::string_view piece) { text += piece; }));
  return text;
}

}  // namespace pintle::generated
