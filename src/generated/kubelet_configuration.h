// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kubelet's own configuration, which each node has as /etc/kubernetes/kubelet.conf.
//
// This is the struct KubeletConfiguration of kubelet.config.k8s.io/v1beta1 with all of its fields, since the file is
// written as a whole.  As in the Machine Config Operator, unknown keys are dropped.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "api/quantity.h"
#include "base/result.h"
#include "generated/go_duration.h"
#include "generated/go_field.h"
#include "json/field_list.h"
#include "json/value.h"

namespace pintle::generated {

using TextsByName = std::map<std::string, std::string>;
using ResourceList = std::map<std::string, api::Quantity>;

struct KubeletAuthorizationMode {
  std::string text;
  static constexpr std::string_view kGoName = "v1beta1.KubeletAuthorizationMode";
};

struct ImagePullCredentialsVerificationPolicy {
  std::string text;
  static constexpr std::string_view kGoName = "v1beta1.ImagePullCredentialsVerificationPolicy";
};

struct ResourceChangeDetectionStrategy {
  std::string text;
  static constexpr std::string_view kGoName = "v1beta1.ResourceChangeDetectionStrategy";
};

struct TaintEffect {
  std::string text;
  static constexpr std::string_view kGoName = "v1.TaintEffect";
};

struct VerbosityLevel {
  std::uint32_t level = 0;
};

// A number of nanoseconds, or a text such as "5s".  It is written in the form in which it was read.
struct NanosecondsOrDuration {
  GoDuration duration;
  bool is_text = false;
};

struct KubeletX509Authentication {
  std::string client_ca_file;

  static constexpr std::string_view kGoName = "v1beta1.KubeletX509Authentication";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("clientCAFile", &KubeletX509Authentication::client_ca_file),
  };
};

struct KubeletWebhookAuthentication {
  std::optional<bool> enabled;
  GoDuration cache_ttl;

  static constexpr std::string_view kGoName = "v1beta1.KubeletWebhookAuthentication";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("enabled", &KubeletWebhookAuthentication::enabled),
      OmitEmpty("cacheTTL", &KubeletWebhookAuthentication::cache_ttl),
  };
};

struct KubeletAnonymousAuthentication {
  std::optional<bool> enabled;

  static constexpr std::string_view kGoName = "v1beta1.KubeletAnonymousAuthentication";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("enabled", &KubeletAnonymousAuthentication::enabled),
  };
};

struct KubeletAuthentication {
  KubeletX509Authentication x509;
  KubeletWebhookAuthentication webhook;
  KubeletAnonymousAuthentication anonymous;

  static constexpr std::string_view kGoName = "v1beta1.KubeletAuthentication";
  static constexpr auto kFields = json::FieldList{
      Always("x509", &KubeletAuthentication::x509),
      Always("webhook", &KubeletAuthentication::webhook),
      Always("anonymous", &KubeletAuthentication::anonymous),
  };
};

struct KubeletWebhookAuthorization {
  GoDuration cache_authorized_ttl;
  GoDuration cache_unauthorized_ttl;

  static constexpr std::string_view kGoName = "v1beta1.KubeletWebhookAuthorization";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("cacheAuthorizedTTL", &KubeletWebhookAuthorization::cache_authorized_ttl),
      OmitEmpty("cacheUnauthorizedTTL", &KubeletWebhookAuthorization::cache_unauthorized_ttl),
  };
};

struct KubeletAuthorization {
  KubeletAuthorizationMode mode;
  KubeletWebhookAuthorization webhook;

  static constexpr std::string_view kGoName = "v1beta1.KubeletAuthorization";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("mode", &KubeletAuthorization::mode),
      Always("webhook", &KubeletAuthorization::webhook),
  };
};

struct MemorySwapConfiguration {
  std::string swap_behavior;

  static constexpr std::string_view kGoName = "v1beta1.MemorySwapConfiguration";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("swapBehavior", &MemorySwapConfiguration::swap_behavior),
  };
};

