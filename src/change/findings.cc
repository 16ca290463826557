// SPDX-License-Identifier: Apache-2.0
#include "change/findings.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "base/digest.h"
#include "base/printable.h"
#include "change/first_difference.h"
#include "change/missing_parts.h"
#include "change/original_passwords.h"
#include "change/owners.h"
#include "change/private_lines.h"
#include "host/authorized_keys.h"
#include "host/files/files.h"
#include "host/files/observer.h"
#include "host/ostree/deployments.h"
#include "host/password_hash.h"

namespace pintle::change {
namespace {

using host::FilePut;
using plan::Step;
using resource::EntryKind;
using FileState = resource::FileEntry::State;

bool IsWrittenByOthers(std::string_view path) {
  return std::find(kWrittenByOthers.begin(), kWrittenByOthers.end(), path) != kWrittenByOthers.end();
}

// Formats a mode as Go does: "-rwxr-xr-x/493/0755".  Go's numbers for the kind and the special bits are not those of
// the kernel.
std::string GoModeText(const FileState& state) {
  struct Bit {
    bool is_set;
    std::uint32_t value;
    char letter;
  };
  const auto permissions = static_cast<std::uint32_t>(state.permissions);
  const std::array<Bit, 5> bits = {{
      {state.kind == EntryKind::kDirectory, 1U << 31, 'd'},
      {state.kind == EntryKind::kLink, 1U << 27, 'L'},
      {(permissions & S_ISUID) != 0, 1U << 23, 'u'},
      {(permissions & S_ISGID) != 0, 1U << 22, 'g'},
      {(permissions & S_ISVTX) != 0, 1U << 20, 't'},
  }};
  std::uint32_t mode = permissions & 0777;
  std::string letters;
  for (const Bit& bit : bits) {
    if (!bit.is_set) continue;
    mode |= bit.value;
    letters += bit.letter;
  }
  if (letters.empty()) letters += '-';
  constexpr std::string_view kLetters = "rwxrwxrwx";
  for (std::size_t i = 0; i < kLetters.size(); ++i) letters += (permissions >> (8 - i) & 1) != 0 ? kLetters[i] : '-';
  return fmt::format("{}/{}/0{:o}", letters, mode, mode);
}

std::string ContentMismatchText(std::string_view path) {
  return Printable(fmt::format("content mismatch for file \"{}\"", path));
}

constexpr std::string_view kUnitFiles = "/etc/systemd/system/";

bool IsMask(const FileState& state) { return state.kind == EntryKind::kLink && state.target == "/dev/null"; }

// A drop-in that the config wants to be empty may be missing.
bool MayBeMissing(std::string_view path, const FileState& want) {
  static const std::string kNothing = Sha256("").hex();
  return path.starts_with(kUnitFiles) && path.find(".d/") != std::string_view::npos && want.sha256 == kNothing;
}

// Returns a text such as "2 keys expected, 3 present: 1 missing, 2 too many".
std::string KeyCountsText(const std::vector<std::string>& expected, const std::vector<std::string>& have) {
  const auto missing_in = [](const auto& all, const auto& others) {
    const std::set<std::string_view> known(others.begin(), others.end());
    return std::count_if(all.begin(), all.end(), [&](const std::string& key) { return !known.contains(key); });
  };
  return fmt::format("{} keys expected, {} present: {} missing, {} too many", expected.size(), have.size(),
                     missing_in(expected, have), missing_in(have, expected));
}

class Finder {
 public:
  Finder(const host::Host& host, host::SeenFiles* seen)
      : host_(host), owners_(host.root), observer_(host.root), seen_(seen) {}

  Result<> Look(const Step& step) {
    return std::visit([&](const auto& put) { return LookAt(put); }, step);
  }

  std::vector<Finding> Take() && { return std::move(findings_); }

 private:
  void Add(const std::string& about, std::string_view text, std::string_view detail = "") {
    // Names and targets of links may hold any bytes.
    findings_.push_back({about, Printable(text), Printable(detail)});
  }

  // A thing that cannot be observed becomes a finding, so that it does not hide the findings on other things.  But if a
  // service such as systemd does not answer at all, the whole look fails.
  Result<> AddUnseen(const std::string& about, const std::string& text, const Error& why) {
    if (why.kind() == ErrorKind::kUnavailable) return why;
    Add(about, fmt::format("{}: {}", text, why.message()));
    return {};
  }

