// SPDX-License-Identifier: Apache-2.0
#include "ignition/source_text.h"

#include <algorithm>
#include <unordered_map>

#include "ignition/json_syntax.h"
#include "ignition/read.h"

namespace pintle::ignition {

TextPosition PositionOf(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto breaks = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  return {breaks + 1, before.size() - (before.rfind('\n') + 1) + 1};  // For the first line, npos + 1 is 0.
}

namespace {

// Walks a valid text along the wanted paths, and skips everything else.
class Locator {
 public:
  Locator(std::string_view text, std::span<const json::Problem> problems, KeyCase key_case)
      : text_(text), key_case_(key_case) {
    for (const json::Problem& problem : problems) {
      for (std::string_view path = problem.path; wanted_.emplace(path, Place{}).second && path != "$";) {
        const std::string_view parent = ParentPath(path);
        wanted_below_[parent].push_back(path.substr(parent.size() + 1));
        path = parent;
      }
    }
  }

  void Walk() {
    std::string path = "$";
    WalkValue(path);
  }

  LocatedProblem Find(const json::Problem& problem) const {
    for (std::string_view path = problem.path;; path = ParentPath(path)) {
      const Place& place = wanted_.at(path);
      if (!place.is_found && path != "$") continue;
      LocatedProblem found = Describe(place);
      if (problem.what.starts_with("Unused key")) found.position = PositionOf(text_, place.key);
      return found;
    }
  }

 private:
  struct Place {
    bool is_found = false;
    std::size_t start = 0;
    std::size_t end = 0;
    std::size_t key = 0;  // The offset of the value's key.
  };

  static std::string_view ParentPath(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view("$") : path.substr(0, dot);
  }

  LocatedProblem Describe(const Place& place) const {
    const bool is_container = place.start < text_.size() && (text_[place.start] == '{' || text_[place.start] == '[');
    LocatedProblem found;
    found.position = PositionOf(text_, place.start + (is_container ? 1 : 0));
    found.end = is_container ? place.start + 1 : place.end;
    found.last = place.end > 0 ? place.end - 1 : 0;
    found.token = text_.substr(place.start, is_container ? 1 : place.end - place.start);
    return found;
  }

  void SkipSpace() {
    while (at_ < text_.size() && IsJsonSpace(text_[at_])) ++at_;
  }

  void SkipString() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  // Skips one value with everything in it.
  void SkipValue() {
    std::size_t depth = 0;
    do {
      const char c = at_ < text_.size() ? text_[at_] : ',';
      if (c == '"') {
        SkipString();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++at_;
      } else if (depth > 0) {
        ++at_;
      } else {
        while (at_ < text_.size() && !IsJsonSpace(text_[at_]) && std::string_view(",]}").find(text_[at_]) > 2) ++at_;
      }
    } while (depth > 0 && at_ < text_.size());
  }

  void WalkValue(std::string& path) {
    SkipSpace();
    const auto wanted = wanted_.find(path);
    if (wanted == wanted_.end()) return SkipValue();
    Place& place = wanted->second;
    place = {true, at_, at_, key_};
    const char c = at_ < text_.size() ? text_[at_] : ' ';
    if (c == '{') {
      WalkMembers(path);
    } else if (c == '[') {
      WalkElements(path);
    } else {
      SkipValue();
    }
    place.end = at_;
  }

  // Returns the key in the form that the wanted paths have.
  std::string_view WantedForm(std::string_view key, std::string_view path) const {
    const auto wanted = wanted_below_.find(path);
    if (key_case_ == KeyCase::kExact || wanted == wanted_below_.end()) return key;
    const auto same = std::find_if(wanted->second.begin(), wanted->second.end(),
                                   [&](std::string_view name) { return IsSameKeyInGo(name, key); });
    return same == wanted->second.end() ? key : *same;
  }

  // The recursion is no deeper than the wanted paths.
  void WalkChild(std::string& path, std::string_view part) {
    const std::size_t length = path.size();
    path += '.';
    path += part;
    WalkValue(path);
    path.resize(length);
  }

  void WalkMembers(std::string& path) {
    ++at_;
    for (SkipSpace(); at_ < text_.size() && text_[at_] != '}'; SkipSpace()) {
      const std::size_t start = at_;
      SkipString();
      const std::string_view key = text_.substr(std::min(start + 1, text_.size()), at_ - start - 2);
      SkipSpace();
      ++at_;  // The colon.
      key_ = start;
      WalkChild(path, WantedForm(key, path));
      SkipSpace();
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
    ++at_;
  }

  void WalkElements(std::string& path) {
    ++at_;
    std::size_t index = 0;
    for (SkipSpace(); at_ < text_.size() && text_[at_] != ']'; SkipSpace()) {
      WalkChild(path, std::to_string(index++));
      SkipSpace();
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t key_ = 0;
  KeyCase key_case_;
  std::unordered_map<std::string_view, Place> wanted_;
  // The last parts of the wanted paths, by the path above them.
  std::unordered_map<std::string_view, std::vector<std::string_view>> wanted_below_;
};

}  // namespace

std::vector<LocatedProblem> Locate(std::string_view json_text, std::span<const json::Problem> problems,
                                   KeyCase key_case) {
  // Each position costs a pass over the text, and nobody reads thousands of them.
  constexpr std::size_t kMostLocated = 200;
  std::vector<LocatedProblem> found(problems.size());
  problems = problems.first(std::min(problems.size(), kMostLocated));
  Locator locator(json_text, problems, key_case);
  locator.Walk();
  std::transform(problems.begin(), problems.end(), found.begin(),
                 [&](const json::Problem& problem) { return locator.Find(problem); });
  return found;
}

}  // namespace pintle::ignition
