// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/skopeo.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/root.h"
#include "base/time_span.h"
#include "json/parse.h"

namespace pintle::host {
namespace {

using std::chrono::milliseconds;

std::string DockerReference(const RegistryImage& image) { return "docker://" + PullSpec(image); }

void AddIfAny(Program& program, const char* option, const std::string& value) {
  if (!value.empty()) program.words.push_back(fmt::format("{}={}", option, value));
}

// Returns skopeo's error, which is in quotes at the end of a log line: `time="..." level=fatal msg="..."`.  The
// result is one line.
std::string FatalMessage(const std::string& text) {
  constexpr std::string_view kBefore = "level=fatal msg=\"";
  const std::size_t begin = text.rfind(kBefore);
  if (begin == std::string::npos || !text.ends_with('"')) return text;
  std::string message;
  for (std::size_t i = begin + kBefore.size(); i + 1 < text.size(); ++i) {
    if (text[i] != '\\') {
      message += text[i];
      continue;
    }
    const char escaped = text[++i];
    message += escaped == 'n' || escaped == 't' || escaped == 'r' ? ' ' : escaped;
  }
  return message;
}

Result<std::string> RunFor(const RegistryImage& image, const Program& program, const std::stop_token& stop,
                           const std::function<void()>& each_second = {}) {
  auto result = RunProgram(program, stop, each_second);
  if (result) return result;
  return Error(result.error().kind(), FatalMessage(result.error().message())).While("fetching " + PullSpec(image));
}

// Measures how much of the missing layers of a layout has arrived.  skopeo reports progress in bytes only on a
// terminal; elsewhere it reports a layer when all of it has arrived.
class DownloadMeter {
 public:
  DownloadMeter(const OciManifest& manifest, const std::string& directory) : directory_(directory) {
    for (const OciDescriptor& layer : manifest.layers) {
      const std::filesystem::path file = directory_ / "blobs/sha256" / HexOf(layer.digest);
      std::error_code failed;
      if (!std::filesystem::exists(file, failed) && files_.insert(file).second) all_ += layer.size;
    }
  }

  // Measures, and returns whether the size has changed since the last measurement.
  bool Measure() {
    std::uint64_t arrived = 0;
    // skopeo downloads a layer under a temporary name and renames it when it is complete.  The complete layers are
    // counted first, so that a layer that is renamed meanwhile is missed once and not counted twice.
    for (const std::filesystem::path& file : files_) arrived += SizeOf(file);
    std::error_code failed;
    std::filesystem::directory_iterator entry(directory_, failed);
    for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
      if (entry->path().filename().string().starts_with(kTemporaryPrefix)) arrived += SizeOf(entry->path());
    }
    most_ = std::max(most_, arrived);
    return std::exchange(arrived_, arrived) != arrived;
  }

  // Returns the percentage that has arrived, or nullopt if nothing was missing.  The percentage is at most 99, since
  // skopeo is not done yet.
  std::optional<std::uint32_t> Percent() const {
    const auto percent = PercentOf(most_, all_);
    return percent ? std::optional(std::min(*percent, kMostWhileDownloading)) : std::nullopt;
  }

 private:
  static constexpr const char* kTemporaryPrefix = "oci-put-blob";
  static constexpr std::uint32_t kMostWhileDownloading = 99;

  static std::uint64_t SizeOf(const std::filesystem::path& file) {
    std::error_code failed;
    const std::uint64_t size = std::filesystem::file_size(file, failed);
    return failed ? 0 : size;
  }

  std::filesystem::path directory_;
  std::set<std::filesystem::path> files_;  // The places of the missing layers.
  std::uint64_t all_ = 0;                  // The size of the missing layers.
  std::uint64_t arrived_ = 0;              // The size that was measured last.
  std::uint64_t most_ = 0;                 // The largest size that was measured so far.
};

// Requests a stop if nothing has arrived for too long, or if the caller requests one.
class SilenceWatch {
 public:
  SilenceWatch(const std::stop_token& stop, milliseconds patience)
      : forward_(stop, Forward{end_}), patience_(patience) {}

