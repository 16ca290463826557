// SPDX-License-Identifier: Apache-2.0
#pragma once

// A folder of templates in memory: ROLE/NAME/PLATFORM/files/... and common/PLATFORM/files/...
//
// Each template is parsed once, when the folder is read.  A template that cannot be parsed is an error only where it is
// used.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gotemplate/template.h"

namespace pintle::generated {

struct TemplateEntry {
  bool is_folder = false;
  bool is_empty = false;                                       // A file of zero bytes.
  std::string path;                                            // The path in errors.
  std::string text_digest;                                     // The hash of a file's text.
  std::unique_ptr<const Result<gotemplate::Template>> parsed;  // Set for a file that is not empty.
  std::map<std::string, TemplateEntry> entries;                // The entries of a folder, in byte order.

  // Returns nullptr if there is no entry of this name.
  const TemplateEntry* Find(std::string_view name) const;
};

// The folder whose templates apply to all roles.
inline constexpr std::string_view kCommonFolder = "common";

class TemplateFolder {
 public:
  // `path` is the path of the folder in errors.
  explicit TemplateFolder(std::string path);

  // Reads a folder of the file system.
  static Result<TemplateFolder> Read(const std::string& path);
  // Reads the templates of a release.  A folder without any role is an error (CheckHasRole()).
  static Result<TemplateFolder> ReadRelease(const std::string& path);

  // Returns an error if no role has a folder.  The folder then does not have the templates of a release, and no config
  // is made from it.
  Result<> CheckHasRole() const;

  // Adds a file by its path below the folder, such as "worker/00-worker/_base/files/a.yaml".
  void Add(std::string_view path, std::string text);

  const TemplateEntry& root() const { return root_; }
  // Returns a hash of the paths of all files and folders, and of the texts of the files.  The hash does not depend on
  // the order in which they were added, because a copy of a folder may list its files in another order.
  std::string Digest() const;

 private:
  TemplateEntry root_;
};

}  // namespace pintle::generated
