#include "config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/version.h"
#include "config/node_type.h"
#include "config/sections.h"
#include "pipeline/graph/numbered_choice.h"
#include "pipeline/graph/stage.h"

namespace contorno::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kColourPattern = "^#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?$";
constexpr const char* kNamePattern = "^[a-z][a-z0-9_]{0,63}$";
constexpr const char* kCameraPattern = "^[a-z0-9][a-z0-9_-]{0,31}$";
constexpr const char* kReferencePattern = "^[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)?$";

/// 3 rather than 3.0 where a bound is whole.
Json number_of(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

void set_range(Json& json, const ParamSpec& spec) {
  if (std::isfinite(spec.minimum)) json["minimum"] = number_of(spec.minimum);
  if (std::isfinite(spec.maximum)) json["maximum"] = number_of(spec.maximum);
}

/// One value stands for a list of one.
Json one_or_list(const Json& item, const Json& list) {
  return {{"if", {{"type", "array"}}}, {"then", list}, {"else", item}};
}

Json node_list(const std::vector<std::string>& names, const std::string& kind);

Json type_of(const ParamSpec& spec) {
  Json json;
  std::string pattern;  // of choices with numbers
  switch (spec.kind) {
    case ParamKind::Flag:
      return {{"type", "boolean"}};
    case ParamKind::Integer:
      json["type"] = "integer";
      set_range(json, spec);
      return json;
    case ParamKind::Number:
      json["type"] = "number";
      set_range(json, spec);
      return json;
    case ParamKind::Choice:
      json = {{"type", "string"}, {"enum", Json::array()}};
      for (const std::string& word : spec.choices)
        if (word.ends_with(kNumberedChoice))
          pattern = fmt::format("^{}(0|[1-9][0-9]{{0,2}})$", word.substr(0, word.size() - 1));
        else
          json["enum"].push_back(word);
      for (const auto& [word, choice] : spec.synonyms) json["enum"].push_back(word);
      if (!pattern.empty())
        json = {{"type", "string"},
                {"anyOf", Json::array({{{"enum", json["enum"]}}, {{"pattern", pattern}}})}};
      return json;
    case ParamKind::Text:
    case ParamKind::Mask:
      return {{"type", {"string", "integer"}}};
    case ParamKind::Colour:
      return {{"type", "string"}, {"pattern", kColourPattern}};
    case ParamKind::Numbers: {
      Json item{{"type", "number"}};
      set_range(item, spec);
      json = {{"type", "array"},
              {"items", item},
              {"minItems", spec.count_minimum},
              {"maxItems", spec.count_maximum}};
      return spec.count_minimum <= 1 ? one_or_list(item, json) : json;
    }
    case ParamKind::Steps:
      json = node_list(names_of(spec.step_types()), "step");
      json["type"] = "array";
      json["minItems"] = 1;
      return json;
  }
  throw InternalError("unknown parameter kind");
}

Json default_of(const ParamSpec& spec, const ParamSet& defaults) {
  struct Writer {
    Json operator()(bool flag) const { return flag; }
    Json operator()(std::int64_t integer) const { return integer; }
    Json operator()(double number) const { return number_of(number); }
    Json operator()(const std::string& text) const { return text; }
    Json operator()(const std::vector<double>& numbers) const {
      Json list = Json::array();
      for (const double number : numbers) list.push_back(number_of(number));
      return list;
    }
    Json operator()(const SharedMask& mask) const { return to_text(mask); }
    Json operator()(const SharedSteps&) const { return Json::array(); }
  };
  return std::visit(Writer{}, defaults.get(spec.name));
}

Json param(const ParamSpec& spec, const ParamSet& defaults) {
  Json json = type_of(spec);
  const std::string unit(contorno::name_of(spec.unit));
  json["description"] = unit.empty() ? spec.sentence : spec.sentence + " Unit: " + unit + ".";
  if (!spec.required) json["default"] = default_of(spec, defaults);
  return json;
}

/// An object with exactly the given keys and those of `declaration`.
Json object(const ParamDeclaration& declaration, Json properties, Json required,
            const std::string& description) {
  const ParamSet defaults(declaration);
  for (const ParamSpec& spec : declaration.specs) {
    if (!properties.contains(spec.name)) properties[spec.name] = param(spec, defaults);
    if (spec.required) required.push_back(spec.name);
  }
  Json json{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!description.empty()) json["description"] = description;
  if (!required.empty()) json["required"] = required;
  return json;
}

Json reference(const std::string& description) {
  return {{"type", "string"}, {"pattern", kReferencePattern}, {"description", description}};
}

Json name_property() {
  return {{"type", "string"},
          {"pattern", kNamePattern},
          {"description", "Name of this node; its type when absent."}};
}

/// NODE, a list of them, or a map from input to NODE, as far as the stage's inputs allow.
Json from_property(const std::vector<PortSpec>& inputs) {
  Json ports = Json::object();
  for (const PortSpec& port : inputs) ports[port.name] = reference(port.sentence);
  Json forms = Json::array({{{"type", "object"}, {"properties", ports}, {"additionalProperties", false}},
                            {{"type", "array"},
                             {"items", reference("NODE or NODE.PORT")},
                             {"minItems", inputs.size()},
                             {"maxItems", inputs.size()}}});
  if (inputs.size() == 1) forms.push_back(reference("NODE or NODE.PORT"));
  return {{"anyOf", forms}, {"description", "Where the inputs come from."}};
}

/// `classify` stands for {type: classify}.
Json type_or(const std::vector<std::string>& names, const Json& object) {
  return {{"if", {{"type", "string"}}}, {"then", {{"enum", names}}}, {"else", object}};
}

/// An object whose `type` chooses among `definitions`: if type is X then the rest is as X declares it.
/// Editors name the wrong key this way, where a oneOf would only say that nothing fits.
Json chosen_by_type(const std::vector<std::string>& names, const std::string& kind) {
  Json json{{"type", "object"},
            {"properties", {{"type", {{"type", "string"}, {"enum", names}}}}},
            {"required", Json::array({"type"})}};
  Json rules = Json::array();
  for (const std::string& name : names)
    rules.push_back(
        {{"if", {{"properties", {{"type", {{"const", name}}}}}, {"required", Json::array({"type"})}}},
         {"then", {{"$ref", "#/definitions/" + kind + "_" + name}}}});
  if (!rules.empty()) json["allOf"] = rules;
  return json;
}

Json node_list(const std::vector<std::string>& names, const std::string& kind) {
  return {{"type", {"array", "null"}}, {"items", type_or(names, chosen_by_type(names, kind))}};
}

/// The stages that are a step of any other one.
StepTypes step_types(const Catalog& catalog) {
  StepTypes types;
  for (const StageType* type : catalog.stages)
    for (const ParamSpec& spec : type->params.specs)
      if (spec.kind == ParamKind::Steps)
        for (const StageType* step : spec.step_types())
          if (std::find(types.begin(), types.end(), step) == types.end()) types.push_back(step);
  return types;
}

/// A source as an entry of `sources`.
Json camera(const SourceType& type) {
  const Json set{{"type", "object"},
                 {"description", "What --set takes, for this camera alone: {pipeline.deadline: 60}."}};
  Json properties{{"type", {{"const", type.name}, {"description", type.summary}}},
                  {"name",
                   {{"type", {"string", "integer"}},
                    {"pattern", kCameraPattern},
                    {"description", "Name of the camera, in paths, lines and reports."}}},
                  {"set", set}};
  properties.update(object(camera_params(), Json::object(), Json::array(), "")["properties"]);
  Json json = object(type.params, properties, Json::array({"name"}), type.summary);
  json["properties"].erase("reconnect_attempts");
  return json;
}

Json definitions(const Catalog& catalog) {
  Json json = Json::object();
  const auto type_is = [](const std::string& name, const std::string& summary) -> Json {
    return {{"const", name}, {"description", summary}};
  };
  for (const SourceType* type : catalog.sources)
    json["source_" + type->name] =
        object(type->params, {{"type", type_is(type->name, type->summary)}}, Json::array(), type->summary);
  for (const SourceType* type : catalog.sources) json["camera_" + type->name] = camera(*type);
  for (const StageType* type : catalog.stages) {
    const auto add = [&](const std::string& name, const std::string& summary, const ParamDeclaration& params,
                         const Json& from) {
      json["stage_" + name] =
          object(params, {{"type", type_is(name, summary)}, {"name", name_property()}, {"from", from}},
                 Json::array(), summary);
    };
    add(type->name, type->summary, type->params, from_property(type->inputs));
    if (type->parts.empty()) continue;
    const PartSpec &first = type->parts.front(), &second = type->parts.back();
    add(first.name, first.summary, first_half_params(), from_property(type->inputs));
    add(second.name, second.summary, type->params,
        from_property({{.name = std::string(kBetweenHalves),
                        .sentence = fmt::format("What {} hands on.", first.name)}}));
  }
  for (const StageType* type : step_types(catalog)) {
    Json own{{"type", type_is(type->name, type->summary)}};
    if (type->inputs.size() > 1) own["from"] = from_property(type->inputs);
    json["step_" + type->name] = object(type->params, own, Json::array(), type->summary);
  }
  const Json common = object(sink_params(), Json::object(), Json::array(), "")["properties"];
  for (const SinkType* type : catalog.sinks) {
    Json properties{{"type", type_is(type->name, type->summary)},
                    {"name", name_property()},
                    {"from", reference("What is written; the last output that fits when absent.")}};
    properties.update(common);
    json["sink_" + type->name] = object(type->params, properties, Json::array(), type->summary);
  }
  return json;
}

Json range_schema() {
  const auto pair = [](int maximum, const char* sentence) -> Json {
    return {{"type", "array"},
            {"items", {{"type", "number"}, {"minimum", 0}, {"maximum", maximum}}},
            {"minItems", 2},
            {"maxItems", 2},
            {"description", sentence}};
  };
  return {{"type", "object"},
          {"properties",
           {{"hue", pair(360, "Hue in degrees, from and to; may wrap through 360.")},
            {"saturation", pair(1, "Saturation, from and to.")},
            {"value", pair(1, "Value (brightness), from and to.")}}},
          {"additionalProperties", false}};
}

Json levels_schema() {
  const auto number = [](const char* sentence) -> Json {
    return {{"type", "number"}, {"description", sentence}};
  };
  Json step = number("How much each level is above the one before it.");
  step["exclusiveMinimum"] = 0;
  const Json range{
      {"type", "object"},
      {"properties",
       {{"from", number("The first level.")}, {"to", number("Where levels end.")}, {"step", step}}},
      {"required", Json::array({"from", "to", "step"})},
      {"additionalProperties", false}};
  const Json list{{"type", "array"},
                  {"items", {{"type", "number"}}},
                  {"minItems", 1},
                  {"maxItems", kMaxClassLevels},
                  {"uniqueItems", true}};
  return {
      {"if", {{"type", "object"}}},
      {"then", range},
      {"else", one_or_list({{"type", "number"}}, list)},
      {"description",
       "Several iso-levels of the class's map, ascending, in place of level; each contour says its own."}};
}

Json class_schema() {
  Json json = object(class_params(), Json::object(), Json::array(),
                     "One class: what is looked for and how it is drawn.");
  json["properties"]["colour"].erase("default");  // the palette's, which depends on the place in the list
  json["properties"]["name"] = {{"type", {"string", "integer"}},
                                {"minLength", 1},
                                {"maxLength", 64},
                                {"description", "Name of the class."}};
  const auto list_of = [](const Json& item, const char* sentence) {
    Json list = one_or_list(item, {{"type", "array"}, {"items", item}});
    list["description"] = sentence;
    return list;
  };
  json["properties"]["levels"] = levels_schema();
  json["not"] = {{"required", Json::array({"level", "levels"})}};
  json["properties"]["references"] =
      list_of({{"type", "string"}, {"pattern", kColourPattern}}, "Colours that belong to the class.");
  json["properties"]["ranges"] = list_of(range_schema(), "Hue ranges that belong to the class.");
  return json;
}

/// One of two sections, or one at least.
Json either(const char* rule, const char* one, const char* other) {
  return {{rule, Json::array({{{"required", Json::array({one})}}, {{"required", Json::array({other})}}})}};
}

Json requires_any(const std::vector<const char*>& keys) {
  Json list = Json::array();
  for (const char* key : keys) list.push_back({{"required", Json::array({key})}});
  return list;
}

/// What a loader reads as one text.
Json list_of_steps(const Json& description) {
  const Json item{{"enum", Json::array({"overlay", "mip", "thin"})}};
  Json json = one_or_list(item, {{"type", "array"}, {"items", item}, {"uniqueItems", true}});
  json["default"] = Json::array();
  json["description"] = description;
  return json;
}

}  // namespace

