// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster_files_writer.h"

#include <utility>
#include <vector>

#include "api/annotations.h"
#include "base/memory.h"
#include "json/fields.h"

namespace pintle::agent {

Result<std::unique_ptr<ClusterFilesWriter>> ClusterFilesWriter::Begin(event::Loop& loop, kube::Client& client,
                                                                      const Root& root, Listener listener,
                                                                      kube::Backoff::Settings backoff) {
  auto writer =
      std::unique_ptr<ClusterFilesWriter>(new ClusterFilesWriter(loop, client, root, std::move(listener), backoff));
  writer->worker_ = TRY(event::Worker::Create(loop));
  return writer;
}

ClusterFilesWriter::ClusterFilesWriter(event::Loop& loop, kube::Client& client, const Root& root, Listener listener,
                                       kube::Backoff::Settings backoff)
    : root_(root),
      listener_(std::move(listener)),
      backoff_(backoff, kube::SystemRandom()),
      again_(
          loop, [this] { Write(); }, kube::kRetrySlack) {
  kube::Mirror<ClusterFilesSource>::Listener mirror;
  mirror.added = [this](const ClusterFilesSource&) { Write(); };
  mirror.changed = [this](const ClusterFilesSource&, const ClusterFilesSource&) { Write(); };
  mirror.trouble = [this](const Error& error) { listener_.trouble(error); };
  source_ = std::make_unique<kube::Mirror<ClusterFilesSource>>(
      client, kube::Selection{.field_selector = std::string("metadata.name=") + api::kControllerConfigName},
      std::move(mirror));
}

std::optional<bool> ClusterFilesWriter::rotates_server_authorities() const {
  const ClusterFilesSource* const source = source_->Find({"", api::kControllerConfigName});
  if (source == nullptr) return std::nullopt;
  return source->metadata.Annotation(api::kServiceCaRotateAnnotation) == "true";
}

void ClusterFilesWriter::SetWritePermission(WritePermission permission) {
  if (std::exchange(permission_, permission) != permission) Write();
}

// Writes the files on the worker's thread or, while they have to wait, only finds out which of them differ.
void ClusterFilesWriter::Write() {
  const ClusterFilesSource* const source = source_->Find({"", api::kControllerConfigName});
  if (source == nullptr || permission_ == WritePermission::kUnknown || std::exchange(is_writing_, true)) return;
  again_.Cancel();
  worker_->Run<Result<Outcome>>(
      [&root = root_, source = *source,
       waits = permission_ == WritePermission::kWait](std::stop_token) -> Result<Outcome> {
        const ClusterFiles files = TRY(FilesOf(source));
        Outcome outcome;
        if (waits) {
          outcome.waiting = TRY(FilesThatWait(root, files));
        } else {
          outcome.changed = TRY(PutClusterFiles(root, files));
        }
        return outcome;
      },
      [this, version = source->metadata.resource_version, permission = permission_](const Result<Outcome>& outcome) {
        OnWriteEnded(version, permission, outcome);
      });
}

void ClusterFilesWriter::OnWriteEnded(const std::string& resource_version, WritePermission permission,
                                      const Result<Outcome>& outcome) {
  is_writing_ = false;
  if (!outcome) {
    again_.After(backoff_.Next());
    listener_.failed(outcome.error().message());
  } else {
    backoff_.Reset();
    if (outcome->waiting.empty()) {
      listener_.written(resource_version, outcome->changed);
    } else {
      listener_.waiting(outcome->waiting);
    }
  }
  // Decoding a ControllerConfig takes far more memory than the part of it that is kept.
  ReleaseIdleMemory();
  const ClusterFilesSource* const now = source_->Find({"", api::kControllerConfigName});
  if (now != nullptr && (now->metadata.resource_version != resource_version || permission_ != permission)) Write();
}

}  // namespace pintle::agent
