#include "plugins/publish/redis/tls.h"

#ifdef CONTORNO_HAVE_REDIS_TLS
#include <hiredis/hiredis_ssl.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#endif

#include <memory>

#include "base/error.h"

namespace contorno {

#ifdef CONTORNO_HAVE_REDIS_TLS
namespace {

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
};
using TlsSession = std::unique_ptr<SSL, FreeTls>;

[[noreturn]] void refuse_tls(const std::string& why) {
  throw Error(ExitCode::Unavailable, "TLS: " + why);
}

TlsSession verifying_session(const std::string& host, const std::string& ca) {
  const std::unique_ptr<SSL_CTX, FreeTls> context(SSL_CTX_new(TLS_client_method()));
  if (!context) refuse_tls("OpenSSL gives no context");
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const bool has_issuers = ca.empty() ? SSL_CTX_set_default_verify_paths(context.get()) == 1
                                      : SSL_CTX_load_verify_file(context.get(), ca.c_str()) == 1;
  if (!has_issuers) refuse_tls("the issuers cannot be read");
  TlsSession session(SSL_new(context.get()));
  if (!session) refuse_tls("OpenSSL gives no session");
  // An address is looked for among the addresses of a certificate, all else among its names.
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.get()), host.c_str()) != 1 &&
      (SSL_set1_host(session.get(), host.c_str()) != 1 ||
       SSL_set_tlsext_host_name(session.get(), host.c_str()) != 1))
    refuse_tls("the host is no name");
  return session;
}

}  // namespace

bool has_redis_tls() {
  return true;
}

void begin_redis_tls(redisContext& context, const std::string& host, const std::string& ca) {
  TlsSession session = verifying_session(host, ca);
  if (redisInitiateSSL(&context, session.get()) == REDIS_OK) {
    static_cast<void>(session.release());  // the connection's now
    return;
  }
  const long verified = SSL_get_verify_result(session.get());
  refuse_tls(verified != X509_V_OK ? X509_verify_cert_error_string(verified) : context.errstr);
}
#else
bool has_redis_tls() {
  return false;
}

void begin_redis_tls(redisContext&, const std::string&, const std::string&) {
  throw InternalError("TLS to Redis, which this build does not have");
}
#endif

}  // namespace contorno
