// SPDX-License-Identifier: Apache-2.0
#include "serving/file_watch.h"

#include <sys/inotify.h>

#include <chrono>
#include <set>
#include <utility>

namespace pintle::serving {
namespace {

// The wait between a change and the check: a certificate and its key are seldom replaced at the same instant.
constexpr auto kPauseAfterChange = std::chrono::milliseconds(200);
// The time between regular checks: some replacements happen in directories that are not watched.
constexpr auto kCheckUnwatched = std::chrono::seconds(30);

std::string DirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

FileWatch::FileWatch(event::Loop& loop, std::function<void()> check)
    : check_(std::move(check)), check_soon_(loop, [this] { Check(); }), check_regularly_(loop, [this] { Check(); }) {}

Result<std::unique_ptr<FileWatch>> FileWatch::Begin(event::Loop& loop, const std::vector<std::string>& files,
                                                    std::function<void()> check) {
  constexpr std::uint32_t kChanges = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE;
  std::unique_ptr<FileWatch> watch(new FileWatch(loop, std::move(check)));
  std::set<std::string> directories;
  for (const std::string& file : files) directories.insert(DirectoryOf(file));
  for (const std::string& directory : directories) {
    watch->watches_.push_back(TRY(event::InotifyWatch::Create(loop, directory, kChanges,
                                                              [self = watch.get()](const event::FileEvent&) {
                                                                self->check_soon_.After(kPauseAfterChange);
                                                              }),
                                  "watching " + directory));
  }
  watch->check_regularly_.After(kCheckUnwatched);
  return watch;
}

void FileWatch::Check() {
  check_regularly_.After(kCheckUnwatched);
  check_();
}

}  // namespace pintle::serving
