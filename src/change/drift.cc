// SPDX-License-Identifier: Apache-2.0
#include "change/drift.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "change/contents_text.h"
#include "change/finalize_failure.h"
#include "change/first_difference.h"
#include "change/private_lines.h"
#include "change/text_diff.h"
#include "host/authorized_keys.h"
#include "host/files/directories.h"
#include "host/files/seen_files.h"

namespace pintle::change {
namespace {

bool IsPath(std::string_view about) { return about.starts_with('/'); }

// The record of the files that were read is in this directory, so it is lost at each boot.
constexpr const char* kRunDirectory = "/run/pintle";

// Returns a diff of the contents of a regular file, and "" for anything else.
Result<std::string> ContentsDifference(const Root& root, const std::string& path, const WalkPieces& contents,
                                       bool is_private, PrivateLines private_lines) {
  const auto status = TRY(root.Status(path));
  if (!status || !S_ISREG(status->st_mode)) return std::string();
  const auto actual_size = static_cast<std::size_t>(status->st_size);
  const bool is_long = actual_size > kMostBytesInDiff;
  std::string wanted;
  std::size_t size = 0;
  TRY(contents([&](std::string_view piece) {
    size += piece.size();
    if (!is_long && size <= kMostBytesInDiff) wanted += piece;
    return true;
  }));
  if (is_long || size > kMostBytesInDiff) {
    // The file may differ in its mode or owner alone.
    if (size == actual_size && TRY(FirstDifference(root, path, contents)).empty()) return std::string();
    return TooLongText(size, actual_size);
  }
  const std::string on_disk = TRY(host::ReadWhole(root, path, kMostBytesInDiff));
  const bool is_left_out = private_lines == PrivateLines::kLeftOut && (is_private || IsPrivate(status->st_mode));
  return is_left_out ? PrivateText(wanted, on_disk) : ContentsText(path, wanted, on_disk);
}

// Returns a diff of the SSH keys of a user.  Returns "" if the config has no such user, or if the keys on the machine
// cannot be read.
std::string KeysDifference(const Root& root, const ignition::Config& config, const std::string& user) {
  const auto& users = config.passwd.users;
  const auto wanted = std::find_if(users.begin(), users.end(), [&](const auto& each) { return each.name == user; });
  if (wanted == users.end()) return "";
  const auto have = host::ObserveAuthorizedKeys(root, user);
  if (!have) return "";
  const auto text = [](const std::vector<std::string>& keys) {
    return keys.empty() ? std::string() : fmt::format("{}\n", fmt::join(keys, "\n"));
  };
  return UnifiedDiff(text(wanted->ssh_authorized_keys), *have ? text((*have)->keys) : "");
}

// Walks through the config once, however many things differ.  If a file cannot be compared, its difference is empty.
Result<> AddDifferences(const Root& root, const ignition::Config& config, PrivateLines private_lines,
                        std::vector<ReportedThing>& things) {
  const std::set<std::string_view> private_paths = PrivatePaths(config);
  std::map<std::string_view, ReportedThing*> by_path;
  for (ReportedThing& thing : things) {
    if (IsPath(thing.about)) {
      by_path.emplace(thing.about, &thing);
    } else {
      thing.difference = KeysDifference(root, config, thing.about);
    }
  }
  return plan::ForEachContents(config, [&](const std::string& path, const WalkPieces& contents) -> Result<> {
    const auto found = by_path.find(path);
    if (found == by_path.end()) return {};
    auto difference = ContentsDifference(root, path, contents, private_paths.contains(path), private_lines);
    if (difference) found->second->difference = *std::move(difference);
    return {};
  });
}

bool IsFile(const Root& root, const std::string& about) {
  if (!IsPath(about)) return false;
  const auto status = root.Status(about);
  return status && *status && S_ISREG((*status)->st_mode);
}

constexpr std::string_view kIgnoreCommand = "pintle ignore";

std::vector<std::string> RemediesFor(const Root& root, const std::string& root_words, const std::string& about) {
  const std::string thing = ShellOperand(about);
  std::vector<std::string> remedies = {fmt::format("pintle restore{} {}", root_words, thing)};
  if (IsFile(root, about)) remedies.push_back(fmt::format("pintle adopt{} {}", root_words, thing));
  remedies.push_back(fmt::format("{}{} --until 1d {}", kIgnoreCommand, root_words, thing));
  return remedies;
}

void EraseIgnoreRemedy(ReportedThing& thing) {
  std::erase_if(thing.remedies, [](const std::string& remedy) { return remedy.starts_with(kIgnoreCommand); });
}

}  // namespace

void RemoveIgnoreAdvice(const Things& things, VerifyReport& report) {
  for (ReportedThing& thing : report.things) {
    if (things.contains(thing.about)) EraseIgnoreRemedy(thing);
  }
}

VerifyReport MarkIgnored(VerifyReport report, const Ignored& ignored, const std::string& root_words) {
  std::vector<Finding> counted;
  for (ReportedThing& thing : report.things) {
    const auto until = IgnoredUntil(ignored, thing.about);
    if (until) {
      thing.ignored_until = ToRfc3339(*until);
      EraseIgnoreRemedy(thing);
      thing.remedies.push_back(fmt::format("{}{} --end {}", kIgnoreCommand, root_words, ShellOperand(thing.about)));
      continue;
    }
    for (const std::string& problem : thing.problems) counted.push_back({thing.about, problem, ""});
  }
  report.text = TextOf(counted, report.config);
  return report;
}

std::size_t VerifyReport::count() const {
  std::size_t count = 0;
  for (const ReportedThing& thing : things) count += thing.ignored_until ? 0 : thing.problems.size();
  return count;
}

Result<FreshFindings> ObserveThisMachine(const host::Host& host, const plan::ParsedConfig& config) {
  host::SeenFiles seen = host::SeenFiles::Load(host.root, host::kSeenFilesPath, host.clock);
  auto findings = TRY(FindingsOn(host, config, &seen));
  const bool has_other_os =
      std::any_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.about == kOs; });
  if (has_other_os) AddCause(FinalizeFailure(), findings);
  return FreshFindings{std::move(findings), std::move(seen)};
}

