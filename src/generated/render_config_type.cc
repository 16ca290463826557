// SPDX-License-Identifier: Apache-2.0
#include "generated/render_config_type.h"

#include <span>
#include <string_view>

namespace pintle::generated {
namespace {

using gotemplate::kBytesType;
using gotemplate::Kind;
using gotemplate::kInt64Type;
using gotemplate::kStringMapType;
using gotemplate::kStringsType;
using gotemplate::kStringType;
using gotemplate::kUint32Type;
using gotemplate::StructField;
using gotemplate::Type;

constexpr Type NamedStringType(std::string_view name) { return {Kind::kString, name, true}; }
constexpr Type PointerTo(std::string_view name, const Type& target) { return {Kind::kPointer, name, false, &target}; }
constexpr Type ListOf(std::string_view name, const Type& element) { return {Kind::kSlice, name, false, &element}; }
constexpr Type Struct(std::string_view name, std::span<const StructField> fields) {
  return {Kind::kStruct, name, true, nullptr, nullptr, fields};
}

// The fields are in the order in which Go declares them, because a struct is printed in this order.
constexpr StructField kImageRegistryBundleFields[] = {
    {"File", &kStringType, "file"},
    {"Data", &kBytesType, "data"},
};
constexpr Type kImageRegistryBundle = Struct("v1.ImageRegistryBundle", kImageRegistryBundleFields);
constexpr Type kImageRegistryBundleList = ListOf("[]v1.ImageRegistryBundle", kImageRegistryBundle);
constexpr Type kUID = NamedStringType("types.UID");
constexpr StructField kObjectReferenceFields[] = {
    {"Kind", &kStringType, "kind"},
    {"Namespace", &kStringType, "namespace"},
    {"Name", &kStringType, "name"},
    {"UID", &kUID, "uid"},
    {"APIVersion", &kStringType, "apiVersion"},
    {"ResourceVersion", &kStringType, "resourceVersion"},
    {"FieldPath", &kStringType, "fieldPath"},
};
constexpr Type kObjectReference = Struct("v1.ObjectReference", kObjectReferenceFields);
constexpr Type kObjectReferencePointer = PointerTo("*v1.ObjectReference", kObjectReference);
constexpr StructField kProxyStatusFields[] = {
    {"HTTPProxy", &kStringType, "httpProxy"},
    {"HTTPSProxy", &kStringType, "httpsProxy"},
    {"NoProxy", &kStringType, "noProxy"},
};
constexpr Type kProxyStatus = Struct("v1.ProxyStatus", kProxyStatusFields);
constexpr Type kProxyStatusPointer = PointerTo("*v1.ProxyStatus", kProxyStatus);
constexpr StructField kTypeMetaFields[] = {
    {"Kind", &kStringType, "kind"},
    {"APIVersion", &kStringType, "apiVersion"},
};
constexpr Type kTypeMeta = Struct("v1.TypeMeta", kTypeMetaFields);
constexpr StructField kObjectMetaFields[] = {
    {"Name", &kStringType, "name"},
    {"GenerateName", &kStringType, "generateName"},
    {"Namespace", &kStringType, "namespace"},
    {"UID", &kUID, "uid"},
    {"ResourceVersion", &kStringType, "resourceVersion"},
    {"Generation", &kInt64Type, "generation"},
    {"Labels", &kStringMapType, "labels"},
    {"Annotations", &kStringMapType, "annotations"},
    {"Finalizers", &kStringsType, "finalizers"},
};
constexpr Type kObjectMeta = Struct("v1.ObjectMeta", kObjectMetaFields);
constexpr StructField kConfigMapFileReferenceFields[] = {
    {"Name", &kStringType, "name"},
    {"Key", &kStringType, "key"},
};
constexpr Type kConfigMapFileReference = Struct("v1.ConfigMapFileReference", kConfigMapFileReferenceFields);
constexpr Type kPlatformType = NamedStringType("v1.PlatformType");
constexpr StructField kPlatformSpecFields[] = {
    {"Type", &kPlatformType, "type"},
};
constexpr Type kPlatformSpec = Struct("v1.PlatformSpec", kPlatformSpecFields);
constexpr Type kTopologyMode = NamedStringType("v1.TopologyMode");
constexpr StructField kInfrastructureSpecFields[] = {
    {"CloudConfig", &kConfigMapFileReference, "cloudConfig"},
    {"PlatformSpec", &kPlatformSpec, "platformSpec"},
    {"ControlPlaneTopology", &kTopologyMode, "controlPlaneTopology"},
};
constexpr Type kInfrastructureSpec = Struct("v1.InfrastructureSpec", kInfrastructureSpecFields);
constexpr StructField kAWSServiceEndpointFields[] = {
    {"Name", &kStringType, "name"},
    {"URL", &kStringType, "url"},
};
constexpr Type kAWSServiceEndpoint = Struct("v1.AWSServiceEndpoint", kAWSServiceEndpointFields);
constexpr Type kAWSServiceEndpointList = ListOf("[]v1.AWSServiceEndpoint", kAWSServiceEndpoint);
constexpr StructField kAWSResourceTagFields[] = {
    {"Key", &kStringType, "key"},
    {"Value", &kStringType, "value"},
};
constexpr Type kAWSResourceTag = Struct("v1.AWSResourceTag", kAWSResourceTagFields);
constexpr Type kAWSResourceTagList = ListOf("[]v1.AWSResourceTag", kAWSResourceTag);
constexpr Type kDNSType = NamedStringType("v1.DNSType");
constexpr Type kIP = NamedStringType("v1.IP");
constexpr Type kIPList = ListOf("[]v1.IP", kIP);
constexpr StructField kCloudLoadBalancerIPsFields[] = {
    {"APIIntLoadBalancerIPs", &kIPList, "apiIntLoadBalancerIPs"},
    {"APILoadBalancerIPs", &kIPList, "apiLoadBalancerIPs"},
    {"IngressLoadBalancerIPs", &kIPList, "ingressLoadBalancerIPs"},
};
constexpr Type kCloudLoadBalancerIPs = Struct("v1.CloudLoadBalancerIPs", kCloudLoadBalancerIPsFields);
constexpr Type kCloudLoadBalancerIPsPointer = PointerTo("*v1.CloudLoadBalancerIPs", kCloudLoadBalancerIPs);
constexpr StructField kCloudLoadBalancerConfigFields[] = {
    {"DNSType", &kDNSType, "dnsType"},
    {"ClusterHosted", &kCloudLoadBalancerIPsPointer, "clusterHosted"},
};
constexpr Type kCloudLoadBalancerConfig = Struct("v1.CloudLoadBalancerConfig", kCloudLoadBalancerConfigFields);
constexpr Type kCloudLoadBalancerConfigPointer = PointerTo("*v1.CloudLoadBalancerConfig", kCloudLoadBalancerConfig);
constexpr Type kIPFamilyType = NamedStringType("v1.IPFamilyType");
constexpr StructField kAWSPlatformStatusFields[] = {
    {"Region", &kStringType, "region"},
    {"ServiceEndpoints", &kAWSServiceEndpointList, "serviceEndpoints"},
    {"ResourceTags", &kAWSResourceTagList, "resourceTags"},
    {"CloudLoadBalancerConfig", &kCloudLoadBalancerConfigPointer, "cloudLoadBalancerConfig"},
    {"IPFamily", &kIPFamilyType, "ipFamily"},
};
constexpr Type kAWSPlatformStatus = Struct("v1.AWSPlatformStatus", kAWSPlatformStatusFields);
constexpr Type kAWSPlatformStatusPointer = PointerTo("*v1.AWSPlatformStatus", kAWSPlatformStatus);
constexpr Type kAzureCloudEnvironment = NamedStringType("v1.AzureCloudEnvironment");
constexpr StructField kAzureResourceTagFields[] = {
    {"Key", &kStringType, "key"},
    {"Value", &kStringType, "value"},
};
constexpr Type kAzureResourceTag = Struct("v1.AzureResourceTag", kAzureResourceTagFields);
constexpr Type kAzureResourceTagList = ListOf("[]v1.AzureResourceTag", kAzureResourceTag);
constexpr StructField kAzurePlatformStatusFields[] = {
    {"ResourceGroupName", &kStringType, "resourceGroupName"},
    {"NetworkResourceGroupName", &kStringType, "networkResourceGroupName"},
    {"CloudName", &kAzureCloudEnvironment, "cloudName"},
    {"ARMEndpoint", &kStringType, "armEndpoint"},
    {"ResourceTags", &kAzureResourceTagList, "resourceTags"},
    {"CloudLoadBalancerConfig", &kCloudLoadBalancerConfigPointer, "cloudLoadBalancerConfig"},
    {"IPFamily", &kIPFamilyType, "ipFamily"},
};
constexpr Type kAzurePlatformStatus = Struct("v1.AzurePlatformStatus", kAzurePlatformStatusFields);
constexpr Type kAzurePlatformStatusPointer = PointerTo("*v1.AzurePlatformStatus", kAzurePlatformStatus);
constexpr StructField kGCPResourceLabelFields[] = {
    {"Key", &kStringType, "key"},
    {"Value", &kStringType, "value"},
};
constexpr Type kGCPResourceLabel = Struct("v1.GCPResourceLabel", kGCPResourceLabelFields);
constexpr Type kGCPResourceLabelList = ListOf("[]v1.GCPResourceLabel", kGCPResourceLabel);
constexpr StructField kGCPResourceTagFields[] = {
    {"ParentID", &kStringType, "parentID"},
    {"Key", &kStringType, "key"},
    {"Value", &kStringType, "value"},
};
constexpr Type kGCPResourceTag = Struct("v1.GCPResourceTag", kGCPResourceTagFields);
constexpr Type kGCPResourceTagList = ListOf("[]v1.GCPResourceTag", kGCPResourceTag);
constexpr StructField kGCPPlatformStatusFields[] = {
    {"ProjectID", &kStringType, "projectID"},
    {"Region", &kStringType, "region"},
    {"ResourceLabels", &kGCPResourceLabelList, "resourceLabels"},
    {"ResourceTags", &kGCPResourceTagList, "resourceTags"},
    {"CloudLoadBalancerConfig", &kCloudLoadBalancerConfigPointer, "cloudLoadBalancerConfig"},
    {"UniverseDomain", &kStringType, "universeDomain"},
};
constexpr Type kGCPPlatformStatus = Struct("v1.GCPPlatformStatus", kGCPPlatformStatusFields);
constexpr Type kGCPPlatformStatusPointer = PointerTo("*v1.GCPPlatformStatus", kGCPPlatformStatus);
constexpr Type kPlatformLoadBalancerType = NamedStringType("v1.PlatformLoadBalancerType");
constexpr StructField kBareMetalPlatformLoadBalancerFields[] = {
    {"Type", &kPlatformLoadBalancerType, "type"},
};
constexpr Type kBareMetalPlatformLoadBalancer =
    Struct("v1.BareMetalPlatformLoadBalancer", kBareMetalPlatformLoadBalancerFields);
constexpr Type kBareMetalPlatformLoadBalancerPointer =
    PointerTo("*v1.BareMetalPlatformLoadBalancer", kBareMetalPlatformLoadBalancer);
constexpr Type kVIPManagementType = NamedStringType("v1.VIPManagementType");
constexpr Type kDNSRecordsType = NamedStringType("v1.DNSRecordsType");
constexpr Type kCIDR = NamedStringType("v1.CIDR");
constexpr Type kCIDRList = ListOf("[]v1.CIDR", kCIDR);
constexpr StructField kBareMetalPlatformStatusFields[] = {
    {"APIServerInternalIP", &kStringType, "apiServerInternalIP"},
    {"APIServerInternalIPs", &kStringsType, "apiServerInternalIPs"},
    {"IngressIP", &kStringType, "ingressIP"},
    {"IngressIPs", &kStringsType, "ingressIPs"},
    {"NodeDNSIP", &kStringType, "nodeDNSIP"},
    {"LoadBalancer", &kBareMetalPlatformLoadBalancerPointer, "loadBalancer"},
    {"VIPManagement", &kVIPManagementType, "vipManagement"},
    {"DNSRecordsType", &kDNSRecordsType, "dnsRecordsType"},
    {"MachineNetworks", &kCIDRList, "machineNetworks"},
};
constexpr Type kBareMetalPlatformStatus = Struct("v1.BareMetalPlatformStatus", kBareMetalPlatformStatusFields);
constexpr Type kBareMetalPlatformStatusPointer = PointerTo("*v1.BareMetalPlatformStatus", kBareMetalPlatformStatus);
constexpr StructField kOpenStackPlatformLoadBalancerFields[] = {
    {"Type", &kPlatformLoadBalancerType, "type"},
};
constexpr Type kOpenStackPlatformLoadBalancer =
    Struct("v1.OpenStackPlatformLoadBalancer", kOpenStackPlatformLoadBalancerFields);
constexpr Type kOpenStackPlatformLoadBalancerPointer =
    PointerTo("*v1.OpenStackPlatformLoadBalancer", kOpenStackPlatformLoadBalancer);
constexpr StructField kOpenStackPlatformStatusFields[] = {
    {"APIServerInternalIP", &kStringType, "apiServerInternalIP"},
    {"APIServerInternalIPs", &kStringsType, "apiServerInternalIPs"},
    {"CloudName", &kStringType, "cloudName"},
    {"IngressIP", &kStringType, "ingressIP"},
    {"IngressIPs", &kStringsType, "ingressIPs"},
    {"NodeDNSIP", &kStringType, "nodeDNSIP"},
    {"LoadBalancer", &kOpenStackPlatformLoadBalancerPointer, "loadBalancer"},
    {"DNSRecordsType", &kDNSRecordsType, "dnsRecordsType"},
    {"MachineNetworks", &kCIDRList, "machineNetworks"},
};
constexpr Type kOpenStackPlatformStatus = Struct("v1.OpenStackPlatformStatus", kOpenStackPlatformStatusFields);
constexpr Type kOpenStackPlatformStatusPointer = PointerTo("*v1.OpenStackPlatformStatus", kOpenStackPlatformStatus);
constexpr StructField kOvirtPlatformLoadBalancerFields[] = {
    {"Type", &kPlatformLoadBalancerType, "type"},
};
constexpr Type kOvirtPlatformLoadBalancer = Struct("v1.OvirtPlatformLoadBalancer", kOvirtPlatformLoadBalancerFields);
constexpr Type kOvirtPlatformLoadBalancerPointer =
    PointerTo("*v1.OvirtPlatformLoadBalancer", kOvirtPlatformLoadBalancer);
constexpr StructField kOvirtPlatformStatusFields[] = {
    {"APIServerInternalIP", &kStringType, "apiServerInternalIP"},
    {"APIServerInternalIPs", &kStringsType, "apiServerInternalIPs"},
    {"IngressIP", &kStringType, "ingressIP"},
    {"IngressIPs", &kStringsType, "ingressIPs"},
    {"NodeDNSIP", &kStringType, "nodeDNSIP"},
    {"LoadBalancer", &kOvirtPlatformLoadBalancerPointer, "loadBalancer"},
    {"DNSRecordsType", &kDNSRecordsType, "dnsRecordsType"},
};
constexpr Type kOvirtPlatformStatus = Struct("v1.OvirtPlatformStatus", kOvirtPlatformStatusFields);
constexpr Type kOvirtPlatformStatusPointer = PointerTo("*v1.OvirtPlatformStatus", kOvirtPlatformStatus);
constexpr StructField kVSpherePlatformLoadBalancerFields[] = {
    {"Type", &kPlatformLoadBalancerType, "type"},
};
constexpr Type kVSpherePlatformLoadBalancer =
    Struct("v1.VSpherePlatformLoadBalancer", kVSpherePlatformLoadBalancerFields);
constexpr Type kVSpherePlatformLoadBalancerPointer =
    PointerTo("*v1.VSpherePlatformLoadBalancer", kVSpherePlatformLoadBalancer);
constexpr StructField kVSpherePlatformStatusFields[] = {
    {"APIServerInternalIP", &kStringType, "apiServerInternalIP"},
    {"APIServerInternalIPs", &kStringsType, "apiServerInternalIPs"},
    {"IngressIP", &kStringType, "ingressIP"},
    {"IngressIPs", &kStringsType, "ingressIPs"},
    {"NodeDNSIP", &kStringType, "nodeDNSIP"},
    {"LoadBalancer", &kVSpherePlatformLoadBalancerPointer, "loadBalancer"},
    {"DNSRecordsType", &kDNSRecordsType, "dnsRecordsType"},
    {"MachineNetworks", &kCIDRList, "machineNetworks"},
};
constexpr Type kVSpherePlatformStatus = Struct("v1.VSpherePlatformStatus", kVSpherePlatformStatusFields);
constexpr Type kVSpherePlatformStatusPointer = PointerTo("*v1.VSpherePlatformStatus", kVSpherePlatformStatus);
constexpr Type kIBMCloudProviderType = NamedStringType("v1.IBMCloudProviderType");
constexpr Type kIBMCloudServiceName = NamedStringType("v1.IBMCloudServiceName");
constexpr StructField kIBMCloudServiceEndpointFields[] = {
    {"Name", &kIBMCloudServiceName, "name"},
    {"URL", &kStringType, "url"},
};
constexpr Type kIBMCloudServiceEndpoint = Struct("v1.IBMCloudServiceEndpoint", kIBMCloudServiceEndpointFields);
constexpr Type kIBMCloudServiceEndpointList = ListOf("[]v1.IBMCloudServiceEndpoint", kIBMCloudServiceEndpoint);
constexpr StructField kIBMCloudPlatformStatusFields[] = {
    {"Location", &kStringType, "location"},
    {"ResourceGroupName", &kStringType, "resourceGroupName"},
    {"ProviderType", &kIBMCloudProviderType, "providerType"},
    {"CISInstanceCRN", &kStringType, "cisInstanceCRN"},
    {"DNSInstanceCRN", &kStringType, "dnsInstanceCRN"},
    {"ServiceEndpoints", &kIBMCloudServiceEndpointList, "serviceEndpoints"},
};
constexpr Type kIBMCloudPlatformStatus = Struct("v1.IBMCloudPlatformStatus", kIBMCloudPlatformStatusFields);
constexpr Type kIBMCloudPlatformStatusPointer = PointerTo("*v1.IBMCloudPlatformStatus", kIBMCloudPlatformStatus);
constexpr StructField kKubevirtPlatformStatusFields[] = {
    {"APIServerInternalIP", &kStringType, "apiServerInternalIP"},
    {"IngressIP", &kStringType, "ingressIP"},
};
constexpr Type kKubevirtPlatformStatus = Struct("v1.KubevirtPlatformStatus", kKubevirtPlatformStatusFields);
constexpr Type kKubevirtPlatformStatusPointer = PointerTo("*v1.KubevirtPlatformStatus", kKubevirtPlatformStatus);
constexpr StructField kEquinixMetalPlatformStatusFields[] = {
    {"APIServerInternalIP", &kStringType, "apiServerInternalIP"},
    {"IngressIP", &kStringType, "ingressIP"},
};
constexpr Type kEquinixMetalPlatformStatus = Struct("v1.EquinixMetalPlatformStatus", kEquinixMetalPlatformStatusFields);
constexpr Type kEquinixMetalPlatformStatusPointer =
    PointerTo("*v1.EquinixMetalPlatformStatus", kEquinixMetalPlatformStatus);
constexpr StructField kPowerVSServiceEndpointFields[] = {
    {"Name", &kStringType, "name"},
    {"URL", &kStringType, "url"},
};
constexpr Type kPowerVSServiceEndpoint = Struct("v1.PowerVSServiceEndpoint", kPowerVSServiceEndpointFields);
constexpr Type kPowerVSServiceEndpointList = ListOf("[]v1.PowerVSServiceEndpoint", kPowerVSServiceEndpoint);
constexpr StructField kPowerVSPlatformStatusFields[] = {
    {"Region", &kStringType, "region"},
    {"Zone", &kStringType, "zone"},
    {"ResourceGroup", &kStringType, "resourceGroup"},
    {"ServiceEndpoints", &kPowerVSServiceEndpointList, "serviceEndpoints"},
    {"CISInstanceCRN", &kStringType, "cisInstanceCRN"},
    {"DNSInstanceCRN", &kStringType, "dnsInstanceCRN"},
};
constexpr Type kPowerVSPlatformStatus = Struct("v1.PowerVSPlatformStatus", kPowerVSPlatformStatusFields);
constexpr Type kPowerVSPlatformStatusPointer = PointerTo("*v1.PowerVSPlatformStatus", kPowerVSPlatformStatus);
constexpr StructField kAlibabaCloudResourceTagFields[] = {
    {"Key", &kStringType, "key"},
    {"Value", &kStringType, "value"},
};
constexpr Type kAlibabaCloudResourceTag = Struct("v1.AlibabaCloudResourceTag", kAlibabaCloudResourceTagFields);
constexpr Type kAlibabaCloudResourceTagList = ListOf("[]v1.AlibabaCloudResourceTag", kAlibabaCloudResourceTag);
constexpr StructField kAlibabaCloudPlatformStatusFields[] = {
    {"Region", &kStringType, "region"},
    {"ResourceGroupID", &kStringType, "resourceGroupID"},
    {"ResourceTags", &kAlibabaCloudResourceTagList, "resourceTags"},
};
constexpr Type kAlibabaCloudPlatformStatus = Struct("v1.AlibabaCloudPlatformStatus", kAlibabaCloudPlatformStatusFields);
constexpr Type kAlibabaCloudPlatformStatusPointer =
    PointerTo("*v1.AlibabaCloudPlatformStatus", kAlibabaCloudPlatformStatus);
constexpr StructField kNutanixPlatformLoadBalancerFields[] = {
    {"Type", &kPlatformLoadBalancerType, "type"},
};
constexpr Type kNutanixPlatformLoadBalancer =
    Struct("v1.NutanixPlatformLoadBalancer", kNutanixPlatformLoadBalancerFields);
constexpr Type kNutanixPlatformLoadBalancerPointer =
    PointerTo("*v1.NutanixPlatformLoadBalancer", kNutanixPlatformLoadBalancer);
constexpr StructField kNutanixPlatformStatusFields[] = {
    {"APIServerInternalIP", &kStringType, "apiServerInternalIP"},
    {"APIServerInternalIPs", &kStringsType, "apiServerInternalIPs"},
    {"IngressIP", &kStringType, "ingressIP"},
    {"IngressIPs", &kStringsType, "ingressIPs"},
    {"LoadBalancer", &kNutanixPlatformLoadBalancerPointer, "loadBalancer"},
    {"DNSRecordsType", &kDNSRecordsType, "dnsRecordsType"},
};
constexpr Type kNutanixPlatformStatus = Struct("v1.NutanixPlatformStatus", kNutanixPlatformStatusFields);
constexpr Type kNutanixPlatformStatusPointer = PointerTo("*v1.NutanixPlatformStatus", kNutanixPlatformStatus);
constexpr Type kCloudControllerManagerState = NamedStringType("v1.CloudControllerManagerState");
constexpr StructField kCloudControllerManagerStatusFields[] = {
    {"State", &kCloudControllerManagerState, "state"},
};
constexpr Type kCloudControllerManagerStatus =
    Struct("v1.CloudControllerManagerStatus", kCloudControllerManagerStatusFields);
constexpr StructField kExternalPlatformStatusFields[] = {
    {"CloudControllerManager", &kCloudControllerManagerStatus, "cloudControllerManager"},
};
constexpr Type kExternalPlatformStatus = Struct("v1.ExternalPlatformStatus", kExternalPlatformStatusFields);
constexpr Type kExternalPlatformStatusPointer = PointerTo("*v1.ExternalPlatformStatus", kExternalPlatformStatus);
constexpr StructField kPlatformStatusFields[] = {
    {"Type", &kPlatformType, "type"},
    {"AWS", &kAWSPlatformStatusPointer, "aws"},
    {"Azure", &kAzurePlatformStatusPointer, "azure"},
    {"GCP", &kGCPPlatformStatusPointer, "gcp"},
    {"BareMetal", &kBareMetalPlatformStatusPointer, "baremetal"},
    {"OpenStack", &kOpenStackPlatformStatusPointer, "openstack"},
    {"Ovirt", &kOvirtPlatformStatusPointer, "ovirt"},
    {"VSphere", &kVSpherePlatformStatusPointer, "vsphere"},
    {"IBMCloud", &kIBMCloudPlatformStatusPointer, "ibmcloud"},
    {"Kubevirt", &kKubevirtPlatformStatusPointer, "kubevirt"},
    {"EquinixMetal", &kEquinixMetalPlatformStatusPointer, "equinixMetal"},
    {"PowerVS", &kPowerVSPlatformStatusPointer, "powervs"},
    {"AlibabaCloud", &kAlibabaCloudPlatformStatusPointer, "alibabaCloud"},
    {"Nutanix", &kNutanixPlatformStatusPointer, "nutanix"},
    {"External", &kExternalPlatformStatusPointer, "external"},
};
constexpr Type kPlatformStatus = Struct("v1.PlatformStatus", kPlatformStatusFields);
constexpr Type kPlatformStatusPointer = PointerTo("*v1.PlatformStatus", kPlatformStatus);
constexpr Type kCPUPartitioningMode = NamedStringType("v1.CPUPartitioningMode");
constexpr StructField kInfrastructureStatusFields[] = {
    {"InfrastructureName", &kStringType, "infrastructureName"},
    {"Platform", &kPlatformType, "platform"},
    {"PlatformStatus", &kPlatformStatusPointer, "platformStatus"},
    {"EtcdDiscoveryDomain", &kStringType, "etcdDiscoveryDomain"},
    {"APIServerURL", &kStringType, "apiServerURL"},
    {"APIServerInternalURL", &kStringType, "apiServerInternalURI"},
    {"ControlPlaneTopology", &kTopologyMode, "controlPlaneTopology"},
    {"InfrastructureTopology", &kTopologyMode, "infrastructureTopology"},
    {"CPUPartitioning", &kCPUPartitioningMode, "cpuPartitioning"},
};
constexpr Type kInfrastructureStatus = Struct("v1.InfrastructureStatus", kInfrastructureStatusFields);
constexpr StructField kInfrastructureFields[] = {
    {"TypeMeta", &kTypeMeta, "", true},
    {"ObjectMeta", &kObjectMeta, "metadata", true},
    {"Spec", &kInfrastructureSpec, "spec"},
    {"Status", &kInfrastructureStatus, "status"},
};
constexpr Type kInfrastructure = Struct("v1.Infrastructure", kInfrastructureFields);
constexpr Type kInfrastructurePointer = PointerTo("*v1.Infrastructure", kInfrastructure);
constexpr StructField kDNSZoneFields[] = {
    {"ID", &kStringType, "id"},
    {"Tags", &kStringMapType, "tags"},
};
constexpr Type kDNSZone = Struct("v1.DNSZone", kDNSZoneFields);
constexpr Type kDNSZonePointer = PointerTo("*v1.DNSZone", kDNSZone);
constexpr StructField kAWSDNSSpecFields[] = {
    {"PrivateZoneIAMRole", &kStringType, "privateZoneIAMRole"},
};
constexpr Type kAWSDNSSpec = Struct("v1.AWSDNSSpec", kAWSDNSSpecFields);
constexpr Type kAWSDNSSpecPointer = PointerTo("*v1.AWSDNSSpec", kAWSDNSSpec);
constexpr StructField kDNSPlatformSpecFields[] = {
    {"Type", &kPlatformType, "type"},
    {"AWS", &kAWSDNSSpecPointer, "aws"},
};
constexpr Type kDNSPlatformSpec = Struct("v1.DNSPlatformSpec", kDNSPlatformSpecFields);
constexpr StructField kDNSSpecFields[] = {
    {"BaseDomain", &kStringType, "baseDomain"},
    {"PublicZone", &kDNSZonePointer, "publicZone"},
    {"PrivateZone", &kDNSZonePointer, "privateZone"},
    {"Platform", &kDNSPlatformSpec, "platform"},
};
constexpr Type kDNSSpec = Struct("v1.DNSSpec", kDNSSpecFields);
constexpr Type kDNSStatus = Struct("v1.DNSStatus", {});
constexpr StructField kDNSFields[] = {
    {"TypeMeta", &kTypeMeta, "", true},
    {"ObjectMeta", &kObjectMeta, "metadata", true},
    {"Spec", &kDNSSpec, "spec"},
    {"Status", &kDNSStatus, "status"},
};
constexpr Type kDNS = Struct("v1.DNS", kDNSFields);
constexpr Type kDNSPointer = PointerTo("*v1.DNS", kDNS);
constexpr Type kIPFamiliesType = NamedStringType("v1.IPFamiliesType");
constexpr Type kUint32Pointer = PointerTo("*uint32", kUint32Type);
constexpr StructField kMTUMigrationValuesFields[] = {
    {"To", &kUint32Pointer, "to"},
    {"From", &kUint32Pointer, "from"},
};
constexpr Type kMTUMigrationValues = Struct("v1.MTUMigrationValues", kMTUMigrationValuesFields);
constexpr Type kMTUMigrationValuesPointer = PointerTo("*v1.MTUMigrationValues", kMTUMigrationValues);
constexpr StructField kMTUMigrationFields[] = {
    {"Network", &kMTUMigrationValuesPointer, "network"},
    {"Machine", &kMTUMigrationValuesPointer, "machine"},
};
constexpr Type kMTUMigration = Struct("v1.MTUMigration", kMTUMigrationFields);
constexpr Type kMTUMigrationPointer = PointerTo("*v1.MTUMigration", kMTUMigration);
constexpr StructField kNetworkInfoFields[] = {
    {"MTUMigration", &kMTUMigrationPointer, "mtuMigration"},
};
constexpr Type kNetworkInfo = Struct("v1.NetworkInfo", kNetworkInfoFields);
constexpr Type kNetworkInfoPointer = PointerTo("*v1.NetworkInfo", kNetworkInfo);
constexpr StructField kControllerConfigSpecFields[] = {
    {"ClusterDNSIP", &kStringType, "clusterDNSIP"},
    {"CloudProviderConfig", &kStringType, "cloudProviderConfig"},
    {"Platform", &kStringType, "platform"},
    {"EtcdDiscoveryDomain", &kStringType, "etcdDiscoveryDomain"},
    {"KubeAPIServerServingCAData", &kBytesType, "kubeAPIServerServingCAData"},
    {"RootCAData", &kBytesType, "rootCAData"},
    {"CloudProviderCAData", &kBytesType, "cloudProviderCAData"},
    {"AdditionalTrustBundle", &kBytesType, "additionalTrustBundle"},
    {"ImageRegistryBundleUserData", &kImageRegistryBundleList, "imageRegistryBundleUserData"},
    {"ImageRegistryBundleData", &kImageRegistryBundleList, "imageRegistryBundleData"},
    {"PullSecret", &kObjectReferencePointer, "pullSecret"},
    {"InternalRegistryPullSecret", &kBytesType, "internalRegistryPullSecret"},
    {"Images", &kStringMapType, "images"},
    {"BGPVIPPeersJSON", &kStringType, "bgpVIPPeersJSON"},
    {"BaseOSContainerImage", &kStringType, "baseOSContainerImage"},
    {"BaseOSExtensionsContainerImage", &kStringType, "baseOSExtensionsContainerImage"},
    {"OSImageURL", &kStringType, "osImageURL"},
    {"ReleaseImage", &kStringType, "releaseImage"},
    {"Proxy", &kProxyStatusPointer, "proxy"},
    {"Infra", &kInfrastructurePointer, "infra"},
    {"DNS", &kDNSPointer, "dns"},
    {"IPFamilies", &kIPFamiliesType, "ipFamilies"},
    {"NetworkType", &kStringType, "networkType"},
    {"Network", &kNetworkInfoPointer, "network"},
};
constexpr Type kControllerConfigSpec = Struct("v1.ControllerConfigSpec", kControllerConfigSpecFields);
constexpr Type kControllerConfigSpecPointer = PointerTo("*v1.ControllerConfigSpec", kControllerConfigSpec);
// As in Go, the name "-" means that a field is not read from JSON.
constexpr StructField kRenderConfigFields[] = {
    {"ControllerConfigSpec", &kControllerConfigSpecPointer, "", true},
    {"PullSecret", &kStringType, "-"},
    {"TLSMinVersion", &kStringType, "-"},
    {"TLSCipherSuites", &kStringsType, "-"},
    {"Constants", &kStringMapType, "-"},
};
constexpr Type kRenderConfig = Struct("template.RenderConfig", kRenderConfigFields);

}  // namespace

const Type& RenderConfigType() { return kRenderConfig; }

const Type& ControllerConfigSpecType() { return kControllerConfigSpecPointer; }

}  // namespace pintle::generated
