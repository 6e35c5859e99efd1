// The members of a latency report that are written to its JSON file without conversion, and their keys. Each
// list serves writing and reading; kSummed also serves merging. What is converted (enums, rates, texts that
// are masked) is in json.cpp and json_read.cpp. Reading requires every key: a new one needs a default there,
// so that older reports can still be read.
#pragma once

#include <nlohmann/json.hpp>
#include <tuple>

#include "tools/latency/report.h"

namespace contorno::latency {

template <class Object, class Value>
struct Field {
  const char* name;
  Value Object::*member;
};
template <class Object, class Value>
Field(const char*, Value Object::*) -> Field<Object, Value>;

inline constexpr std::tuple kSettings{Field{"arrival", &Settings::arrival},
                                      Field{"seed", &Settings::seed},
                                      Field{"duration_s", &Settings::duration_s},
                                      Field{"warm_up_s", &Settings::warm_up_s},
                                      Field{"warm_up_frames", &Settings::warm_up_frames},
                                      Field{"cameras", &Settings::cameras},
                                      Field{"repeats", &Settings::repeats},
                                      Field{"deadline_ms", &Settings::deadline_ms},
                                      Field{"hold_share", &Settings::hold_share},
                                      Field{"sinks", &Settings::sinks},
                                      Field{"held_frames", &Settings::held_frames},
                                      Field{"backend", &Settings::backend},
                                      Field{"backend_reason", &Settings::backend_reason},
                                      Field{"on_full", &Settings::on_full},
                                      Field{"threads", &Settings::threads},
                                      Field{"slots", &Settings::slots}};

/// Resources that are added up over repeats and merged reports.
inline constexpr std::tuple kSummed{Field{"wall_s", &Resources::wall_s},
                                    Field{"cpu_s", &Resources::cpu_s},
                                    Field{"heap_growth_bytes", &Resources::heap_growth_bytes},
                                    Field{"minor_faults", &Resources::minor_faults},
                                    Field{"major_faults", &Resources::major_faults},
                                    Field{"involuntary_switches", &Resources::involuntary_switches}};
/// Resources that are not added up.
inline constexpr std::tuple kResident{Field{"resident_begin_bytes", &Resources::resident_begin_bytes},
                                      Field{"resident_end_bytes", &Resources::resident_end_bytes}};
inline constexpr std::tuple kMemory{Field{"slots", &Memory::slots}, Field{"host_bytes", &Memory::host},
                                    Field{"pinned_bytes", &Memory::pinned},
                                    Field{"device_bytes", &Memory::device}};
inline constexpr std::tuple kProbeCost{Field{"rounds", &ProbeCost::rounds},
                                       Field{"without_ms", &ProbeCost::without_ms},
                                       Field{"with_ms", &ProbeCost::with_ms},
                                       Field{"least_percent", &ProbeCost::least_percent},
                                       Field{"median_percent", &ProbeCost::median_percent},
                                       Field{"most_percent", &ProbeCost::most_percent}};
inline constexpr std::tuple kTrial{Field{"frames_per_second", &Trial::rate},
                                   Field{"cameras", &Trial::cameras},
                                   Field{"offered", &Trial::offered},
                                   Field{"misses", &Trial::misses},
                                   Field{"p50_ms", &Trial::p50_ms},
                                   Field{"max_ms", &Trial::max_ms},
                                   Field{"held", &Trial::held}};
inline constexpr std::tuple kAllocations{Field{"frames", &FrameAllocations::frames},
                                         Field{"count", &FrameAllocations::count}};

template <class Object, class... Fields>
void write_fields(nlohmann::ordered_json& json, const Object& object, const std::tuple<Fields...>& fields) {
  std::apply([&](const auto&... field) { ((json[field.name] = object.*field.member), ...); }, fields);
}

/// Throws nlohmann's exceptions if a key is missing or has another type.
template <class Object, class... Fields>
void read_fields(const nlohmann::ordered_json& json, Object& object, const std::tuple<Fields...>& fields) {
  std::apply([&](const auto&... field) { (json.at(field.name).get_to(object.*field.member), ...); }, fields);
}

template <class Object, class... Fields>
void add_fields(Object& into, const Object& other, const std::tuple<Fields...>& fields) {
  std::apply([&](const auto&... field) { ((into.*field.member += other.*field.member), ...); }, fields);
}

}  // namespace contorno::latency
