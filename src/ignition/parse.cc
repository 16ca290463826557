// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/base64.h"
#include "ignition/compression.h"
#include "ignition/config.h"
#include "ignition/go_types.h"
#include "ignition/json_syntax.h"
#include "ignition/parse_with_limit.h"
#include "ignition/read.h"
#include "ignition/reading.h"
#include "ignition/semver.h"
#include "ignition/source_text.h"
#include "ignition/v2/translate.h"
#include "ignition/v3_1/translate.h"
#include "ignition/v3_2/translate.h"
#include "ignition/v3_3/translate.h"
#include "ignition/v3_4/translate.h"
#include "ignition/v3_5/translate.h"
#include "json/fields.h"
#include "json/known_keys.h"

namespace pintle::ignition {
namespace {

constexpr const char* kSupported = "Supported spec versions: 2.2,3.0,3.1,3.2,3.3,3.4,3.5";

Error Refused(std::string why) { return Error(ErrorKind::kInvalid, std::move(why)); }

Error InvalidConfig(std::string_view spec, std::string report) {
  return Refused(fmt::format("parsing Ignition {} failed with error: config is not valid\nReport: {}", spec, report));
}

constexpr std::string_view kSpec2 = "spec v2";
constexpr std::string_view kSpec3 = "config spec v3";

// The text that a document was read from, if there is one.  Errors name places in this text.
using Text = std::optional<std::string_view>;

// Returns a JSON text with which WrongType() recognises the type of the value.
std::string TokenOf(const json::Value& value) {
  switch (value.type()) {
    case json::Value::Type::kString:
      return "\"";
    case json::Value::Type::kObject:
      return "{";
    case json::Value::Type::kArray:
      return "[";
    case json::Value::Type::kBoolean:
      return "true";
    default:
      return "0";
  }
}

// Finds a member as Go does: by its exact name, or else the last one whose name differs only in case.  Returns null if
// there is neither.
const json::Value* FindMember(const json::Value& object, std::string_view name) {
  const json::Value* found = nullptr;
  for (const auto& [key, value] : object.members()) {
    if (key == name) return &value;
    if (IsSameKeyInGo(key, name)) found = &value;
  }
  return found;
}

Error WrongType(std::string_view path, const json::Value& value, std::string_view go_type, const Text& text) {
  std::string where;
  if (text) {
    const json::Problem problem{json::Severity::kError, std::string(path), ""};
    const LocatedProblem found = Locate(*text, std::span(&problem, 1), KeyCase::kAny).front();
    const TextPosition end = PositionOf(*text, found.end);
    where = fmt::format(" at line {} col {}", end.line, end.column);
  }
  const std::string token = TokenOf(value);
  const char* kind = token == "\""  ? "string"
                     : token == "{" ? "object"
                     : token == "[" ? "array"
                     : token == "0" ? "number"
                                    : "bool";
  return InvalidConfig(kSpec3, fmt::format("error{}: json: cannot unmarshal {} into Go {}\n", where, kind, go_type));
}

// Returns the version that a document declares.
Result<std::string> VersionOf(const json::Value& document, const Text& text) {
  if (document.is_null()) return std::string();
  if (!document.is_object()) return WrongType("$", document, "value of type util.versionStub", text);
  const json::Value* ignition = FindMember(document, "ignition");
  if (ignition == nullptr || ignition->is_null()) return std::string();
  if (!ignition->is_object()) {
    return WrongType("$.ignition", *ignition, "struct field versionStub.Ignition of type struct { Version string }",
                     text);
  }
  const json::Value* version = FindMember(*ignition, "version");
  if (version == nullptr || version->is_null()) return std::string();
  if (!version->is_string()) {
    return WrongType("$.ignition.version", *version, "struct field .Ignition.Version of type string", text);
  }
  return version->text();
}

// Formats the report as the Machine Config Operator does, with one problem a line.
std::string ReportText(const json::Report& report, const Text& text) {
  const std::span problems = report.problems();
  std::vector<LocatedProblem> found;
  if (text) found = Locate(*text, problems);
  std::string all;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const char* kind = problems[i].severity == json::Severity::kError ? "error" : "warning";
    all += fmt::format("{} at {}", kind, json::PlaceForMessage(problems[i].path));
    if (text && found[i].position.line > 0) {
      all += fmt::format(", line {} col {}", found[i].position.line, found[i].position.column);
    }
    all += fmt::format(": {}\n", problems[i].what);
  }
  if (report.left_out() > 0) all += fmt::format("and {} more\n", report.left_out());
  return all;
}

// The operator counts the columns of the first line from 0, and those of other lines from 1.
std::size_t Spec2Column(const TextPosition& position) { return position.column - (position.line == 1 ? 1 : 0); }

// Formats a report for spec 2, where places are the ends of values.  The operator also includes the text up to such a
// place.  This function leaves that text out, because it may contain secrets.
std::string Spec2ReportText(const json::Report& report, const Text& text) {
  if (!text) return ReportText(report, text);
  const std::span problems = report.problems();
  const std::vector<LocatedProblem> found = Locate(*text, problems);
  std::string all;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const char* kind = problems[i].severity == json::Severity::kError ? "error" : "warning";
    all += kind;
    if (found[i].position.line > 0) {
      const TextPosition last = PositionOf(*text, found[i].last);
      all += fmt::format(" at line {}, column {}", last.line, Spec2Column(last));
    }
    all += fmt::format("\n{}\n", problems[i].what);
  }
  if (report.left_out() > 0) all += fmt::format("and {} more\n", report.left_out());
  return all;
}