  Result<std::optional<FileState>> Observe(const std::string& path) {
    return seen_ == nullptr ? observer_.Observe(path) : observer_.Observe(path, *seen_);
  }

  Result<> LookAt(FilePut put) {
    if (IsWrittenByOthers(put.key)) return {};
    if (!put.want) {
      LookForMask(put.key);
      return {};
    }
    if (const auto resolved = owners_.Resolve(put); !resolved) {
      Add(put.key, resolved.error().message());
      return {};
    }
    const FileState& want = *put.want;
    const auto have = Observe(put.key);
    if (!have) {
      Add(put.key, fmt::format("could not read file \"{}\": {}", put.key, have.error().message()));
    } else if (*have) {
      Compare(put.key, want, **have);
      CompareLabels(put.key, want, **have);
    } else if (!MayBeMissing(put.key, want)) {
      AddMissing(put.key, want);
    }
    return {};
  }

  void AddMissing(const std::string& path, const FileState& want) {
    const std::string reason = fmt::format("lstat {}: no such file or directory", path);
    Add(path, want.kind == EntryKind::kLink
                  ? fmt::format("state validation: error while evaluation symlink for path \"{}\": {}", path, reason)
                  : fmt::format("could not stat file \"{}\": {}", path, reason));
  }

  // If the config wants a path to be absent, only a link that masks a unit is a finding.  Anything else at the path
  // belongs to others.
  void LookForMask(const std::string& path) {
    if (!path.starts_with(kUnitFiles)) return;
    const auto have = Observe(path);
    if (have && *have && IsMask(**have)) {
      Add(path, fmt::format("state validation: invalid unit masked setting. path: \"{}\"; expected: not masked; "
                            "received: {}",
                            path, (*have)->target));
    }
  }

  void CompareLabels(const std::string& path, const FileState& want, const FileState& have) {
    const auto wrong = host::FindWrongLabel(host_.labels, path, want, have);
    if (!wrong) return;
    Add(path, fmt::format("label mismatch for file \"{}\"; expected: {}; received: {}", path, wrong->expected,
                          wrong->actual.empty() ? "none" : wrong->actual));
  }

  void Compare(const std::string& path, const FileState& want, const FileState& have) {
    if (want.kind == EntryKind::kLink) {
      if (have.kind == EntryKind::kLink && have.target == want.target) return;
      const std::string received = have.kind == EntryKind::kLink ? have.target : path;
      return Add(path, fmt::format("state validation: invalid unit masked setting. path: \"{}\"; expected: {}; "
                                   "received: {}",
                                   path, want.target, received));
    }
    if (have.kind != want.kind || have.permissions != want.permissions) {
      Add(path, fmt::format("mode mismatch for file: \"{}\"; expected: {}; received: {}", path, GoModeText(want),
                            GoModeText(have)));
    }
    if (have.kind != want.kind) return;
    if (have.sha256 != want.sha256) Add(path, ContentMismatchText(path));
    if (have.user.id != want.user.id || have.group.id != want.group.id) {
      Add(path, fmt::format("owner mismatch for file \"{}\"; expected: {}:{}; received: {}:{}", path, want.user.id,
                            want.group.id, have.user.id, have.group.id));
    }
  }

  Result<> LookAt(const resource::Put<resource::UnitState>& put) {
    if (put.want->enablement == resource::Enablement::kPreset) return {};
    const auto status = host_.systemd.Observe(put.key);
    if (!status) return AddUnseen(put.key, fmt::format("could not look up unit \"{}\"", put.key), status.error());
    const bool wants_enabled = put.want->enablement == resource::Enablement::kEnabled;
    // A unit that is enabled only until the next boot is a finding, whether the config wants it enabled or disabled.
    constexpr auto kNotEnabled = std::to_array<std::string_view>(
        {"disabled", "enabled-runtime", "linked", "linked-runtime", "masked", "masked-runtime", "not-found", ""});
    constexpr auto kEnabled = std::to_array<std::string_view>({"enabled", "enabled-runtime"});
    const auto is_one_of = [&](const auto& states) {
      return std::find(states.begin(), states.end(), status->file_state) != states.end();
    };
    if (wants_enabled ? is_one_of(kNotEnabled) : is_one_of(kEnabled)) {
      Add(put.key, fmt::format("unit \"{}\" expected enabled={}, but systemd reports \"{}\"", put.key, wants_enabled,
                               status->file_state));
    }
    return {};
  }

