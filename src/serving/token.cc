// SPDX-License-Identifier: Apache-2.0
#include "serving/token.h"

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/command_line.h"
#include "base/output.h"
#include "base/time_span.h"
#include "json/parse.h"
#include "serving/access.h"

namespace pintle::serving {
namespace {

constexpr std::array kTokenOptions = {
    Option{"--pool", "NAME", "the pool whose config may be fetched"},
    Option{"--ttl", "TIME", "how long the token is valid, such as 24h (the default), 30min or 7d"},
    Option{"--key-file", "FILE", "the file with the keys, of which the first one signs"},
    Option{"--help", "", "print this help"},
};

Result<json::Value> HttpHeaders(const CommandLine& line) {
  if (!line.operands().empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("unexpected argument \"{}\" (see --help)", line.operands()[0]));
  }
  const std::string pool = TRY(line.Needed("--pool"));
  const auto keys = TRY(ReadKeys(TRY(line.Needed("--key-file"))));
  const std::string ttl = line.Value("--ttl").value_or("24h");
  const auto lifetime = TRY(ParseTimeSpan(ttl), "--ttl " + ttl);
  if (lifetime < std::chrono::seconds(1))
    return Error(ErrorKind::kInvalid, fmt::format("--ttl {}: a token must be valid for at least one second", ttl));
  const std::string token = MakeToken(keys.front(), pool, SystemClock().Wall() + lifetime);
  const json::Value header = {{"name", "Authorization"}, {"value", "Bearer " + token}};
  return json::Value{{"httpHeaders", json::Value::array({header})}};
}

}  // namespace

ExitStatus Token(const std::vector<std::string_view>& arguments) {
  const auto line = CommandLine::Parse(kTokenOptions, arguments);
  if (line && line->Has("--help")) {
    Print(fmt::format("Usage: pintle-controller token --pool NAME --key-file FILE [--ttl TIME]\n\n{}",
                      Describe(kTokenOptions)));
    return ExitStatus::kSuccess;
  }
  const auto headers = line ? HttpHeaders(*line) : Result<json::Value>(line.error());
  if (!headers) {
    PrintToStderr(fmt::format("pintle-controller token: {}\n", headers.error().message()));
    return ExitStatus::kFailure;
  }
  Print(json::ToIndentedText(*headers) + "\n");
  return ExitStatus::kSuccess;
}

}  // namespace pintle::serving
