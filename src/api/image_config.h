// SPDX-License-Identifier: Apache-2.0
#pragma once

// The objects in which a cluster configures registries: the Image config, and the sets of mirrors.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

inline constexpr std::string_view kConfigApiVersion = "config.openshift.io/v1";

// An empty list differs from an absent one: for example, only an absent `search` keeps the node's search registries.
struct RegistrySources {
  std::optional<std::vector<std::string>> insecure;
  std::optional<std::vector<std::string>> blocked;
  std::optional<std::vector<std::string>> allowed;
  std::optional<std::vector<std::string>> search;  // The registries to search for an image whose name has no registry.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"insecureRegistries", &RegistrySources::insecure},
      json::Field{"blockedRegistries", &RegistrySources::blocked},
      json::Field{"allowedRegistries", &RegistrySources::allowed},
      json::Field{"containerRuntimeSearchRegistries", &RegistrySources::search},
  };
};

struct ImageSpec {
  RegistrySources registry_sources;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Field{"registrySources", &ImageSpec::registry_sources}};
};

struct Image {
  static constexpr std::string_view kKind = "Image";

  ObjectMeta metadata;
  ImageSpec spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &Image::metadata},
      json::Required{"spec", &Image::spec},
  };
};

inline constexpr std::string_view kNeverContactSource = "NeverContactSource";
inline constexpr std::string_view kAllowContactingSource = "AllowContactingSource";

// The mirrors of a source: other places from which the images of the source can be pulled.
struct Mirrors {
  std::string source;  // A registry, or a part of one.
  std::vector<std::string> mirrors;
  std::string source_policy;  // One of the two constants above.  Empty means kAllowContactingSource.

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"source", &Mirrors::source},
      json::Field{"mirrors", &Mirrors::mirrors},
      json::Field{"mirrorSourcePolicy", &Mirrors::source_policy},
  };
};

// Each kind of mirror set uses one of these lists, and the others are empty.
struct MirrorSetSpec {
  std::vector<Mirrors> repository_digest_mirrors;  // The list of an ImageContentSourcePolicy.
  std::vector<Mirrors> image_digest_mirrors;
  std::vector<Mirrors> image_tag_mirrors;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"repositoryDigestMirrors", &MirrorSetSpec::repository_digest_mirrors},
      json::Field{"imageDigestMirrors", &MirrorSetSpec::image_digest_mirrors},
      json::Field{"imageTagMirrors", &MirrorSetSpec::image_tag_mirrors},
  };
};

// An ImageContentSourcePolicy, an ImageDigestMirrorSet or an ImageTagMirrorSet, depending on its kind.
struct MirrorSet {
  ObjectMeta metadata;
  MirrorSetSpec spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"metadata", &MirrorSet::metadata},
      json::Required{"spec", &MirrorSet::spec},
  };
};

}  // namespace pintle::api