  Result<> LookAt(const resource::Put<resource::UnitLinks>&) { return {}; }
  Result<> LookAt(const resource::Put<resource::AuthorizedKeys>& put) {
    const auto have = host::ObserveAuthorizedKeys(host_.root, put.key);
    if (!have) return AddUnseen(put.key, fmt::format("could not read SSH keys of {}", put.key), have.error());
    if (host::Matches(put.want, *have)) return {};
    const auto keys_of = [](const auto& state) { return state ? state->keys : std::vector<std::string>(); };
    std::string detail = KeyCountsText(keys_of(put.want), keys_of(*have));
    if (*have && (*have)->belongs_to_other_user) detail += "; the folder of the keys belongs to another user";
    Add(put.key, fmt::format("SSH keys of {} differ", put.key), std::move(detail));
    return {};
  }
  Result<> LookAt(const resource::Put<resource::PasswordHash>& put) {
    const auto have = host::ObservePasswordHash(host_.root, put.key);
    if (!have) return AddUnseen(put.key, fmt::format("could not read password hash of {}", put.key), have.error());
    if (!host::Matches(put.want, *have)) Add(put.key, fmt::format("password hash of {} differs", put.key));
    return {};
  }
  Result<> LookAt(const resource::Put<resource::Deployment>& put) {
    if (host_.deployments == nullptr) return {};
    const auto state = host_.deployments->Observe();
    if (!state) return AddUnseen(std::string(kOs), "could not read the deployments", state.error());
    if (!state->booted) return {};
    const host::DeployedImage& have = *state->booted;
    const std::string& wanted = put.want->image;
    if (!wanted.empty() && !host::IsOfImage(have, wanted)) {
      Add(std::string(kOs), fmt::format("expected target osImageURL \"{}\", have \"{}\"", wanted, host::NameOf(have)));
    }
    std::vector<std::string> missing;
    for (const std::string& argument : put.want->kernel_arguments) {
      const auto& all = have.kernel_arguments;
      if (std::find(all.begin(), all.end(), argument) == all.end()) missing.push_back(argument);
    }
    if (!missing.empty())
      Add(std::string(kOs), fmt::format("missing expected kernel arguments: [{}]", fmt::join(missing, " ")));
    const plan::MissingParts parts = TRY(FindMissingParts(host_, have, *put.want));
    for (const std::string& problem : parts.problems) Add(std::string(kOs), problem);
    return {};
  }

  const host::Host& host_;
  Owners owners_;
  host::Observer observer_;
  host::SeenFiles* const seen_;
  std::vector<Finding> findings_;
};

}  // namespace

Result<std::vector<Finding>> FindingsOn(const host::Host& host, const plan::ParsedConfig& config,
                                        host::SeenFiles* seen) {
  auto findings = TRY(FindingsIn(host, TRY(plan::StepsFor(config, config, {})), seen));
  TRY(AddDetails(host.root, config.ignition, findings));
  AddLostPasswords(host.root, config.ignition, findings);
  return findings;
}

Result<std::vector<Finding>> FindingsIn(const host::Host& host, std::span<const Step> steps, host::SeenFiles* seen) {
  Finder finder(host, seen);
  for (const Step& step : steps) TRY(finder.Look(step));
  return std::move(finder).Take();
}

Result<> AddDetails(const Root& root, const ignition::Config& config, std::vector<Finding>& findings) {
  std::map<std::string_view, Finding*> mismatches;
  for (Finding& finding : findings) {
    if (finding.detail.empty() && finding.text == ContentMismatchText(finding.about)) {
      mismatches.emplace(finding.about, &finding);
    }
  }
  const std::set<std::string_view> private_paths = PrivatePaths(config);
  return plan::ForEachContents(config, [&](const std::string& path, const WalkPieces& contents) -> Result<> {
    const auto found = mismatches.find(path);
    if (found == mismatches.end()) return {};
    // The config decides here whether the file is private; FirstDifference() checks the file on the disk as well.  If
    // the file cannot be read any more, the finding has no detail.
    auto difference = private_paths.contains(path) ? Result<std::string>("private contents differ")
                                                   : FirstDifference(root, path, contents);
    if (difference) found->second->detail = *std::move(difference);
    return {};
  });
}

std::string TextOf(const std::vector<Finding>& findings, std::string_view config) {
  if (findings.empty()) return "";
  std::string text = fmt::format("unexpected on-disk state validating against {}: ", config);
  for (const Finding& finding : findings) {
    if (&finding != &findings.front()) text += "; ";
    text += finding.text;
  }
  return text;
}

}  // namespace pintle::change
