// Whether anybody answers at an address, within a limit: libmosquitto connects for as long as the system
// waits for an answer, which is two minutes where packets are thrown away.
#pragma once

#include <cstdint>
#include <string>

namespace contorno {

/// Connects to the first address of the host that does not refuse, as the library will, and hangs up. Empty,
/// or why nobody is reached.
std::string why_unreachable(const std::string& host, int port, std::int64_t limit_ns);

}  // namespace contorno
