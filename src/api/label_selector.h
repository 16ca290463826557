// SPDX-License-Identifier: Apache-2.0
#pragma once

// Selects objects by their labels, as Kubernetes does.
//
// A LabelSelector is a field of a Kubernetes object, and a Selector is its checked and compiled form.  A selector that
// is absent matches no object, and an empty one matches every object.  A caller that does not want an empty selector to
// match every object has to check for it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "base/result.h"
#include "json/field_list.h"

namespace pintle::api {

struct LabelSelectorRequirement {
  std::string key;
  std::string op;  // "In", "NotIn", "Exists" or "DoesNotExist"; Selector::Compile() refuses other texts.
  std::vector<std::string> values;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"key", &LabelSelectorRequirement::key},
      json::Required{"operator", &LabelSelectorRequirement::op},
      json::Field{"values", &LabelSelectorRequirement::values},
  };
};

struct LabelSelector {
  Labels match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;

  bool is_empty() const { return match_labels.empty() && match_expressions.empty(); }

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"matchLabels", &LabelSelector::match_labels},
      json::Field{"matchExpressions", &LabelSelector::match_expressions},
  };
};

class Selector {
 public:
  // Checks a selector.  The messages of errors are those of Kubernetes.
  static Result<Selector> Compile(const std::optional<LabelSelector>& selector);

  bool Matches(const Labels& labels) const;

 private:
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist };
  struct Requirement {
    std::string key;
    Operator op;
    std::vector<std::string> values;

    bool IsMet(const Labels& labels) const;
  };

  // Returns nullopt if there is no such operator.
  static std::optional<Operator> OperatorNamed(const std::string& name);
  // Returns the message about a requirement that is not valid, or "" if it is valid.
  static std::string Problems(const Requirement& requirement);
  Result<> Add(Requirement requirement);

  std::vector<Requirement> requirements_;
  bool matches_nothing_ = false;
};

// These return the problems of a label's key or value, in the words of Kubernetes.
std::vector<std::string> ProblemsOfLabelKey(const std::string& key);
std::vector<std::string> ProblemsOfLabelValue(const std::string& value);

}  // namespace pintle::api
