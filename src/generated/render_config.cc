// SPDX-License-Identifier: Apache-2.0
#include "generated/render_config.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "generated/go_reading.h"
#include "generated/go_type_check.h"
#include "generated/render_config_type.h"
#include "gotemplate/escape.h"
#include "gotemplate/json_value.h"
#include "gotemplate/print.h"
#include "gotemplate/type.h"
#include "gotext/quote.h"

namespace pintle::generated {
namespace {

// Quotes a text as Go does, but leaves out the enclosing quotes.
std::string EscapedForQuotes(std::string_view text, gotext::OnlyAscii only_ascii = gotext::OnlyAscii::kNo) {
  const std::string quoted = gotext::Quoted(text, only_ascii);
  return quoted.substr(1, quoted.size() - 2);
}

// Returns the forms in which an error may contain a line of a secret: a template may print the line with escapes, and
// an error may quote the printed text.
std::vector<std::string> FormsOf(std::string_view line) {
  using gotemplate::FormattedValue;
  using gotemplate::kLongestPrint;
  using gotemplate::Value;
  const std::string numbers = FormattedValue(Value::Bytes(line));  // The numbers of the bytes, in brackets.
  std::vector<std::string> forms = {
      std::string(line),
      EscapedForQuotes(line),
      EscapedForQuotes(line, gotext::OnlyAscii::kYes),
      gotemplate::HtmlEscaped(line, kLongestPrint),
      gotemplate::JavaScriptEscaped(line, kLongestPrint),
      gotemplate::QueryEscaped(line, kLongestPrint),
      FormattedValue(Value::Text(line), 'x'),
      FormattedValue(Value::Text(line), 'X'),
      numbers.substr(1, numbers.size() - 2),
  };
  for (std::size_t i = 0, count = forms.size(); i < count; ++i) forms.push_back(EscapedForQuotes(forms[i]));
  return forms;
}

// Shorter texts do not count as secrets, because any text may contain them.
constexpr std::size_t kShortestSecret = 8;

// Returns a text of the same length that has another character at each place.  A secret shorter than kShortestSecret is
// returned unchanged.
std::string Placeholder(std::string_view secret) {
  std::string other(secret);
  if (secret.size() < kShortestSecret) return other;
  for (char& c : other) c = c == '*' ? '+' : '*';
  return other;
}

// Compares line by line, because a template may have indented a secret of several lines.  Ignores short lines.
bool HasLineOf(std::string_view text, std::string_view secret) {
  while (!secret.empty()) {
    const std::size_t end = std::min(secret.find('\n'), secret.size());
    const std::string_view line = secret.substr(0, end);
    if (line.size() >= kShortestSecret) {
      const std::vector<std::string> forms = FormsOf(line);
      const auto has = [text](const std::string& form) { return text.find(form) != std::string_view::npos; };
      if (std::any_of(forms.begin(), forms.end(), has)) return true;
    }
    secret.remove_prefix(std::min(end + 1, secret.size()));
  }
  return false;
}

}  // namespace

Result<> CheckControllerConfigSpec(const json::Value& spec) {
  const GoPlace place{.above = nullptr, .struct_name = "v1.ControllerConfig", .embedded = {}, .field = "spec"};
  GoReading reading(GoSource::kJson);
  CheckGoType(spec, ControllerConfigSpecType(), &place, reading);
  return reading.ToResult();
}

RenderConfig::RenderConfig(json::Value controller_config_spec, std::string pull_secret, const TlsSettings& tls)
    : spec_(std::make_unique<const json::Value>(std::move(controller_config_spec))),
      pull_secret_(std::make_unique<const std::string>(std::move(pull_secret))),
      tls_(tls),
      memory_(std::make_unique<gotemplate::Memory>()) {
  using gotemplate::Value;
  const Value file = Value::Text("/etc/kubernetes/apiserver-url.env");
  const auto constants = memory_->Keep(std::vector{gotemplate::MapEntry{Value::Text("APIServerURLFile"), file}});
  const gotemplate::Value spec_value = gotemplate::FromJson(*spec_, ControllerConfigSpecType(), *memory_);
  const auto fields = memory_->Keep(std::vector{
      spec_value,
      Value::Text(*pull_secret_),
      Value::Text(memory_->Keep(tls.min_version)),
      memory_->Strings(tls.cipher_suites),
      Value::Map(gotemplate::kStringMapType, constants),
  });
  value_ = Value::Struct(RenderConfigType(), fields.data());
}

bool RenderConfig::HasSecret(std::string_view text) const {
  const gotemplate::Value internal = FieldOf(value_, {"InternalRegistryPullSecret"});
  return HasLineOf(text, *pull_secret_) || (internal.is_valid() && HasLineOf(text, internal.text()));
}

RenderConfig RenderConfig::WithOtherSecrets() const {
  json::Value spec = *spec_;
  if (json::Value* const internal = spec.Find("internalRegistryPullSecret");
      internal != nullptr && internal->is_string()) {
    const auto decoded = DecodeBase64(internal->text());
    *internal = json::Value(decoded ? EncodeBase64(Placeholder(*decoded)) : Placeholder(internal->text()));
  }
  return RenderConfig(std::move(spec), Placeholder(*pull_secret_), tls_);
}

const std::string& RenderConfig::platform() const {
  return spec_->TextAt({"infra", "status", "platformStatus", "type"});
}

const std::string& RenderConfig::control_plane_topology() const {
  return spec_->TextAt({"infra", "status", "controlPlaneTopology"});
}

gotemplate::Value FieldOf(gotemplate::Value value, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto [receiver, is_nil] = gotemplate::Follow(value);
    if (is_nil || receiver.kind() != gotemplate::Kind::kStruct) return {};
    const auto path = gotemplate::FindField(receiver.type(), name);
    if (!path) return {};
    value = receiver;
    for (std::size_t i = 0; i < path->length; ++i) {
      const auto [inner, is_inner_nil] = gotemplate::Follow(value);
      if (is_inner_nil) return {};
      value = inner.FieldAt(path->indices[i]);
    }
  }
  return value;
}

}  // namespace pintle::generated
