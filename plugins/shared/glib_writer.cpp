#include "plugins/shared/glib_writer.h"

#include <glib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>

#include "base/error.h"
#include "plugins/shared/glib_messages.h"

namespace contorno {
namespace {

GlibMessageTaker say_sentence = nullptr;

const char* field(const GLogField* fields, gsize count, const char* key) {
  for (gsize i = 0; i < count; ++i)
    if (std::strcmp(fields[i].key, key) == 0) return static_cast<const char*>(fields[i].value);
  return nullptr;
}

/// Nothing is allocated here: there may be no memory left. Of threads that come here at the same time one
/// speaks.
[[noreturn]] void end(const char* message) {
  static std::atomic<bool> said = false;
  const bool no_resource =
      std::strstr(message, "allocate") != nullptr || std::strstr(message, "thread") != nullptr;
  std::array<char, 512> line{};
  const int length = std::snprintf(line.data(), line.size(), "contorno: %s%s\n",
                                   no_resource ? "out of memory: " : "", message);
  if (!said.exchange(true) && length > 0)
    static_cast<void>(!::write(STDERR_FILENO, line.data(),
                               std::min<std::size_t>(static_cast<std::size_t>(length), line.size() - 1)));
  ::_exit(static_cast<int>(no_resource ? ExitCode::OutOfMemory : ExitCode::Internal));
}

GLogWriterOutput write_message(GLogLevelFlags level, const GLogField* fields, gsize count, gpointer) {
  const char* message = field(fields, count, "MESSAGE");
  if (message == nullptr) return G_LOG_WRITER_HANDLED;
  if ((level & G_LOG_LEVEL_ERROR) != 0) end(message);
  if ((level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE)) == 0)
    return g_log_writer_default(level, fields, count, nullptr);  // shown where G_MESSAGES_DEBUG asks for it
  try {
    const char* domain = field(fields, count, "GLIB_DOMAIN");
    say_sentence(std::string(domain != nullptr ? domain : "GLib") + ": " + message);
  } catch (const std::exception&) {
    // No memory for a warning: it is left out.
  }
  return G_LOG_WRITER_HANDLED;
}

}  // namespace

void install_glib_writer() {
  const GlibMessageTaker say = claim_glib_messages();
  if (say == nullptr) return;
  say_sentence = say;
  g_log_set_writer_func(write_message, nullptr, nullptr);
}

}  // namespace contorno
