// SPDX-License-Identifier: Apache-2.0
#include "kube/resource_kind.h"

#include <fmt/core.h>

#include "base/ascii.h"

namespace pintle::kube {
namespace {

// The unreserved characters of RFC 3986, section 2.3.
bool IsUnreserved(char c) { return IsLetterOrDigit(c) || c == '-' || c == '.' || c == '_' || c == '~'; }

std::string Encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (IsUnreserved(c)) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

// Returns a name as a segment of a path.  Refuses names that Kubernetes forbids (IsValidPathSegmentName), since they
// would lead to another path.
Result<std::string> Segment(std::string_view name, std::string_view kind) {
  const bool leads_elsewhere =
      name.empty() || name == "." || name == ".." || name.find_first_of("/%") != std::string_view::npos;
  if (!leads_elsewhere) return Encoded(name);
  return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not the name of a {}", name, kind));
}

}  // namespace

bool IsSecret(const ResourceKind& kind) { return kind.group.empty() && kind.plural == "secrets"; }

std::string ApiVersion(const ResourceKind& kind) {
  return kind.group.empty() ? std::string(kind.version) : fmt::format("{}/{}", kind.group, kind.version);
}

Result<std::string> CollectionPath(const ResourceKind& kind, const std::string& namespace_name) {
  std::string path = (kind.group.empty() ? "/api/" : "/apis/") + ApiVersion(kind);
  if (kind.scope == Scope::kNamespaced && !namespace_name.empty()) {
    path += "/namespaces/" + TRY(Segment(namespace_name, "namespace"));
  }
  return fmt::format("{}/{}", path, kind.plural);
}

Result<std::string> ObjectPath(const ResourceKind& kind, const ObjectName& name, std::string_view subresource) {
  if (kind.scope == Scope::kNamespaced && name.namespace_name.empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("a {} is in a namespace, but the request names none", kind.kind));
  }
  std::string path = TRY(CollectionPath(kind, name.namespace_name)) + "/" + TRY(Segment(name.name, kind.kind));
  return subresource.empty() ? path : fmt::format("{}/{}", path, subresource);
}

std::string Query(const std::vector<std::pair<std::string_view, std::string>>& parameters) {
  std::string query;
  for (const auto& [name, value] : parameters) {
    if (!value.empty()) query += fmt::format("{}{}={}", query.empty() ? "?" : "&", name, Encoded(value));
  }
  return query;
}

}  // namespace pintle::kube
