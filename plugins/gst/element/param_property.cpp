#include "plugins/gst/element/param_property.h"

#include <fmt/format.h>
#include <gst/gst.h>

#include <cctype>
#include <cmath>
#include <limits>

#include "config/options.h"
#include "plugins/catalog.h"

namespace contorno::gst {
namespace {

/// The enumeration of a parameter's choices, registered once; GObject keeps its words for good.
GType enum_of(const std::string& owner, const ParamSpec& spec) {
  const std::string name = "Contorno" + camel_case(owner) + camel_case(spec.name);
  if (const GType known = g_type_from_name(name.c_str()); known != 0) return known;
  auto* const values = g_new0(GEnumValue, spec.choices.size() + 1);
  for (std::size_t i = 0; i < spec.choices.size(); ++i)
    values[i] = {static_cast<gint>(i), g_strdup(spec.choices[i].c_str()), g_strdup(spec.choices[i].c_str())};
  return g_enum_register_static(name.c_str(), values);  // NOLINT(clang-analyzer-unix.Malloc): it keeps them
}

gint choice_index(const ParamSpec& spec, const std::string& word) {
  for (std::size_t i = 0; i < spec.choices.size(); ++i)
    if (spec.choices[i] == word) return static_cast<gint>(i);
  return 0;
}

double bounded(double value) {
  constexpr double kMost = std::numeric_limits<double>::max();
  return std::isfinite(value) ? value : std::copysign(kMost, value);
}

/// The parameter's sentence, and what the type of the property does not say.
std::string blurb_of(const ParamSpec& spec) {
  std::string blurb = spec.sentence;
  if (const std::string_view unit = name_of(spec.unit); !unit.empty()) blurb += fmt::format(" ({})", unit);
  const bool is_text = spec.kind == ParamKind::Numbers || spec.kind == ParamKind::Steps ||
                       spec.kind == ParamKind::Mask || spec.kind == ParamKind::Colour;
  if (is_text) blurb += fmt::format(" As text: {}.", spec.allowed());
  return blurb;
}

}  // namespace

std::string camel_case(const std::string& name) {
  std::string camel;
  bool upper = true;
  for (const char c : name) {
    if (c == '_' || c == '-') {
      upper = true;
      continue;
    }
    camel += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return camel;
}

GParamSpec* property_of(const std::string& owner, const ParamSpec& spec, const ParamValue& value) {
  std::string name = spec.name;
  for (char& c : name)
    if (c == '_') c = '-';
  const std::string blurb = blurb_of(spec);
  const char* const nick = spec.name.c_str();
  const auto plain = static_cast<GParamFlags>(G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING);
  const auto controllable = static_cast<GParamFlags>(plain | GST_PARAM_CONTROLLABLE);
  switch (spec.kind) {
    case ParamKind::Flag:
      return g_param_spec_boolean(name.c_str(), nick, blurb.c_str(),
                                  static_cast<gboolean>(std::get<bool>(value)), controllable);
    case ParamKind::Integer:
      return g_param_spec_int64(name.c_str(), nick, blurb.c_str(), static_cast<gint64>(spec.minimum),
                                static_cast<gint64>(spec.maximum), std::get<std::int64_t>(value),
                                controllable);
    case ParamKind::Number:
      return g_param_spec_double(name.c_str(), nick, blurb.c_str(), bounded(spec.minimum),
                                 bounded(spec.maximum), std::get<double>(value), controllable);
    case ParamKind::Choice:
      return g_param_spec_enum(name.c_str(), nick, blurb.c_str(), enum_of(owner, spec),
                               choice_index(spec, std::get<std::string>(value)), controllable);
    default:
      return g_param_spec_string(name.c_str(), nick, blurb.c_str(), to_text(value).c_str(), plain);
  }
}

void to_gvalue(const ParamSpec& spec, const ParamValue& value, GValue* to) {
  switch (spec.kind) {
    case ParamKind::Flag:
      return g_value_set_boolean(to, static_cast<gboolean>(std::get<bool>(value)));
    case ParamKind::Integer:
      return g_value_set_int64(to, std::get<std::int64_t>(value));
    case ParamKind::Number:
      return g_value_set_double(to, std::get<double>(value));
    case ParamKind::Choice:
      return g_value_set_enum(to, choice_index(spec, std::get<std::string>(value)));
    default:
      return g_value_set_string(to, to_text(value).c_str());
  }
}

void set_from_gvalue(const std::string& owner, const ParamSpec& spec, const GValue* value, ParamSet& params) {
  switch (spec.kind) {
    case ParamKind::Flag:
      return params.set(spec.name, g_value_get_boolean(value) != 0);
    case ParamKind::Integer:
      return params.set(spec.name, static_cast<std::int64_t>(g_value_get_int64(value)));
    case ParamKind::Number:
      return params.set(spec.name, g_value_get_double(value));
    case ParamKind::Choice:
      return params.set(spec.name, spec.choices.at(static_cast<std::size_t>(g_value_get_enum(value))));
    default:
      break;
  }
  // Read as the text of a graph is.
  const char* const text = g_value_get_string(value);
  std::vector<std::pair<std::string, std::string>> settings{{spec.name, text != nullptr ? text : ""}};
  for (const ParamSpec& other : params.declaration().specs)
    if (other.required && other.name != spec.name)
      settings.emplace_back(other.name, to_text(params.get(other.name)));
  const ParamSet read =
      config::params_from_text(params.declaration(), owner, settings, host_catalog().read_mask, "");
  params.set(spec.name, read.get(spec.name));
}

}  // namespace contorno::gst
