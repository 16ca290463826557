// SPDX-License-Identifier: Apache-2.0
#include "generated/template_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "generated/template_functions.h"
#include "machineconfig/input.h"

namespace pintle::generated {
namespace {

namespace fs = std::filesystem;

// These limits leave much room: all templates of a release together have two megabytes.
constexpr std::size_t kLongestTemplate = 8 << 20;  // In bytes.
constexpr std::size_t kLargestFolder = 64 << 20;   // In bytes, all templates together.
constexpr std::size_t kMostTemplates = 10'000;
constexpr int kDeepestFolder = 32;

Error Failed(const std::string& path, const std::error_code& error) {
  return Error::FromErrno("reading " + path, error.value());
}

// Returns the paths of the files below a folder, relative to it.
Result<std::vector<std::string>> FilesBelow(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  std::uintmax_t size = 0;
  fs::recursive_directory_iterator entry(folder, error);
  if (error) return Failed(folder, error);
  for (const fs::recursive_directory_iterator end; entry != end;) {
    if (entry.depth() > kDeepestFolder) {
      return Error(ErrorKind::kInvalid,
                   fmt::format("{}: its folders are nested more than {} levels deep; name the folder with the "
                               "release's templates",
                               folder, kDeepestFolder));
    }
    if (files.size() >= kMostTemplates) {
      return Error(ErrorKind::kInvalid,
                   fmt::format("{}: it has more than {} templates; name the folder with the release's templates",
                               folder, kMostTemplates));
    }
    // A symbolic link to a file is followed, and a link to a folder is not.  In a volume of Kubernetes, a link to a
    // folder is the current version of the volume, and links to files are its files.
    const bool is_file = entry->is_regular_file(error);
    if (error) return Failed(entry->path(), error);
    if (is_file) {
      files.push_back(entry->path().lexically_relative(folder));
      size += entry->file_size(error);
      if (error) return Failed(entry->path(), error);
      if (size > kLargestFolder) {
        return Error(ErrorKind::kInvalid, fmt::format("{}: its templates together have more than {} MiB; remove those "
                                                      "that are not the release's",
                                                      folder, kLargestFolder >> 20));
      }
    }
    entry.increment(error);
    if (error) return Failed(folder, error);
  }
  return files;
}

// Adds the folders below a folder of the file system.  Folders without files are needed too, because an empty folder
// and a missing one cause different errors.
Result<> AddFoldersBelow(const std::string& path, TemplateEntry& to) {
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->is_directory(error) || entry->is_symlink(error)) continue;
    TemplateEntry& folder = to.entries[entry->path().filename()];
    folder.is_folder = true;
    folder.path = to.path + "/" + entry->path().filename().string();
    TRY(AddFoldersBelow(entry->path(), folder));
  }
  if (error) return Failed(path, error);
  return {};
}

// Adds the paths of all entries below a folder to `text`, each followed by the digest of its text if it is a file.
void AddEntries(const TemplateEntry& folder, std::string& text) {
  for (const auto& [name, entry] : folder.entries) {
    text += fmt::format("{}\n{}\n", entry.path, entry.is_folder ? "a folder" : entry.text_digest);
    AddEntries(entry, text);
  }
}

}  // namespace

const TemplateEntry* TemplateEntry::Find(std::string_view name) const {
  const auto entry = entries.find(std::string(name));
  return entry == entries.end() ? nullptr : &entry->second;
}

TemplateFolder::TemplateFolder(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  root_.is_folder = true;
  root_.path = std::move(path);
}

Result<TemplateFolder> TemplateFolder::Read(const std::string& path) {
  TemplateFolder folder(path);
  const std::vector<std::string> files = TRY(FilesBelow(path), "reading templates");
  TRY(AddFoldersBelow(path, folder.root_), "reading templates");
  for (const std::string& file : files) {
    folder.Add(file, TRY(machineconfig::ReadInput(folder.root_.path + "/" + file, machineconfig::Accepts::kFilesOnly,
                                                  kLongestTemplate)));
  }
  return folder;
}

Result<TemplateFolder> TemplateFolder::ReadRelease(const std::string& path) {
  TemplateFolder folder = TRY(Read(path));
  TRY(folder.CheckHasRole(), "reading templates");
  return folder;
}

Result<> TemplateFolder::CheckHasRole() const {
  const bool has_role = std::any_of(root_.entries.begin(), root_.entries.end(), [](const auto& entry) {
    return entry.second.is_folder && entry.first != kCommonFolder;
  });
  if (has_role) return {};
  return Error(ErrorKind::kInvalid, fmt::format("{}: it has no folder of a role, such as {}/worker; name the folder "
                                                "with the release's templates",
                                                root_.path, root_.path));
}

std::string TemplateFolder::Digest() const {
  std::string text;
  AddEntries(root_, text);
  return Sha256(text).hex();
}

void TemplateFolder::Add(std::string_view path, std::string text) {
  TemplateEntry* entry = &root_;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string name(path.substr(0, slash));
    TemplateEntry& child = entry->entries[name];
    child.path = entry->path + "/" + name;
    child.is_folder = slash != std::string_view::npos;
    path.remove_prefix(child.is_folder ? slash + 1 : path.size());
    entry = &child;
  }
  entry->text_digest = Sha256(text).hex();
  entry->is_empty = text.empty();
  if (text.empty()) return;
  entry->parsed = std::make_unique<const Result<gotemplate::Template>>(
      gotemplate::Template::Parse(entry->path, std::move(text), IsTemplateFunction));
}

}  // namespace pintle::generated
