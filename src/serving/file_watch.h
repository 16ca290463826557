// SPDX-License-Identifier: Apache-2.0
#pragma once

// Watches files that other programs may replace in any way: in place, by a rename, or by the symlink of a mounted
// Secret.
//
//     auto watch = TRY(FileWatch::Begin(loop, {certificate, key}, [] { read them and compare }));
//
// A call of `check` means only that the files may have changed.  To miss no change, begin to watch before the first
// read.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "event/loop.h"
#include "event/watches.h"

namespace pintle::serving {

class FileWatch {
 public:
  // Calls `check` from now on whenever the files may have changed.
  static Result<std::unique_ptr<FileWatch>> Begin(event::Loop& loop, const std::vector<std::string>& files,
                                                  std::function<void()> check);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

 private:
  FileWatch(event::Loop& loop, std::function<void()> check);

  void Check();

  const std::function<void()> check_;
  std::vector<event::InotifyWatch> watches_;
  event::Timer check_soon_;       // Fires soon after a change in the directory of one of the files.
  event::Timer check_regularly_;  // For changes elsewhere, such as in a directory to which a symlink leads.
};

}  // namespace pintle::serving
