// SPDX-License-Identifier: Apache-2.0
#include "agent/handover.h"

#include <fmt/core.h>

#include <chrono>
#include <string_view>
#include <utility>
#include <variant>

#include "agent/events.h"
#include "api/annotations.h"
#include "base/log.h"
#include "change/state_directory.h"
#include "json/parse.h"
#include "kube/access.h"
#include "kube/resource_version.h"

namespace pintle::agent {
namespace {

// The agent repeats a failed attempt, such as one to connect or to write a file, after this time.
constexpr auto kTryAgain = std::chrono::seconds(2);

constexpr const char* kUidKey = "uid";

// Returns whether a degraded machine has no change in its journal that still has to end.
bool HasEndedChange(const phase::Degraded& degraded) {
  using Retry = phase::Degraded::Retry;
  return !degraded.after && (degraded.retry == Retry::kNone || degraded.retry == Retry::kLook);
}

}  // namespace

bool IsHandedOver(const api::Node& node) {
  const std::string* const label = api::Find(node.metadata.labels, api::kAgentLabel);
  return label != nullptr && *label == api::kAgentActs;
}

Result<std::string> UidIn(const std::string& contents) {
  if (!contents.starts_with('{')) return contents;
  const json::Value document =
      TRY(change::WithoutVersion(change::format::kHandedOver, TRY(json::Parse(contents), kHandedOver)), kHandedOver);
  return document.TextAt({kUidKey});
}

std::string ContentsWithUid(const std::string& uid) {
  return change::TextWithVersion(change::format::kHandedOver, {{kUidKey, uid}});
}

bool CanLeave(const Phase& present, const api::Node& node) {
  const api::ObjectMeta& metadata = node.metadata;
  // A drain that was asked for goes on without the agent, and nobody would uncordon the node.
  if (metadata.Annotation(api::kDesiredDrainAnnotation) != metadata.Annotation(api::kLastAppliedDrainAnnotation)) {
    return false;
  }
  const std::string& state = metadata.Annotation(api::kStateAnnotation);
  if (const auto* const settled = std::get_if<phase::Settled>(&present)) {
    return state == api::kStateDone && metadata.Annotation(api::kCurrentConfigAnnotation) == settled->goal.config;
  }
  const auto* const degraded = std::get_if<phase::Degraded>(&present);
  return degraded != nullptr && HasEndedChange(*degraded) &&
         (state == api::kStateDegraded || state == api::kStateUnreconcilable);
}

bool CanLeaveNewNode(const Phase& present) {
  if (const auto* const degraded = std::get_if<phase::Degraded>(&present)) return HasEndedChange(*degraded);
  return std::holds_alternative<phase::Waiting>(present) || std::holds_alternative<phase::Checking>(present) ||
         std::holds_alternative<phase::Settled>(present);
}

Result<std::unique_ptr<Handover>> Handover::Begin(event::Loop& loop, const Root& root, std::string node,
                                                  std::string kubeconfig, std::function<void()> changed) {
  std::unique_ptr<Handover> handover(
      new Handover(loop, root, std::move(node), std::move(kubeconfig), std::move(changed)));
  handover->is_active_ = TRY(root.Status(kHandedOver)).has_value();
  // An old file has no uid, and a file of a newer version cannot be read.  Without the uid, the agent does not
  // recognize a recreated Node, and leaves it only as it leaves any other Node.
  if (const auto contents = root.ReadFile(kHandedOver)) {
    if (auto uid = UidIn(*contents)) handover->given_uid_ = *std::move(uid);
  }
  handover->Connect();
  return handover;
}

Handover::Handover(event::Loop& loop, const Root& root, std::string node, std::string kubeconfig,
                   std::function<void()> changed)
    : loop_(loop),
      root_(root),
      name_(std::move(node)),
      kubeconfig_(std::move(kubeconfig)),
      changed_(std::move(changed)),
      connect_again_(loop, [this] { Connect(); }),
      decide_again_(loop, [this] { Decide(); }) {}

// Failed attempts are repeated, because the kubelet may get its credentials later.
void Handover::Connect() {
  const auto connected = TryToConnect();
  if (connected) return;
  Complain(connected.error().message());
  connect_again_.After(kTryAgain);
}

Result<> Handover::TryToConnect() {
  auto access = TRY(kube::Access::FromKubeconfig(kubeconfig_));
  client_ = TRY(kube::Client::Create(loop_, std::move(access), {.field_manager = "pintle"}));
  writer_ = std::make_unique<NodeWriter>(
      loop_, *client_, name_,
      NodeWriter::Listener{.wrote = [this](const api::Node& node) { See(node); },
                           .trouble = [this](const Error& error) { Complain(error.message()); }});
  kube::Mirror<api::Node>::Listener listener;
  listener.added = [this](const api::Node& node) { See(node); };
  listener.changed = [this](const api::Node& before, const api::Node& node) {
    // An older version means that the cluster's store was restored from a backup.
    if (kube::IsOlder(node, before)) node_.reset();
    See(node);
  };
  listener.removed = [this](const api::Node&) { node_.reset(); };
  listener.trouble = [this](const Error& error) { Complain(error.message()); };
  nodes_ = std::make_unique<kube::Mirror<api::Node>>(
      *client_, kube::Selection{.field_selector = "metadata.name=" + name_}, std::move(listener));
  return {};
}

void Handover::See(const api::Node& node) {
  if (!node_ || !kube::IsOlder(node, *node_)) {
    trouble_.clear();
    node_ = node;
  }
  // The answer to a write may be older than what the watch has delivered, but it ends the wait for this write.
  Decide();
}

void Handover::AgentEntered(const Phase& entered) {
  phase_ = entered;
  has_settled_ = has_settled_ || std::holds_alternative<phase::Settled>(entered);
  Decide();
}

void Handover::Decide() {
  if (!node_ || is_asking_ || has_left_) return;
  const bool is_given = IsHandedOver(*node_);
  const std::string& reported = node_->metadata.Annotation(api::kAgentStateAnnotation);
  if (is_active_) {
    // A person may have given a recreated Node to this agent.
    if (is_given && given_uid_ != node_->metadata.uid) {
      if (const auto stored = Store(); !stored) return TryAgain(stored.error());
    }
    if (is_given && has_settled_ && reported != api::kAgentHasSettled) Report(api::kAgentHasSettled);
    if (!is_given && MayLeave()) Leave();
    return;
  }
  if (is_given) return has_asked_ ? Activate() : AskToBegin();
  has_asked_ = false;
  if (reported != api::kAgentStandsBy) Report(api::kAgentStandsBy);
}

bool Handover::MayLeave() const {
  if (!phase_) return false;
  const bool is_new = !given_uid_.empty() && given_uid_ != node_->metadata.uid;
  return is_new ? CanLeaveNewNode(*phase_) : CanLeave(*phase_, *node_);
}

void Handover::Report(std::string_view value, std::function<void()> reported) {
  AnnotationChanges changes;
  changes.emplace(api::kAgentStateAnnotation, std::string(value));
  // While another write is under way, nothing is written; the end of that write leads to another Decide().
  if (writer_->is_idle()) writer_->Write(std::move(changes), std::move(reported));
}

// The Node that this agent has seen may be outdated.  The answer to the write is current, so its label counts.
void Handover::AskToBegin() {
  if (!writer_->is_idle()) return;
  is_asking_ = true;
  Report(api::kAgentBegins, [this] {
    is_asking_ = false;
    has_asked_ = true;
    Decide();
  });
}

Result<> Handover::Store() {
  TRY(root_.MakeDirectories(change::kStateDirectory, change::kPrivateDirectory));
  TRY(change::ExpectKnownVersion(root_, change::format::kHandedOver));
  TRY(root_.WriteFile(kHandedOver, ContentsWithUid(node_->metadata.uid)), fmt::format("writing {}", kHandedOver));
  given_uid_ = node_->metadata.uid;
  return {};
}

void Handover::TryAgain(const Error& error) {
  decide_again_.After(kTryAgain);
  Complain(error.message());
}

void Handover::Activate() {
  if (const auto stored = Store(); !stored) return TryAgain(stored.error());
  is_active_ = true;
  log::Info(fmt::format("The node {} is handed over to this agent", name_));
  changed_();
}

// This process ends when its jobs have ended.  Only after that, the agent starts again, and reports that it stands by.
void Handover::Leave() {
  auto removed = change::ExpectKnownVersion(root_, change::format::kHandedOver);
  if (removed) removed = root_.Remove(kHandedOver);
  if (!removed) return TryAgain(Error(removed.error()).While(fmt::format("removing {}", kHandedOver)));
  is_active_ = false;
  has_left_ = true;
  log::Info(fmt::format("The node {} is given back, and this agent stands by", name_));
  changed_();
}

void Handover::Complain(const std::string& trouble) {
  if (std::exchange(trouble_, trouble) != trouble) log::Warning(trouble, kTrouble);
}

}  // namespace pintle::agent
