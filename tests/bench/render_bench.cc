// SPDX-License-Identifier: Apache-2.0

// Measures the rendering of many machine configs, and compares it with one MD5 over the bytes that are hashed for the
// name.
//
// Arguments: the number of configs, and the megabytes of file contents in all of them.  Half of the files are base64
// and half are URL-encoded; each has at most 64 KiB.  Each config also has a unit with a drop-in, and a kernel
// argument.

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "json/parse.h"
#include "machineconfig/objects.h"
#include "machineconfig/render.h"
#include "machineconfig/rendered_name.h"
#include "plan/plan.h"
#include "support/counted_memory.h"

namespace pintle {
namespace {

using machineconfig::MachineConfigs;

std::string Base64Body(std::size_t size) {
  std::string body = "data:text/plain;charset=utf-8;base64,";
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned state = 1;
  for (std::size_t i = 0; i < size / 4 * 4; ++i) {
    state = state * 1664525 + 1013904223;
    body += kDigits[state >> 26];
  }
  return body;
}

std::string UrlEncodedBody(std::size_t size) {
  std::string body = "data:,";
  while (body.size() < size) body += "key%20%3D%20value%0A%23%20and%20a%20comment%0A";
  return body;
}

json::Value FilesOf(int config, std::size_t bytes) {
  json::Value files = json::Value::array();
  for (int i = 0; bytes > 0; ++i) {
    const std::size_t size = std::min<std::size_t>(bytes, 64 << 10);
    bytes -= size;
    files.push_back({{"path", fmt::format("/etc/d{}/f{}", config, i)},
                     {"mode", 420},
                     {"contents", {{"source", i % 2 == 0 ? Base64Body(size) : UrlEncodedBody(size)}}}});
  }
  return files;
}

json::Value ConfigDocument(int index, std::size_t bytes) {
  const json::Value unit = {
      {"name", fmt::format("u{}.service", index)},
      {"enabled", true},
      {"contents", "[Unit]\nDescription=x\n\n[Service]\nExecStart=/bin/true\n"},
      {"dropins", {{{"name", "10-a.conf"}, {"contents", "[Service]\nEnvironment=A=1\n"}}}},
  };
  return {
      {"apiVersion", "machineconfiguration.openshift.io/v1"},
      {"kind", "MachineConfig"},
      {"metadata",
       {{"name", fmt::format("{:04}-w", index)}, {"labels", {{"machineconfiguration.openshift.io/role", "worker"}}}}},
      {"spec",
       {{"kernelArguments", {fmt::format("arg{}=1", index)}},
        {"config",
         {{"ignition", {{"version", "3.2.0"}}},
          {"storage", {{"files", FilesOf(index, bytes)}}},
          {"systemd", {{"units", {unit}}}}}}}},
  };
}

// The configs to render.  They are made once for each pair of arguments.
struct Input {
  std::vector<api::MachineConfig> configs;
  MachineConfigs pointers;
  std::size_t bytes = 0;
  api::MachineConfigPool pool;
  api::ControllerConfig controller_config;
  std::string hash_input;

  machineconfig::RenderSettings Settings() const {
    return {.controller_config = controller_config, .controller_version = "1"};
  }
};

template <typename T>
T Must(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", result.error().message());
  std::exit(1);
}

const Input& InputFor(const benchmark::State& state) {
  static std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Input>> inputs;
  std::unique_ptr<Input>& input = inputs[{state.range(0), state.range(1)}];
  if (input != nullptr) return *input;
  input = std::make_unique<Input>();
  const auto count = static_cast<int>(state.range(0));
  const std::size_t each = static_cast<std::size_t>(state.range(1)) * 1'000'000 / static_cast<std::size_t>(count);
  for (int i = 0; i < count; ++i) {
    json::Value document = ConfigDocument(i, each);
    input->bytes += json::ToText(document).size();
    input->configs.push_back(Must(machineconfig::ReadMachineConfig(std::move(document))));
  }
  for (const api::MachineConfig& config : input->configs) input->pointers.push_back(&config);
  input->pool.metadata.name = "worker";
  input->controller_config.metadata.annotations[std::string(api::kGeneratedByVersionAnnotation)] = "1";
  const auto rendered = Must(machineconfig::Render(input->pool, input->pointers, input->Settings()));
  Must([&]() -> Result<bool> {
    TRY(machineconfig::WriteHashInput(rendered.config.spec,
                                      [&](std::string_view piece) { input->hash_input += piece; }));
    return true;
  }());
  return *input;
}

void Md5OfHashInput(benchmark::State& state) {
  const Input& input = InputFor(state);
  for (auto _ : state) benchmark::DoNotOptimize(DigestOf(DigestAlgorithm::kMd5, input.hash_input));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(input.hash_input.size()));
}

void Render(benchmark::State& state) {
  const Input& input = InputFor(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(Must(machineconfig::Render(input.pool, input.pointers, input.Settings())));
  }
  const std::size_t peak =
      counted::PeakDuring([&] { Must(machineconfig::Render(input.pool, input.pointers, input.Settings())); });
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(input.hash_input.size()));
  // The peak does not include the input itself, which was in memory before.
  state.counters["peak/input"] = static_cast<double>(peak) / static_cast<double>(input.bytes);
}

// Plans the change from the rendered config to one in which every tenth file has changed.
void Plan(benchmark::State& state) {
  const Input& input = InputFor(state);
  const auto rendered = Must(machineconfig::Render(input.pool, input.pointers, input.Settings()));
  json::Report report;
  const ignition::Config from = Must(ignition::Parse(rendered.config.spec.config, report));
  ignition::Config to = from;
  for (std::size_t i = 0; i < to.storage.files.size(); i += 10) to.storage.files[i].contents.source->back() = 'A';
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan::Make({rendered.config, from}, {rendered.config, to}, {}, {}));
  }
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Unit(benchmark::kMillisecond)->ArgsProduct({{10, 100, 500}, {1, 10}});
}
BENCHMARK(Md5OfHashInput)->Apply(Sizes);
BENCHMARK(Render)->Apply(Sizes);
BENCHMARK(Plan)->Apply(Sizes);

}  // namespace
}  // namespace pintle

BENCHMARK_MAIN();
