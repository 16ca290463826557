// SPDX-License-Identifier: Apache-2.0
#include "controller/generator.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/digest.h"
#include "controller/complaints.h"
#include "controller/controller_parts.h"
#include "controller/events.h"
#include "controller/generate_pass.h"
#include "controller/reasons.h"
#include "controller/replacing_patch.h"
#include "controller/watched.h"
#include "json/fields.h"
#include "json/parse.h"
#include "kube/unkept.h"

namespace pintle::controller {
namespace {

// The folder of templates is read again at this interval.
constexpr auto kTemplatesReadAgain = std::chrono::minutes(1);
// A changed folder is used when it has not changed again for this long.
constexpr auto kSettlingTime = std::chrono::seconds(5);

// Descriptions of writes to sources begin with these words; the kind and the name of the source follow.
constexpr std::string_view kWritingStatus = "writing the status of ";
constexpr std::string_view kWritingFinalizers = "writing the finalizers of ";

std::string DescriptionOf(const ConfigRemoval& removal) { return "removing " + removal.name; }
std::string DescriptionOfWrite(const std::string& config) { return "generating " + config; }

// Returns a digest of what a change would write.  The version of the config that is changed does not count.
std::string ContentsDigest(const ConfigChange& change) {
  const auto* const patch = std::get_if<json::Value>(&change.creation_or_patch);
  if (patch != nullptr) return Sha256(ContentsText(*patch)).hex();
  return Sha256(json::ToText(json::Encode(std::get<api::MachineConfig>(change.creation_or_patch)))).hex();
}

}  // namespace

Generator::Generator(event::Loop& loop, kube::Client client, const Clock& clock, Cluster& cluster, Announcer& events,
                     std::string templates, Versions versions, Listener listener)
    : client_(std::move(client)),
      clock_(clock),
      cluster_(cluster),
      events_(events),
      path_(std::move(templates)),
      versions_(std::move(versions)),
      listener_(std::move(listener)),
      began_(clock.Wall()),
      read_again_(
          loop, [this] { ReadTemplates(); }, kTemplatesReadAgain / 4),
      sources_(client_, {.changed = [this] { listener_.changed(); },
                         .trouble =
                             [this](std::string_view kind, const Error& error) {
                               listener_.trouble(fmt::format("watching {}", kind), error);
                             }}) {
  ReadTemplates();
}

void Generator::ReadTemplates() {
  read_again_.After(kTemplatesReadAgain);
  auto read = generated::TemplateFolder::ReadRelease(path_);
  if (!read) return listener_.trouble("reading the templates", read.error());
  switch (templates_.Offer(*std::move(read))) {
    case generated::SettledTemplates::Reading::kSame:
      return;
    case generated::SettledTemplates::Reading::kMustBeRepeated:
      return read_again_.After(kSettlingTime);
    case generated::SettledTemplates::Reading::kUsed:
      return listener_.changed();
  }
}

// The key leaves out the statuses of pools, since they change all the time and no config depends on them.
std::string Generator::InputKey(const View& view) const {
  std::string key = templates_.digest() + sources_.VersionsText();
  for (const api::MachineConfigPool* pool : view.pools) {
    const api::ObjectMeta& metadata = pool->metadata;
    key += fmt::format("\n{} {} {} {}", metadata.name, metadata.uid, metadata.generation,
                       metadata.deletion_timestamp.has_value());
    for (const auto& [label, value] : metadata.labels) key += fmt::format(" {}={}", label, value);
  }
  for (const api::MachineConfig* config : view.configs) {
    if (IsRenderedAndUnlabelled(*config)) continue;
    key += fmt::format("\n{} {}", config->metadata.uid, config->metadata.resource_version);
  }
  if (view.controller_config != nullptr) key += "\n" + view.controller_config->metadata.resource_version;
  for (const std::string& name : awaited_configs_) key += "\n" + name;
  for (const auto& [name, why] : refused_) key += fmt::format("\n{} {}", name, why);
  for (const auto& [source, why] : refused_sources_) key += fmt::format("\n{} {}", source.second, why);
  return key;
}

void Generator::Look(const View& view) {
  sources_.FollowSecrets();
  if (!has_templates()) return;
  is_busy_ = true;
  if (!sources_.is_ready()) return;
  NoteMissingKinds();
  std::erase_if(awaited_configs_, [this](const std::string& name) { return !cluster_.configs().IsExpected(name); });
  std::string key = InputKey(view);
  if (key != key_) {
    Decide(view);
    // A status must not report why the server has refused contents that are no longer wanted, so the statuses are
    // decided again without these refusals.
    if (ForgetOldRefusals()) {
      Decide(view);
      key = InputKey(view);
    }
    key_ = std::move(key);
    EmitProhibitions();
    EmitProblems(view);
  }
  // All problems of an action are reported as one message.  Several messages would take turns, and each of them would
  // be logged again at every look.
  std::map<std::string, std::string> problems;
  for (const GenerateProblem& problem : changes_.problems) AddReason(problem.why, problems[problem.what]);
  for (const auto& [what, why] : problems) listener_.trouble(what, Error(ErrorKind::kInvalid, why));
  // A ControllerConfig that cannot be read is reported by the renderer, which refuses to render.
  const bool awaits_config = view.unreadable_controller_config.empty() && !sources_.HasRead(view.controller_config);
  is_busy_ = !awaited_configs_.empty() || awaits_config ||
             std::any_of(changes_.configs.begin(), changes_.configs.end(),
                         [this](const auto& change) { return !refused_.contains(change.name); }) ||
             std::any_of(changes_.removals.begin(), changes_.removals.end(),
                         [&](const auto& removal) { return WillBeRemoved(removal, view); });
  Write();
}

void Generator::Decide(const View& view) {
  const SourcesView sources = sources_.Look();
  changes_ = GeneratePass({.view = view,
                           .sources = sources,
                           .templates = *templates_.get(),
                           .version = SigningVersion(view.configs, versions_),
                           .now = std::chrono::floor<std::chrono::seconds>(clock_.Wall()),
                           .refused = refused_,
                           .awaited_configs = awaited_configs_,
                           .refused_sources = refused_sources_});
  ForgetOldSourceRefusals();
}

bool Generator::ForgetOldRefusals() {
  const auto is_old = [this](const std::string& config) {
    const auto change = std::find_if(changes_.configs.begin(), changes_.configs.end(),
                                     [&](const ConfigChange& wanted) { return wanted.name == config; });
    return change == changes_.configs.end() || attempted_[config] != ContentsDigest(*change);
  };
  const std::size_t forgotten = std::erase_if(refused_, [&](const auto& refusal) {
    if (!is_old(refusal.first)) return false;
    // Other contents may be accepted at once.
    backoff_.Succeeded({"", DescriptionOfWrite(refusal.first)});
    return true;
  });
  return forgotten > 0;
}

// A config that was deleted does not count, because a finalizer of another program may keep it for any time.
bool Generator::WillBeRemoved(const ConfigRemoval& removal, const View& view) const {
  if (failing_.contains(DescriptionOf(removal))) return false;
  return std::any_of(view.configs.begin(), view.configs.end(), [&removal](const api::MachineConfig* config) {
    return config->metadata.name == removal.name && !config->metadata.deletion_timestamp;
  });
}

// A cluster other than OpenShift lacks most of these kinds, and then nothing is generated from them.
void Generator::NoteMissingKinds() {
  std::map<std::string, SubControllerState> missing;
  for (const MissingKind& kind : sources_.Missing()) {
    auto known = missing_.extract(kind.name);
    if (!known.empty()) {
      missing.insert(std::move(known));
      continue;
    }
    log::Info(fmt::format("Nothing is generated from {}, as the cluster does not have this kind", kind.name));
    missing.emplace(kind.name, SubControllerState{.sub_controller = std::string(kind.part),
                                                  .state = "Kind is missing",
                                                  .object = kind.name,
                                                  .at = clock_.Wall()});
  }
  missing_ = std::move(missing);
}

void Generator::EmitProhibitions() {
  std::set<std::pair<std::string, std::string>> prohibited;
  for (const Prohibition& prohibition : changes_.prohibitions) {
    const api::NodeSettings* const settings = sources_.NodeSettingsNamed(prohibition.node);
    if (settings == nullptr) continue;
    std::pair known(prohibition.node, prohibition.message);
    if (!prohibited_.contains(known)) {
      events_.Emit(*settings, kube::EventKind::kNormal, "ActionProhibited", prohibition.message);
    }
    prohibited.insert(std::move(known));
  }
  prohibited_ = std::move(prohibited);
}

// An object that cannot be read cannot get an Event, so the ControllerConfig gets it instead.
void Generator::EmitProblems(const View& view) {
  const SourcesView sources = sources_.Look();
  const auto emit_about = [&](const auto* object, const std::string& message) {
    if (object == nullptr) return false;
    events_.Emit(*object, kube::EventKind::kWarning, "GenerationFailed", message);
    return true;
  };
  const auto emit = [&](MadeFrom made_from, const std::string& message) {
    if (made_from == MadeFrom::kFeatureGate) return emit_about(sources.feature_gate, message);
    if (made_from == MadeFrom::kNodeSettings) return emit_about(sources.node_settings, message);
    if (made_from == MadeFrom::kImages) return emit_about(sources.image, message);
    if (made_from == MadeFrom::kCredentialProviders) return emit_about(sources.credential_providers, message);
    return false;
  };
  std::set<std::string, std::less<>> reported;
  for (const GenerateProblem& problem : changes_.problems) {
    std::string message = problem.message();
    // EmitProhibitions() has emitted an Event about a setting that is not followed.
    const bool is_prohibition =
        std::any_of(changes_.prohibitions.begin(), changes_.prohibitions.end(),
                    [&](const Prohibition& prohibition) { return prohibition.message.ends_with(problem.why); });
    const bool is_news = !is_prohibition && !reported_.contains(message);
    if (is_news && !emit(problem.made_from, message)) emit_about(view.controller_config, message);
    reported.insert(std::move(message));
  }
  reported_ = std::move(reported);
}

std::string Generator::WhyNotReady() const { return has_templates() ? sources_.WhyNotReady() : ""; }

std::string Generator::FailureText() const {
  std::string text = WhyNotReady();
  for (const GenerateProblem& problem : changes_.problems) {
    if (!problem.is_warning) AddReason(problem.message(), text);
  }
  return text;
}

std::vector<SubControllerState> Generator::States(const View& view) const {
  std::vector<SubControllerState> states;
  if (templates_.get() == nullptr) {
    states.push_back(
        {.sub_controller = std::string(kTemplatePart), .state = kWithoutTemplates, .object = path_, .at = began_});
  }
  for (const auto& [name, state] : missing_) states.push_back(state);
  for (const auto& [key, at] : generated_) {
    const std::string& object = key.second;
    const auto has_name = [&object](const auto* config) { return config->metadata.name == object; };
    const bool is_there = key.first == MadeFrom::kTemplates
                              ? std::any_of(view.configs.begin(), view.configs.end(), has_name)
                              : view.PoolNamed(object) != nullptr;
    if (!is_there) continue;
    const PartLabels labels = LabelsOf(key.first);
    states.push_back(
        {.sub_controller = std::string(labels.part), .state = std::string(labels.action), .object = object, .at = at});
  }
  return states;
}

void Generator::Stop() {
  calls_.clear();
  failures_.clear();
  backoff_.Clear();
  refused_.clear();
  refused_sources_.clear();
  attempted_.clear();
  failing_.clear();
  awaited_configs_.clear();
  generated_.clear();
  prohibited_.clear();
  reported_.clear();
  key_.clear();
  changes_ = {};
  is_busy_ = false;
}

// ---- writing ----

void Generator::Write() {
  for (const SourceChange& change : changes_.sources) Write(change);
  for (const ConfigChange& change : changes_.configs) Write(change);
  for (const ConfigRemoval& removal : changes_.removals) Remove(removal);
}

bool Generator::MayStart(const std::string& what) {
  const auto due = backoff_.DueAt({"", what}, clock_.Monotonic());
  if (due) listener_.retry_at(*due);
  return !due && !calls_.contains(what);
}

kube::Client Generator::ClientFor(const std::string& what) {
  return client_.Once([this, what](const kube::Failure& failure) { failures_.insert_or_assign(what, failure); });
}

void Generator::Write(const SourceChange& change) {
  const bool is_status = change.part == kube::Part::kStatus;
  // The annotation with the number of a config is written with the finalizers.  An object that appears while such a
  // write is under way could get the same number, so there is one write at a time.
  const auto is_about_finalizers = [](const auto& call) { return call.first.starts_with(kWritingFinalizers); };
  if (!is_status && std::any_of(calls_.begin(), calls_.end(), is_about_finalizers)) return;
  const auto what = [&](std::string_view kind) {
    return fmt::format("{}{} {}", is_status ? kWritingStatus : kWritingFinalizers, kind, change.name.ToString());
  };
  switch (change.kind) {
    case SourceKind::kControllerConfig:
      return PatchSource<WholeControllerConfig>(what("ControllerConfig"), change);
    case SourceKind::kKubeletConfig:
      return PatchSource<api::KubeletConfig>(what("KubeletConfig"), change);
    case SourceKind::kContainerRuntimeConfig:
      return PatchSource<api::ContainerRuntimeConfig>(what("ContainerRuntimeConfig"), change);
    case SourceKind::kImagePolicy:
      return PatchSource<api::ImagePolicy>(what("ImagePolicy"), change);
    case SourceKind::kCredentialProviderConfig:
      return sources_.has_old_credential_providers()
                 ? PatchSource<OldCredentialProviderConfig>(what("CRIOCredentialProviderConfig"), change)
                 : PatchSource<api::CredentialProviderConfig>(what("CRIOCredentialProviderConfig"), change);
  }
}

template <typename T>
void Generator::PatchSource(const std::string& what, const SourceChange& change) {
  if (!MayStart(what)) return;
  calls_[what] = ClientFor(what).Patch<T>(
      change.name, kube::MergePatch{change.patch},
      [this, what, change](Result<T>&& written) {
        const std::string& version = change.patch.TextAt({"metadata", "resourceVersion"});
        if (written && written->metadata.resource_version == version) written = kube::UnkeptError();
        if (!written) return Failed(what, change, written.error());
        if (change.part == kube::Part::kObject) refused_sources_.erase({change.kind, change.name.name});
        sources_.StoreAnswer(*std::move(written));
        Succeeded(what);
      },
      change.part);
}

void Generator::Write(const ConfigChange& change) {
  const std::string what = DescriptionOfWrite(change.name);
  if (!MayStart(what)) return;
  attempted_.insert_or_assign(change.name, ContentsDigest(change));
  const WatchedMachineConfig* const known = cluster_.configs().Find(change.name);
  const auto done = [this, what, name = change.name, key = std::pair(change.made_from, change.object),
                     version = known == nullptr ? std::string() : known->metadata.resource_version](
                        Result<WatchedMachineConfig>&& written) {
    if (!written) return Failed(what, name, written.error());
    if (written->metadata.resource_version == version) return Failed(what, name, kube::UnkeptError());
    generated_.insert_or_assign(key, clock_.Wall());
    log::Notice(fmt::format("{} was generated", name), kGeneratedConfig, {{"PINTLE_CONFIG", name}});
    refused_.erase(name);
    attempted_.erase(name);
    cluster_.configs().StoreAnswer(*std::move(written));
    Succeeded(what);
  };
  if (const auto* patch = std::get_if<json::Value>(&change.creation_or_patch)) {
    calls_[what] = ClientFor(what).Patch<WatchedMachineConfig>({"", change.name}, kube::JsonPatch{*patch}, done);
    return;
  }
  WatchedMachineConfig created;
  static_cast<api::MachineConfig&>(created) = std::get<api::MachineConfig>(change.creation_or_patch);
  cluster_.configs().Expect(change.name);
  awaited_configs_.insert(change.name);
  calls_[what] = ClientFor(what).Create<WatchedMachineConfig>(created, done);
}

void Generator::Remove(const ConfigRemoval& removal) {
  const std::string what = DescriptionOf(removal);
  if (!MayStart(what)) return;
  calls_[what] = ClientFor(what).Delete<api::MachineConfig>(
      {"", removal.name}, removal.uid, [this, what, name = removal.name](const Result<>& removed) {
        const bool is_gone = removed || removed.error().kind() == ErrorKind::kNotFound;
        if (!is_gone) return Failed(what, "", removed.error());
        if (removed) log::Notice("removed " + name + ", whose source is gone", kRemovedConfig);
        // Back off: while the mirror lags behind, the removal would be repeated at once.
        backoff_.Failed({"", what}, clock_.Monotonic());
        failing_.erase(what);
        const auto call = calls_.extract(what);
        listener_.changed();
      });
}

// An object that needs no finalizers any more, for instance because it was deleted, needs no record of a refusal
// either.
void Generator::ForgetOldSourceRefusals() {
  std::erase_if(refused_sources_, [this](const auto& refusal) {
    return std::none_of(changes_.sources.begin(), changes_.sources.end(), [&](const SourceChange& change) {
      return change.part == kube::Part::kObject && SourceName(change.kind, change.name.name) == refusal.first;
    });
  });
}

void Generator::Succeeded(const std::string& what) {
  const auto call = calls_.extract(what);
  failures_.erase(call.key());
  failing_.erase(call.key());
  backoff_.Succeeded({"", call.key()});
  listener_.changed();
}

void Generator::Failed(const std::string& what, const std::string& config, const Error& error) {
  // The callback of the call owns the strings `what` and `config`, so the call is kept until the end.
  const auto call = calls_.extract(what);
  awaited_configs_.erase(config);
  cluster_.configs().ExpectNoMore(config);
  if (NoteFailure(call.key(), error) && !config.empty()) refused_.insert_or_assign(config, error.message());
  listener_.changed();
}

void Generator::Failed(const std::string& what, const SourceChange& source, const Error& error) {
  const auto call = calls_.extract(what);
  // The status of the object reports that its finalizers cannot be written.  No status could report that the status
  // itself cannot be written.
  if (NoteFailure(call.key(), error) && source.part == kube::Part::kObject) {
    refused_sources_.insert_or_assign({source.kind, source.name.name}, error.message());
  }
  listener_.changed();
}

bool Generator::NoteFailure(const std::string& what, const Error& error) {
  const auto failure = failures_.extract(what);
  const WriteBackoff::Key key = {"", what};
  const MonotonicTime now = clock_.Monotonic();
  // Somebody else has changed the object first, and the mirror will receive the newer version.
  if (error.kind() == ErrorKind::kConflict && !backoff_.CountConflict(key, now)) return false;
  const auto retry_after = failure.empty() ? std::nullopt : failure.mapped().retry_after;
  const int count = backoff_.Failed(key, now, retry_after.value_or(std::chrono::milliseconds(0)));
  const bool may_pass = error.kind() == ErrorKind::kUnavailable && count <= kFailuresBeforeReport;
  if (!may_pass) failing_.insert(what);
  listener_.trouble(what, error);
  return !may_pass;
}

}  // namespace pintle::controller
