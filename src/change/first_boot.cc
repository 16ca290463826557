// SPDX-License-Identifier: Apache-2.0
#include "change/first_boot.h"

#include <fmt/core.h>

#include <utility>

#include "change/as_booted.h"
#include "change/next_boot.h"
#include "change/stage.h"
#include "host/files/files.h"
#include "host/files/observer.h"
#include "json/parse.h"
#include "machineconfig/ignition_part.h"
#include "machineconfig/objects.h"
#include "plan/actions.h"
#include "plan/step.h"

namespace pintle::change {
namespace {

using host::FilePut;

constexpr const char* kFips = "/proc/sys/crypto/fips_enabled";

Result<CurrentConfig> ReadFirstConfig(const Root& root, const std::string& file) {
  const auto doing = [&] { return fmt::format("failed to parse MachineConfig: {}", file); };
  CurrentConfig config;
  config.object = TRY(machineconfig::ReadMachineConfig(TRY(json::Parse(TRY(root.ReadFile(file))), doing())), doing());
  json::Report report;
  config.ignition = TRY(machineconfig::ParseIgnitionPart(config.object, report), doing());
  return config;
}

// FIPS mode is a state of the running kernel, so it is read from /proc of this machine, not from the tree of the host.
Result<bool> HasFips() {
  const Root kernel = TRY(Root::Open("/"));
  if (!TRY(kernel.Status(kFips))) return false;
  return TRY(kernel.ReadFile(kFips)).starts_with('1');
}

// Returns a config that has only those parts of `to` that the machine has booted with, and the machine's FIPS mode.
Result<CurrentConfig> BootedPartOf(const std::optional<host::DeployedImage>& booted, const CurrentConfig& to) {
  CurrentConfig from = EmptyCurrentConfig();
  from.object.spec.os_image_url = to.object.spec.os_image_url;
  from.object.spec.kernel_arguments = to.object.spec.kernel_arguments;
  from.object.spec.fips = TRY(HasFips());
  if (booted) {
    from.object = AsBooted(*booted, {}, std::move(from.object));
    return from;
  }
  from.object.spec.os_image_url.clear();
  if (from.object.spec.kernel_arguments) from.object.spec.kernel_arguments->clear();
  return from;
}

plan::Plan PlanFor(const FirstBoot& first) {
  plan::Plan plan = plan::Make(first.from, first.to, {}, {});
  // No service runs yet, so none needs a restart or a reload.
  plan.actions.clear();
  if (plan.first_boot_action == "none") return plan;
  plan::Action reboot;
  reboot.what.type = plan::action_type::kReboot;
  plan.actions.push_back(std::move(reboot));
  return plan;
}

// Adds the steps that move the file aside, if it is kFirstConfig.  They come after the steps for the config.
Result<> AddMoveAside(const host::Host& host, host::BlobStore& contents, const std::string& file, Change& change) {
  if (file != kFirstConfig) return {};
  host::Observer observer(host.root);
  auto config = TRY(observer.ObserveAndKeep(kFirstConfig, contents));
  auto aside = TRY(observer.ObserveAndKeep(kFirstConfigAside, contents));
  change.steps.push_back(FilePut{kFirstConfigAside, config});
  change.steps.push_back(FilePut{kFirstConfig, std::nullopt});
  change.undo.insert(change.undo.begin(), FilePut{kFirstConfigAside, std::move(aside)});
  change.undo.insert(change.undo.begin(), FilePut{kFirstConfig, std::move(config)});
  return {};
}

Result<Change> StageFirst(const host::Host& host, host::BlobStore& contents, const FirstBoot& first,
                          const plan::Plan& plan) {
  Change change;
  if (first.is_late) {
    change.from = first.from.object.metadata.name;
    change.to = change.from;
  } else {
    change = TRY(Stage(host, contents, first.from, first.to, plan));
  }
  TRY(AddMoveAside(host, contents, first.file, change));
  TRY(contents.Sync());
  return change;
}

}  // namespace

bool FirstBoot::HasWork() const { return !is_late && !plan::Compare(from, to).IsEmpty(); }

Result<std::optional<FirstBoot>> FindFirstBoot(const host::Host& host, const std::string& file,
                                               const std::optional<host::DeployedImage>& booted) {
  if (!TRY(host.root.Status(file))) return std::nullopt;
  FirstBoot first;
  first.file = file;
  first.to = TRY(ReadFirstConfig(host.root, file));
  CurrentConfig current = TRY(ReadCurrentConfig(host.root));
  first.is_late = !IsNoConfig(current.object);
  if (first.is_late) {
    first.to = current;
    first.from = std::move(current);
  } else {
    first.from = TRY(BootedPartOf(booted, first.to));
  }
  return first;
}

Result<Ending> Complete(const host::Host& host, const FirstBoot& first, const Progress& progress) {
  const plan::Plan plan = PlanFor(first);
  if (!plan.IsReconcilable()) {
    return Error(ErrorKind::kUnreconcilable,
                 fmt::format("this machine cannot become {} without being installed anew: {}",
                             first.to.object.metadata.name, plan.verdict.text));
  }
  const auto stage = [&](host::BlobStore& contents) { return StageFirst(host, contents, first, plan); };
  return Make(host, {stage, [&] { return NextDeploymentFor(host, first.from, first.to, plan.difference); }}, progress);
}

}  // namespace pintle::change
