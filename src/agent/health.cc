// SPDX-License-Identifier: Apache-2.0
#include "agent/health.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <string_view>

#include "agent/check_program.h"
#include "base/unique_fd.h"
#include "change/others_access.h"

namespace pintle::agent {
namespace {

using std::chrono::milliseconds;

constexpr const char* kBootComplete = "boot-complete.target";

// The pauses between the first rounds.  The last of these pauses also follows every later round.
constexpr std::array<milliseconds, 4> kPauses = {std::chrono::seconds(1), std::chrono::seconds(2),
                                                 std::chrono::seconds(5), std::chrono::seconds(10)};

// A unit that reloads its configuration has not stopped running.
bool IsActive(const host::UnitStatus& status) {
  return status.active_state == "active" || status.active_state == "reloading";
}

std::optional<std::string> ProblemOfUnit(host::Systemd& systemd, const std::string& unit) {
  const auto status = systemd.Observe(unit);
  if (!status) return status.error().message();
  if (IsActive(*status)) return std::nullopt;
  if (status->load_state != "loaded")
    return fmt::format("{} cannot be checked: its load state is {}", unit, status->load_state);
  return fmt::format("{} is {}", unit, status->active_state);
}

// boot-complete.target becomes active when the units that check the boot have succeeded.  If no unit wants this
// target, as on most machines, an inactive target is no problem.
std::optional<std::string> ProblemOfBoot(host::Systemd& systemd) {
  const auto status = systemd.Observe(kBootComplete);
  if (!status) return status.error().message();
  if (IsActive(*status) || status->load_state != "loaded" || !status->is_needed) return std::nullopt;
  return fmt::format("{} is {}", kBootComplete, status->active_state);
}

// Returns the path by which this process itself reaches a directory of `root`, so that it can start programs there;
// nullopt if nothing is there.
Result<std::optional<std::string>> OwnPath(const Root& root, const std::string& path) {
  const auto directory = root.OpenFile(path, O_PATH | O_DIRECTORY);
  // A link that leads nowhere is an error.
  if (!directory && directory.error().errno_value() == ENOENT && !TRY(root.Status(path))) return std::nullopt;
  if (!directory) return directory.error();
  std::array<char, PATH_MAX> target;
  const ssize_t length =
      ::readlink(fmt::format("/proc/self/fd/{}", directory->get()).c_str(), target.data(), target.size());
  if (length < 0) return Error::FromErrno("readlink").While(path);
  return std::string(target.data(), static_cast<std::size_t>(length));
}

bool IsProgram(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 0111) != 0;
}

// Programs that others can change are not run: whoever changes them decides what root does.
Result<> RunCheckPrograms(const Root& root, const HealthSettings& settings, const std::stop_token& stop,
                          std::vector<std::string>& problems) {
  if (settings.check_directory.empty()) return {};
  const auto directory = TRY(OwnPath(root, settings.check_directory));
  if (!directory) return {};
  // OwnPath() has resolved the links on the way to `directory`, so those links are checked here.
  const std::filesystem::path top = *TRY(OwnPath(root, "/"));
  TRY(change::CheckOnlyRootWrites(top / std::filesystem::path(settings.check_directory).relative_path()));
  for (const std::string& name : TRY(root.List(settings.check_directory))) {
    const std::string path = fmt::format("{}/{}", *directory, name);
    if (name.starts_with('.') || !IsProgram(path)) continue;
    if (const auto safe = change::CheckOnlyRootWrites(path); !safe) {
      problems.push_back(safe.error().message());
      continue;
    }
    const auto wrong = TRY(RunCheck(path, settings.check_limit, stop));
    if (wrong) problems.push_back(fmt::format("{} {}", name, *wrong));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> FindHealthProblems(host::Systemd& systemd, const Root& root,
                                                    const HealthSettings& settings, const std::stop_token& stop) {
  std::vector<std::string> problems;
  for (const std::string& unit : settings.units) {
    if (stop.stop_requested()) return Error(ErrorKind::kCancelled, "the health check was cancelled");
    if (auto text = ProblemOfUnit(systemd, unit)) problems.push_back(*std::move(text));
  }
  if (auto text = ProblemOfBoot(systemd)) problems.push_back(*std::move(text));
  const Result<> checked = RunCheckPrograms(root, settings, stop, problems);
  if (!checked && checked.error().kind() == ErrorKind::kCancelled) return checked.error();
  if (!checked) problems.push_back(checked.error().message());
  return problems;
}

HealthVerdict Judge(const std::vector<std::string>& problems, int rounds, milliseconds passed, milliseconds limit) {
  if (problems.empty()) return Well{};
  if (passed < limit) {
    const auto index = static_cast<std::size_t>(std::max(rounds - 1, 0));
    // A pause ends at the limit at the latest, so that the last round begins right then.
    return AskAgain{std::min(kPauses[std::min(index, kPauses.size() - 1)], limit - passed)};
  }
  std::string why;
  for (const std::string& text : problems) why += fmt::format("{}{}", why.empty() ? "" : "; ", text);
  return Unwell{std::move(why)};
}

}  // namespace pintle::agent
