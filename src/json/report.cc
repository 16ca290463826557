// SPDX-License-Identifier: Apache-2.0
#include "json/report.h"

#include <utility>

namespace pintle::json {

std::string Path::ToString() const {
  if (above_ == nullptr) return "$";
  return above_->ToString() + "." + (key_.empty() ? std::to_string(index_) : std::string(key_));
}

std::string Problem::ToString() const { return path + ": " + what; }

void Report::Error(const Path& path, std::string what) {
  problems_.push_back({Severity::kError, path.ToString(), std::move(what)});
  has_errors_ = true;
}

void Report::Warning(const Path& path, std::string what) {
  problems_.push_back({Severity::kWarning, path.ToString(), std::move(what)});
}

Result<> Report::ToResult() const {
  if (!has_errors_) return {};
  std::string all;
  for (const Problem& problem : problems_) {
    if (problem.severity != Severity::kError) continue;
    if (!all.empty()) all += "; ";
    all += problem.ToString();
  }
  return pintle::Error(ErrorKind::kInvalid, std::move(all));
}

}  // namespace pintle::json
