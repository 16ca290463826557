// SPDX-License-Identifier: Apache-2.0
#pragma once

// A request to the API server to check whether a user may do something.  No such object is stored.

#include <map>
#include <string>
#include <vector>

#include "api/lenient.h"
#include "json/field_list.h"

namespace pintle::api {

// A request that is not about an object of the API.
struct NonResourceAttributes {
  std::string path;
  std::string verb;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"path", &NonResourceAttributes::path},
      json::Field{"verb", &NonResourceAttributes::verb},
  };
};

struct SubjectAccessReviewSpec {
  NonResourceAttributes non_resource_attributes;
  std::string user;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"nonResourceAttributes", &SubjectAccessReviewSpec::non_resource_attributes},
      json::Field{"user", &SubjectAccessReviewSpec::user},
      json::Field{"uid", &SubjectAccessReviewSpec::uid},
      json::Field{"groups", &SubjectAccessReviewSpec::groups},
      json::Field{"extra", &SubjectAccessReviewSpec::extra},
  };
};

struct SubjectAccessReviewStatus {
  bool allowed = false;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"allowed", &SubjectAccessReviewStatus::allowed}};
};

struct SubjectAccessReview {
  std::string api_version = "authorization.k8s.io/v1";
  std::string kind = "SubjectAccessReview";
  SubjectAccessReviewSpec spec;
  SubjectAccessReviewStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &SubjectAccessReview::api_version},
      json::Required{"kind", &SubjectAccessReview::kind},
      json::Field{"spec", &SubjectAccessReview::spec},
      json::Field{"status", &SubjectAccessReview::status},
  };
};

}  // namespace pintle::api
