// SPDX-License-Identifier: Apache-2.0
#include "agent/host_facts.h"

#include <algorithm>
#include <cctype>

#include "change/finalize_failure.h"
#include "plan/extensions.h"

namespace pintle::agent {
namespace {

std::string ReadOsRelease(const Root& root) {
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    if (auto text = root.ReadFile(path)) return *std::move(text);
  }
  return "";
}

}  // namespace

std::string OsIdIn(std::string_view os_release) {
  constexpr std::string_view kKey = "ID=";
  while (!os_release.empty()) {
    const auto end = os_release.find('\n');
    std::string_view line = os_release.substr(0, end);
    os_release.remove_prefix(end == std::string_view::npos ? os_release.size() : end + 1);
    if (!line.starts_with(kKey)) continue;
    line.remove_prefix(kKey.size());
    const bool is_quoted =
        line.size() >= 2 && (line.front() == '"' || line.front() == '\'') && line.back() == line.front();
    std::string id(is_quoted ? line.substr(1, line.size() - 2) : line);
    std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return std::toupper(c); });
    return id;
  }
  return "";
}

HostFacts ReadHostFacts(const host::ThisMachine& machine) {
  HostFacts facts;
  facts.finalize_failure = change::FinalizeFailure();
  if (std::string id = OsIdIn(ReadOsRelease(machine.root())); !id.empty()) facts.os = std::move(id);
  host::Deployments* const deployments = machine.host().deployments;
  if (deployments == nullptr) return facts;
  const auto state = deployments->Observe();
  if (!state || !state->booted) return facts;
  facts.os_version = state->booted->version;
  for (const auto* packages : {&state->booted->packages, &state->booted->removed_packages}) {
    facts.unsupported_packages += static_cast<std::uint64_t>(std::count_if(
        packages->begin(), packages->end(), [](const auto& name) { return !plan::IsOfExtensionOrKernel(name); }));
  }
  return facts;
}

}  // namespace pintle::agent
