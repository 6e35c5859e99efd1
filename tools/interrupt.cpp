#include "tools/interrupt.h"

#include <unistd.h>
#include <csignal>

namespace contorno {
namespace {

volatile std::sig_atomic_t requested_signal = 0;
int guards = 0;  // of the main thread, one within the other

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

void ignore_file_size_signal() {
  handle(SIGXFSZ, SIG_IGN);
}

InterruptGuard::InterruptGuard() {
  if (guards++ > 0) return;
  requested_signal = 0;
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
  // Whoever started the program with nohup wants it to outlive the terminal.
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) handle(SIGHUP, on_signal);
  // A reader that goes away is an error of the sink, not a reason to die.
  handle(SIGPIPE, SIG_IGN);
}

InterruptGuard::~InterruptGuard() {
  if (--guards > 0) return;
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
  struct sigaction now {};
  sigaction(SIGHUP, nullptr, &now);
  if (now.sa_handler == on_signal) handle(SIGHUP, SIG_DFL);
}

int InterruptGuard::requested() {
  return requested_signal;
}

}  // namespace contorno
