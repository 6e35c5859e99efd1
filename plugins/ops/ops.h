// Pages for who operates a line: a server of HTTP that answers GET of a few paths, for one's own machine. The
// module `ops` has it; what the pages say is the program's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace contorno {

struct OpsPage {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
};

/// The page of a path; nothing: there is none. Called by the server's thread.
using OpsPages = std::function<std::optional<OpsPage>(std::string_view path)>;

class OpsServer {
 public:
  /// Closes all connections and ends the thread.
  virtual ~OpsServer() = default;
  /// HOST:PORT that it listens on, with the port that was found where 0 was asked for.
  virtual std::string address() const = 0;
};

/// The table of the module `ops`.
struct OpsModule {
  /// Listens on an address of this machine, in numbers. Throws Error(CannotCreate) where that is taken, or is
  /// none of this machine.
  std::unique_ptr<OpsServer> (*listen)(const std::string& host, std::uint16_t port, OpsPages pages);
};

/// The module `ops`. Throws ModuleError.
const OpsModule& ops_module();

}  // namespace contorno
