// SPDX-License-Identifier: Apache-2.0
#include "controller/list_garbage.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/command_line.h"
#include "base/output.h"
#include "base/printable.h"
#include "controller/cluster.h"
#include "controller/garbage.h"
#include "controller/start_options.h"
#include "controller/unreadable_object.h"
#include "event/loop.h"
#include "kube/client.h"

namespace pintle::controller {
namespace {

constexpr std::array kListGarbageOptions = {
    Option{"--kubeconfig", "FILE", "the kubeconfig of the cluster; without it, the pod's service account"},
    Option{"--keep-rendered", "COUNT", "the value of this option with which the controller was started [10]"},
    Option{"--help", "", "print this help"},
};

struct GarbageOptions {
  std::string kubeconfig;
  std::size_t kept = 0;
};

Result<GarbageOptions> ReadGarbageOptions(const CommandLine& line) {
  if (!line.operands().empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("unexpected argument \"{}\" (see --help)", line.operands()[0]));
  }
  const std::size_t kept = TRY(ReadKeptConfigs(line));
  return GarbageOptions{.kubeconfig = line.Value("--kubeconfig").value_or(""), .kept = kept};
}

// Returns the time from which the configs of a pool may be removed, in words.
std::string RemovalTimeText(const api::MachineConfigPool& pool, WallTime now) {
  const auto kept_until = KeptUntil(pool);
  if (!kept_until) return "a day after the controller has begun to lead";
  return *kept_until > now ? ToRfc3339(*kept_until) : "now";
}

std::string Table(const View& view, const std::vector<Garbage>& garbage, WallTime now) {
  if (const std::string why = WhyGarbageIsUnknown(view); !why.empty()) {
    return fmt::format("No rendered config is removed before this is corrected: {}\n", why);
  }
  if (garbage.empty()) return "No rendered config would be removed.\n";
  std::size_t name_width = 4;
  std::size_t pool_width = 4;
  for (const Garbage& config : garbage) {
    name_width = std::max(name_width, config.name.size());
    pool_width = std::max(pool_width, config.pool.size());
  }
  std::string text = fmt::format("{:<{}}  {:<{}}  REMOVED AFTER\n", "NAME", name_width, "POOL", pool_width);
  for (const Garbage& config : garbage) {
    text += fmt::format("{:<{}}  {:<{}}  {}\n", config.name, name_width, config.pool, pool_width,
                        RemovalTimeText(*view.PoolNamed(config.pool), now));
  }
  return text;
}

// Prints the list, and each object that cannot be read.
Result<ExitStatus> PrintGarbage(const GarbageOptions& options) {
  const auto loop = TRY(event::Loop::Create());
  auto client = TRY(kube::Client::Create(*loop, TRY(AccessTo(options.kubeconfig))));
  const Cluster* cluster_being_read = nullptr;
  std::vector<UnreadableObject> unreadable;
  const Cluster cluster(
      client, ControllerSettings().namespace_name,
      {.changed =
           [&] {
             if (cluster_being_read != nullptr && cluster_being_read->is_ready()) loop->Stop();
           },
       .node_changed = [](const api::Node&, const api::Node&) {},
       .trouble = [&](std::string_view what,
                      const Error& error) { loop->Stop(Error(error).While(fmt::format("reading {}", what))); },
       .unreadable = AddUnreadableTo(unreadable)});
  cluster_being_read = &cluster;
  TRY(loop->Run());
  const View view = cluster.Look();
  for (const std::string& text : TextsAbout(unreadable)) {
    PrintToStderr(fmt::format("pintle-controller garbage: {}\n", Printable(text)));
  }
  Print(Table(view, FindGarbage(view, options.kept), SystemClock().Wall()));
  return unreadable.empty() ? ExitStatus::kSuccess : ExitStatus::kDiffers;
}

}  // namespace

ExitStatus ListGarbage(const std::vector<std::string_view>& arguments) {
  const auto line = CommandLine::Parse(kListGarbageOptions, arguments);
  if (line && line->Has("--help")) {
    Print(fmt::format("Usage: pintle-controller garbage [--kubeconfig FILE] [--keep-rendered COUNT]\n\n{}",
                      Describe(kListGarbageOptions)));
    return ExitStatus::kSuccess;
  }
  const auto options = line ? ReadGarbageOptions(*line) : Result<GarbageOptions>(line.error());
  if (!options) {
    PrintToStderr(fmt::format("pintle-controller garbage: {}\n", options.error().message()));
    return ExitStatus::kFailure;
  }
  const auto outcome = PrintGarbage(*options);
  if (outcome) return *outcome;
  PrintToStderr(fmt::format("pintle-controller garbage: {}\n", outcome.error().message()));
  return ExitStatus::kFailure;
}

}  // namespace pintle::controller