void KeepSeenFiles(const Root& root, const host::SeenFiles& seen) {
  // A failure only means that the next look takes longer.
  if (root.MakeDirectories(kRunDirectory)) static_cast<void>(seen.Save(root, host::kSeenFilesPath));
}

Result<std::vector<Finding>> FindingsOnThisMachine(const host::Host& host, const plan::ParsedConfig& config) {
  FreshFindings fresh = TRY(ObserveThisMachine(host, config));
  KeepSeenFiles(host.root, fresh.seen);
  return std::move(fresh.findings);
}

Result<VerifyReport> VerifyReportOf(const Root& root, const CurrentConfig& config, std::vector<Finding> findings,
                                    const Ignored& ignored, const std::string& root_words) {
  return VerifyReportOf(root, config, std::move(findings), ignored, root_words, PrivateLines::kLeftOut);
}

Result<VerifyReport> VerifyReportOf(const Root& root, const CurrentConfig& config, std::vector<Finding> findings,
                                    const Ignored& ignored, const std::string& root_words, PrivateLines private_lines) {
  TRY(AddDetails(root, config.ignition, findings));
  VerifyReport report;
  report.config = config.object.metadata.name;
  for (Finding& finding : findings) {
    if (report.things.empty() || report.things.back().about != finding.about) {
      ReportedThing& thing = report.things.emplace_back();
      thing.about = finding.about;
      thing.remedies = RemediesFor(root, root_words, finding.about);
      const auto writers = config.writers.find(finding.about);
      if (writers != config.writers.end()) thing.written_by = writers->second;
    }
    report.things.back().problems.push_back(std::move(finding.text));
    if (!finding.detail.empty()) report.things.back().details.push_back(std::move(finding.detail));
  }
  TRY(AddDifferences(root, config.ignition, private_lines, report.things));
  return MarkIgnored(std::move(report), ignored, root_words);
}

}  // namespace pintle::change
