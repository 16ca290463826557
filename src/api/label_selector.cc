// SPDX-License-Identifier: Apache-2.0
#include "api/label_selector.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "gotext/quote.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::api {
namespace {

constexpr std::size_t kLongestName = 63;
constexpr std::size_t kLongestSubdomain = 253;

bool IsLowerAlphanumeric(char c) { return IsDigit(c) || IsLower(c); }

// Matches ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]
bool IsName(std::string_view text) {
  if (text.empty() || !IsLetterOrDigit(text.front()) || !IsLetterOrDigit(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.'; });
}

// Matches [a-z0-9]([-a-z0-9]*[a-z0-9])?
bool IsDnsLabel(std::string_view text) {
  if (text.empty() || !IsLowerAlphanumeric(text.front()) || !IsLowerAlphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return IsLowerAlphanumeric(c) || c == '-'; });
}

bool IsDnsSubdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::string TooLong(std::size_t limit) { return fmt::format("must be no more than {} bytes", limit); }

constexpr std::string_view kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

std::vector<std::string> ProblemsOfPrefix(std::string_view prefix) {
  if (prefix.empty()) return {"prefix part must be non-empty"};
  std::vector<std::string> problems;
  if (prefix.size() > kLongestSubdomain) problems.push_back("prefix part " + TooLong(kLongestSubdomain));
  if (!IsDnsSubdomain(prefix)) problems.push_back(fmt::format("prefix part {}", kSubdomainRule));
  return problems;
}

}  // namespace

std::vector<std::string> ProblemsOfLabelKey(const std::string& key) {
  const auto slashes = std::count(key.begin(), key.end(), '/');
  if (slashes > 1) {
    return {fmt::format("a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                        kNameRule)};
  }
  const std::size_t slash = key.find('/');
  std::vector<std::string> problems;
  if (slashes == 1) problems = ProblemsOfPrefix(std::string_view(key).substr(0, slash));
  const std::string_view name = slashes == 1 ? std::string_view(key).substr(slash + 1) : std::string_view(key);
  if (name.empty()) problems.emplace_back("name part must be non-empty");
  if (name.size() > kLongestName) problems.push_back("name part " + TooLong(kLongestName));
  if (!IsName(name)) problems.push_back(fmt::format("name part {}", kNameRule));
  return problems;
}

std::vector<std::string> ProblemsOfLabelValue(const std::string& value) {
  std::vector<std::string> problems;
  if (value.size() > kLongestName) problems.push_back(TooLong(kLongestName));
  if (!value.empty() && !IsName(value)) problems.emplace_back(kValueRule);
  return problems;
}

std::optional<Selector::Operator> Selector::OperatorNamed(const std::string& name) {
  if (name == "In") return Operator::kIn;
  if (name == "NotIn") return Operator::kNotIn;
  if (name == "Exists") return Operator::kExists;
  if (name == "DoesNotExist") return Operator::kDoesNotExist;
  return std::nullopt;
}

std::string Selector::Problems(const Requirement& requirement) {
  std::vector<std::string> problems;
  const auto invalid = [&](std::string_view field, const std::string& value, const std::string& why) {
    std::string problem = fmt::format("{}: Invalid value: {}: {}", field, value, why);
    if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(std::move(problem));
  };

  if (const auto wrong = ProblemsOfLabelKey(requirement.key); !wrong.empty()) {
    invalid("key", gotext::Quoted(requirement.key), fmt::format("{}", fmt::join(wrong, "; ")));
  }
  const bool needs_values = requirement.op == Operator::kIn || requirement.op == Operator::kNotIn;
  if (needs_values && requirement.values.empty()) {
    invalid("values", "null", "for 'in', 'notin' operators, values set can't be empty");
  } else if (!needs_values && !requirement.values.empty()) {
    invalid("values", json::ToText(json::Encode(requirement.values)),
            "values set must be empty for exists and does not exist");
  }
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    const auto wrong = ProblemsOfLabelValue(requirement.values[i]);
    if (wrong.empty()) continue;
    invalid(fmt::format("values[{}][{}]", i, requirement.key), gotext::Quoted(requirement.values[i]),
            fmt::format("{}", fmt::join(wrong, "; ")));
  }
  if (problems.size() < 2) return problems.empty() ? "" : problems.front();
  return fmt::format("[{}]", fmt::join(problems, ", "));
}

Result<> Selector::Add(Requirement requirement) {
  if (std::string problems = Problems(requirement); !problems.empty()) {
    return Error(ErrorKind::kInvalid, std::move(problems));
  }
  requirements_.push_back(std::move(requirement));
  return {};
}

Result<Selector> Selector::Compile(const std::optional<LabelSelector>& selector) {
  Selector compiled;
  if (!selector) {
    compiled.matches_nothing_ = true;
    return compiled;
  }
  for (const auto& [key, value] : selector->match_labels) TRY(compiled.Add({key, Operator::kIn, {value}}));
  for (const LabelSelectorRequirement& expression : selector->match_expressions) {
    const auto op = OperatorNamed(expression.op);
    if (!op) {
      return Error(ErrorKind::kInvalid, gotext::Quoted(expression.op) + " is not a valid label selector operator");
    }
    TRY(compiled.Add({expression.key, *op, expression.values}));
  }
  return compiled;
}

bool Selector::Requirement::IsMet(const Labels& labels) const {
  const auto label = labels.find(key);
  const bool has_label = label != labels.end();
  const auto has_value = [&] { return std::find(values.begin(), values.end(), label->second) != values.end(); };
  switch (op) {
    case Operator::kIn:
      return has_label && has_value();
    case Operator::kNotIn:
      return !has_label || !has_value();
    case Operator::kExists:
      return has_label;
    case Operator::kDoesNotExist:
      return !has_label;
  }
  return false;
}

bool Selector::Matches(const Labels& labels) const {
  return !matches_nothing_ && std::all_of(requirements_.begin(), requirements_.end(),
                                          [&](const Requirement& requirement) { return requirement.IsMet(labels); });
}

}  // namespace pintle::api