// The first value of a wrong type.  The Machine Config Operator reports only this value.  Our messages begin with it,
// and then list all values of wrong types.
struct Mismatch {
  TextPosition end;
  std::string message;
};

Mismatch FirstMismatch(const json::Report& report, std::string_view text, Spec spec) {
  std::vector<json::Problem> errors;
  for (const json::Problem& problem : report.problems()) {
    if (problem.severity == json::Severity::kError) errors.push_back(problem);
  }
  const std::vector<LocatedProblem> found = Locate(text, errors, KeyCase::kAny);
  std::size_t first = 0;
  for (std::size_t i = 1; i < errors.size(); ++i) {
    const bool is_found = found[i].position.line > 0;  // Only the first 200 errors are searched for.
    if (is_found && found[i].end < found[first].end) first = i;
  }
  return {PositionOf(text, found[first].end), WrongTypeText(errors[first], found[first].token, spec)};
}

std::string WrongTypesText(const json::Report& report, const Text& text, int minor) {
  if (!text) return ReportText(report, text);
  const Mismatch first = FirstMismatch(report, *text, {3, minor});
  return fmt::format("error at line {} col {}: {}\n{}", first.end.line, first.end.column, first.message,
                     ReportText(report, text));
}

std::string Spec2WrongTypesText(const json::Report& report, const Text& text, int minor) {
  if (!text) return ReportText(report, text);
  const Mismatch first = FirstMismatch(report, *text, {2, minor});
  return fmt::format("error at line {}, column {}\n{}\n{}", first.end.line, Spec2Column(first.end), first.message,
                     ReportText(report, text));
}

Result<Config> ParseSpec3(json::Value document, int minor, json::Report& report, const Text& text) {
  Reading reading{.document = std::move(document), .minor = minor, .report = report};
  Config config = v3_5::ReadThisOrOlder(reading);
  if (reading.has_wrong_types) return InvalidConfig(kSpec3, WrongTypesText(report, text, minor));
  if (report.has_errors()) return InvalidConfig(kSpec3, ReportText(report, text));
  return config;
}

Result<Config> ParseSpec2(json::Value document, int minor, json::Report& report, const Text& text) {
  Reading reading{.document = std::move(document), .minor = minor, .report = report};
  v2::Config config = v2::ReadAndValidate(reading);
  if (reading.has_wrong_types) return InvalidConfig(kSpec2, Spec2WrongTypesText(report, text, minor));
  if (report.has_errors()) return InvalidConfig(kSpec2, Spec2ReportText(report, text));
  auto unique = v2::WithoutDuplicates(std::move(config));
  if (!unique) return Error(ErrorKind::kUnconvertible, unique.error().message());
  auto converted = v2::ToV3_0(*std::move(unique));
  if (!converted) {
    return Error(ErrorKind::kUnconvertible, converted.error().message())
        .While("failed to convert Ignition config spec v2 to v3: unable to convert Ignition spec v2 config to v3");
  }
  v3_2::Config newer = v3_2::FromPrevious(v3_1::FromPrevious(*std::move(converted)));
  return v3_5::FromPrevious(v3_4::FromPrevious(v3_3::FromPrevious(std::move(newer))));
}

