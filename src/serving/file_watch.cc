// SPDX-License-Identifier: Apache-2.0
#include "serving/file_watch.h"

#include <sys/inotify.h>

#include <chrono>
#include <set>
#include <utility>

namespace pintle::serving {
namespace {

// The wait between a change and the look: a certificate and its key are seldom replaced at the same instant.
constexpr auto kPauseAfterChange = std::chrono::milliseconds(200);
// The time between regular looks: some replacements happen in directories that are not watched.
constexpr auto kCheckUnwatched = std::chrono::seconds(30);

std::string DirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

FileWatch::FileWatch(event::Loop& loop, std::function<void()> look)
    : look_(std::move(look)), look_soon_(loop, [this] { Look(); }), look_regularly_(loop, [this] { Look(); }) {}

Result<std::unique_ptr<FileWatch>> FileWatch::Begin(event::Loop& loop, const std::vector<std::string>& files,
                                                    std::function<void()> look) {
  constexpr std::uint32_t kChanges = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE;
  std::unique_ptr<FileWatch> watch(new FileWatch(loop, std::move(look)));
  std::set<std::string> directories;
  for (const std::string& file : files) directories.insert(DirectoryOf(file));
  for (const std::string& directory : directories) {
    watch->watches_.push_back(TRY(event::InotifyWatch::Create(loop, directory, kChanges,
                                                              [self = watch.get()](const event::FileEvent&) {
                                                                self->look_soon_.After(kPauseAfterChange);
                                                              }),
                                  "watching " + directory));
  }
  watch->look_regularly_.After(kCheckUnwatched);
  return watch;
}

void FileWatch::Look() {
  look_regularly_.After(kCheckUnwatched);
  look_();
}

}  // namespace pintle::serving
