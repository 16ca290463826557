// SPDX-License-Identifier: Apache-2.0
#include "controller/server_upkeep.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "base/base64.h"
#include "clusterops/user_data.h"
#include "controller/replacing_patch.h"
#include "json/field_list.h"
#include "serving/access.h"

namespace pintle::controller {
namespace {

constexpr const char* kMachineNamespace = "openshift-machine-api";
constexpr const char* kServerCertificateName = "machine-config-server-tls";
constexpr const char* kUserDataLabel = "machineconfiguration.openshift.io/managed-ca-bundle-derived-from-configmap";
constexpr const char* kOwningComponent = "openshift.io/owning-component";
constexpr const char* kComponent = "Machine Config Operator";
constexpr const char* kUserDataKey = "userData";
constexpr const char* kNoTemplateKey = "disableTemplating";
constexpr auto kTokenLife = std::chrono::hours(24 * 30);
constexpr auto kKeysReadAgain = std::chrono::minutes(1);
// Certificates and tokens are renewed by the clock, even if nothing else happens.
constexpr auto kLookAgain = std::chrono::hours(1);

std::string UserDataName(const std::string& pool) { return pool + "-user-data-managed"; }

std::string DecodedUserData(const api::Secret* secret) {
  if (secret == nullptr) return "";
  const auto found = secret->data.find(kUserDataKey);
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
      machine_sets_(client, Need::kIfServed,
                    {.changed = listener_.changed,
                     .trouble = [this](const Error& error) { listener_.trouble("watching machinesets", error); }},
                    {.namespace_name = kMachineNamespace}),
      user_data_(client, Need::kAlways,
                 {.changed = listener_.changed,
                  .trouble = [this](const Error& error) { listener_.trouble("watching secrets", error); }},
                 {.namespace_name = kMachineNamespace, .label_selector = kUserDataLabel}),
      authority_(client,
                 {.changed = listener_.changed,
                  .trouble = [this](const Error& error) { listener_.trouble("watching secrets", error); }},
                 {settings_.namespace_name, kServerAuthorityName}),
      certificate_(client,
                   {.changed = listener_.changed,
                    .trouble = [this](const Error& error) { listener_.trouble("watching secrets", error); }},
                   {settings_.namespace_name, kServerCertificateName}) {}

void ServerUpkeep::Look(const View& view) {
  const TemplateInput* const config = sources_.controller_config();
  if (config == nullptr) return;
  listener_.retry_at(clock_.Monotonic() + kLookAgain);
  ReadExpiries();
  KeepUpCertificates(config->spec["infra"]);
  KeepUpUserData(view, config->spec);
}

// ---- the server's certificates ----

void ServerUpkeep::ReadExpiries() {
  std::string key = authority_.VersionsText() + "\n" + certificate_.VersionsText();
  if (key == expiries_key_) return;
  expiries_key_ = std::move(key);
  expiries_.clear();
  for (const FollowedObject<api::Secret>* followed : {&authority_, &certificate_}) {
    const auto expiry = clusterops::CertificateExpiry(followed->Find());
    if (expiry) expiries_.emplace(followed->name().name, *expiry);
  }
}

void ServerUpkeep::KeepUpCertificates(const json::Value& infrastructure) {
  bool makes_machines = false;
  machine_sets_.ForEach([&](const MachineSet&) { makes_machines = true; });
  if (!makes_machines || !authority_.is_ready() || !certificate_.is_ready()) return;
  const std::string why = authority_.WhyUnreadable() + certificate_.WhyUnreadable();
  if (!why.empty()) {
    return listener_.problem(clusterops::kMachineConfigServerTask, "renewing the server's certificates", why);
  }
  const clusterops::ServerCertificateInputs inputs = {.authority = authority_.Find(),
                                                      .bundle = sources_.server_authority(),
                                                      .certificate = certificate_.Find(),
                                                      .root = sources_.root_authority(),
                                                      .hosts = clusterops::HostsOfServer(infrastructure),
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
    next.data["ca-bundle.crt"] = *bundle;
    next.metadata.annotations[kOwningComponent] = kComponent;
    return sources_.Write(client_, writes_, clusterops::kMachineConfigServerTask, what, inputs.bundle, next);
  }
  const bool is_authority = step == clusterops::CertificateStep::kAuthority;
  const std::string what =
      is_authority ? "writing the authority of the Ignition server" : "writing the certificate of the Ignition server";
  if (!writes_.MayStart(what)) return;
  const auto made =
      is_authority ? clusterops::NewServerAuthority(inputs.now) : clusterops::NewServerCertificate(inputs);
  if (!made) return fail(what, made.error());
  WriteKey(is_authority ? authority_ : certificate_, *made, what);
}

void ServerUpkeep::WriteKey(FollowedObject<api::Secret>& followed, const net::CertifiedKey& key,
                            const std::string& what) {
  const std::map<std::string, std::string> data = {
      {clusterops::kCertificateKey, EncodeBase64(key.certificate)},
      {clusterops::kPrivateKeyKey, EncodeBase64(key.key)},
  };
  if (const api::Secret* const known = followed.Find()) {
    ReplacingPatch patch(known->metadata);
    patch.Set("/data", json::Encode(data));
    patch.SetAnnotations({{kOwningComponent, kComponent}});
    return writes_.Start(
        what, client_.Once({}).Patch<api::Secret>(followed.name(), kube::JsonPatch{std::move(patch).operations()},
                                                  [this, what, &followed](Result<api::Secret>&& written) {
                                                    if (written) followed.Put(*std::move(written));
                                                    writes_.Ended(clusterops::kMachineConfigServerTask, what,
                                                                  written ? nullptr : &written.error());
                                                  }));
  }
  api::Secret secret;
  secret.metadata.name = followed.name().name;
  secret.metadata.namespace_name = followed.name().namespace_name;
  secret.metadata.annotations[kOwningComponent] = kComponent;
  secret.type = "kubernetes.io/tls";
  secret.data = data;
  writes_.Start(what, client_.Once({}).Create<api::Secret>(secret, [this, what](const Result<api::Secret>& made) {
    const bool is_there = made || made.error().kind() == ErrorKind::kConflict;
    writes_.EndedOnce(clusterops::kMachineConfigServerTask, what, is_there ? nullptr : &made.error());
  }));
}

// ---- the user data of new machines ----

Result<> ServerUpkeep::ReadKeys() {
  const MonotonicTime now = clock_.Monotonic();
  if (settings_.token_keys_file.empty() || (keys_read_ && now < *keys_read_ + kKeysReadAgain)) return {};
  keys_ = TRY(serving::ReadKeys(settings_.token_keys_file), "reading the keys of tokens");
  keys_read_ = now;
  return {};
}

std::string ServerUpkeep::TokenFor(const std::string& pool, const std::string& known) const {
  if (keys_.empty()) return "";
  const WallTime now = clock_.Wall();
  const auto expires = serving::ExpiryOf(keys_, known, pool);
  // Another key than the first one is on its way out.
  const bool is_of_first = expires && serving::ExpiryOf({keys_.front()}, known, pool);
  if (is_of_first && *expires >= now + kTokenLife / 2) return known;
  return serving::MakeToken(keys_.front(), pool, now + kTokenLife);
}

void ServerUpkeep::KeepUpUserData(const View& view, const json::Value& spec) {
  if (!user_data_.refusal().empty()) {
    listener_.problem(clusterops::kMachineConfigPoolsTask, "reading user data", user_data_.refusal());
  }
  if (!user_data_.is_served()) return;
  const std::string host = clusterops::HostOfServer(spec["infra"]);
  const std::string& authority = spec.TextAt({"rootCAData"});
  if (host.empty() || authority.empty()) return;
  if (const auto read = ReadKeys(); !read) {
    return listener_.problem(clusterops::kMachineConfigPoolsTask, "writing user data", read.error().message());
  }
  for (const api::MachineConfigPool* pool : view.pools) {
    const std::string& name = pool->metadata.name;
    if (pool->metadata.deletion_timestamp || view.unreadable_pools.contains(name)) continue;
    const api::Secret* const known = user_data_.Find(UserDataName(name));
    const std::string text = DecodedUserData(known);
    const json::Value pointer = clusterops::PointerConfig(
        {.host = host, .pool = name, .authority = authority, .token = TokenFor(name, KnownToken(text))});
    if (!clusterops::IsSamePointer(text, pointer)) WriteUserData(*pool, pointer);
  }
}

void ServerUpkeep::WriteUserData(const api::MachineConfigPool& pool, const json::Value& pointer) {
  const std::string name = UserDataName(pool.metadata.name);
  const std::string what = "writing the Secret " + name;
  if (!writes_.MayStart(what)) return;
  const std::map<std::string, std::string> data = {{kNoTemplateKey, EncodeBase64("true\n")},
                                                   {kUserDataKey, EncodeBase64(json::ToText(pointer))}};
  if (const api::Secret* const known = user_data_.Find(name)) {
    ReplacingPatch patch(known->metadata);
    patch.Set("/data", json::Encode(data));
    return writes_.Start(what, client_.Once({}).Patch<api::Secret>(
                                   {kMachineNamespace, name}, kube::JsonPatch{std::move(patch).operations()},
                                   [this, what](Result<api::Secret>&& written) {
                                     if (written) user_data_.Put(*std::move(written));
                                     writes_.Ended(clusterops::kMachineConfigPoolsTask, what,
                                                   written ? nullptr : &written.error());
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
  writes_.Start(what, client_.Once({}).Create<api::Secret>(secret, [this, what](const Result<api::Secret>& made) {
    const bool is_there = made || made.error().kind() == ErrorKind::kConflict;
    writes_.EndedOnce(clusterops::kMachineConfigPoolsTask, what, is_there ? nullptr : &made.error());
  }));
}

}  // namespace pintle::controller