struct CrashLoopBackOffConfig {
  std::optional<GoDuration> max_container_restart_period;

  static constexpr std::string_view kGoName = "v1beta1.CrashLoopBackOffConfig";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("maxContainerRestartPeriod", &CrashLoopBackOffConfig::max_container_restart_period),
  };
};

struct ShutdownGracePeriodByPodPriority {
  std::int32_t priority = 0;
  std::int64_t shutdown_grace_period_seconds = 0;

  static constexpr std::string_view kGoName = "v1beta1.ShutdownGracePeriodByPodPriority";
  static constexpr auto kFields = json::FieldList{
      Always("priority", &ShutdownGracePeriodByPodPriority::priority),
      Always("shutdownGracePeriodSeconds", &ShutdownGracePeriodByPodPriority::shutdown_grace_period_seconds),
  };
};

struct MemoryReservation {
  std::int32_t numa_node = 0;
  std::optional<ResourceList> limits;  // Written as null if it is missing.

  static constexpr std::string_view kGoName = "v1beta1.MemoryReservation";
  static constexpr auto kFields = json::FieldList{
      Always("numaNode", &MemoryReservation::numa_node),
      Always("limits", &MemoryReservation::limits),
  };
};

struct UserNamespaces {
  std::optional<std::int64_t> ids_per_pod;

  static constexpr std::string_view kGoName = "v1beta1.UserNamespaces";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("idsPerPod", &UserNamespaces::ids_per_pod),
  };
};

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect;
  std::optional<api::Time> time_added;

  static constexpr std::string_view kGoName = "v1.Taint";
  static constexpr auto kFields = json::FieldList{
      Always("key", &Taint::key),
      OmitEmpty("value", &Taint::value),
      Always("effect", &Taint::effect),
      OmitEmpty("timeAdded", &Taint::time_added),
  };
};

struct TracingConfiguration {
  std::optional<std::string> endpoint;
  std::optional<std::int32_t> sampling_rate_per_million;

  static constexpr std::string_view kGoName = "v1.TracingConfiguration";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("endpoint", &TracingConfiguration::endpoint),
      OmitEmpty("samplingRatePerMillion", &TracingConfiguration::sampling_rate_per_million),
  };
};

struct VModuleItem {
  std::string file_pattern;
  VerbosityLevel verbosity;

  static constexpr std::string_view kGoName = "v1.VModuleItem";
  static constexpr auto kFields = json::FieldList{
      Always("filePattern", &VModuleItem::file_pattern),
      Always("verbosity", &VModuleItem::verbosity),
  };
};

struct TextOptions {
  bool split_stream = false;
  api::Quantity info_buffer_size;

  static constexpr std::string_view kGoName = "v1.TextOptions";
  static std::string_view Embedding(std::string_view) { return "OutputRoutingOptions"; }
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("splitStream", &TextOptions::split_stream),
      Always("infoBufferSize", &TextOptions::info_buffer_size),
  };
};

struct JsonOptions {
  bool split_stream = false;
  api::Quantity info_buffer_size;

  static constexpr std::string_view kGoName = "v1.JSONOptions";
  static std::string_view Embedding(std::string_view) { return "OutputRoutingOptions"; }
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("splitStream", &JsonOptions::split_stream),
      Always("infoBufferSize", &JsonOptions::info_buffer_size),
  };
};

struct FormatOptions {
  TextOptions text;
  JsonOptions json;

  static constexpr std::string_view kGoName = "v1.FormatOptions";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("text", &FormatOptions::text),
      OmitEmpty("json", &FormatOptions::json),
  };
};

struct LoggingConfiguration {
  std::string format;
  NanosecondsOrDuration flush_frequency;
  VerbosityLevel verbosity;
  std::vector<VModuleItem> vmodule;
  FormatOptions options;

