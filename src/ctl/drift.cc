// SPDX-License-Identifier: Apache-2.0
#include "ctl/drift.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ctl/masking.h"
#include "ctl/plan_text.h"
#include "ctl/text_diff.h"
#include "host/authorized_keys.h"
#include "host/seen_files.h"

namespace pintle::ctl {
namespace {

bool IsPath(std::string_view about) { return about.starts_with('/'); }

// Contents that are longer than anyone reads are not shown, and not read either.
constexpr off_t kMostShown = 4 << 20;

// Where the files are noted that were seen.  It is gone with the boot, as it must be.
constexpr const char* kRunDirectory = "/run/pintle";
constexpr const char* kSeenFiles = "/run/pintle/seen-files";

// How the contents of a regular file differ; nothing else has any.
Result<std::string> ContentsDifference(const Root& root, const std::string& path, const std::string& wanted) {
  const auto status = TRY(root.Status(path));
  if (!status || !S_ISREG(status->st_mode)) return std::string();
  if (status->st_size > kMostShown) {
    return fmt::format("contents too long to show differ: {} bytes before, {} after\n", wanted.size(), status->st_size);
  }
  return ContentsText(path, wanted, TRY(root.ReadFile(path)));
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

// Goes through the config once, however much there is to show.  A difference that cannot be shown is no reason not to
// tell the rest.
Result<> AddDifferences(const Root& root, const ignition::Config& config, std::vector<Drift>& drifts) {
  std::map<std::string_view, Drift*> by_path;
  for (Drift& drift : drifts) {
    if (IsPath(drift.about)) {
      by_path.emplace(drift.about, &drift);
    } else {
      drift.difference = KeysDifference(root, config, drift.about);
    }
  }
  return plan::ForEachContents(config, [&](const std::string& path, const plan::ContentsReader& read) -> Result<> {
    const auto found = by_path.find(path);
    if (found == by_path.end()) return {};
    const auto wanted = read();
    auto difference = wanted ? ContentsDifference(root, path, *wanted) : Result<std::string>("");
    if (difference) found->second->difference = *std::move(difference);
    return {};
  });
}

std::vector<std::string> RemediesFor(const Machine& machine, const std::string& about) {
  std::vector<std::string> remedies = {fmt::format("pintle restore{} {}", machine.RootWords(), about)};
  if (!IsPath(about)) return remedies;
  const auto status = machine.root().Status(about);
  if (status && *status && S_ISREG((*status)->st_mode)) {
    remedies.push_back(fmt::format("pintle adopt{} {}", machine.RootWords(), about));
  }
  return remedies;
}

std::string DriftText(const Drift& drift) {
  std::string text = Printable(drift.about) + "\n";
  for (const std::string& problem : drift.problems) text += fmt::format("  {}\n", Printable(problem));
  for (const std::string& detail : drift.details) text += fmt::format("  {}\n", Printable(detail));
  if (!drift.written_by.empty()) text += fmt::format("  {}\n", Printable(WritersText(drift.written_by)));
  if (!drift.difference.empty()) text += "  --- as the config says\n  +++ as it is\n";
  for (const std::string_view line : LinesOf(drift.difference)) text += fmt::format("  {}\n", line);
  text += fmt::format("  to mend it:  {}\n", Printable(drift.remedies.front()));
  if (drift.remedies.size() > 1) text += fmt::format("  to keep it:  {}\n", Printable(drift.remedies.back()));
  return text;
}

}  // namespace

std::string WritersText(const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("written by {}", fmt::join(names, ", "));
}

Result<Drifts> FindDrifts(const Machine& machine, const change::CurrentConfig& config) {
  if (!machine.IsRunning()) return DriftsOf(machine, config, TRY(change::FindingsOn(machine.host(), config)));
  const host::Host host = machine.host();
  host::SeenFiles seen = host::SeenFiles::Load(host.root, kSeenFiles, host.clock);
  auto findings = TRY(change::FindingsOn(host, config, &seen));
  // Without it the next time takes longer, and that is all.
  if (machine.root().MakeDirectories(kRunDirectory)) static_cast<void>(seen.Save(machine.root(), kSeenFiles));
  return DriftsOf(machine, config, std::move(findings));
}

Result<Drifts> DriftsOf(const Machine& machine, const change::CurrentConfig& config,
                        std::vector<change::Finding> findings) {
  TRY(change::AddDetails(machine.root(), config.ignition, findings));
  Drifts drifts;
  drifts.config = config.object.metadata.name;
  drifts.text = change::TextOf(findings, drifts.config);
  for (change::Finding& finding : findings) {
    if (drifts.all.empty() || drifts.all.back().about != finding.about) {
      Drift& drift = drifts.all.emplace_back();
      drift.about = finding.about;
      drift.remedies = RemediesFor(machine, finding.about);
      const auto writers = config.writers.find(finding.about);
      if (writers != config.writers.end()) drift.written_by = writers->second;
    }
    drifts.all.back().problems.push_back(std::move(finding.text));
    if (!finding.detail.empty()) drifts.all.back().details.push_back(std::move(finding.detail));
  }
  TRY(AddDifferences(machine.root(), config.ignition, drifts.all));
  return drifts;
}

std::string DriftsText(const Drifts& drifts) {
  if (drifts.all.empty()) return "";
  std::string text = Printable(drifts.text) + "\n";
  for (const Drift& drift : drifts.all) text += "\n" + DriftText(drift);
  return text;
}

}  // namespace pintle::ctl
