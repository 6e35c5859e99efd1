#include "tools/interrupt.h"

#include <unistd.h>
#include <csignal>

namespace contorno {
namespace {

volatile std::sig_atomic_t requested_signal = 0;

void on_signal(int signal) {
  if (requested_signal != 0) _exit(128 + signal);
  requested_signal = signal;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  requested_signal = 0;
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
  // A reader that goes away is an error of the sink, not a reason to die.
  handle(SIGPIPE, SIG_IGN);
}

InterruptGuard::~InterruptGuard() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
}

int InterruptGuard::requested() {
  return requested_signal;
}

}  // namespace contorno
