// SPDX-License-Identifier: Apache-2.0
#include "change/findings.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "change/owners.h"
#include "host/authorized_keys.h"
#include "host/files.h"
#include "host/password_hash.h"

namespace pintle::change {
namespace {

using host::FilePut;
using plan::Step;
using resource::EntryKind;
using FileState = resource::FileEntry::State;

// Others write these, with what they know to be right.
constexpr auto kWrittenByOthers = std::to_array<std::string_view>({
    "/etc/kubernetes/kubelet-ca.crt",
    "/etc/kubernetes/static-pod-resources/configmaps/cloud-config/ca-bundle.pem",
    "/etc/mco/internal-registry-pull-secret.json",
});

bool IsWrittenByOthers(std::string_view path) {
  return std::find(kWrittenByOthers.begin(), kWrittenByOthers.end(), path) != kWrittenByOthers.end();
}

// Modes as Go has them, which puts the kind and the special bits elsewhere than the kernel: "-rwxr-xr-x/493/0755".
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

class Finder {
 public:
  explicit Finder(const host::Host& host) : host_(host) {}

  Result<> Look(const Step& step) {
    return std::visit([&](const auto& put) { return LookAt(put); }, step);
  }

  std::vector<Finding> Take() && { return std::move(findings_); }

 private:
  void Add(const std::string& about, std::string text) { findings_.push_back({about, std::move(text)}); }

  Result<> LookAt(FilePut put) {
    if (!put.want || IsWrittenByOthers(put.key)) return {};
    TRY(ResolveOwners(host_.root, put));
    const FileState& want = *put.want;
    auto have = host::Observe(host_.root, put.key);
    if (!have) {
      Add(put.key, fmt::format("could not read file \"{}\": {}", put.key, have.error().message()));
    } else if (!*have) {
      Add(put.key, fmt::format("could not stat file \"{}\": lstat {}: no such file or directory", put.key, put.key));
    } else {
      Compare(put.key, want, **have);
    }
    return {};
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
    if (have.sha256 != want.sha256) Add(path, fmt::format("content mismatch for file \"{}\"", path));
    if (have.user.id != want.user.id || have.group.id != want.group.id) {
      Add(path, fmt::format("owner mismatch for file \"{}\"; expected: {}:{}; received: {}:{}", path, want.user.id,
                            want.group.id, have.user.id, have.group.id));
    }
  }

  Result<> LookAt(const resource::Put<resource::UnitState>& put) {
    if (put.want->enablement == resource::Enablement::kPreset) return {};
    const host::UnitStatus status = TRY(host_.systemd.Observe(put.key));
    const bool wants_enabled = put.want->enablement == resource::Enablement::kEnabled;
    constexpr auto kNotEnabled =
        std::to_array<std::string_view>({"disabled", "masked", "masked-runtime", "not-found", ""});
    constexpr auto kEnabled = std::to_array<std::string_view>({"enabled", "enabled-runtime"});
    const auto is_one_of = [&](const auto& states) {
      return std::find(states.begin(), states.end(), status.file_state) != states.end();
    };
    if (wants_enabled ? is_one_of(kNotEnabled) : is_one_of(kEnabled)) {
      Add(put.key, fmt::format("unit \"{}\" expected enabled={}, but systemd reports \"{}\"", put.key, wants_enabled,
                               status.file_state));
    }
    return {};
  }

  Result<> LookAt(const resource::Put<resource::UnitLinks>&) { return {}; }
  Result<> LookAt(const resource::Put<resource::AuthorizedKeys>& put) {
    const auto have = TRY(host::ObserveAuthorizedKeys(host_.root, put.key));
    if (!host::Matches(put.want, have)) Add(put.key, fmt::format("SSH keys of {} differ", put.key));
    return {};
  }
  Result<> LookAt(const resource::Put<resource::PasswordHash>& put) {
    const auto have = TRY(host::ObservePasswordHash(host_.root, put.key));
    if (!host::Matches(put.want, have)) Add(put.key, fmt::format("password hash of {} differs", put.key));
    return {};
  }
  Result<> LookAt(const resource::Put<resource::Deployment>&) { return {}; }

  const host::Host& host_;
  std::vector<Finding> findings_;
};

}  // namespace

Result<std::vector<Finding>> FindingsOn(const host::Host& host, const plan::ParsedConfig& config) {
  return FindingsIn(host, TRY(plan::StepsFor(config, config, {})));
}

Result<std::vector<Finding>> FindingsIn(const host::Host& host, std::span<const Step> steps) {
  Finder finder(host);
  for (const Step& step : steps) TRY(finder.Look(step));
  return std::move(finder).Take();
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
