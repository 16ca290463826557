// SPDX-License-Identifier: Apache-2.0
#pragma once

// Emits Events about cluster-scoped objects, under the name of one of the Machine Config Operator's controllers.
//
// The Events are in the namespace of the Machine Config Operator, where people and tools look for them.

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "api/machine_config.h"
#include "api/meta.h"
#include "kube/event_recorder.h"
#include "kube/resource_kind.h"

namespace pintle::controller {

class Announcer {
 public:
  using Trouble = std::function<void(const Error& error)>;

  // `component` is the name under which the Events are emitted.  `trouble` is called for each Event that could not be
  // posted.
  Announcer(
      const kube::Client& client, const Clock& clock, std::string namespace_name, std::string component,
      Trouble trouble = [](const Error&) {})
      : events_(client, {.component = std::move(component), .host = ""}, clock, {.trouble = std::move(trouble)}),
        namespace_name_(std::move(namespace_name)) {}

  template <typename T>
  void Emit(const T& object, kube::EventKind kind, const std::string& reason, const std::string& message) {
    const kube::ResourceKind& resource = kube::kResourceKind<T>;
    api::ObjectReference about;
    about.kind = resource.kind;
    about.api_version = kube::ApiVersion(resource);
    about.namespace_name = namespace_name_;
    about.name = object.metadata.name;
    about.uid = object.metadata.uid;
    about.resource_version = object.metadata.resource_version;
    events_.Post(about, kind, reason, message);
  }

 private:
  kube::EventRecorder events_;
  std::string namespace_name_;
};

}  // namespace pintle::controller
