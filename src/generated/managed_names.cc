// SPDX-License-Identifier: Apache-2.0
#include "generated/managed_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include "api/machine_config.h"
#include "gotext/quote.h"

namespace pintle::generated {
namespace {

constexpr std::int64_t kHighestNumber = 9;

std::string_view WordFor(ManagedKind kind) { return kind == ManagedKind::kKubelet ? "kubelet" : "containerruntime"; }

std::string_view Singular(ManagedKind kind) { return kind == ManagedKind::kKubelet ? "kubelet config" : "ctrcfgs"; }
std::string_view Plural(ManagedKind kind) { return kind == ManagedKind::kKubelet ? "kubelet configs" : "ctrcfgs"; }

// Parses a whole number with an optional sign.  The error has the words of Go's strconv.Atoi.
Result<std::int64_t> ToNumber(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const bool has_two_signs = digits.size() != text.size() && digits.starts_with('-');
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_whole = end == digits.data() + digits.size() && !has_two_signs;
  if (is_whole && problem == std::errc()) return number;
  const bool is_too_large = is_whole && problem == std::errc::result_out_of_range;
  return Error(ErrorKind::kInvalid, fmt::format("strconv.Atoi: parsing {}: {}", gotext::Quoted(text),
                                                is_too_large ? "value out of range" : "invalid syntax"));
}

// Returns 0 for the plain name, and N for the plain name followed by "-N".  Returns nullopt for any other name.
std::optional<std::int64_t> NumberIn(std::string_view name, std::string_view plain) {
  if (name == plain) return 0;
  if (!name.starts_with(plain) || !name.substr(plain.size()).starts_with('-')) return {};
  const Result<std::int64_t> number = ToNumber(name.substr(plain.size() + 1));
  return number ? std::optional(*number) : std::nullopt;
}

bool IsYounger(const api::ObjectMeta& a, const api::ObjectMeta& b) {
  return a.creation_timestamp && (!b.creation_timestamp || *a.creation_timestamp > *b.creation_timestamp);
}

// Among the finalizers that are names of existing configs, returns the one with the highest number, or nullptr if there
// is none.  An object that has lost its annotation still has the names of its configs as finalizers.
const std::string* FromFinalizers(const api::ObjectMeta& object, std::string_view plain, const HasConfig& has_config) {
  const std::string* highest = nullptr;
  std::int64_t highest_number = -1;
  for (const std::string& finalizer : object.finalizers) {
    const auto number = NumberIn(finalizer, plain);
    if (!number || *number <= highest_number || !has_config(finalizer)) continue;
    highest = &finalizer;
    highest_number = *number;
  }
  return highest;
}

// Returns the highest number in the annotations of the objects, or 0 if there is none.
Result<std::int64_t> HighestNumber(std::span<const api::ObjectMeta* const> objects) {
  std::int64_t highest = 0;
  for (const api::ObjectMeta* object : objects) {
    const std::string& suffix = object->Annotation(kNameSuffixAnnotation);
    if (suffix.empty()) continue;
    highest = std::max(highest, TRY(ToNumber(suffix), fmt::format("error converting {} to int", suffix)));
  }
  return highest;
}

// Returns the name without a number.
ManagedName PlainManagedName(ManagedKind kind, const api::ObjectMeta& pool, const HasConfig& has_config) {
  std::string name = PlainName(kind, pool.name);
  auto takes_over = ConfigOfOldName(name, "99", pool, WordFor(kind), has_config);
  return {.name = std::move(name), .takes_over = std::move(takes_over)};
}

}  // namespace

std::string PlainName(ManagedKind kind, std::string_view pool) {
  return fmt::format("99-{}-generated-{}", pool, WordFor(kind));
}

std::string OldConfigName(std::string_view number, const api::ObjectMeta& pool, std::string_view word) {
  return fmt::format("{}-{}-{}-{}", number, pool.name, pool.uid, word);
}

std::optional<std::string> ConfigOfOldName(const std::string& new_name, std::string_view number,
                                           const api::ObjectMeta& pool, std::string_view word,
                                           const HasConfig& has_config) {
  std::string old_name = OldConfigName(number, pool, word);
  if (has_config(new_name) || !has_config(old_name)) return {};
  return old_name;
}

Result<ManagedName> NameFor(ManagedKind kind, const api::ObjectMeta& object,
                            std::span<const api::ObjectMeta* const> objects_of_pool, const api::ObjectMeta& pool,
                            const HasConfig& has_config) {
  const std::string plain = PlainName(kind, pool.name);
  const auto numbered = [&](std::string_view suffix) {
    return ManagedName{.name = fmt::format("{}-{}", plain, suffix), .takes_over = {}};
  };
  if (const std::string* suffix = api::Find(object.annotations, kNameSuffixAnnotation)) {
    return suffix->empty() ? PlainManagedName(kind, pool, has_config) : numbered(*suffix);
  }
  if (objects_of_pool.size() <= 1) return PlainManagedName(kind, pool, has_config);
  const bool has_younger = std::any_of(objects_of_pool.begin(), objects_of_pool.end(),
                                       [&](const api::ObjectMeta* other) { return IsYounger(*other, object); });
  if (has_younger) {
    if (const std::string* name = FromFinalizers(object, plain, has_config)) {
      return ManagedName{.name = *name, .takes_over = {}};
    }
  }
  const std::int64_t highest = TRY(HighestNumber(objects_of_pool));
  if (highest >= kHighestNumber) {
    return Error(ErrorKind::kInvalid, fmt::format("max number of supported {} (10) has been reached. Please delete old "
                                                  "{} before retrying",
                                                  Singular(kind), Plural(kind)));
  }
  return numbered(std::to_string(highest + 1));
}

bool IsMadeByAnotherVersion(const api::ObjectMeta& config, std::string_view number, std::string_view word,
                            std::string_view controller_version) {
  const std::string& maker = config.Annotation(api::kGeneratedByControllerVersionAnnotation);
  return config.name.starts_with(number) && config.name.find(fmt::format("generated-{}", word)) != std::string::npos &&
         !maker.empty() && maker != controller_version;
}

std::string NameSuffixOf(std::string_view config_name) {
  constexpr std::ptrdiff_t kDashesOfPlainName = 3;  // The plain name is like 99-worker-generated-kubelet.
  const std::size_t dash = config_name.rfind('-');
  if (dash == std::string_view::npos) return "";
  const std::string_view last = config_name.substr(dash + 1);
  const bool is_numbered = std::count(config_name.begin(), config_name.end(), '-') > kDashesOfPlainName;
  return is_numbered && ToNumber(last) ? std::string(last) : "";
}

}  // namespace pintle::generated
