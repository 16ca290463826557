// SPDX-License-Identifier: Apache-2.0
#include "ctl/drift.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string_view>

#include "base/printable.h"
#include "change/text_diff.h"

namespace pintle::ctl {
namespace {

using change::ReportedThing;

std::string RemedyText(const std::string& command) {
  const std::string_view purpose = command.starts_with("pintle restore")          ? "to restore it:"
                                   : command.starts_with("pintle adopt")          ? "to keep it:"
                                   : command.find(" --end ") != std::string::npos ? "to stop ignoring it:"
                                                                                  : "to ignore it:";
  return fmt::format("  {}  {}\n", purpose, Printable(command));
}

std::string TextOfThing(const ReportedThing& drift) {
  std::string text = Printable(drift.about) + "\n";
  if (drift.ignored_until) text += fmt::format("  ignored until {}\n", *drift.ignored_until);
  for (const std::string& problem : drift.problems) text += fmt::format("  {}\n", Printable(problem));
  for (const std::string& detail : drift.details) text += fmt::format("  {}\n", Printable(detail));
  if (!drift.written_by.empty()) text += fmt::format("  {}\n", Printable(WritersText(drift.written_by)));
  const std::string difference = DifferenceText(drift);
  for (const std::string_view line : change::LinesOf(difference)) text += fmt::format("  {}\n", line);
  for (const std::string& remedy : drift.remedies) text += RemedyText(remedy);
  return text;
}

}  // namespace

std::string DifferenceText(const ReportedThing& drift) {
  return drift.difference.empty() ? ""
                                  : "--- as the config wants it\n+++ as it is on this machine\n" + drift.difference;
}

std::string WritersText(const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("written by {}", fmt::join(names, ", "));
}

std::string VerifyReportText(const change::VerifyReport& drifts) {
  if (drifts.all.empty()) return "";
  std::string text = drifts.text.empty() ? "" : Printable(drifts.text) + "\n\n";
  for (const ReportedThing& drift : drifts.all)
    text += (&drift == &drifts.all.front() ? "" : "\n") + TextOfThing(drift);
  return text;
}

}  // namespace pintle::ctl
