// SPDX-License-Identifier: Apache-2.0
#include "ctl/generate_input.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "api/secret.h"
#include "base/base64.h"
#include "generated/pull_secret.h"
#include "ignition/butane.h"
#include "json/fields.h"
#include "json/known_keys.h"
#include "machineconfig/input.h"
#include "machineconfig/objects.h"
#include "machineconfig/yaml.h"

namespace pintle::ctl {
namespace {

constexpr std::array<std::string_view, 3> kManifestEndings = {".yaml", ".yml", ".json"};
constexpr std::string_view kSecretKind = api::Secret::kKind;

bool IsSameFile(const std::string& path, const std::optional<std::string>& other) {
  std::error_code ignored;  // A file that does not exist equals no other file.
  return other && std::filesystem::equivalent(path, *other, ignored);
}

Error ManifestWithoutKind(const std::string& file, const json::Value& object) {
  if (object.is_object() && ignition::IsButane(object)) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("{}: Butane; make a MachineConfig of it with `pintle convert --to machineconfig`", file));
  }
  return Error(ErrorKind::kInvalid,
               fmt::format("{}: an object without a kind; add its kind and its apiVersion, or move the file", file));
}

void ReadManifestFile(const machineconfig::InputFile& file, ManifestFiles& to) {
  auto documents = machineconfig::ReadDocuments(file.path, file.accepts);
  if (!documents) return to.faults.push_back(std::move(documents).error());
  const auto add = [&](json::Value object) -> Result<> {
    if (machineconfig::KindOf(object).empty()) {
      to.faults.push_back(ManifestWithoutKind(file.path, object));
    } else {
      to.manifests.push_back({.file = file.path, .object = std::move(object)});
    }
    return {};
  };
  if (auto read = machineconfig::ForEachObject(*std::move(documents), add); !read) {
    to.faults.push_back(std::move(read).error());
  }
}

json::Value SecretWith(std::string_view credentials) {
  return {{"apiVersion", "v1"},
          {"kind", kSecretKind},
          {"type", "kubernetes.io/dockerconfigjson"},
          {"data", {{".dockerconfigjson", EncodeBase64(credentials)}}}};
}

}  // namespace

std::string PlaceOf(const Manifest& manifest) {
  const std::string_view kind = machineconfig::KindOf(manifest.object);
  const std::string& name = manifest.object.TextAt({"metadata", "name"});
  return fmt::format("{}: {}{}{}", manifest.file, json::IsPlainName(kind) ? kind : "an object", name.empty() ? "" : " ",
                     name);
}

ManifestFiles ReadManifestFiles(std::span<const std::string> inputs, const std::optional<std::string>& excluded) {
  ManifestFiles read;
  auto named = machineconfig::FilesNamedBy(inputs, kManifestEndings, machineconfig::EmptyDirectory::kRefused);
  read.faults = std::move(named.faults);
  read.left_out = std::move(named.left_out);
  for (const std::string& other : named.others) {
    if (std::error_code ignored; std::filesystem::is_directory(other, ignored) || IsSameFile(other, excluded)) continue;
    read.left_out.push_back(fmt::format("{}: its name ends in none of {}", other, fmt::join(kManifestEndings, ", ")));
  }
  for (const machineconfig::InputFile& file : named.files) {
    if (!IsSameFile(file.path, excluded)) ReadManifestFile(file, read);
  }
  return read;
}

Result<json::Value> ReadPullSecretFile(const std::string& file) {
  const std::string text = TRY(machineconfig::ReadInput(file));
  // Credentials that are not JSON are refused later, as in a cluster.
  auto documents = machineconfig::ParseYaml(text);
  if (!documents || documents->size() != 1) return SecretWith(text);
  json::Value& document = documents->front();
  const std::string_view kind = machineconfig::KindOf(document);
  if (kind.empty()) return SecretWith(text);
  if (kind != kSecretKind) return machineconfig::WrongKind(kSecretKind, kind).While(file);
  return std::move(document);
}

Result<std::string> CredentialsIn(json::Value secret) {
  return generated::PullSecretIn(TRY(machineconfig::ReadObject<api::Secret>(std::move(secret), kSecretKind)));
}

json::Value EmptyPullSecret() { return SecretWith(R"({"auths":{}})"); }

}  // namespace pintle::ctl
