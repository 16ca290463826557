// SPDX-License-Identifier: Apache-2.0
#include "base/output.h"

#include <errno.h>
#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "base/printable.h"
#include "base/result.h"

namespace pintle {
namespace {

void ReportFailedWrite() {
  const Error error = Error::FromErrno("cannot write to standard output");
  PrintToStderr(fmt::format("{}: {}\n", ::program_invocation_short_name, error.message()));
}

}  // namespace

void Print(std::string_view text) {
  if (std::ferror(stdout) != 0) return;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) ReportFailedWrite();
}

// Messages may contain names from configs, disks and clusters, which anyone may have written.
void PrintToStderr(std::string_view text) {
  const std::string shown = PrintableLines(text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

bool FlushOutput() {
  if (std::ferror(stdout) != 0) return false;
  if (std::fflush(stdout) == 0) return true;
  ReportFailedWrite();
  return false;
}

}  // namespace pintle
