// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster_trust.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "agent/events.h"
#include "agent/server_authorities.h"
#include "api/annotations.h"
#include "api/waiting_files.h"
#include "base/log.h"
#include "change/findings.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::agent {
namespace {

constexpr log::MessageId kFilesWait{"7f44d5248d534a5b84e36bff5ad4e4d3"};
// A failed exchange of the API server's authorities is tried again after this time.
constexpr auto kExchangeAgain = std::chrono::minutes(1);

}  // namespace

Result<std::unique_ptr<ClusterTrust>> ClusterTrust::Begin(event::Loop& loop, kube::Client& client, const Root& root,
                                                          const Clock& clock, NodeAccess node, Listener listener) {
  std::unique_ptr<ClusterTrust> trust(new ClusterTrust(loop, client, clock, std::move(node), std::move(listener)));
  ClusterFilesWriter::Listener files;
  files.written = [self = trust.get()](const std::string& version, const auto& changed) {
    self->OnFilesWritten(version, changed);
  };
  files.waiting = [self = trust.get()](const auto& waiting) {
    self->controller_config_trouble_.clear();
    self->ReportFilesTrouble("");
    self->ReportWaitingFiles(waiting);
  };
  files.failed = [self = trust.get()](const std::string& why) { self->ReportFilesTrouble(why); };
  files.trouble = [self = trust.get()](const Error& error) { self->LogControllerConfigTrouble(error); };
  trust->files_ = TRY(ClusterFilesWriter::Begin(loop, client, root, std::move(files)));
  return trust;
}

ClusterTrust::ClusterTrust(event::Loop& loop, kube::Client& client, const Clock& clock, NodeAccess node,
                           Listener listener)
    : client_(client),
      clock_(clock),
      node_(std::move(node)),
      listener_(std::move(listener)),
      wait_is_over_(loop, [this] { OnNodeSeen(); }),
      exchange_again_(loop, [this] { ExchangeServerAuthorities(); }) {}

change::Things ClusterTrust::WrittenFiles() const {
  if (!files_->has_source()) return {};
  return {change::kWrittenByOthers.begin(), change::kWrittenByOthers.end()};
}

// ---- waiting --------------------------------------------------------------------------------------------------------

void ClusterTrust::OnNodeSeen() {
  const WritePermission permission = DecideWritePermission();
  if (std::exchange(permission_, permission) == permission) return;
  files_->SetWritePermission(permission);
  ExchangeServerAuthorities();
}

void ClusterTrust::OnReportsLost() {
  if (!synced_version_.empty()) {
    node_.write({{std::string(api::kLastSyncedControllerConfigAnnotation), synced_version_}});
  }
}

// Decides by the Node's annotation, whose value is the time until which the files have to wait, and sets the timer for
// that time.  While the Node is not known, the last decision holds.  A value that is not a time was not written by a
// controller, so it makes nothing wait.
WritePermission ClusterTrust::DecideWritePermission() {
  const auto annotation = node_.annotation(api::kFilesWaitAnnotation);
  if (!annotation) return permission_;
  wait_is_over_.Cancel();
  if (annotation->empty()) return WritePermission::kWrite;
  const auto until = FromRfc3339(*annotation);
  if (!until) {
    if (std::exchange(logged_invalid_time_, *annotation) != *annotation) {
      log::Warning(
          fmt::format("the annotation {} of the Node is not a time, and is ignored", api::kFilesWaitAnnotation),
          kTrouble);
    }
    return WritePermission::kWrite;
  }
  if (*until <= clock_.Wall()) return WritePermission::kWrite;
  wait_is_over_.At(*until);
  return WritePermission::kWait;
}

bool ClusterTrust::HasToExchangeServerAuthorities() const {
  return files_->rotates_server_authorities() == true &&
         node_.annotation(api::kLastObservedServerCaAnnotation) != "true";
}

