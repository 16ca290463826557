// SPDX-License-Identifier: Apache-2.0

// Measures the configs of three roles from 217 templates, as many as the Operator has.  The templates are parsed once
// for each version of the folder, and executed at each change of their inputs.
//
// Also measures copies of the templates of a real folder, so many that there are 217 of them.  PINTLE_TEMPLATES names
// the folder; without it, the folder is that of our own vectors.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/budgets.h"
#include "generated/templates.h"
#include "json/parse.h"

namespace pintle::generated {
namespace {

constexpr int kTemplates = 217;

constexpr const char* kSpec =
    R"({"clusterDNSIP": "172.30.0.10", "ipFamilies": "DualStack", "networkType": "OVNKubernetes",
  "images": {"a": "registry.example.test/a", "b": "registry.example.test/b"}, "dns": {"spec": {"baseDomain": "example.test"}},
  "infra": {"status": {"apiServerInternalURI": "https://api-int.example.test:6443",
    "controlPlaneTopology": "HighlyAvailableArbiter", "platformStatus": {"type": "BareMetal", "baremetal":
    {"apiServerInternalIPs": ["192.0.2.5", "2001:db8::5"], "ingressIPs": ["192.0.2.7"]}}}}})";

// Returns the script of forty lines that is in each file.
std::string Script() {
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += fmt::format("    echo \"line {} of a script\" >> /run/own/log\n", i);
  return lines;
}

std::string TemplateText(int number) {
  const std::string begin = fmt::format("mode: 0644\npath: /etc/own/{}\ncontents:\n  inline: |\n", number);
  constexpr auto kParts = std::to_array<std::string_view>({
      "    dns={{.ClusterDNSIP}} domain={{.DNS.Spec.BaseDomain}}\n",
      "    {{if or (eq .IPFamilies \"DualStack\") (eq .IPFamilies \"IPv6\")}}six{{else}}four{{end}}\n",
      "    {{range $i, $ip := onPremPlatformAPIServerInternalIPs .}}{{if gt $i 0}},{{end}}{{$ip}}{{end}}\n",
      "    {{urlHost .Infra.Status.APIServerInternalURL}} {{`{{ .Later }}`}} {{.Images.a}}\n",
  });
  return begin + std::string(kParts[static_cast<std::size_t>(number) % kParts.size()]) + Script();
}

TemplateFolder Folder() {
  TemplateFolder folder("templates");
  constexpr auto kFolders = std::to_array<std::string_view>(
      {"common/_base", "common/on-prem", "master/00-master/_base", "worker/00-worker/_base", "arbiter/00-arbiter/_base",
       "worker/01-worker-kubelet/_base", "master/01-master-kubelet/_base"});
  for (int i = 0; i < kTemplates; ++i) {
    // More than half of the templates are common to all roles.
    const std::size_t place = i % 2 == 0 ? 0 : static_cast<std::size_t>(i) % kFolders.size();
    folder.Add(fmt::format("{}/files/f{}.yaml", kFolders[place], i), TemplateText(i));
  }
  return folder;
}

void ParseTemplates(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Folder());
}
BENCHMARK(ParseTemplates)->Unit(benchmark::kMillisecond);

void MakeConfigs(benchmark::State& state) {
  const TemplateFolder folder = Folder();
  const auto spec = json::Parse(kSpec);
  if (!spec) std::abort();
  for (auto _ : state) {
    const RenderConfig config(*spec, R"({"auths":{}})", TlsSettingsOf(nullptr));
    const auto configs = MachineConfigsOfTemplates(folder, config, "HASH");
    if (!configs || configs->size() != 5) std::abort();
  }
}
BENCHMARK(MakeConfigs)->Unit(benchmark::kMillisecond);

std::string OwnTemplates() {
  const char* const folder = std::getenv("PINTLE_TEMPLATES");
  return folder == nullptr ? OWN_TEMPLATES_DIR : folder;
}

// Returns a folder with kTemplates templates, all of them copies of those in another folder.
TemplateFolder CopiesOf(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(folder));
  }
  if (files.empty()) std::abort();
  std::sort(files.begin(), files.end());
  TemplateFolder copies("templates");
  for (int i = 0; i < kTemplates; ++i) {
    const std::filesystem::path& file = files[static_cast<std::size_t>(i) % files.size()];
    std::ifstream input(folder / file, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(input)), std::istreambuf_iterator<char>());
    const std::string name = fmt::format("{}-{}", i, file.filename().string());
    copies.Add((file.parent_path() / name).string(), std::move(text));
  }
  return copies;
}

void MakeConfigsOfOwnTemplates(benchmark::State& state) {
  const TemplateFolder folder = CopiesOf(OwnTemplates());
  const auto spec = json::Parse(kSpec);
  if (!spec) std::abort();
  for (auto _ : state) {
    const RenderConfig config(*spec, R"({"auths":{}})", TlsSettingsOf(nullptr));
    if (!MachineConfigsOfTemplates(folder, config, "HASH")) std::abort();
  }
}
BENCHMARK(MakeConfigsOfOwnTemplates)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pintle::generated

int main(int argc, char** argv) {
  return pintle::RunWithLimits(argc, argv, {{"MakeConfigs", 20}, {"MakeConfigsOfOwnTemplates", 20}});
}
