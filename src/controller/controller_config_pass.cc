// SPDX-License-Identifier: Apache-2.0
#include "controller/controller_config_pass.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <utility>

#include "api/annotations.h"
#include "api/machine_config.h"
#include "base/version.h"
#include "controller/render_pass.h"
#include "controller/replacing_patch.h"

namespace pintle::controller {
namespace {

// Returns the annotations whose values have to be set or changed.
api::Annotations NewAnnotations(const ControllerConfigPassInputs& inputs,
                                const clusterops::ControllerConfigDraft& draft) {
  static const api::ObjectMeta kNone;
  const api::ObjectMeta& known = inputs.known == nullptr ? kNone : inputs.known->metadata;
  api::Annotations annotations;
  const auto set = [&](std::string_view key, const std::string& value) {
    if (known.Annotation(key) != value) annotations[std::string(key)] = value;
  };
  if (!draft.release.empty()) set(api::kReleaseImageVersionAnnotation, draft.release);
  if (!draft.stream_version.empty()) {
    set(api::kOsImageStreamAnnotation, fmt::format("{} {}", draft.release, draft.stream_version));
  }
  // This annotation has the version of the program that made the ControllerConfig.  The annotation stays, because
  // rendered configs are compared with it.
  if (known.Annotation(api::kGeneratedByVersionAnnotation).empty()) {
    set(api::kGeneratedByVersionAnnotation, fmt::format("pintle-{}", kVersion));
  }
  const std::string& rotates = known.Annotation(api::kServiceCaRotateAnnotation);
  if (inputs.are_authorities_new || (!rotates.empty() && rotates != "false")) {
    set(api::kServiceCaRotateAnnotation, inputs.are_authorities_new ? "true" : "false");
  }
  return annotations;
}

}  // namespace

ControllerConfigChange ControllerConfigPass(const ControllerConfigPassInputs& inputs) {
  const clusterops::ControllerConfigDraft draft = clusterops::DraftControllerConfig(inputs.sources);
  ControllerConfigChange change{.problem = fmt::format("{}", fmt::join(draft.problems, "; ")),
                                .warning = fmt::format("{}", fmt::join(draft.warnings, "; "))};
  const api::Annotations annotations = NewAnnotations(inputs, draft);
  if (inputs.known == nullptr) {
    // There is no last good value yet, and an incomplete ControllerConfig would be rendered for all nodes.
    if (!change.problem.empty()) return change;
    NewControllerConfig& created = change.created.emplace();
    created.metadata.name = api::kControllerConfigName;
    created.metadata.annotations = annotations;
    created.spec = clusterops::MergedControllerConfig(json::Value(), draft.spec);
    return change;
  }
  const json::Value spec = clusterops::MergedControllerConfig(inputs.known->spec, draft.spec);
  const bool is_changed = spec != inputs.known->spec;
  if (!is_changed && annotations.empty()) return change;
  ReplacingPatch patch(inputs.known->metadata);
  if (is_changed) patch.Set("/spec", spec);
  patch.SetAnnotations(annotations);
  change.patch = std::move(patch).operations();
  return change;
}

void AddOsImageStream(const View& view, clusterops::ControllerConfigInputs& sources) {
  if (view.os_image_stream != nullptr) sources.os_image_stream = *view.os_image_stream;
  if (const std::string& why = view.unreadable_os_image_stream; !why.empty()) {
    sources.unreadable.emplace(clusterops::ConfigInput::kOsImageStream, why);
  }
  sources.has_os_streams = view.os_image_stream != nullptr || !view.unreadable_os_image_stream.empty();
}

void AddPresent(const WholeControllerConfig& known, const View& view, clusterops::ControllerConfigInputs& sources) {
  sources.present = &known.spec;
  sources.present_release = known.metadata.Annotation(api::kReleaseImageVersionAnnotation);
  sources.present_stream_version = RecordedStreamVersion(known.metadata);
  // If the ControllerConfig has no record of the stream's version, take the version of the generated configs: the
  // operator writes the same version into them and into the OSImageStream.
  if (sources.present_stream_version.empty()) sources.present_stream_version = GeneratorVersion(view.configs);
}

}  // namespace pintle::controller