  static constexpr std::string_view kGoName = "v1.LoggingConfiguration";
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("format", &LoggingConfiguration::format),
      Always("flushFrequency", &LoggingConfiguration::flush_frequency),
      Always("verbosity", &LoggingConfiguration::verbosity),
      OmitEmpty("vmodule", &LoggingConfiguration::vmodule),
      OmitEmpty("options", &LoggingConfiguration::options),
  };
};

struct KubeletConfiguration {
  std::string api_version;
  std::string kind;
  std::optional<bool> enable_server;
  std::string static_pod_path;
  std::string pod_logs_dir;
  GoDuration sync_frequency;
  GoDuration file_check_frequency;
  GoDuration http_check_frequency;
  std::string static_pod_url;
  std::map<std::string, std::optional<std::vector<std::string>>> static_pod_url_header;
  std::string address;
  std::int32_t port = 0;
  std::int32_t read_only_port = 0;
  std::string tls_cert_file;
  std::string tls_private_key_file;
  std::vector<std::string> tls_cipher_suites;
  std::vector<std::int32_t> tls_curve_preferences;
  std::string tls_min_version;
  bool rotate_certificates = false;
  bool server_tls_bootstrap = false;
  KubeletAuthentication authentication;
  KubeletAuthorization authorization;
  std::optional<std::int32_t> registry_pull_qps;
  std::int32_t registry_burst = 0;
  ImagePullCredentialsVerificationPolicy image_pull_credentials_verification_policy;
  std::vector<std::string> preloaded_images_verification_allowlist;
  std::optional<std::int32_t> event_record_qps;
  std::int32_t event_burst = 0;
  std::optional<bool> enable_debugging_handlers;
  bool enable_contention_profiling = false;
  std::optional<std::int32_t> healthz_port;
  std::string healthz_bind_address;
  std::optional<std::int32_t> oom_score_adj;
  std::string cluster_domain;
  std::vector<std::string> cluster_dns;
  GoDuration streaming_connection_idle_timeout;
  GoDuration node_status_update_frequency;
  GoDuration node_status_report_frequency;
  std::int32_t node_lease_duration_seconds = 0;
  GoDuration image_minimum_gc_age;
  GoDuration image_maximum_gc_age;
  std::optional<std::int32_t> image_gc_high_threshold_percent;
  std::optional<std::int32_t> image_gc_low_threshold_percent;
  GoDuration volume_stats_agg_period;
  std::string kubelet_cgroups;
  std::string system_cgroups;
  std::string cgroup_root;
  std::optional<bool> cgroups_per_qos;
  std::string cgroup_driver;
  std::string cpu_manager_policy;
  std::optional<bool> single_process_oom_kill;
  TextsByName cpu_manager_policy_options;
  GoDuration cpu_manager_reconcile_period;
  std::string memory_manager_policy;
  std::string topology_manager_policy;
  std::string topology_manager_scope;
  TextsByName topology_manager_policy_options;
  TextsByName qos_reserved;
  GoDuration runtime_request_timeout;
  std::string hairpin_mode;
  std::int32_t max_pods = 0;
  std::string pod_cidr;
  std::optional<std::int64_t> pod_pids_limit;
  std::optional<std::string> resolv_conf;
  bool run_once = false;
  std::optional<bool> cpu_cfs_quota;
  std::optional<GoDuration> cpu_cfs_quota_period;
  std::optional<std::int32_t> node_status_max_images;
  std::int64_t max_open_files = 0;
  std::string content_type;
  std::optional<std::int32_t> kube_api_qps;
  std::int32_t kube_api_burst = 0;
  std::optional<bool> serialize_image_pulls;
  std::optional<std::int32_t> max_parallel_image_pulls;
  TextsByName eviction_hard;
  TextsByName eviction_soft;
  TextsByName eviction_soft_grace_period;
  GoDuration eviction_pressure_transition_period;
  std::int32_t eviction_max_pod_grace_period = 0;
  TextsByName eviction_minimum_reclaim;
  std::optional<bool> merge_default_eviction_settings;
  std::int32_t pods_per_core = 0;
  std::optional<bool> enable_controller_attach_detach;
  bool protect_kernel_defaults = false;
  std::optional<bool> make_iptables_util_chains;
  std::optional<std::int32_t> iptables_masquerade_bit;
  std::optional<std::int32_t> iptables_drop_bit;
  std::map<std::string, bool> feature_gates;
  std::optional<bool> fail_swap_on;
  MemorySwapConfiguration memory_swap;
  std::string container_log_max_size;
  std::optional<std::int32_t> container_log_max_files;
  std::optional<std::int32_t> container_log_max_workers;
  std::optional<GoDuration> container_log_monitor_interval;
  ResourceChangeDetectionStrategy config_map_and_secret_change_detection_strategy;
  TextsByName system_reserved;
  TextsByName kube_reserved;
  std::string reserved_system_cpus;
  std::string show_hidden_metrics_for_version;
  std::string system_reserved_cgroup;
  std::string kube_reserved_cgroup;
  std::vector<std::string> enforce_node_allocatable;
  std::vector<std::string> allowed_unsafe_sysctls;
  std::string volume_plugin_dir;
  std::string provider_id;
  bool kernel_memcg_notification = false;
  LoggingConfiguration logging;
  std::optional<bool> enable_system_log_handler;
  std::optional<bool> enable_system_log_query;
  GoDuration shutdown_grace_period;
  GoDuration shutdown_grace_period_critical_pods;
  std::vector<ShutdownGracePeriodByPodPriority> shutdown_grace_period_by_pod_priority;
  CrashLoopBackOffConfig crash_loop_back_off;
  std::vector<MemoryReservation> reserved_memory;
  std::optional<bool> enable_profiling_handler;
  std::optional<bool> enable_debug_flags_handler;
  std::optional<bool> seccomp_default;
  std::optional<double> memory_throttling_factor;
  std::vector<Taint> register_with_taints;
  std::optional<bool> register_node;
  std::optional<TracingConfiguration> tracing;
  std::optional<bool> local_storage_capacity_isolation;
  std::string container_runtime_endpoint;
  std::string image_service_endpoint;
  std::optional<bool> fail_cgroup_v1;
  std::optional<UserNamespaces> user_namespaces;

