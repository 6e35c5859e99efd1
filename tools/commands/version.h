// What `contorno --version` says.
#pragma once

#include <string>

namespace contorno {

/// Lines: "contorno 0.1.0", then the commit, the backends and what they were built with, and the versions of
/// the libraries. Asks no device and opens no module: `contorno doctor` does.
std::string version_text();

}  // namespace contorno
