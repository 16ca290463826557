// SPDX-License-Identifier: Apache-2.0
#include "serving/serving_options.h"

#include <fmt/core.h>

#include <charconv>
#include <string>

namespace pintle::serving {
namespace {

// A burst may have as many requests as the rate allows in this time.
constexpr double kBurstSeconds = kUsualRate.burst / kUsualRate.per_second;

// The largest number that an option may have.
constexpr int kLargest = 1'000'000;

// Returns the number that an option has, or `usual` without the option.
Result<int> Number(const CommandLine& line, std::string_view option, int least, int usual) {
  const auto text = line.Value(option);
  if (!text) return usual;
  int number = 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (failed != std::errc() || end != text->data() + text->size() || number < least || number > kLargest) {
    return Error(ErrorKind::kInvalid, fmt::format("{}: \"{}\" is not a whole number from {} to {} (see --help)", option,
                                                  *text, least, kLargest));
  }
  return number;
}

}  // namespace

Result<> ReadServingOptions(const CommandLine& line, IgnitionSettings& settings) {
  if (const auto version = line.Value("--tls-min-version")) {
    settings.tls.oldest = TRY(net::ParseTlsVersion(*version), "--tls-min-version");
  }
  settings.tls.ciphers = SplitAtCommas(line.Value("--tls-cipher-suites").value_or(""));
  settings.threads = TRY(Number(line, "--threads", 1, settings.threads));
  settings.connections_per_address = static_cast<std::size_t>(
      TRY(Number(line, "--connections-per-address", 0, static_cast<int>(settings.connections_per_address))));
  const double rate = TRY(Number(line, "--rate", 0, static_cast<int>(kUsualRate.per_second)));
  settings.rate = {.per_second = rate, .burst = rate * kBurstSeconds};
  settings.access = TRY(ParseAccessMode(line.Value("--access").value_or("open")), "--access");
  settings.token_keys_file = line.Value("--token-keys").value_or("");
  if (settings.access != AccessMode::kOpen && settings.token_keys_file.empty()) {
    return Error(ErrorKind::kInvalid, "with --access grace or required, --token-keys is needed (see --help)");
  }
  return {};
}

}  // namespace pintle::serving
