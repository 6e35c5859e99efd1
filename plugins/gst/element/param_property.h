// A parameter as a GObject property: its GParamSpec, and its value as a GValue and back.
#pragma once

#include <glib-object.h>

#include <string>

#include "pipeline/graph/param.h"

namespace contorno::gst {

/// The property of a parameter of the stage or source `owner`; `value` is its default. Lists, masks and steps
/// are text, as in a graph.
GParamSpec* property_of(const std::string& owner, const ParamSpec& spec, const ParamValue& value);

/// Writes the value to one of the property's type.
void to_gvalue(const ParamSpec& spec, const ParamValue& value, GValue* to);
/// Sets the parameter `spec` of `params`. Throws an Error for text that does not say a value of it.
void set_from_gvalue(const std::string& owner, const ParamSpec& spec, const GValue* value, ParamSet& params);

/// "fruit_line" as part of a type's name: "FruitLine".
std::string camel_case(const std::string& name);

}  // namespace contorno::gst
