// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that others replace as they like while a program goes by them: in place, by a rename, or by the link that a
// mounted Secret has.
//
//     auto watch = TRY(FileWatch::Begin(loop, {certificate, key}, [] { read them and compare }));
//
// It says that they may have changed, and not that they have.  Who begins it before the first reading misses no change.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "event/loop.h"
#include "event/watches.h"

namespace pintle::controller {

class FileWatch {
 public:
  static Result<std::unique_ptr<FileWatch>> Begin(event::Loop& loop, const std::vector<std::string>& files,
                                                  std::function<void()> look);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

 private:
  FileWatch(event::Loop& loop, std::function<void()> look);

  void Look();

  const std::function<void()> look_;
  std::vector<event::InotifyWatch> watches_;
  event::Timer settled_;
  event::Timer again_;
};

}  // namespace pintle::controller
