// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects what is wrong with a document, and where.
//
// A reader reports all the problems that it can find at once, since the person who wrote the document wants to fix it
// in one go.  Only errors stop a document from being used.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pintle::json {

// A place in a document, such as "$.storage.files.0.path".  It is a chain of parts on the stack, one for each call,
// so that walking a document without problems builds no text.
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
  std::string what;
  bool operator==(const Problem&) const = default;

  // Returns a text such as "$.storage.files.0.path: must be a string".
  std::string ToString() const;
};

class Report {
 public:
  void Error(const Path& path, std::string what);
  void Warning(const Path& path, std::string what);

  const std::vector<Problem>& problems() const { return problems_; }
  bool has_errors() const { return has_errors_; }

  // Returns the number of problems that were not kept: a document can have more of them than anyone reads, and more
  // than fit in memory.
  std::size_t left_out() const { return errors_.left_out + warnings_.left_out; }

  // Returns all errors as one, joined by "; ", without the warnings.
  Result<> ToResult() const;

 private:
  // Errors and warnings are counted apart, so that neither crowds out the other.
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