Json schema(const Catalog& catalog, std::string_view version) {
  Json source = type_or(names_of(catalog.sources), chosen_by_type(names_of(catalog.sources), "source"));
  source["description"] = "Where frames come from.";
  Json sources{{"type", "array"},
               {"items", chosen_by_type(names_of(catalog.sources), "camera")},
               {"minItems", 1},
               {"maxItems", kMostCameras},
               {"description", "Several cameras in place of source, each with a name."}};
  Json live = object(live_params(), Json::object(), Json::array(),
                     "When cameras are taken for lost and opened again, and what is done with less.");
  live["properties"]["degrade"] = list_of_steps(live["properties"]["degrade"]["description"]);
  Json properties{
      {"source", source},
      {"sources", sources},
      {"live", live},
      {"ops", object(ops_params(), Json::object(), Json::array(),
                     "Where contorno run says over HTTP how it gets on.")},
      {"pipeline",
       object(pipeline_params(), Json::object(), Json::array(), "How frames are run through the stages.")},
      {"classes",
       one_or_list({{"const", kClassesOfMaps}},
                   {{"type", "array"}, {"items", class_schema()}, {"minItems", 1}, {"maxItems", 256}})},
      {"stages", node_list(words_of(catalog.stages), "stage")},
      {"sinks", node_list(names_of(catalog.sinks), "sink")}};
  Json json{{"$schema", "http://json-schema.org/draft-07/schema#"}};
  if (!version.empty()) {
    json["$id"] = fmt::format("urn:contorno:graph:{}", version);
    json["version"] = version;
  }
  json.update(
      Json{{"title", "contorno graph"},
           {"type", "object"},
           {"properties", properties},
           {"allOf", Json::array({either("oneOf", "source", "sources"), either("anyOf", "stages", "sinks")})},
           {"if",
            {{"properties", {{"live", {{"anyOf", requires_any({"stall", "reconnect"})}}}}},
             {"required", Json::array({"live"})}}},
           {"then", {{"required", Json::array({"sources"})}}},
           {"additionalProperties", false},
           {"definitions", definitions(catalog)}});
  return json;
}

std::string schema_text(const Catalog& catalog) {
  return schema(catalog, CONTORNO_VERSION_TEXT).dump(1) + "\n";
}

}  // namespace contorno::config