  static constexpr std::string_view kGoName = "v1beta1.KubeletConfiguration";
  static std::string_view Embedding(std::string_view field) {
    return field == "apiVersion" || field == "kind" ? "TypeMeta" : "";
  }
  static constexpr auto kFields = json::FieldList{
      OmitEmpty("apiVersion", &KubeletConfiguration::api_version),
      OmitEmpty("kind", &KubeletConfiguration::kind),
      OmitEmpty("enableServer", &KubeletConfiguration::enable_server),
      OmitEmpty("staticPodPath", &KubeletConfiguration::static_pod_path),
      OmitEmpty("podLogsDir", &KubeletConfiguration::pod_logs_dir),
      OmitEmpty("syncFrequency", &KubeletConfiguration::sync_frequency),
      OmitEmpty("fileCheckFrequency", &KubeletConfiguration::file_check_frequency),
      OmitEmpty("httpCheckFrequency", &KubeletConfiguration::http_check_frequency),
      OmitEmpty("staticPodURL", &KubeletConfiguration::static_pod_url),
      OmitEmpty("staticPodURLHeader", &KubeletConfiguration::static_pod_url_header),
      OmitEmpty("address", &KubeletConfiguration::address),
      OmitEmpty("port", &KubeletConfiguration::port),
      OmitEmpty("readOnlyPort", &KubeletConfiguration::read_only_port),
      OmitEmpty("tlsCertFile", &KubeletConfiguration::tls_cert_file),
      OmitEmpty("tlsPrivateKeyFile", &KubeletConfiguration::tls_private_key_file),
      OmitEmpty("tlsCipherSuites", &KubeletConfiguration::tls_cipher_suites),
      OmitEmpty("tlsCurvePreferences", &KubeletConfiguration::tls_curve_preferences),
      OmitEmpty("tlsMinVersion", &KubeletConfiguration::tls_min_version),
      OmitEmpty("rotateCertificates", &KubeletConfiguration::rotate_certificates),
      OmitEmpty("serverTLSBootstrap", &KubeletConfiguration::server_tls_bootstrap),
      Always("authentication", &KubeletConfiguration::authentication),
      Always("authorization", &KubeletConfiguration::authorization),
      OmitEmpty("registryPullQPS", &KubeletConfiguration::registry_pull_qps),
      OmitEmpty("registryBurst", &KubeletConfiguration::registry_burst),
      OmitEmpty("imagePullCredentialsVerificationPolicy",
                &KubeletConfiguration::image_pull_credentials_verification_policy),
      OmitEmpty("preloadedImagesVerificationAllowlist", &KubeletConfiguration::preloaded_images_verification_allowlist),
      OmitEmpty("eventRecordQPS", &KubeletConfiguration::event_record_qps),
      OmitEmpty("eventBurst", &KubeletConfiguration::event_burst),
      OmitEmpty("enableDebuggingHandlers", &KubeletConfiguration::enable_debugging_handlers),
      OmitEmpty("enableContentionProfiling", &KubeletConfiguration::enable_contention_profiling),
      OmitEmpty("healthzPort", &KubeletConfiguration::healthz_port),
      OmitEmpty("healthzBindAddress", &KubeletConfiguration::healthz_bind_address),
      OmitEmpty("oomScoreAdj", &KubeletConfiguration::oom_score_adj),
      OmitEmpty("clusterDomain", &KubeletConfiguration::cluster_domain),
      OmitEmpty("clusterDNS", &KubeletConfiguration::cluster_dns),
      OmitEmpty("streamingConnectionIdleTimeout", &KubeletConfiguration::streaming_connection_idle_timeout),
      OmitEmpty("nodeStatusUpdateFrequency", &KubeletConfiguration::node_status_update_frequency),
      OmitEmpty("nodeStatusReportFrequency", &KubeletConfiguration::node_status_report_frequency),
      OmitEmpty("nodeLeaseDurationSeconds", &KubeletConfiguration::node_lease_duration_seconds),
      OmitEmpty("imageMinimumGCAge", &KubeletConfiguration::image_minimum_gc_age),
      OmitEmpty("imageMaximumGCAge", &KubeletConfiguration::image_maximum_gc_age),
      OmitEmpty("imageGCHighThresholdPercent", &KubeletConfiguration::image_gc_high_threshold_percent),
      OmitEmpty("imageGCLowThresholdPercent", &KubeletConfiguration::image_gc_low_threshold_percent),
      OmitEmpty("volumeStatsAggPeriod", &KubeletConfiguration::volume_stats_agg_period),
      OmitEmpty("kubeletCgroups", &KubeletConfiguration::kubelet_cgroups),
      OmitEmpty("systemCgroups", &KubeletConfiguration::system_cgroups),
      OmitEmpty("cgroupRoot", &KubeletConfiguration::cgroup_root),
      OmitEmpty("cgroupsPerQOS", &KubeletConfiguration::cgroups_per_qos),
      OmitEmpty("cgroupDriver", &KubeletConfiguration::cgroup_driver),
      OmitEmpty("cpuManagerPolicy", &KubeletConfiguration::cpu_manager_policy),
      OmitEmpty("singleProcessOOMKill", &KubeletConfiguration::single_process_oom_kill),
      OmitEmpty("cpuManagerPolicyOptions", &KubeletConfiguration::cpu_manager_policy_options),
      OmitEmpty("cpuManagerReconcilePeriod", &KubeletConfiguration::cpu_manager_reconcile_period),
      OmitEmpty("memoryManagerPolicy", &KubeletConfiguration::memory_manager_policy),
      OmitEmpty("topologyManagerPolicy", &KubeletConfiguration::topology_manager_policy),
      OmitEmpty("topologyManagerScope", &KubeletConfiguration::topology_manager_scope),
      OmitEmpty("topologyManagerPolicyOptions", &KubeletConfiguration::topology_manager_policy_options),
      OmitEmpty("qosReserved", &KubeletConfiguration::qos_reserved),
      OmitEmpty("runtimeRequestTimeout", &KubeletConfiguration::runtime_request_timeout),
      OmitEmpty("hairpinMode", &KubeletConfiguration::hairpin_mode),
      OmitEmpty("maxPods", &KubeletConfiguration::max_pods),
      OmitEmpty("podCIDR", &KubeletConfiguration::pod_cidr),
      OmitEmpty("podPidsLimit", &KubeletConfiguration::pod_pids_limit),
      OmitEmpty("resolvConf", &KubeletConfiguration::resolv_conf),
      OmitEmpty("runOnce", &KubeletConfiguration::run_once),
      OmitEmpty("cpuCFSQuota", &KubeletConfiguration::cpu_cfs_quota),
      OmitEmpty("cpuCFSQuotaPeriod", &KubeletConfiguration::cpu_cfs_quota_period),
      OmitEmpty("nodeStatusMaxImages", &KubeletConfiguration::node_status_max_images),
      OmitEmpty("maxOpenFiles", &KubeletConfiguration::max_open_files),
      OmitEmpty("contentType", &KubeletConfiguration::content_type),
      OmitEmpty("kubeAPIQPS", &KubeletConfiguration::kube_api_qps),
      OmitEmpty("kubeAPIBurst", &KubeletConfiguration::kube_api_burst),
      OmitEmpty("serializeImagePulls", &KubeletConfiguration::serialize_image_pulls),
      OmitEmpty("maxParallelImagePulls", &KubeletConfiguration::max_parallel_image_pulls),
      OmitEmpty("evictionHard", &KubeletConfiguration::eviction_hard),
      OmitEmpty("evictionSoft", &KubeletConfiguration::eviction_soft),
      OmitEmpty("evictionSoftGracePeriod", &KubeletConfiguration::eviction_soft_grace_period),
      OmitEmpty("evictionPressureTransitionPeriod", &KubeletConfiguration::eviction_pressure_transition_period),
      OmitEmpty("evictionMaxPodGracePeriod", &KubeletConfiguration::eviction_max_pod_grace_period),
      OmitEmpty("evictionMinimumReclaim", &KubeletConfiguration::eviction_minimum_reclaim),
      OmitEmpty("mergeDefaultEvictionSettings", &KubeletConfiguration::merge_default_eviction_settings),
      OmitEmpty("podsPerCore", &KubeletConfiguration::pods_per_core),
      OmitEmpty("enableControllerAttachDetach", &KubeletConfiguration::enable_controller_attach_detach),
      OmitEmpty("protectKernelDefaults", &KubeletConfiguration::protect_kernel_defaults),
      OmitEmpty("makeIPTablesUtilChains", &KubeletConfiguration::make_iptables_util_chains),
      OmitEmpty("iptablesMasqueradeBit", &KubeletConfiguration::iptables_masquerade_bit),
      OmitEmpty("iptablesDropBit", &KubeletConfiguration::iptables_drop_bit),
      OmitEmpty("featureGates", &KubeletConfiguration::feature_gates),
      OmitEmpty("failSwapOn", &KubeletConfiguration::fail_swap_on),
      OmitEmpty("memorySwap", &KubeletConfiguration::memory_swap),
      OmitEmpty("containerLogMaxSize", &KubeletConfiguration::container_log_max_size),
      OmitEmpty("containerLogMaxFiles", &KubeletConfiguration::container_log_max_files),
      OmitEmpty("containerLogMaxWorkers", &KubeletConfiguration::container_log_max_workers),
      OmitEmpty("containerLogMonitorInterval", &KubeletConfiguration::container_log_monitor_interval),
      OmitEmpty("configMapAndSecretChangeDetectionStrategy",
                &KubeletConfiguration::config_map_and_secret_change_detection_strategy),
      OmitEmpty("systemReserved", &KubeletConfiguration::system_reserved),
      OmitEmpty("kubeReserved", &KubeletConfiguration::kube_reserved),
      OmitEmpty("reservedSystemCPUs", &KubeletConfiguration::reserved_system_cpus),
      OmitEmpty("showHiddenMetricsForVersion", &KubeletConfiguration::show_hidden_metrics_for_version),
      OmitEmpty("systemReservedCgroup", &KubeletConfiguration::system_reserved_cgroup),
      OmitEmpty("kubeReservedCgroup", &KubeletConfiguration::kube_reserved_cgroup),
      OmitEmpty("enforceNodeAllocatable", &KubeletConfiguration::enforce_node_allocatable),
      OmitEmpty("allowedUnsafeSysctls", &KubeletConfiguration::allowed_unsafe_sysctls),
      OmitEmpty("volumePluginDir", &KubeletConfiguration::volume_plugin_dir),
      OmitEmpty("providerID", &KubeletConfiguration::provider_id),
      OmitEmpty("kernelMemcgNotification", &KubeletConfiguration::kernel_memcg_notification),
      OmitEmpty("logging", &KubeletConfiguration::logging),
      OmitEmpty("enableSystemLogHandler", &KubeletConfiguration::enable_system_log_handler),
      OmitEmpty("enableSystemLogQuery", &KubeletConfiguration::enable_system_log_query),
      OmitEmpty("shutdownGracePeriod", &KubeletConfiguration::shutdown_grace_period),
      OmitEmpty("shutdownGracePeriodCriticalPods", &KubeletConfiguration::shutdown_grace_period_critical_pods),
      OmitEmpty("shutdownGracePeriodByPodPriority", &KubeletConfiguration::shutdown_grace_period_by_pod_priority),
      OmitEmpty("crashLoopBackOff", &KubeletConfiguration::crash_loop_back_off),
      OmitEmpty("reservedMemory", &KubeletConfiguration::reserved_memory),
      OmitEmpty("enableProfilingHandler", &KubeletConfiguration::enable_profiling_handler),
      OmitEmpty("enableDebugFlagsHandler", &KubeletConfiguration::enable_debug_flags_handler),
      OmitEmpty("seccompDefault", &KubeletConfiguration::seccomp_default),
      OmitEmpty("memoryThrottlingFactor", &KubeletConfiguration::memory_throttling_factor),
      OmitEmpty("registerWithTaints", &KubeletConfiguration::register_with_taints),
      OmitEmpty("registerNode", &KubeletConfiguration::register_node),
      OmitEmpty("tracing", &KubeletConfiguration::tracing),
      OmitEmpty("localStorageCapacityIsolation", &KubeletConfiguration::local_storage_capacity_isolation),
      Always("containerRuntimeEndpoint", &KubeletConfiguration::container_runtime_endpoint),
      OmitEmpty("imageServiceEndpoint", &KubeletConfiguration::image_service_endpoint),
      OmitEmpty("failCgroupV1", &KubeletConfiguration::fail_cgroup_v1),
      OmitEmpty("userNamespaces", &KubeletConfiguration::user_namespaces),
  };
};

// Parses a kubelet.conf, which is YAML.
Result<KubeletConfiguration> ParseKubeletConf(std::string_view text);

// Decodes `spec.kubeletConfig` of a KubeletConfig.
Result<KubeletConfiguration> ReadKubeletConfiguration(const json::Value& document);

// Replaces the fields of `below` by those of `above` that are not empty.
void MergeOver(KubeletConfiguration& below, const KubeletConfiguration& above);

// Writes a complete kubelet.conf.
Result<std::string> KubeletConfText(const KubeletConfiguration& config);

}  // namespace pintle::generated
