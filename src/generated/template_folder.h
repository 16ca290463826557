// SPDX-License-Identifier: Apache-2.0
#pragma once

// A folder of templates as it was read: ROLE/NAME/PLATFORM/files/... and common/PLATFORM/files/...
//
// Each template is parsed once, when the folder is read.  One that cannot be parsed is an error only where it is used.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gotemplate/template.h"

namespace pintle::generated {

struct TemplateEntry {
  bool is_folder = false;
  bool is_empty = false;                                       // A file without a byte.
  std::string path;                                            // As errors name it.
  std::unique_ptr<const Result<gotemplate::Template>> parsed;  // Of a file that is not empty.
  std::map<std::string, TemplateEntry> entries;                // Of a folder, in the order of their bytes.

  // Nullptr: there is none of this name.
  const TemplateEntry* Find(std::string_view name) const;
};

class TemplateFolder {
 public:
  // The path of the folder is what errors begin the paths of templates with.
  explicit TemplateFolder(std::string path);

  // Reads a folder of a file system.
  static Result<TemplateFolder> Read(const std::string& path);

  // Adds a file at a path below the folder, such as "worker/00-worker/_base/files/a.yaml".
  void Add(std::string_view path, std::string text);

  const TemplateEntry& root() const { return root_; }

 private:
  TemplateEntry root_;
};

}  // namespace pintle::generated
