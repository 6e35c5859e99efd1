// The server of HTTP: one thread, a request a connection, every limit small. Whoever asks slowly, asks much
// or does not take the answer is closed, and keeps nobody else from one.
#include <utility>  // Boost 1.74 uses std::exchange without it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <array>
#include <chrono>
#include <limits>
#include <list>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "pipeline/shared/module.h"
#include "pipeline/shared/resource_limits.h"
#include "plugins/ops/ops.h"

namespace contorno {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = asio::ip::tcp;
using Failure = beast::error_code;

constexpr std::size_t kMostConnections = 32;  // one more closes the oldest
constexpr std::uint32_t kMostHeader = 8 * 1024;
/// The longest time for each of: reading a request, sending the answer, waiting until it was taken.
constexpr std::chrono::seconds kLimit{2};
/// What is read and forgotten of who sends more than a request, so that the answer is not lost to a reset.
constexpr std::size_t kMostForgotten = std::size_t{1} << 20;

using Response = http::response<http::string_body>;

Response response(http::status status, std::string body) {
  Response made(status, 11);
  made.set(http::field::content_type, "text/plain; charset=utf-8");
  made.body() = std::move(body);
  return made;
}

/// The answer to a request whose header was read.
Response answer(const http::request_header<>& request, const OpsPages& pages) {
  const std::string_view target(request.target().data(), request.target().size());
  const std::string_view path = target.substr(0, target.find('?'));
  const std::optional<OpsPage> page = pages(path);
  if (!page) return response(http::status::not_found, "there is no such page\n");
  if (request.method() != http::verb::get) {
    Response refused = response(http::status::method_not_allowed, "allowed is GET\n");
    refused.set(http::field::allow, "GET");
    return refused;
  }
  Response made = response(static_cast<http::status>(page->status), page->body);
  made.set(http::field::content_type, page->type);
  return made;
}

/// One that asks. Kept alive by what it waits for; in the list of the server until it is closed.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using List = std::list<std::weak_ptr<Connection>>;
  Connection(Tcp::socket socket, const OpsPages& pages, List& list)
      : stream_(std::move(socket)), pages_(pages), list_(list) {
    parser_.header_limit(kMostHeader);
    // A body may have any length, since none is read. (Boost 1.74 takes boost::none for a limit below 0.)
    parser_.body_limit(std::numeric_limits<std::uint64_t>::max());
  }
  ~Connection() {
    list_.remove_if([](const std::weak_ptr<Connection>& one) { return one.expired(); });
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() {
    stream_.expires_after(kLimit);
    http::async_read_header(
        stream_, buffer_, parser_,
        [self = shared_from_this()](Failure failure, std::size_t) { self->read(failure); });
  }
  void close() { stream_.close(); }

 private:
  void read(Failure failure) {
    if (!failure)
      response_ = answer(parser_.get(), pages_);
    else if (failure == http::error::header_limit)
      response_ = response(http::status::request_header_fields_too_large,
                           fmt::format("a request has at most {} bytes\n", kMostHeader));
    else if (failure.category() == make_error_code(http::error::bad_method).category() &&
             failure != http::error::end_of_stream && failure != http::error::partial_message)
      response_ = response(http::status::bad_request, "this is no request of HTTP\n");
    else
      return;  // it went, or was too slow
    response_.keep_alive(false);
    response_.set(http::field::cache_control, "no-store");
    response_.prepare_payload();
    stream_.expires_after(kLimit);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](Failure sent, std::size_t) { self->written(sent); });
  }
  void written(Failure failure) {
    if (failure) return;
    stream_.socket().shutdown(Tcp::socket::shutdown_send, failure);
    if (failure) return;
    stream_.expires_after(kLimit);
    forget();
  }
  /// Until the other side has closed, or the limits are over.
  void forget() {
    stream_.async_read_some(asio::buffer(forgotten_),
                            [self = shared_from_this()](Failure failure, std::size_t bytes) {
                              self->forgotten_bytes_ += bytes;
                              if (!failure && self->forgotten_bytes_ < kMostForgotten) self->forget();
                            });
  }

  beast::tcp_stream stream_;
  const OpsPages& pages_;
  List& list_;
  beast::flat_buffer buffer_{kMostHeader + 1024};
  http::request_parser<http::empty_body> parser_;
  Response response_;
  std::array<char, 4096> forgotten_{};
  std::size_t forgotten_bytes_ = 0;
};

class HttpServer final : public OpsServer {
 public:
  HttpServer(const std::string& host, std::uint16_t port, OpsPages pages)
      : pages_(std::move(pages)), acceptor_(io_), timer_(io_) {
    const Tcp::endpoint endpoint(asio::ip::make_address(host), port);
    try {
      acceptor_.open(endpoint.protocol());
      acceptor_.set_option(asio::socket_base::reuse_address(true));
      acceptor_.bind(endpoint);
      acceptor_.listen();
    } catch (const boost::system::system_error& error) {
      throw Error(ExitCode::CannotCreate, fmt::format("ops: {} cannot be listened on: {}",
                                                      address_of(endpoint), error.code().message()));
    }
    address_ = address_of(acceptor_.local_endpoint());
    accept();
    thread_ = start_thread("http", [this] { run(); });
  }
  ~HttpServer() override {
    io_.stop();
    thread_.join();
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string address() const override { return address_; }

 private:
  static std::string address_of(const Tcp::endpoint& endpoint) {
    const std::string host = endpoint.address().to_string();
    return fmt::format(fmt::runtime(endpoint.address().is_v6() ? "[{}]:{}" : "{}:{}"), host, endpoint.port());
  }
  void run() {
    while (!io_.stopped()) try {
        io_.run();
      } catch (const std::exception&) {
        // A page that could not be made: its connection is closed, the others go on.
      }
  }
  void accept() {
    acceptor_.async_accept([this](Failure failure, Tcp::socket socket) {
      if (failure) return pause();
      take(std::move(socket));
      accept();
    });
  }
  /// The process has no file left: whoever asked longest ago gives one back.
  void pause() {
    displace();
    timer_.expires_after(std::chrono::milliseconds(100));
    timer_.async_wait([this](Failure failure) {
      if (!failure) accept();
    });
  }
  void take(Tcp::socket socket) {
    if (connections_.size() >= kMostConnections) displace();
    const auto connection = std::make_shared<Connection>(std::move(socket), pages_, connections_);
    connections_.push_back(connection);
    connection->start();
  }
  /// The oldest goes.
  void displace() {
    while (!connections_.empty()) {
      const std::shared_ptr<Connection> oldest = connections_.front().lock();
      connections_.pop_front();
      if (oldest == nullptr) continue;
      oldest->close();
      return;
    }
  }

  OpsPages pages_;
  Connection::List connections_;  // before io_, whose handlers own them
  asio::io_context io_{1};
  Tcp::acceptor acceptor_;
  asio::steady_timer timer_;
  std::string address_;
  std::thread thread_;
};

std::unique_ptr<OpsServer> listen(const std::string& host, std::uint16_t port, OpsPages pages) {
  return std::make_unique<HttpServer>(host, port, std::move(pages));
}

constexpr OpsModule kTable{.listen = listen};

}  // namespace
}  // namespace contorno

CONTORNO_MODULE(contorno::kTable);
