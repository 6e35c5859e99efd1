// Settings that keep a process with little memory from being ended by a signal, and its exit codes from
// meaning two things.
#pragma once

namespace contorno {

/// Where addresses are limited (ulimit -v): threads get small stacks, the C library one heap for all of them,
/// and the stack of the main thread is mapped now, because one that cannot grow ends in a signal. OpenMP's
/// library, which ends the process with exit(1) when it gets no memory or no thread, ends it with
/// ExitCode::OutOfMemory, unless end_with() was called. Called once by main, before anything else.
void settle_process_limits();

/// The exit code of a command that came to its end, for main to return: 1 is then its own.
int end_with(int code);

}  // namespace contorno
