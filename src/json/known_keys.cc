// SPDX-License-Identifier: Apache-2.0
#include "json/known_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

namespace pintle::json {
namespace {

constexpr auto kKeys = std::to_array<std::string_view>({"Remote",
                                                        "RemoteHost",
                                                        "Service",
                                                        "Timestamp",
                                                        "about",
                                                        "acquireTime",
                                                        "actions",
                                                        "addedKernelArguments",
                                                        "advertisement",
                                                        "annotations",
                                                        "apiServerInternalURI",
                                                        "apiVersion",
                                                        "append",
                                                        "architecture",
                                                        "as",
                                                        "as-groups",
                                                        "as-uid",
                                                        "as-user-extra",
                                                        "at",
                                                        "attributes",
                                                        "auth-provider",
                                                        "auths",
                                                        "availableMachineCount",
                                                        "availableStreams",
                                                        "awaitsConfirmation",
                                                        "baseOSContainerImage",
                                                        "baseOSExtensionsContainerImage",
                                                        "binaryData",
                                                        "blockOwnerDeletion",
                                                        "blocked",
                                                        "bootID",
                                                        "bootImageSkewEnforcementStatus",
                                                        "boot_device",
                                                        "boots",
                                                        "buildEnd",
                                                        "buildStart",
                                                        "bundle",
                                                        "bundleFile",
                                                        "ca-bundle.crt",
                                                        "canApplyUpdates",
                                                        "canLayeredContinue",
                                                        "candidates",
                                                        "capacity",
                                                        "causes",
                                                        "certExpirys",
                                                        "certificate-authority",
                                                        "certificate-authority-data",
                                                        "certificateAuthorities",
                                                        "cex",
                                                        "clevis",
                                                        "client-certificate",
                                                        "client-certificate-data",
                                                        "client-key",
                                                        "client-key-data",
                                                        "cloudProviderCAData",
                                                        "cluster",
                                                        "clusterName",
                                                        "clusterPolicies",
                                                        "clusters",
                                                        "code",
                                                        "column",
                                                        "commit",
                                                        "component",
                                                        "compression",
                                                        "conditions",
                                                        "config",
                                                        "configImage",
                                                        "configVersion",
                                                        "configuration",
                                                        "contents",
                                                        "contents_local",
                                                        "context",
                                                        "contexts",
                                                        "continue",
                                                        "controlPlaneTopology",
                                                        "controller",
                                                        "controllerCertificates",
                                                        "count",
                                                        "countedBootID",
                                                        "create",
                                                        "created",
                                                        "creationTimestamp",
                                                        "current",
                                                        "current-context",
                                                        "currentGeneration",
                                                        "currentHealthy",
                                                        "currentImage",
                                                        "currentImagePullSpec",
                                                        "custom",
                                                        "data",
                                                        "defaultStream",
                                                        "degradedMachineCount",
                                                        "deletionTimestamp",
                                                        "desired",
                                                        "desiredGeneration",
                                                        "desiredHealthy",
                                                        "desiredImage",
                                                        "detail",
                                                        "details",
                                                        "device",
                                                        "devices",
                                                        "diff",
                                                        "diff_ids",
                                                        "difference",
                                                        "digest",
                                                        "digestedImagePushSpec",
                                                        "directories",
                                                        "discard",
                                                        "disks",
                                                        "disruptionsAllowed",
                                                        "doing",
                                                        "dropins",
                                                        "effect",
                                                        "email",
                                                        "emptyDir",
                                                        "emptyFolders",
                                                        "enable",
                                                        "enabled",
                                                        "enablement",
                                                        "error",
                                                        "exec",
                                                        "exp",
                                                        "expectedPods",
                                                        "expiry",
                                                        "extensions",
                                                        "extensionsImage",
                                                        "fieldPath",
                                                        "file",
                                                        "files",
                                                        "filesystem",
                                                        "filesystems",
                                                        "finalizers",
                                                        "findings",
                                                        "fips",
                                                        "firstTimestamp",
                                                        "folders",
                                                        "force",
                                                        "format",
                                                        "found",
                                                        "from",
                                                        "gecos",
                                                        "generateName",
                                                        "generation",
                                                        "gid",
                                                        "group",
                                                        "groups",
                                                        "grub",
                                                        "guid",
                                                        "hard",
                                                        "hash",
                                                        "held",
                                                        "holderIdentity",
                                                        "homeDir",
                                                        "host",
                                                        "httpHeaders",
                                                        "httpProxy",
                                                        "httpResponseHeaders",
                                                        "httpTotal",
                                                        "httpsProxy",
                                                        "id",
                                                        "ignition",
                                                        "ignoredUntil",
                                                        "image",
                                                        "imageRegistryBundleData",
                                                        "imageRegistryBundleUserData",
                                                        "infra",
                                                        "inline",
                                                        "insecure",
                                                        "insecure-skip-tls-verify",
                                                        "internalRegistryPullSecret",
                                                        "involvedObject",
                                                        "irreconcilableChanges",
                                                        "irreconcilableValidationOverrides",
                                                        "isFinalized",
                                                        "isOfAnother",
                                                        "items",
                                                        "keptAs",
                                                        "keptKernelArguments",
                                                        "kernelArguments",
                                                        "kernelType",
                                                        "key",
                                                        "keyFile",
                                                        "keys",
                                                        "kind",
                                                        "kubeAPIServerServingCAData",
                                                        "label",
                                                        "labels",
                                                        "lastChange",
                                                        "lastFailedGeneration",
                                                        "lastFailedGenerationError",
                                                        "lastTimestamp",
                                                        "lastTransitionTime",
                                                        "layered",
                                                        "layers",
                                                        "leaseDurationSeconds",
                                                        "leaseTransitions",
                                                        "leftAside",
                                                        "level",
                                                        "line",
                                                        "links",
                                                        "list",
                                                        "local",
                                                        "location",
                                                        "logins",
                                                        "luks",
                                                        "machineConfig",
                                                        "machineConfigPool",
                                                        "machineConfigSelector",
                                                        "machineCount",
                                                        "machineOSBuild",
                                                        "machineOSConfig",
                                                        "managedFields",
                                                        "manifests",
                                                        "mask",
                                                        "mastersSchedulable",
                                                        "matchExpressions",
                                                        "matchLabels",
                                                        "maxUnavailable",
                                                        "maxUnavailableError",
                                                        "mediaType",
                                                        "merge",
                                                        "message",
                                                        "metadata",
                                                        "minAvailable",
                                                        "mirror",
                                                        "mirror-by-digest-only",
                                                        "mode",
                                                        "mount",
                                                        "mountOptions",
                                                        "name",
                                                        "namespace",
                                                        "needsNetwork",
                                                        "networkd",
                                                        "next",
                                                        "nextBoot",
                                                        "noCreateHome",
                                                        "noLogInit",
                                                        "noProxy",
                                                        "noUserGroup",
                                                        "node",
                                                        "nodeDisruptionPolicy",
                                                        "nodeDisruptionPolicyStatus",
                                                        "nodeName",
                                                        "nodeSelector",
                                                        "notAfter",
                                                        "number",
                                                        "object",
                                                        "observedGeneration",
                                                        "openOptions",
                                                        "openshift",
                                                        "operator",
                                                        "options",
                                                        "os",
                                                        "osExtensionsImage",
                                                        "osImage",
                                                        "osImageStream",
                                                        "osImageURL",
                                                        "outcome",
                                                        "overwrite",
                                                        "ownerReferences",
                                                        "partitions",
                                                        "passwd",
                                                        "passwordHash",
                                                        "patch",
                                                        "patchedInOrder",
                                                        "patches",
                                                        "path",
                                                        "paused",
                                                        "permissions",
                                                        "phase",
                                                        "pin",
                                                        "pinnedImageSets",
                                                        "plan",
                                                        "platform",
                                                        "platformStatus",
                                                        "pool",
                                                        "poolSynchronizerType",
                                                        "poolSynchronizersStatus",
                                                        "preferences",
                                                        "prefix",
                                                        "present",
                                                        "primaryGroup",
                                                        "priority",
                                                        "problem",
                                                        "problems",
                                                        "proxy",
                                                        "proxy-url",
                                                        "pull-from-mirror",
                                                        "raid",
                                                        "readyMachineCount",
                                                        "reason",
                                                        "recovering",
                                                        "registry",
                                                        "reload",
                                                        "remedies",
                                                        "remedy",
                                                        "removedKernelArguments",
                                                        "renderedImagePushSpec",
                                                        "renewTime",
                                                        "replace",
                                                        "replaces",
                                                        "replicas",
                                                        "resize",
                                                        "resourceVersion",
                                                        "restart",
                                                        "retryAfterSeconds",
                                                        "rolloutReached",
                                                        "rootfs",
                                                        "schemaVersion",
                                                        "security",
                                                        "selector",
                                                        "selfLink",
                                                        "server",
                                                        "serviceName",
                                                        "severity",
                                                        "sha256",
                                                        "shell",
                                                        "shouldExist",
                                                        "shouldNotExist",
                                                        "since",
                                                        "size",
                                                        "sizeMiB",
                                                        "source",
                                                        "spares",
                                                        "spec",
                                                        "sshAuthorizedKeys",
                                                        "ssh_authorized_keys_local",
                                                        "sshkey",
                                                        "staged",
                                                        "start",
                                                        "startMiB",
                                                        "state",
                                                        "status",
                                                        "steps",
                                                        "storage",
                                                        "subject",
                                                        "system",
                                                        "systemd",
                                                        "taints",
                                                        "tang",
                                                        "target",
                                                        "targets",
                                                        "terminationGracePeriodSeconds",
                                                        "text",
                                                        "threshold",
                                                        "thumbprint",
                                                        "timeAdded",
                                                        "timeouts",
                                                        "tls",
                                                        "tls-server-name",
                                                        "to",
                                                        "toImage",
                                                        "token",
                                                        "tokenFile",
                                                        "tolerations",
                                                        "tpm2",
                                                        "trees",
                                                        "type",
                                                        "typeGuid",
                                                        "uid",
                                                        "unavailable",
                                                        "unavailableMachineCount",
                                                        "undo",
                                                        "unhealthyPodEvictionPolicy",
                                                        "units",
                                                        "unqualified-search-registries",
                                                        "unschedulable",
                                                        "until",
                                                        "updatedMachineCount",
                                                        "url",
                                                        "user",
                                                        "username",
                                                        "users",
                                                        "uuid",
                                                        "validUntil",
                                                        "value",
                                                        "values",
                                                        "variant",
                                                        "verb",
                                                        "verification",
                                                        "verify",
                                                        "version",
                                                        "volumes",
                                                        "want",
                                                        "wanted",
                                                        "warnings",
                                                        "when",
                                                        "why",
                                                        "wipeFilesystem",
                                                        "wipePartitionEntry",
                                                        "wipeTable",
                                                        "wipeVolume",
                                                        "with_mount_unit",
                                                        "writtenBy"});

constexpr std::size_t kLongest = 40;

std::string Folded(std::string_view key) {
  std::string folded;
  for (const char c : key.substr(0, kLongest + 1)) {
    if (c != '_' && c != '-') folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return folded;
}

const std::unordered_map<std::string, std::string_view>& KeysByFolded() {
  static const auto kByFolded = [] {
    std::unordered_map<std::string, std::string_view> keys;
    for (const std::string_view key : kKeys) keys.emplace(Folded(key), key);
    return keys;
  }();
  return kByFolded;
}

// Returns whether the words differ by one letter, or by two neighbours that are swapped.
bool AreClose(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  if (a.size() > b.size() + 1) return false;
  const auto at = static_cast<std::size_t>(std::mismatch(b.begin(), b.end(), a.begin()).first - b.begin());
  const std::string_view rest_a = a.substr(at);
  const std::string_view rest_b = b.substr(at);
  if (a.size() > b.size()) return rest_a.substr(1) == rest_b;
  if (rest_a.empty() || rest_a.substr(1) == rest_b.substr(1)) return true;
  return rest_a[0] == rest_b[1] && rest_a[1] == rest_b[0] && rest_a.substr(2) == rest_b.substr(2);
}

// Returns the alphabetically first match, so that the answer is always the same.
std::string_view CloseKnownKey(std::string_view key) {
  constexpr std::size_t kShortest = 4;  // Shorter words are close to many.
  if (key.size() > kLongest) return "";
  const std::string folded = Folded(key);
  std::string_view closest;
  for (const auto& [word, known] : KeysByFolded()) {
    if (word.size() < kShortest || !AreClose(word, folded)) continue;
    if (closest.empty() || known < closest) closest = known;
  }
  return closest;
}

}  // namespace

bool IsPlainName(std::string_view name) {
  constexpr std::size_t kLongestKind = 63;
  return !name.empty() && name.size() <= kLongestKind &&
         std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

bool IsKnownKey(std::string_view key) { return key.size() <= kLongest && KeysByFolded().contains(Folded(key)); }

std::string ShownPlace(std::string_view path) {
  std::string shown;
  for (bool is_first = true;; is_first = false) {
    const std::size_t dot = path.find('.');
    const std::string_view part = path.substr(0, dot);
    const bool is_number = part.find_first_not_of("0123456789") == std::string_view::npos && part.size() <= 8;
    if (!is_first) shown += '.';
    shown += is_number || IsKnownKey(part) || (is_first && part == "$") ? part : "?";
    if (dot == std::string_view::npos) return shown;
    path.remove_prefix(dot + 1);
  }
}

std::string WithoutUnknownKey(std::string_view path, std::string what) {
  // A key may contain dots, so the longest end of the path is tried first.
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    const std::string_view key = path.substr(dot + 1);
    if (key.empty() || !what.ends_with(key)) continue;
    if (IsKnownKey(key)) return what;
    what.resize(what.size() - key.size());
    while (what.ends_with(' ')) what.pop_back();
    const std::string_view close = CloseKnownKey(key);
    if (!close.empty()) what += fmt::format("; is \"{}\" meant?", close);
    return what;
  }
  return what;
}

}  // namespace pintle::json
