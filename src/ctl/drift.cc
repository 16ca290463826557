// SPDX-License-Identifier: Apache-2.0
#include "ctl/drift.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "ctl/masking.h"
#include "ctl/plan_text.h"
#include "ctl/text_diff.h"
#include "host/authorized_keys.h"

namespace pintle::ctl {
namespace {

bool IsPath(std::string_view about) { return about.starts_with('/'); }

// The contents of a regular file; nothing else has any.
Result<std::optional<std::string>> ContentsAt(const Root& root, const std::string& path) {
  const auto status = TRY(root.Status(path));
  if (!status || !S_ISREG(status->st_mode)) return std::nullopt;
  return TRY(root.ReadFile(path));
}

std::string KeysDifference(const Root& root, const ignition::Config& config, const std::string& user) {
  const auto& users = config.passwd.users;
  const auto wanted = std::find_if(users.begin(), users.end(), [&](const auto& one) { return one.name == user; });
  const auto have = host::ObserveAuthorizedKeys(root, user);
  if (wanted == users.end() || !have) return "";
  const auto text = [](const std::vector<std::string>& keys) {
    return keys.empty() ? std::string() : fmt::format("{}\n", fmt::join(keys, "\n"));
  };
  return UnifiedDiff(text(wanted->ssh_authorized_keys), *have ? text((*have)->keys) : "");
}

// A difference that cannot be shown is no reason not to tell the rest.
std::string DifferenceOf(const Root& root, const ignition::Config& config, const std::string& about) {
  if (!IsPath(about)) return KeysDifference(root, config, about);
  const auto wanted = WantedContents(config, about);
  const auto have = ContentsAt(root, about);
  if (!wanted || !have || !*wanted || !*have) return "";
  return ContentsText(about, **wanted, **have);
}

Result<std::vector<std::string>> RemediesFor(const Machine& machine, const std::string& about) {
  std::vector<std::string> remedies = {fmt::format("pintle restore{} {}", machine.RootWords(), about)};
  if (!IsPath(about)) return remedies;
  const auto status = TRY(machine.root().Status(about));
  if (status && S_ISREG(status->st_mode)) {
    remedies.push_back(fmt::format("pintle adopt{} {}", machine.RootWords(), about));
  }
  return remedies;
}

std::string DriftText(const Drift& drift) {
  std::string text = Printable(drift.about) + "\n";
  for (const std::string& problem : drift.problems) text += fmt::format("  {}\n", Printable(problem));
  if (!drift.written_by.empty()) text += fmt::format("  {}\n", Printable(WritersText(drift.written_by)));
  if (!drift.difference.empty()) text += "  --- as the config says\n  +++ as it is\n";
  for (const std::string_view line : LinesOf(drift.difference)) text += fmt::format("  {}\n", line);
  text += fmt::format("  to mend it:  {}\n", Printable(drift.remedies.front()));
  if (drift.remedies.size() > 1) text += fmt::format("  to keep it:  {}\n", Printable(drift.remedies.back()));
  return text;
}

}  // namespace

Result<std::optional<std::string>> WantedContents(const ignition::Config& config, std::string_view path) {
  std::optional<std::string> contents;
  TRY(plan::ForEachContents(config, [&](const std::string& other, const plan::ContentsReader& read) -> Result<> {
    if (other == path) contents = TRY(read());
    return {};
  }));
  return contents;
}

std::string WritersText(const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("written by {}", fmt::join(names, ", "));
}

Result<Drifts> FindDrifts(const Machine& machine, const change::CurrentConfig& config) {
  return DriftsOf(machine, config, TRY(change::FindingsOn(machine.host(), config)));
}

Result<Drifts> DriftsOf(const Machine& machine, const change::CurrentConfig& config,
                        const std::vector<change::Finding>& findings) {
  Drifts drifts;
  drifts.config = config.object.metadata.name;
  drifts.text = change::TextOf(findings, drifts.config);
  for (const change::Finding& finding : findings) {
    if (drifts.all.empty() || drifts.all.back().about != finding.about) {
      Drift& drift = drifts.all.emplace_back();
      drift.about = finding.about;
      drift.difference = DifferenceOf(machine.root(), config.ignition, finding.about);
      drift.remedies = TRY(RemediesFor(machine, finding.about));
      const auto writers = config.writers.find(finding.about);
      if (writers != config.writers.end()) drift.written_by = writers->second;
    }
    drifts.all.back().problems.push_back(finding.text);
  }
  return drifts;
}

std::string DriftsText(const Drifts& drifts) {
  if (drifts.all.empty()) return "";
  std::string text = Printable(drifts.text) + "\n";
  for (const Drift& drift : drifts.all) text += "\n" + DriftText(drift);
  return text;
}

}  // namespace pintle::ctl