void ClusterTrust::ReportWaitingFiles(std::vector<api::WaitingFile> files) {
  if (permission_ == WritePermission::kWait && HasToExchangeServerAuthorities()) {
    files.push_back({.path = std::string(kBootstrapKubeconfig), .valid_until = {}, .subject = {}});
  }
  std::string paths;
  for (const api::WaitingFile& file : files) paths += (paths.empty() ? "" : ", ") + file.path;
  if (std::exchange(logged_waiting_, paths) != paths && !paths.empty()) {
    log::Notice(fmt::format("the pool is paused, and these files wait: {}", paths), kFilesWait);
  }
  std::optional<std::string> report;
  if (!files.empty()) report = json::ToText(json::Encode(files));
  node_.write({{std::string(api::kWaitingFilesAnnotation), std::move(report)}});
}

// ---- files ----------------------------------------------------------------------------------------------------------

// Without these files the machine keeps working, but it is reported as degraded until they are written.
void ClusterTrust::ReportFilesTrouble(const std::string& trouble) {
  if (std::exchange(files_trouble_, trouble) != trouble) listener_.unusable(trouble);
}

// Two usual errors are not logged here: the watch of the Node already reports that the API server cannot be reached,
// and a cluster may have no ControllerConfig.
void ClusterTrust::LogControllerConfigTrouble(const Error& error) {
  const bool is_usual = error.kind() == ErrorKind::kUnavailable || error.kind() == ErrorKind::kNotFound;
  if (is_usual || std::exchange(controller_config_trouble_, error.message()) == error.message()) return;
  log::Warning(fmt::format("reading the ControllerConfig's certificates: {}", error.message()), kTrouble);
}

void ClusterTrust::OnFilesWritten(const std::string& resource_version, const std::vector<std::string>& changed) {
  for (const std::string& path : changed) {
    log::Notice(fmt::format("{} was written or removed to match the ControllerConfig", path), kFileWritten);
  }
  controller_config_trouble_.clear();
  synced_version_ = resource_version;
  ReportFilesTrouble("");
  ReportWaitingFiles({});
  ExchangeServerAuthorities();
  if (node_.annotation(api::kLastSyncedControllerConfigAnnotation) == resource_version) return;
  log::Info(fmt::format("Certificate was synced from controllerconfig resourceVersion {}", resource_version));
  node_.write({{std::string(api::kLastSyncedControllerConfigAnnotation), resource_version}});
}

// ---- authorities of the API server ----------------------------------------------------------------------------------

// If an annotation of the ControllerConfig requests an exchange, makes the kubelet trust the new authorities of the API
// server, once.  Then the annotation kLastObservedServerCaAnnotation of the Node becomes "true".  When the
// ControllerConfig no longer requests an exchange, this annotation becomes "false" again.
void ClusterTrust::ExchangeServerAuthorities() {
  const auto rotates = files_->rotates_server_authorities();
  const auto seen = node_.annotation(api::kLastObservedServerCaAnnotation);
  if (!seen || !rotates || is_exchanging_ || permission_ != WritePermission::kWrite) return;
  const bool is_done = *seen == "true";
  if (!*rotates && is_done) node_.write({{std::string(api::kLastObservedServerCaAnnotation), "false"}});
  if (!*rotates || is_done) return;
  is_exchanging_ = true;
  authorities_ = client_.Get<ServerAuthorities>(
      {kServerAuthoritiesNamespace, kServerAuthoritiesName}, [this](const Result<ServerAuthorities>& authorities) {
        if (!authorities) return OnExchanged(authorities.error());
        listener_.trust_server(BundleOf(*authorities), [this](const Result<>& outcome) { OnExchanged(outcome); });
      });
}

void ClusterTrust::OnExchanged(const Result<>& outcome) {
  is_exchanging_ = false;
  if (outcome) return node_.write({{std::string(api::kLastObservedServerCaAnnotation), "true"}});
  log::Warning(fmt::format("making the kubelet trust the API server's new authorities: {}", outcome.error().message()),
               kTrouble);
  exchange_again_.After(kExchangeAgain);
}

}  // namespace pintle::agent
