// SPDX-License-Identifier: Apache-2.0
#include "controller/operator_reconciler.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "clusterops/registry_authorities.h"
#include "controller/controller_config_pass.h"
#include "controller/reasons.h"
#include "controller/replacing_patch.h"
#include "json/value.h"

namespace pintle::controller {

OperatorReconciler::OperatorReconciler(kube::Client client, const Clock& clock, OperatorReconcilerSettings settings,
                                       Listener listener)
    : client_(std::move(client)),
      clock_(clock),
      settings_(std::move(settings)),
      listener_(std::move(listener)),
      writes_(clock, listener_),
      sources_(client_, settings_.namespace_name,
               {.changed = listener_.changed, .trouble = [this](std::string_view kind, const Error& error) {
                  listener_.trouble(fmt::format("watching {}", kind), error);
                }}) {}

std::unique_ptr<ServerUpkeep> OperatorReconciler::BeginServerUpkeep() {
  return std::make_unique<ServerUpkeep>(
      client_, clock_, sources_, writes_,
      ServerUpkeep::Settings{.namespace_name = settings_.namespace_name, .token_keys_file = settings_.token_keys_file},
      ServerUpkeep::Listener{.changed = listener_.changed,
                             .retry_at = listener_.retry_at,
                             .trouble = listener_.trouble,
                             .problem = [this](std::string_view task, const std::string& what, const std::string& why) {
                               ReportProblem(task, what, why);
                             }});
}

void OperatorReconciler::Look(const View& view, bool is_installing) {
  sources_.Follow();
  if (!sources_.is_ready()) return;
  problems_.clear();
  writes_.BeginLook();
  if (!sources_.is_missing()) Reconcile(view, is_installing);
  writes_.EndLook();
}

void OperatorReconciler::Reconcile(const View& view, bool is_installing) {
  if (const std::string why = sources_.WhyControllerConfigUnreadable(); !why.empty()) {
    return ReportProblem(clusterops::kRenderConfigTask, "making the ControllerConfig", why);
  }
  KeepUpAuthorities();
  KeepUpControllerConfig(view, is_installing);
  KeepUpRegistries();
  if (!server_) server_ = BeginServerUpkeep();
  server_->Look(view);
}

std::map<std::string, std::string, std::less<>> OperatorReconciler::Failures() const {
  auto failures = problems_;
  for (const clusterops::TaskFailure& failure : writes_.Failures()) AddReason(failure.why, failures[failure.task]);
  return failures;
}

std::string OperatorReconciler::ExpectedRelease() const {
  return settings_.release.empty() ? sources_.ReleaseOfImages() : settings_.release;
}

std::map<std::string, WallTime> OperatorReconciler::CertificateExpiries() const {
  return server_ ? server_->certificate_expiries() : std::map<std::string, WallTime>();
}

void OperatorReconciler::ReportProblem(std::string_view task, std::string_view what, const std::string& why) {
  listener_.trouble(std::string(what), Error(ErrorKind::kInvalid, why));
  AddReason(why, problems_[std::string(task)]);
}

void OperatorReconciler::KeepUpControllerConfig(const View& view, bool is_installing) {
  constexpr const char* kWhat = "making the ControllerConfig";
  // A decision parses certificates, so nothing is decided if no input has changed.
  std::string stream = view.unreadable_os_image_stream;
  if (view.os_image_stream != nullptr) stream += " " + view.os_image_stream->metadata.resource_version;
  std::string key = fmt::format("{} {} {} {}", sources_.VersionsText(), stream, is_installing, are_authorities_new_);
  if (key == settled_) return;

  clusterops::ControllerConfigInputs inputs = sources_.Inputs();
  inputs.is_installing = is_installing;
  inputs.operator_version = settings_.release;
  AddOsImageStream(view, inputs);
  inputs.has_os_streams = inputs.has_os_streams || settings_.features.os_streams;
  const WholeControllerConfig* const known = sources_.controller_config();
  if (known != nullptr) AddPresent(*known, view, inputs);
  ControllerConfigChange change =
      ControllerConfigPass({.sources = inputs, .known = known, .are_authorities_new = are_authorities_new_});
  if (!change.problem.empty()) ReportProblem(clusterops::kRenderConfigTask, kWhat, change.problem);
  if (!change.warning.empty()) listener_.trouble(kWhat, Error(ErrorKind::kNotFound, change.warning));
  const bool is_settled = !change.created && !change.patch && change.problem.empty();
  settled_ = is_settled ? std::move(key) : "";

  if (change.created) {
    const std::string what = "creating the ControllerConfig";
    if (!writes_.MayStart(what)) return;
    writes_.Start(what, client_.Once({}).Create<NewControllerConfig>(
                            *change.created, [this, what](const Result<NewControllerConfig>& made) {
                              writes_.CreationEnded(clusterops::kMachineConfigControllerTask, what, made);
                            }));
  }
  const std::string what = "writing the ControllerConfig";
  if (!change.patch || !writes_.MayStart(what, ContentsText(*change.patch))) return;
  writes_.Start(what, client_.Once({}).Patch<WholeControllerConfig>(
                          {"", api::kControllerConfigName}, kube::JsonPatch{*std::move(change.patch)},
                          [this, what, before = *known](Result<WholeControllerConfig>&& written) {
                            const PatchEffect effect = PatchEffectOf(before, written);
                            if (written) sources_.StoreAnswer(*std::move(written));
                            writes_.Ended(clusterops::kMachineConfigControllerTask, what,
                                          written ? nullptr : &written.error(), effect);
                          }));
}

// ---- the authorities of others ----

void OperatorReconciler::KeepUpAuthorities() {
  const std::string what = "writing the ConfigMap kubeconfig-data";
  if (const std::string why = sources_.WhyApiAuthoritiesUnreadable(); !why.empty()) {
    return ReportProblem(clusterops::kRenderConfigTask, what, why);
  }
  const api::ConfigMap* const known = sources_.kubeconfig_data();
  const WallTime now = clock_.Wall();
  KubeconfigDataChange change =
      KubeconfigDataPass({.source = sources_.api_authorities(), .known = known, .settling = settling_, .now = now});
  settling_ = std::move(change.settling);
  are_authorities_new_ = change.are_authorities_new;
  if (change.again_at) {
    const auto in = std::chrono::duration_cast<MonotonicTime::duration>(*change.again_at - now);
    listener_.retry_at(clock_.Monotonic() + in);
  }
  if (!change.problem.empty()) ReportProblem(clusterops::kRenderConfigTask, what, change.problem);
  if (!change.next || !writes_.MayStart(what)) return;
  change.next->metadata.name = kKubeconfigDataName;
  change.next->metadata.namespace_name = settings_.namespace_name;
  sources_.Write(client_, writes_, clusterops::kRenderConfigTask, what, known, *change.next);
}

void OperatorReconciler::KeepUpRegistries() {
  const WholeControllerConfig* const config = sources_.controller_config();
  if (config == nullptr) return;
  const std::string what = "writing the ConfigMap merged-trusted-image-registry-ca";
  if (const std::string why = sources_.WhyMergedRegistriesUnreadable(); !why.empty()) {
    return ReportProblem(clusterops::kRenderConfigTask, what, why);
  }
  const api::ConfigMap* const known = sources_.merged_registries();
  api::ConfigMap next = clusterops::MergedRegistryAuthorities(config->spec);
  const bool is_empty = next.data.empty() && next.binary_data.empty();
  if (known == nullptr ? is_empty : next.data == known->data && next.binary_data == known->binary_data) return;
  if (!writes_.MayStart(what)) return;
  next.metadata.name = kMergedRegistriesName;
  next.metadata.namespace_name = kManagedNamespace;
  next.metadata.annotations["openshift.io/owning-component"] = "Machine Config Operator";
  sources_.Write(client_, writes_, clusterops::kRenderConfigTask, what, known, next);
}

}  // namespace pintle::controller
