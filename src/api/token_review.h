// SPDX-License-Identifier: Apache-2.0
#pragma once

// A request to the API server to check a token and to name the owner of the token.  No such object is stored.

#include <map>
#include <string>
#include <vector>

#include "api/lenient.h"
#include "json/field_list.h"

namespace pintle::api {

// The owner of a token.
struct UserInfo {
  std::string username;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"username", &UserInfo::username},
      json::Field{"uid", &UserInfo::uid},
      json::Field{"groups", &UserInfo::groups},
      json::Field{"extra", &UserInfo::extra},
  };
};

struct TokenReviewSpec {
  std::string token;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"token", &TokenReviewSpec::token}};
};

struct TokenReviewStatus {
  bool authenticated = false;
  UserInfo user;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"authenticated", &TokenReviewStatus::authenticated},
      json::Field{"user", &TokenReviewStatus::user},
  };
};

// Since the request names no audiences, the token must be for the API server itself.
struct TokenReview {
  std::string api_version = "authentication.k8s.io/v1";
  std::string kind = "TokenReview";
  TokenReviewSpec spec;
  TokenReviewStatus status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &TokenReview::api_version},
      json::Required{"kind", &TokenReview::kind},
      json::Field{"spec", &TokenReview::spec},
      json::Field{"status", &TokenReview::status},
  };
};

}  // namespace pintle::api