Result<Config> ParseDocument(json::Value document, json::Report& report, const Text& text) {
  const std::string name = TRY(VersionOf(document, text));
  const auto version = ParseSemver(name);
  if (!version) return Refused(fmt::format("parsing Ignition config failed: invalid version. {}", kSupported));
  const bool is_release = version->is_release && version->patch == 0;
  if (is_release && version->major == 3 && version->minor <= 5) {
    return ParseSpec3(std::move(document), static_cast<int>(version->minor), report, text);
  }
  if (is_release && version->major == 2 && version->minor <= 2) {
    return ParseSpec2(std::move(document), static_cast<int>(version->minor), report, text);
  }
  return Refused(fmt::format("parsing Ignition config failed: unknown version. {}", kSupported));
}

Error NotJson(std::string_view text, const Error& error) {
  const auto problem = FindSyntaxProblem(text);
  if (!problem) return InvalidConfig(kSpec3, fmt::format("error: {}\n", error.message()));
  TextPosition position;
  if (problem->offset < text.size()) position = PositionOf(text, problem->offset);
  return InvalidConfig(kSpec3,
                       fmt::format("error at line {} col {}: {}\n", position.line, position.column, problem->what));
}

Result<std::string> Unpacked(std::string_view packed, std::size_t limit) {
  TRY(CheckGzipHeader(packed), "initialize gzip reader failed");
  return TRY(Gunzip(packed, limit), "decompression failed");
}

// Returns the text without the letters behind its last whole group of four.
std::string_view WholeGroups(std::string_view base64) {
  const auto is_letter = [](char c) { return c != '\n' && c != '\r'; };
  auto surplus = std::count_if(base64.begin(), base64.end(), is_letter) % 4;
  for (; surplus > 0; base64.remove_suffix(1)) {
    if (is_letter(base64.back())) --surplus;
  }
  return base64;
}

// Unpacks a config that is gzipped, or gzipped and encoded in base64.  Returns nullopt if it is neither.
Result<std::optional<std::string>> Unwrap(std::string_view bytes, std::size_t limit) {
  if (IsGzip(bytes)) return std::optional(TRY(Unpacked(bytes, limit), "unable to read ignition config"));
  // A text that begins with a brace cannot be base64, so nothing is decoded.
  const std::string_view text = bytes.substr(0, bytes.starts_with('{') ? 0 : bytes.size());
  // The beginning of a base64 text that was cut off shows whether the text is a packed config.
  const std::string_view groups = WholeGroups(text);
  const auto decoded = DecodeBase64(groups);
  if (!decoded || !IsGzip(*decoded)) return std::optional<std::string>();
  constexpr const char* kIntent = "unable to read ignition config: unable to decode and decompress payload";
  std::string unpacked = TRY(Unpacked(*decoded, limit), kIntent);
  if (groups.size() < text.size()) return Refused(fmt::format("{}: decompression failed: unexpected EOF", kIntent));
  return std::optional(std::move(unpacked));
}

}  // namespace

Result<Config> Parse(json::Value document, json::Report& report) {
  return ParseDocument(std::move(document), report, std::nullopt);
}

Result<Config> Parse(std::string_view bytes, json::Report& report) {
  return ParseWithLimit(json::ParseLimits().bytes, bytes, report);
}

Result<Config> ParseWithLimit(std::size_t limit, std::string_view bytes, json::Report& report) {
  const std::optional<std::string> unwrapped = TRY(Unwrap(bytes, limit));
  const std::string_view text = unwrapped ? std::string_view(*unwrapped) : bytes;
  if (text.empty()) {
    return Refused("parsing Ignition config spec v3 failed with error: not a config (empty)\nReport: ");
  }
  auto document = json::Parse(text, &report);
  if (!document) return NotJson(text, document.error());
  return ParseDocument(*std::move(document), report, text);
}

void Validate(const Config& config, json::Report& report) { v3_5::Validate(config, report); }

void ValidateParsed(const Config& config, json::Report& report) { v3_5::ValidateParsed(config, report); }

json::Value Encode(const Config& config) { return json::Encode(config); }

}  // namespace pintle::ignition
