// SPDX-License-Identifier: Apache-2.0
#include "host/skopeo.h"

#include <fmt/core.h>

#include <string_view>

#include "base/root.h"
#include "json/parse.h"

namespace pintle::host {
namespace {

std::string Docker(const RegistryImage& image) { return "docker://" + PullSpec(image); }

void AddIfAny(Program& program, const char* option, const std::string& value) {
  if (!value.empty()) program.words.push_back(fmt::format("{}={}", option, value));
}

// Its last word is in quotes, in a line made for machines: `time="..." level=fatal msg="..."`.
std::string LastWord(const std::string& said) {
  constexpr std::string_view kBefore = "level=fatal msg=\"";
  const std::size_t begin = said.rfind(kBefore);
  if (begin == std::string::npos || !said.ends_with('"')) return said;
  std::string word;
  for (std::size_t i = begin + kBefore.size(); i + 1 < said.size(); ++i) {
    if (said[i] != '\\') word += said[i];
  }
  return word;
}

Result<std::string> RunFor(const RegistryImage& image, const Program& program, const std::stop_token& stop) {
  auto result = RunProgram(program, stop);
  if (result) return result;
  return Error(result.error().kind(), LastWord(result.error().message())).While("fetching " + PullSpec(image));
}

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

Program Skopeo::Call(const char* verb) const {
  Program program{{"skopeo"}, PlainEnvironment()};
  program.environment.push_back("TMPDIR=" + scratch_);
  AddIfAny(program, "--policy", access_.policy);
  program.words.push_back(verb);
  AddIfAny(program, "--authfile", AuthFileOf(access_));
  return program;
}

Result<std::string> Skopeo::Manifest(const RegistryImage& image, const std::stop_token& stop) const {
  Program program = Call("inspect");
  AddIfAny(program, "--cert-dir", access_.certificates);
  program.words.insert(program.words.end(), {"--raw", Docker(image)});
  return RunFor(image, program, stop);
}

Result<std::string> Skopeo::Config(const RegistryImage& image, const std::stop_token& stop) const {
  Program program = Call("inspect");
  AddIfAny(program, "--cert-dir", access_.certificates);
  program.words.insert(program.words.end(), {"--config", "--raw", Docker(image)});
  return RunFor(image, program, stop);
}

Result<> Skopeo::Copy(const RegistryImage& image, const OciManifest& manifest, const std::string& directory,
                      const std::stop_token& stop) const {
  Program program = Call("copy");
  AddIfAny(program, "--src-cert-dir", access_.certificates);
  // Layers that are not packed would be packed for a layout, and have another digest then.  A manifest of Docker's has
  // to be changed for a layout.
  const bool is_docker = manifest.media_type.starts_with("application/vnd.docker.");
  if (!is_docker) program.words.push_back("--preserve-digests");
  // Signatures have been looked at by then, and a layout has no place for them.
  program.words.insert(program.words.end(),
                       {"--quiet", "--remove-signatures", Docker(image), fmt::format("oci:{}:fetched", directory)});
  TRY(RunFor(image, program, stop));
  return {};
}

}  // namespace pintle::host
