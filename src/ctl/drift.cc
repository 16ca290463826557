// SPDX-License-Identifier: Apache-2.0
#include "ctl/drift.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string_view>

#include "base/printable.h"
#include "change/text_diff.h"

namespace pintle::ctl {
namespace {

using change::Drift;

std::string RemedyText(const std::string& command) {
  const std::string_view purpose = command.starts_with("pintle restore") ? "to restore it:"
                                   : command.starts_with("pintle adopt") ? "to keep it:"
                                                                         : "to ignore it:";
  return fmt::format("  {}  {}\n", purpose, Printable(command));
}

std::string DriftText(const Drift& drift) {
  std::string text = Printable(drift.about) + "\n";
  if (drift.ignored_until) text += fmt::format("  ignored until {}\n", *drift.ignored_until);
  for (const std::string& problem : drift.problems) text += fmt::format("  {}\n", Printable(problem));
  for (const std::string& detail : drift.details) text += fmt::format("  {}\n", Printable(detail));
  if (!drift.written_by.empty()) text += fmt::format("  {}\n", Printable(WritersText(drift.written_by)));
  if (!drift.difference.empty()) text += "  --- as the config wants it\n  +++ as it is\n";
  for (const std::string_view line : change::LinesOf(drift.difference)) text += fmt::format("  {}\n", line);
  for (const std::string& remedy : drift.remedies) text += RemedyText(remedy);
  return text;
}

}  // namespace

std::string WritersText(const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("written by {}", fmt::join(names, ", "));
}

std::string DriftsText(const change::Drifts& drifts) {
  if (drifts.all.empty()) return "";
  std::string text = drifts.text.empty() ? "" : Printable(drifts.text) + "\n\n";
  for (const Drift& drift : drifts.all) text += (&drift == &drifts.all.front() ? "" : "\n") + DriftText(drift);
  return text;
}

}  // namespace pintle::ctl
