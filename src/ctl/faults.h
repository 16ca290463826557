// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects errors, so that all of them are reported at once.

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace pintle::ctl {

class Faults {
 public:
  // Returns the value of the result, or collects its error and returns nullopt.
  template <typename T>
  std::optional<T> Collect(Result<T> result) {
    if (result) return *std::move(result);
    errors_.push_back(std::move(result).error());
    return std::nullopt;
  }
  void Collect(std::vector<Error> errors) { std::move(errors.begin(), errors.end(), std::back_inserter(errors_)); }

  bool is_empty() const { return errors_.empty(); }

  // Returns all errors as one error, each on a line of its own.
  Error All() && {
    if (errors_.size() == 1) return std::move(errors_.front());
    std::string all;
    for (const Error& error : errors_) all += (all.empty() ? "" : "\n") + error.message();
    return Error(errors_.front().kind(), std::move(all));
  }

 private:
  std::vector<Error> errors_;
};

}  // namespace pintle::ctl
