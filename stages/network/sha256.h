// SHA-256 (FIPS 180-4), by which reports name the model that a run used.
#pragma once

#include <string>
#include <string_view>

namespace contorno {

/// 64 digits, as sha256sum prints them.
std::string sha256(std::string_view bytes);

}  // namespace contorno
