// SPDX-License-Identifier: Apache-2.0
#include "json/report.h"

#include <string_view>
#include <utility>

#include "json/known_keys.h"

namespace pintle::json {
namespace {

// Removes the value from the beginning of `"green" is none of "red", "blue"`, because it may be a misplaced secret.
std::string WithoutValue(std::string what) {
  if (!what.starts_with('"')) return what;
  for (const std::string_view behind : {"\" is none of ", "\" is not known"}) {
    if (const std::size_t end = what.rfind(behind); end != std::string::npos) return what.substr(end + 2);
  }
  return what;
}

}  // namespace

std::string Path::ToString() const {
  if (above_ == nullptr) return "$";
  return above_->ToString() + "." + (key_.empty() ? std::to_string(index_) : std::string(key_));
}

std::string Problem::ToString() const { return PlaceForMessage(path) + ": " + what; }

void Report::Error(const Path& path, std::string what) {
  has_errors_ = true;
  Add(Severity::kError, path, std::move(what), errors_);
}

void Report::Warning(const Path& path, std::string what) { Add(Severity::kWarning, path, std::move(what), warnings_); }

void Report::Append(const Report& other) {
  problems_.insert(problems_.end(), other.problems_.begin(), other.problems_.end());
  has_errors_ = has_errors_ || other.has_errors_;
  for (const auto count : {&Report::errors_, &Report::warnings_}) {
    (this->*count).kept += (other.*count).kept;
    (this->*count).bytes += (other.*count).bytes;
    (this->*count).left_out += (other.*count).left_out;
  }
}

void Report::Add(Severity severity, const Path& path, std::string what, Count& count) {
  constexpr std::size_t kMost = 10'000;
  constexpr std::size_t kMostBytes = 16 << 20;  // Keys may be long, and each is a part of all paths below it.
  if (count.kept >= kMost || count.bytes > kMostBytes) {
    ++count.left_out;
    return;
  }
  std::string place = path.ToString();
  std::string shown = WithoutValue(WithoutUnknownKey(place, std::move(what)));
  const Problem& problem = problems_.emplace_back(Problem{severity, std::move(place), std::move(shown)});
  ++count.kept;
  count.bytes += problem.path.size() + problem.what.size();
}

Result<> Report::ToResult() const {
  if (!has_errors_) return {};
  std::string all;
  for (const Problem& problem : problems_) {
    if (problem.severity != Severity::kError) continue;
    if (!all.empty()) all += "; ";
    all += problem.ToString();
  }
  if (errors_.left_out > 0) all += "; and " + std::to_string(errors_.left_out) + " more";
  return pintle::Error(ErrorKind::kInvalid, std::move(all));
}

}  // namespace pintle::json
