// SPDX-License-Identifier: Apache-2.0
#pragma once

// A Lease: a lock that one of several processes holds.  The lock is free again some time after its holder has last
// renewed it.

#include <cstdint>
#include <optional>
#include <string>

#include "api/lenient.h"
#include "api/meta.h"
#include "api/micro_time.h"
#include "json/field_list.h"

namespace pintle::api {

struct LeaseSpec {
  std::string holder_identity;  // Empty if nobody holds the lease.
  std::int32_t lease_duration_seconds = 0;
  std::optional<MicroTime> acquire_time;
  std::optional<MicroTime> renew_time;
  std::int32_t lease_transitions = 0;

  static constexpr bool kLenient = true;
  // All fields are always written: a merge patch without a field would keep the value of the previous holder.
  static constexpr auto kFields = json::FieldList{
      json::Required{"holderIdentity", &LeaseSpec::holder_identity},
      json::Required{"leaseDurationSeconds", &LeaseSpec::lease_duration_seconds},
      json::Required{"acquireTime", &LeaseSpec::acquire_time},
      json::Required{"renewTime", &LeaseSpec::renew_time},
      json::Required{"leaseTransitions", &LeaseSpec::lease_transitions},
  };
};

struct Lease {
  std::string api_version = "coordination.k8s.io/v1";
  std::string kind = "Lease";
  ObjectMeta metadata;
  LeaseSpec spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &Lease::api_version},
      json::Required{"kind", &Lease::kind},
      json::Required{"metadata", &Lease::metadata},
      json::Required{"spec", &Lease::spec},
  };
};

}  // namespace pintle::api
