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

std::string TextOfThing(const ReportedThing& thing) {
  std::string text = Printable(thing.about) + "\n";
  if (thing.ignored_until) text += fmt::format("  ignored until {}\n", *thing.ignored_until);
  for (const std::string& problem : thing.problems) text += fmt::format("  {}\n", Printable(problem));
  for (const std::string& detail : thing.details) text += fmt::format("  {}\n", Printable(detail));
  if (!thing.written_by.empty()) text += fmt::format("  {}\n", Printable(WritersText(thing.written_by)));
  const std::string difference = DifferenceText(thing);
  for (const std::string_view line : change::LinesOf(difference)) text += fmt::format("  {}\n", line);
  for (const std::string& remedy : thing.remedies) text += RemedyText(remedy);
  return text;
}

}  // namespace

std::string DifferenceText(const ReportedThing& thing) {
  return thing.difference.empty() ? ""
                                  : "--- as the config wants it\n+++ as it is on this machine\n" + thing.difference;
}

std::string WritersText(const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("written by {}", fmt::join(names, ", "));
}

std::string VerifyReportText(const change::VerifyReport& report) {
  if (report.things.empty()) return "";
  std::string text = report.text.empty() ? "" : Printable(report.text) + "\n\n";
  for (const ReportedThing& thing : report.things)
    text += (&thing == &report.things.front() ? "" : "\n") + TextOfThing(thing);
  return text;
}

}  // namespace pintle::ctl
