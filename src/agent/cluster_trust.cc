// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster_trust.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "agent/events.h"
#include "agent/server_authorities.h"
#include "api/annotations.h"
#include "base/log.h"
#include "change/findings.h"

namespace pintle::agent {
namespace {

constexpr auto kExchangeAgain = std::chrono::minutes(1);

}  // namespace

Result<std::unique_ptr<ClusterTrust>> ClusterTrust::Begin(event::Loop& loop, kube::Client& client, const Root& root,
                                                          NodeOfThis node, Listener listener) {
  std::unique_ptr<ClusterTrust> trust(new ClusterTrust(loop, client, std::move(node), std::move(listener)));
  ClusterFilesWriter::Listener files;
  files.written = [self = trust.get()](const std::string& version, const auto& changed) {
    self->Wrote(version, changed);
  };
  files.failed = [self = trust.get()](const std::string& why) { self->TellOfFiles(why); };
  files.trouble = [self = trust.get()](const Error& error) { self->TellOfControllerConfig(error); };
  trust->files_ = TRY(ClusterFilesWriter::Begin(loop, client, root, std::move(files)));
  return trust;
}

ClusterTrust::ClusterTrust(event::Loop& loop, kube::Client& client, NodeOfThis node, Listener listener)
    : client_(client),
      node_(std::move(node)),
      listener_(std::move(listener)),
      exchange_again_(loop, [this] { ExchangeServerAuthorities(); }) {}

change::Things ClusterTrust::LookedAfter() const {
  if (!files_->has_source()) return {};
  return {change::kWrittenByOthers.begin(), change::kWrittenByOthers.end()};
}

// ---- files ----------------------------------------------------------------------------------------------------------

// Without them the machine goes on, and is shown as degraded until they are there.
void ClusterTrust::TellOfFiles(const std::string& trouble) {
  if (std::exchange(files_trouble_, trouble) != trouble) listener_.unusable(trouble);
}

// That the API server is away the Node's own watch tells, and a cluster may have no such object.
void ClusterTrust::TellOfControllerConfig(const Error& error) {
  const bool is_usual = error.kind() == ErrorKind::kUnavailable || error.kind() == ErrorKind::kNotFound;
  if (is_usual || std::exchange(controller_config_trouble_, error.message()) == error.message()) return;
  log::Warning(fmt::format("certificates of the cluster: {}", error.message()), kTrouble);
}

void ClusterTrust::Wrote(const std::string& resource_version, const std::vector<std::string>& changed) {
  for (const std::string& path : changed) {
    log::Notice(fmt::format("{} is as the ControllerConfig has it", path), kFileWritten);
  }
  TellOfFiles("");
  ExchangeServerAuthorities();
  if (node_.said(api::kLastSyncedControllerConfigAnnotation) == resource_version) return;
  log::Info(fmt::format("Certificate was synced from controllerconfig resourceVersion {}", resource_version));
  node_.write({{std::string(api::kLastSyncedControllerConfigAnnotation), resource_version}});
}

// ---- authorities of the API server ----------------------------------------------------------------------------------

// What the Node says of it tells whether it is done.
void ClusterTrust::ExchangeServerAuthorities() {
  const auto rotates = files_->rotates_server_authorities();
  const auto seen = node_.said(api::kLastObservedServerCaAnnotation);
  if (!seen || !rotates || is_exchanging_) return;
  const bool is_done = *seen == "true";
  if (!*rotates && is_done) node_.write({{std::string(api::kLastObservedServerCaAnnotation), "false"}});
  if (!*rotates || is_done) return;
  is_exchanging_ = true;
  authorities_ = client_.Get<ServerAuthorities>(
      {kServerAuthoritiesNamespace, kServerAuthorities}, [this](const Result<ServerAuthorities>& authorities) {
        if (!authorities) return Exchanged(authorities.error());
        listener_.trust_server(BundleOf(*authorities), [this](const Result<>& outcome) { Exchanged(outcome); });
      });
}

void ClusterTrust::Exchanged(const Result<>& outcome) {
  is_exchanging_ = false;
  if (outcome) return node_.write({{std::string(api::kLastObservedServerCaAnnotation), "true"}});
  log::Warning(fmt::format("the authorities of the API server: {}", outcome.error().message()), kTrouble);
  exchange_again_.After(kExchangeAgain);
}

}  // namespace pintle::agent
