// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects the problems of a document, with their places in it.
//
// A reader reports all problems that it can find at once, so that a person can fix the document in one go.  Only errors
// stop a document from being used.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pintle::json {

// A place in a document, such as "$.storage.files.0.path".  Each function that visits a part of the document has a Path
// on its stack, which refers to the Path of its caller.  So no text is built for a document without problems.
class Path {
 public:
  Path() = default;  // The document itself: "$".
  Path(const Path& above, std::string_view key) : above_(&above), key_(key) {}
  Path(const Path& above, std::size_t index) : above_(&above), index_(index) {}
  Path(const Path& above, const char* key) : Path(above, std::string_view(key)) {}

  std::string ToString() const;

 private:
  const Path* above_ = nullptr;
  std::string_view key_;  // Empty for an element of a list.
  std::size_t index_ = 0;
};

enum class Severity { kError, kWarning };

struct Problem {
  Severity severity;
  std::string path;
  std::string what;  // The description of the problem, such as "must be a string".
  bool operator==(const Problem&) const = default;

  // Returns a text such as "$.storage.files.0.path: must be a string".
  std::string ToString() const;
};

class Report {
 public:
  void Error(const Path& path, std::string what);
  void Warning(const Path& path, std::string what);
  // Adds the problems of another report.
  void Append(const Report& other);

  const std::vector<Problem>& problems() const { return problems_; }
  bool has_errors() const { return has_errors_; }

  // Returns the number of problems that were dropped: a document can have more problems than fit in memory.
  std::size_t left_out() const { return errors_.left_out + warnings_.left_out; }

  // Returns all errors, but no warnings, as one error: their texts are joined by "; ".
  Result<> ToResult() const;

 private:
  // Errors and warnings have limits of their own, so that many warnings do not displace an error.
  struct Count {
    std::size_t kept = 0;
    std::size_t bytes = 0;
    std::size_t left_out = 0;
  };

  void Add(Severity severity, const Path& path, std::string what, Count& count);

  std::vector<Problem> problems_;
  Count errors_;
  Count warnings_;
  bool has_errors_ = false;
};

}  // namespace pintle::json
