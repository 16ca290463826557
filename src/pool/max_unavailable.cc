// SPDX-License-Identifier: Apache-2.0
#include "pool/max_unavailable.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "gotext/quote.h"

namespace pintle::pool {
namespace {

Error Invalid(std::string_view why) {
  return Error(ErrorKind::kInvalid, fmt::format("maxUnavailable: invalid value for IntOrString: {}", why));
}

// Parses a whole number as Go's strconv.Atoi does: digits, with an optional "+" or "-".
Result<std::int64_t> ReadNumber(const std::string& text) {
  const auto fail = [&](std::string_view why) {
    return Error(ErrorKind::kInvalid, fmt::format("strconv.Atoi: parsing {}: {}", gotext::Quoted(text), why));
  };
  std::string_view digits = text;
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
    if (digits.starts_with('-')) return fail("invalid syntax");
  }
  std::int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [parsed_end, problem] = std::from_chars(digits.data(), end, number);
  if (digits.empty() || problem == std::errc::invalid_argument || parsed_end != end) return fail("invalid syntax");
  if (problem == std::errc::result_out_of_range) return fail("value out of range");
  return number;
}

// Returns the number of nodes that a percentage such as "30%" stands for.
Result<std::int64_t> Share(const std::string& text, std::size_t node_count) {
  if (!text.ends_with('%')) return Invalid("invalid type: string is not a percentage");
  const auto percent = ReadNumber(text.substr(0, text.size() - 1));
  if (!percent) return Invalid(fmt::format("invalid value {}: {}", gotext::Quoted(text), percent.error().message()));
  const double nodes = std::floor(static_cast<double>(*percent) * static_cast<double>(node_count) / 100);
  constexpr double kMost = std::numeric_limits<int>::max();
  return static_cast<std::int64_t>(std::fmin(std::fmax(nodes, -kMost), kMost));
}

}  // namespace

Result<int> MaxUnavailable(const api::MachineConfigPool& pool, std::size_t node_count) {
  if (pool.metadata.name == api::kArbiterPool || !pool.spec.max_unavailable) return 1;
  const auto& setting = pool.spec.max_unavailable->value;
  const auto* number = std::get_if<std::int32_t>(&setting);
  const std::int64_t most = number != nullptr ? *number : TRY(Share(std::get<std::string>(setting), node_count));
  return most == 0 ? 1 : static_cast<int>(most);
}

}  // namespace pintle::pool
