// SPDX-License-Identifier: Apache-2.0
#include "controller/server_upkeep.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "base/base64.h"
#include "base/log.h"
#include "base/memory.h"
#include "clusterops/user_data.h"
#include "controller/reasons.h"
#include "controller/replacing_patch.h"
#include "json/fields.h"
#include "json/parse.h"
#include "serving/access.h"

namespace pintle::controller {
namespace {

constexpr const char* kServerCertificateName = "machine-config-server-tls";
constexpr const char* kUserDataLabel = "machineconfiguration.openshift.io/managed-ca-bundle-derived-from-configmap";
constexpr const char* kOwningComponent = "openshift.io/owning-component";
constexpr const char* kComponent = "Machine Config Operator";
// The entries of a Secret with user data, as the Machine Config Operator writes them.
constexpr const char* kUserDataKey = "userData";
constexpr const char* kNoTemplateKey = "disableTemplating";
constexpr const char* kNoTemplate = "true\n";
constexpr auto kTokenLife = std::chrono::hours(24 * 30);
constexpr auto kKeysReadAgain = std::chrono::minutes(1);
// After this time, the kubelets of all servers have updated the volume with the keys, and the servers have read it.
constexpr auto kUntilServersUseKey = std::chrono::minutes(5);
// Certificates and tokens are renewed by the clock, even if nothing else happens.
constexpr auto kLookAgain = std::chrono::hours(1);

// The clocks of the API server and of this machine may differ by this much.
constexpr auto kClockSkew = std::chrono::hours(1);

// Returns why the clock of this machine cannot be right, or "".  The API server sets creation times by its own clock.
std::string ClockProblem(const View& view, WallTime now) {
  const api::ObjectMeta* newest = nullptr;
  const auto look_at = [&](const auto& objects) {
    for (const auto* object : objects) {
      const api::ObjectMeta& metadata = object->metadata;
      if (newest == nullptr || newest->creation_timestamp < metadata.creation_timestamp) newest = &metadata;
    }
  };
  look_at(view.nodes);
  look_at(view.configs);
  if (newest == nullptr || !newest->creation_timestamp) return "";
  const WallTime created = newest->creation_timestamp->at;
  if (created <= now + kClockSkew) return "";
  return fmt::format("the clock of the controller's machine is behind: {} was created later, at {}; correct the clock",
                     newest->name, ToRfc3339(created));
}

std::string UserDataName(const std::string& pool) { return pool + "-user-data-managed"; }

// Returns the decoded entry of a Secret, or "" if there is none.
std::string DecodedAt(const api::Secret* secret, const char* key) {
  if (secret == nullptr) return "";
  const auto found = secret->data.find(key);
  return found == secret->data.end() ? "" : DecodeBase64(found->second).value_or("");
}

// Returns the token in the user data, or "".
std::string KnownToken(const std::string& user_data) {
  const auto pointer = json::Parse(user_data);
  return pointer ? clusterops::TokenIn(*pointer) : "";
}

}  // namespace

ServerUpkeep::ServerUpkeep(kube::Client& client, const Clock& clock, OperatorSources& sources, OperatorWrites& writes,
                           Settings settings, Listener listener)
    : client_(client),
      clock_(clock),
      sources_(sources),
      writes_(writes),
      settings_(std::move(settings)),
      listener_(std::move(listener)),
      machine_namespace_(client,
                         {.changed = listener_.changed,
                          .trouble = [this](const Error& error) { listener_.trouble("watching namespaces", error); }},
                         {"", kMachineNamespace}),
      authority_(client,
                 {.changed = listener_.changed,
                  .trouble = [this](const Error& error) { listener_.trouble("watching secrets", error); }},
                 {settings_.namespace_name, kServerAuthorityName}),
      certificate_(client,
                   {.changed = listener_.changed,
                    .trouble = [this](const Error& error) { listener_.trouble("watching secrets", error); }},
                   {settings_.namespace_name, kServerCertificateName}) {}

void ServerUpkeep::Look(const View& view) {
  const WholeControllerConfig* const config = sources_.controller_config();
  if (config == nullptr) return;
  listener_.retry_at(clock_.Monotonic() + kLookAgain);
  const std::string clock_problem = ClockProblem(view, clock_.Wall());
  FollowMachines();
  ReadExpiries();
  KeepUpCertificates(config->spec, clock_problem);
  KeepUpUserData(view, config->spec, clock_problem);
}

void ServerUpkeep::FollowMachines() {
  if (!machine_namespace_.is_ready()) return;
  const Namespace* const found = machine_namespace_.Find();
  // If the namespace cannot be read, it may exist.  One that is being deleted takes no new objects.
  const bool is_missing =
      machine_namespace_.WhyUnreadable().empty() && (found == nullptr || found->metadata.deletion_timestamp);
  if (is_missing && !std::exchange(lacks_machine_namespace_, true)) {
    machines_.reset();
    log::Info(
        fmt::format("The cluster has no namespace {}, so it makes no machines; user data for new machines is written "
                    "as soon as the "
                    "namespace exists",
                    kMachineNamespace));
  }
  if (is_missing) return;
  lacks_machine_namespace_ = false;
  if (machines_) return;
  machines_.reset(new MachineObjects{
      .sets = {client_,
               Need::kIfServed,
               {.changed = listener_.changed,
                .trouble = [this](const Error& error) { listener_.trouble("watching machinesets", error); }},
               {.namespace_name = kMachineNamespace}},
      .user_data = {client_,
                    Need::kAlways,
                    {.changed = listener_.changed,
                     .trouble = [this](const Error& error) { listener_.trouble("watching secrets", error); }},
                    {.namespace_name = kMachineNamespace, .label_selector = kUserDataLabel}}});
}

// ---- the server's certificates ----

void ServerUpkeep::ReadExpiries() {
  std::string key = authority_.VersionsText() + "\n" + certificate_.VersionsText();
  if (key == expiries_key_) return;
  expiries_key_ = std::move(key);
  expiries_.clear();
  for (const FollowedObject<WatchedCertificate>* followed : {&authority_, &certificate_}) {
    const auto expiry = clusterops::CertificateExpiry(followed->Find());
    if (expiry) expiries_.emplace(followed->name().name, *expiry);
  }
}

void ServerUpkeep::KeepUpCertificates(const json::Value& spec, const std::string& clock_problem) {
  bool makes_machines = false;
  if (machines_) machines_->sets.ForEach([&](const MachineSet&) { makes_machines = true; });
  if (!makes_machines || !authority_.is_ready() || !certificate_.is_ready()) return;
  std::string why;
  for (const std::string& reason : {sources_.WhyServerAuthoritiesUnreadable(), authority_.WhyUnreadable(),
                                    certificate_.WhyUnreadable(), clock_problem}) {
    AddReason(reason, why);
  }
  if (!why.empty()) {
    return listener_.problem(clusterops::kMachineConfigServerTask, "renewing the server's certificates", why);
  }
  const clusterops::ServerCertificateInputs inputs = {.authority = authority_.Find(),
                                                      .bundle = sources_.server_authority(),
                                                      .certificate = certificate_.Find(),
                                                      .trusted = DecodeBase64(spec.TextAt({"rootCAData"})).value_or(""),
                                                      .root = sources_.root_authority(),
                                                      .hosts = clusterops::HostsOfServer(spec["infra"]),
                                                      .now = clock_.Wall()};
  const clusterops::CertificateStep step = clusterops::NextCertificateStep(inputs);
  if (step != clusterops::CertificateStep::kNone) Make(step, inputs);
}

void ServerUpkeep::Make(clusterops::CertificateStep step, const clusterops::ServerCertificateInputs& inputs) {
  const auto fail = [this](const std::string& what, const Error& error) {
    listener_.problem(clusterops::kMachineConfigServerTask, what, fmt::format("{}: {}", what, error.message()));
  };
  if (step == clusterops::CertificateStep::kBundle) {
    const std::string what = "writing the authorities of the Ignition server";
    if (!writes_.MayStart(what)) return;
    const auto bundle = clusterops::NewServerBundle(inputs);
    if (!bundle) return fail(what, bundle.error());
    api::ConfigMap next;
    if (inputs.bundle != nullptr) next = *inputs.bundle;
    next.metadata.name = kServerAuthorityName;
    next.metadata.namespace_name = settings_.namespace_name;
    // A ConfigMap must not have the same key in `data` and in `binaryData`.
    next.binary_data.erase("ca-bundle.crt");
    next.data["ca-bundle.crt"] = *bundle;
    next.metadata.annotations[kOwningComponent] = kComponent;
    return sources_.Write(client_, writes_, clusterops::kMachineConfigServerTask, what, inputs.bundle, next);
  }
  const bool is_authority = step == clusterops::CertificateStep::kAuthority;
  const std::string what =
      is_authority ? "writing the authority of the Ignition server" : "writing the certificate of the Ignition server";
  if (!writes_.MayStart(what)) return;
  if (!is_authority) return MakeCertificate(what, inputs.hosts);
  auto made = clusterops::NewServerAuthority(inputs.now);
  if (!made) return fail(what, made.error());
  WriteKey(authority_, *std::move(made), what);
}

void ServerUpkeep::MakeCertificate(const std::string& what, std::vector<std::string> hosts) {
  writes_.Start(what, client_.Once({}).Get<api::Secret>(
                          authority_.name(), [this, what, hosts = std::move(hosts)](Result<api::Secret>&& authority) {
                            Sign(what, hosts, std::move(authority));
                          }));
}

void ServerUpkeep::Sign(std::string what, std::vector<std::string> hosts, Result<api::Secret> authority) {
  if (!authority) return writes_.Ended(clusterops::kMachineConfigServerTask, what, &authority.error());
  net::CertifiedKey signer = {.certificate = DecodedAt(&*authority, clusterops::kCertificateKey),
                              .key = DecodedAt(&*authority, clusterops::kPrivateKeyKey)};
  Wipe(authority->data[clusterops::kPrivateKeyKey]);
  const WatchedCertificate* const known = authority_.Find();
  const bool is_known = DecodedAt(known, clusterops::kCertificateKey) == signer.certificate;
  // The decision to make a certificate was about the authority in the mirror.  Machines trust this authority, and
  // perhaps no other authority.
  auto made = is_known ? clusterops::NewServerCertificate(signer, hosts, clock_.Wall())
                       : Result<net::CertifiedKey>(
                             Error(ErrorKind::kConflict, "the authority of the Ignition server was changed meanwhile"));
  Wipe(signer.key);
  if (!made) return writes_.Ended(clusterops::kMachineConfigServerTask, what, &made.error());
  WriteKey(certificate_, *std::move(made), what);
}

void ServerUpkeep::WriteKey(FollowedObject<WatchedCertificate>& followed, net::CertifiedKey key,
                            const std::string& what) {
  std::map<std::string, std::string> data = {
      {clusterops::kCertificateKey, EncodeBase64(key.certificate)},
      {clusterops::kPrivateKeyKey, EncodeBase64(key.key)},
  };
  Wipe(key.key);
  if (const WatchedCertificate* const known = followed.Find()) {
    ReplacingPatch patch(known->metadata);
    patch.Set("/data", json::Encode(data));
    Wipe(data[clusterops::kPrivateKeyKey]);
    patch.SetAnnotations({{kOwningComponent, kComponent}});
    return writes_.Start(what, client_.Once({}).Patch<WatchedCertificate>(
                                   followed.name(), kube::JsonPatch{std::move(patch).operations()},
                                   [this, what, before = *known, &followed](Result<WatchedCertificate>&& written) {
                                     const PatchEffect effect = PatchEffectOf(before, written);
                                     if (written) followed.StoreAnswer(*std::move(written));
                                     writes_.Ended(clusterops::kMachineConfigServerTask, what,
                                                   written ? nullptr : &written.error(), effect);
                                   }));
  }
  WatchedCertificate secret;
  secret.metadata.name = followed.name().name;
  secret.metadata.namespace_name = followed.name().namespace_name;
  secret.metadata.annotations[kOwningComponent] = kComponent;
  secret.type = "kubernetes.io/tls";
  secret.data = std::move(data);
  writes_.Start(
      what, client_.Once({}).Create<WatchedCertificate>(secret, [this, what](const Result<WatchedCertificate>& made) {
        writes_.CreationEnded(clusterops::kMachineConfigServerTask, what, made);
      }));
  Wipe(secret.data[clusterops::kPrivateKeyKey]);
}

// ---- the user data of new machines ----

Result<> ServerUpkeep::ReadKeys() {
  const MonotonicTime now = clock_.Monotonic();
  if (settings_.token_keys_file.empty() || (keys_read_ && now < *keys_read_ + kKeysReadAgain)) return {};
  auto keys = TRY(serving::ReadPrivateKeys(settings_.token_keys_file), "reading the keys of tokens");
  if (keys_.empty() || keys.front() != keys_.front()) first_key_since_ = now;
  keys_ = std::move(keys);
  keys_read_ = now;
  return {};
}

bool ServerUpkeep::DoServersUseFirstKey() const {
  return keys_.size() == 1 || clock_.Monotonic() >= first_key_since_ + kUntilServersUseKey;
}

std::string ServerUpkeep::TokenFor(const std::string& pool, const std::string& known) const {
  if (keys_.empty()) return "";
  const WallTime now = clock_.Wall();
  const bool use_first_key = DoServersUseFirstKey();
  // Once all servers have the first key, a token that another key has signed is replaced.
  const auto expires = serving::ExpiryOf(use_first_key ? std::vector<std::string>{keys_.front()} : keys_, known, pool);
  if (expires && *expires >= now + kTokenLife / 2) return known;
  return serving::MakeToken(use_first_key ? keys_.front() : keys_[1], pool, now + kTokenLife);
}

void ServerUpkeep::KeepUpUserData(const View& view, const json::Value& spec, const std::string& clock_problem) {
  if (!machines_) return;
  if (const std::string& refusal = machines_->user_data.refusal(); !refusal.empty()) {
    listener_.problem(clusterops::kMachineConfigPoolsTask, "reading user data", refusal);
  }
  if (!machines_->user_data.is_served()) return;
  const std::string host = clusterops::HostOfServer(spec["infra"]);
  const std::string& authority = spec.TextAt({"rootCAData"});
  if (host.empty() || authority.empty()) return;
  if (const auto read = ReadKeys(); !read) {
    listener_.problem(clusterops::kMachineConfigPoolsTask, "writing user data", read.error().message());
    if (keys_.empty()) return;
  }
  if (!keys_.empty() && !clock_problem.empty()) {
    return listener_.problem(clusterops::kMachineConfigPoolsTask, "writing user data", clock_problem);
  }
  if (!keys_.empty() && !DoServersUseFirstKey()) listener_.retry_at(first_key_since_ + kUntilServersUseKey);
  for (const api::MachineConfigPool* pool : view.pools) {
    const std::string& name = pool->metadata.name;
    if (pool->metadata.deletion_timestamp || view.unreadable_pools.contains(name)) continue;
    const api::Secret* const known = machines_->user_data.Find(UserDataName(name));
    const std::string text = DecodedAt(known, kUserDataKey);
    const json::Value pointer = clusterops::PointerConfig(
        {.host = host, .pool = name, .authority = authority, .token = TokenFor(name, KnownToken(text))});
    const bool is_literal = DecodedAt(known, kNoTemplateKey) == kNoTemplate;
    if (!is_literal || !clusterops::IsSamePointer(text, pointer)) WriteUserData(*pool, pointer);
  }
}

void ServerUpkeep::WriteUserData(const api::MachineConfigPool& pool, const json::Value& pointer) {
  const std::string name = UserDataName(pool.metadata.name);
  const std::string what = "writing the Secret " + name;
  if (!writes_.MayStart(what)) return;
  const std::map<std::string, std::string> data = {{kNoTemplateKey, EncodeBase64(kNoTemplate)},
                                                   {kUserDataKey, EncodeBase64(json::ToText(pointer))}};
  if (const api::Secret* const known = machines_->user_data.Find(name)) {
    ReplacingPatch patch(known->metadata);
    patch.Set("/data", json::Encode(data));
    return writes_.Start(what, client_.Once({}).Patch<api::Secret>(
                                   {kMachineNamespace, name}, kube::JsonPatch{std::move(patch).operations()},
                                   [this, what, before = *known](Result<api::Secret>&& written) {
                                     const PatchEffect effect = PatchEffectOf(before, written);
                                     if (written && machines_) machines_->user_data.StoreAnswer(*std::move(written));
                                     writes_.Ended(clusterops::kMachineConfigPoolsTask, what,
                                                   written ? nullptr : &written.error(), effect);
                                   }));
  }
  api::Secret secret;
  secret.metadata.name = name;
  secret.metadata.namespace_name = kMachineNamespace;
  secret.metadata.labels[kUserDataLabel] = "";
  secret.metadata.owner_references = {{.api_version = std::string(api::kMachineConfigApiVersion),
                                       .kind = "MachineConfigPool",
                                       .name = pool.metadata.name,
                                       .uid = pool.metadata.uid,
                                       .controller = {},
                                       .block_owner_deletion = {}}};
  secret.type = "Opaque";
  secret.data = data;
  writes_.Start(what, client_.Once({}).Create<api::Secret>(secret, [this, what, name](const Result<api::Secret>& made) {
    if (!made && made.error().kind() == ErrorKind::kConflict) return RestoreLabel(what, name);
    writes_.EndedWithBackoff(clusterops::kMachineConfigPoolsTask, what, made ? nullptr : &made.error());
  }));
}

// A Secret without the label is not in the mirror.  When the Secret has the label, the next look compares its contents.
void ServerUpkeep::RestoreLabel(std::string what, std::string name) {
  json::Value patch;
  patch["metadata"]["labels"][kUserDataLabel] = "";
  writes_.Start(what, client_.Once({}).Patch<api::Secret>({kMachineNamespace, name}, kube::MergePatch{std::move(patch)},
                                                          [this, what](const Result<api::Secret>& labelled) {
                                                            writes_.EndedWithBackoff(
                                                                clusterops::kMachineConfigPoolsTask, what,
                                                                labelled ? nullptr : &labelled.error());
                                                          }));
}

}  // namespace pintle::controller
