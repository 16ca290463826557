// SPDX-License-Identifier: Apache-2.0
#pragma once

// The source of a node in a cluster.  Annotations of its Node name the config that the node is to have, and the source
// reports the progress in other annotations.
//
// The keys, their values and their order are those of the Machine Config Operator, so that both its controller and
// Pintle's can work with them.  All requests are made with the node's own credentials.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/cluster_trust.h"
#include "agent/node_conditions_writer.h"
#include "agent/node_report.h"
#include "agent/node_writer.h"
#include "agent/source.h"
#include "agent/survey_fetch.h"
#include "api/node.h"
#include "base/clock.h"
#include "base/root.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/client.h"
#include "kube/event_recorder.h"
#include "kube/mirror.h"

namespace pintle::agent {

struct KubernetesSettings {
  std::string node;
  std::string kubeconfig;
  std::string event_namespace;
  std::chrono::nanoseconds drain_timeout = std::chrono::hours(1);
  std::chrono::nanoseconds uncordon_timeout = std::chrono::minutes(10);
  // A reboot waits at most this long until its report is written to the API server.
  std::chrono::nanoseconds reboot_patience = std::chrono::seconds(10);
};

class KubernetesSource final : public Source {
 public:
  // The loop, the root and the clock must outlive the source.
  KubernetesSource(event::Loop& loop, const Root& root, const Clock& clock, KubernetesSettings settings);
  ~KubernetesSource() override;

  void Begin(Listener listener) override;
  void Fetch(const std::optional<Goal>& current, const Goal& wanted,
             std::function<void(Result<SurveyRequest> request)> done) override;
  void FetchToStage(const Goal& goal, std::function<void(Result<SurveyRequest> request)> done) override;
  void AskForDrain(const Goal& goal) override;
  void StopWaiting() override;
  void ReportWork(const Prepared& change) override;
  void ReportChanging(const Prepared& change) override;
  void ReportChanged(const Prepared& change, bool needs_reboot) override;
  void ReportReboot(const std::string& why, std::function<void()> reported) override;
  void ReportSettled(const Goal& goal) override;
  void ReportFault(Fault fault, const std::string& text) override;
  void ReportIrreconcilable(const std::vector<plan::IrreconcilableChange>& changes) override;
  void ReportFinalizeFailure(const std::string& text) override;
  void ReportStaging(const StagingReport& report) override;
  void ReportLogin() override;

 private:
  // A drain or an uncordon that the controller was asked for.
  struct DrainRequest {
    std::string value;  // The value of desiredDrain that the controller has to answer.
    std::function<void()> answered;
    const char* event;     // The reason of the event that is emitted when the time is over.
    std::string too_late;  // The text of that event.
  };

  void KeepBootstrapKubeconfigPrivate();
  void Connect();
  Result<> TryToConnect();
  Result<> BeginTrust();
  void See(const api::Node& node);
  void AnnounceGoal();
  void AnnounceStage();
  void RepeatReports();
  void RepeatStagingReport();
  void LogTrouble(const std::string& trouble);
  void AwaitAnswer(std::string value, std::chrono::nanoseconds patience, const char* event, std::string too_late,
                   std::function<void()> answered);
  void CheckAnswer();
  void ForgetRequest();
  void WriteInitialAnnotations();
  void PostEvent(kube::EventKind kind, const std::string& reason, const std::string& message);
  NodeView View() const;
  void Report(const report::Occurrence& occurrence);
  void AwaitDrain(const std::string& request);
  void AwaitUncordon(const std::string& request, const Goal& goal);
  // Returns the call that makes this report, or null if there is none.
  std::function<void()> CallFor(NodeReport::Next next);
  void Write(AnnotationChanges changes, std::function<void()> written = {});
  void ForgetInitialAnnotations();
  void CheckRebootReport();

  event::Loop& loop_;
  const Root& root_;
  const Clock& clock_;
  KubernetesSettings settings_;
  Listener listener_;
  std::optional<kube::Client> client_;
  std::unique_ptr<kube::EventRecorder> events_;
  std::unique_ptr<NodeWriter> writer_;
  std::unique_ptr<NodeConditionsWriter> conditions_;
  std::unique_ptr<kube::Mirror<api::Node>> nodes_;
  std::unique_ptr<ClusterTrust> trust_;
  std::optional<api::Node> node_;
  std::string uid_;  // The UID of the last Node that was seen.
  // The initial annotations, which name the current config, are being written or cannot be read.
  bool awaits_current_config_ = false;
  std::string why_annotations_are_unreadable_;  // The error of reading the initial annotations; empty if there is none.
  std::optional<Goal> announced_;               // The goal that the listener was last called with.
  std::optional<std::string> to_stage_;         // The value of kStageAnnotation that the listener was last called with.
  std::optional<StagingReport> staging_reported_;  // The last report about staging.
  std::shared_ptr<SurveyFetch> fetching_;
  std::shared_ptr<SurveyFetch> fetching_to_stage_;
  bool has_fetch_failed_ = false;  // The last fetch failed.
  std::optional<DrainRequest> drain_request_;
  event::Timer answer_timeout_;
  event::Timer connect_again_;
  event::Timer reboot_report_timeout_;
  std::function<void()> reboot_reported_;
  bool is_reboot_written_ = false;
  Reported reported_;
  AnnotationChanges unwritten_;  // Annotations that wait until there is a client.
  std::string trouble_;          // The trouble that was logged, so that it is logged once.
  std::string write_trouble_;    // The error of the last write of the Node; empty if that succeeded.
};

}  // namespace pintle::agent