  std::stop_token token() const { return end_.get_token(); }
  bool is_over() const { return is_over_; }

  void Check(bool has_arrived) {
    const MonotonicTime now = SystemClock().Monotonic();
    if (has_arrived) silent_since_ = now;
    if (now - silent_since_ < patience_) return;
    is_over_ = true;
    end_.request_stop();
  }

 private:
  struct Forward {
    void operator()() { end.request_stop(); }
    std::stop_source end;  // A copy requests the same stop.
  };

  std::stop_source end_;
  std::stop_callback<Forward> forward_;
  milliseconds patience_;
  MonotonicTime silent_since_ = SystemClock().Monotonic();
  bool is_over_ = false;
};

bool IsThere(const Root& root, const std::string& path) {
  const auto status = root.Status(path);
  return status && status->has_value();
}

bool IsJsonFile(const Root& root, const std::string& path) {
  const auto text = root.ReadFile(path);
  return text && json::Parse(*text).has_value();
}

}  // namespace

std::string AuthFileOf(const RegistryAccess& access) {
  const auto root = Root::Open("/");
  if (!root) return access.auth_file;
  const std::string& preferred = access.preferred_auth_file;
  if (!preferred.empty() && IsJsonFile(*root, preferred)) return preferred;
  return !access.auth_file.empty() && IsThere(*root, access.auth_file) ? access.auth_file : "";
}

Program Skopeo::ProgramFor(const char* verb) const {
  Program program{{"skopeo"}, PlainEnvironment()};
  program.environment.push_back("TMPDIR=" + scratch_);
  AddIfAny(program, "--policy", access_.policy);
  program.words.push_back(verb);
  AddIfAny(program, "--authfile", AuthFileOf(access_));
  return program;
}

Result<std::string> Skopeo::Manifest(const RegistryImage& image, const std::stop_token& stop) const {
  Program program = ProgramFor("inspect");
  program.patience = patience_.document;
  AddIfAny(program, "--cert-dir", access_.certificates);
  program.words.insert(program.words.end(), {"--raw", DockerReference(image)});
  return RunFor(image, program, stop);
}

Result<std::string> Skopeo::Config(const RegistryImage& image, const std::stop_token& stop) const {
  Program program = ProgramFor("inspect");
  program.patience = patience_.document;
  AddIfAny(program, "--cert-dir", access_.certificates);
  program.words.insert(program.words.end(), {"--config", "--raw", DockerReference(image)});
  return RunFor(image, program, stop);
}

Result<> Skopeo::Copy(const RegistryImage& image, const OciManifest& manifest, const std::string& directory,
                      const std::stop_token& stop, const ProgressCallback& report) const {
  Program program = ProgramFor("copy");
  AddIfAny(program, "--src-cert-dir", access_.certificates);
  // Without --preserve-digests, skopeo compresses uncompressed layers for a layout, which changes their digests.  The
  // option is not possible with a manifest in Docker's format, which has to be converted for a layout.
  const bool is_docker = manifest.media_type.starts_with("application/vnd.docker.");
  if (!is_docker) program.words.push_back("--preserve-digests");
  // skopeo checks the signatures before it copies, and a layout has no place for them.
  program.words.insert(program.words.end(), {"--quiet", "--remove-signatures", DockerReference(image),
                                             fmt::format("oci:{}:fetched", directory)});
  DownloadMeter meter(manifest, directory);
  SilenceWatch silence(stop, patience_.silence);
  const auto ran = RunFor(image, program, silence.token(), [&] {
    silence.Check(meter.Measure());
    if (report) report({.doing = {}, .part = "downloading", .percent = meter.Percent()});
  });
  if (ran) return {};
  if (!silence.is_over() || stop.stop_requested()) return ran.error();
  return Error(ErrorKind::kUnavailable,
               fmt::format("the registry has sent nothing for {}; check the network and the registry",
                           pintle::InWords(patience_.silence)))
      .While("fetching " + PullSpec(image));
}

}  // namespace pintle::host
