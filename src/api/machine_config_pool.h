// SPDX-License-Identifier: Apache-2.0
#pragma once

// A MachineConfigPool: it selects the machine configs that are rendered into one config, and the nodes that get this
// config.  It also limits how many of these nodes are updated at once.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/label_selector.h"
#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

inline constexpr std::string_view kMasterPool = "master";
inline constexpr std::string_view kWorkerPool = "worker";
inline constexpr std::string_view kArbiterPool = "arbiter";

// A number, or a text such as "10%".
struct IntOrString {
  std::variant<std::int32_t, std::string> value;
  bool operator==(const IntOrString&) const = default;
};

// A rendered config, and the machine configs that it was rendered from, in the order of merging.
struct PoolConfiguration {
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string api_version;
  std::string resource_version;
  std::string field_path;
  std::vector<ObjectReference> source;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"kind", &PoolConfiguration::kind},
      json::Field{"namespace", &PoolConfiguration::namespace_name},
      json::Field{"name", &PoolConfiguration::name},
      json::Field{"uid", &PoolConfiguration::uid},
      json::Field{"apiVersion", &PoolConfiguration::api_version},
      json::Field{"resourceVersion", &PoolConfiguration::resource_version},
      json::Field{"fieldPath", &PoolConfiguration::field_path},
      json::Field{"source", &PoolConfiguration::source},
  };
};

struct MachineConfigPoolSpec {
  std::optional<LabelSelector> machine_config_selector;
  std::optional<LabelSelector> node_selector;
  bool paused = false;
  std::optional<IntOrString> max_unavailable;
  PoolConfiguration configuration;
  std::vector<NameReference> pinned_image_sets;
  std::optional<NameReference> os_image_stream;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"machineConfigSelector", &MachineConfigPoolSpec::machine_config_selector},
      json::Field{"nodeSelector", &MachineConfigPoolSpec::node_selector},
      json::Required{"paused", &MachineConfigPoolSpec::paused},
      json::Field{"maxUnavailable", &MachineConfigPoolSpec::max_unavailable},
      json::Required{"configuration", &MachineConfigPoolSpec::configuration},
      json::Field{"pinnedImageSets", &MachineConfigPoolSpec::pinned_image_sets},
      json::Field{"osImageStream", &MachineConfigPoolSpec::os_image_stream},
  };
};

// The expiry date of a certificate that the pool's nodes trust.
struct CertExpiry {
  std::string bundle;
  std::string subject;
  std::optional<Time> expiry;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"bundle", &CertExpiry::bundle},
      json::Required{"subject", &CertExpiry::subject},
      json::Field{"expiry", &CertExpiry::expiry},
  };
};

// The progress of the pool's nodes in a task outside of the rendered config.  The type "PinnedImageSets" is about
// pulling pinned images.
struct PoolSynchronizerStatus {
  std::string type;
  std::int64_t machine_count = 0;
  std::int64_t updated_machine_count = 0;
  std::int64_t ready_machine_count = 0;
  std::int64_t available_machine_count = 0;
  std::int64_t unavailable_machine_count = 0;
  std::int64_t observed_generation = 0;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"poolSynchronizerType", &PoolSynchronizerStatus::type},
      json::Required{"machineCount", &PoolSynchronizerStatus::machine_count},
      json::Required{"updatedMachineCount", &PoolSynchronizerStatus::updated_machine_count},
      json::Required{"readyMachineCount", &PoolSynchronizerStatus::ready_machine_count},
      json::Required{"availableMachineCount", &PoolSynchronizerStatus::available_machine_count},
      json::Required{"unavailableMachineCount", &PoolSynchronizerStatus::unavailable_machine_count},
      json::Field{"observedGeneration", &PoolSynchronizerStatus::observed_generation},
  };
};

struct MachineConfigPoolStatus {
  std::int64_t observed_generation = 0;
  PoolConfiguration configuration;
  std::int32_t machine_count = 0;
  std::int32_t updated_machine_count = 0;
  std::int32_t ready_machine_count = 0;
  std::int32_t unavailable_machine_count = 0;
  std::int32_t degraded_machine_count = 0;
  std::vector<Condition> conditions;
  std::vector<CertExpiry> cert_expirys;
  std::vector<PoolSynchronizerStatus> pool_synchronizers_status;
  std::optional<NameReference> os_image_stream;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"observedGeneration", &MachineConfigPoolStatus::observed_generation},
      json::Required{"configuration", &MachineConfigPoolStatus::configuration},
      json::Required{"machineCount", &MachineConfigPoolStatus::machine_count},
      json::Required{"updatedMachineCount", &MachineConfigPoolStatus::updated_machine_count},
      json::Required{"readyMachineCount", &MachineConfigPoolStatus::ready_machine_count},
      json::Required{"unavailableMachineCount", &MachineConfigPoolStatus::unavailable_machine_count},
      json::Required{"degradedMachineCount", &MachineConfigPoolStatus::degraded_machine_count},
      json::Required{"conditions", &MachineConfigPoolStatus::conditions},
      json::Required{"certExpirys", &MachineConfigPoolStatus::cert_expirys},
      json::Field{"poolSynchronizersStatus", &MachineConfigPoolStatus::pool_synchronizers_status},
      json::Field{"osImageStream", &MachineConfigPoolStatus::os_image_stream},
  };
};

struct MachineConfigPool {
  std::string api_version{kMachineConfigApiVersion};
  std::string kind = "MachineConfigPool";
  ObjectMeta metadata;
  MachineConfigPoolSpec spec;
  MachineConfigPoolStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &MachineConfigPool::api_version}, json::Required{"kind", &MachineConfigPool::kind},
      json::Required{"metadata", &MachineConfigPool::metadata},      json::Required{"spec", &MachineConfigPool::spec},
      json::Required{"status", &MachineConfigPool::status},
  };
};

}  // namespace pintle::api

namespace pintle::json {

template <>
struct Codec<api::IntOrString> {
  static void Decode(Value&& from, api::IntOrString& to, const Path& path, Report& report);
  static Value Encode(const api::IntOrString& from);
};

}  // namespace pintle::json
