// The networks that runs of this process have used, for reports.
#pragma once

#include <string>
#include <vector>

namespace contorno {

struct NetworkUsed {
  std::string model;            ///< path of the file
  std::string engine, version;  ///< what computed it: "opencv", "4.6.0"
  std::string sha256;           ///< of the file
  bool operator==(const NetworkUsed&) const = default;
};

/// In the order in which they were first planned, each once. Safe from any thread.
std::vector<NetworkUsed> networks_used();
void note_network(const NetworkUsed& used);

}  // namespace contorno
