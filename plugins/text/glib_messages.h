// What GLib, on which GStreamer and the text library stand, has to say: shown as messages of the program,
// without passwords of addresses, and its end where memory ends. For programs, not for libraries in the
// process of others.
#pragma once

#include <string>

namespace contorno {

/// From now on GLib's warnings are given to `say`, a line each, on the thread that they arise on. Where GLib
/// would end the process with a signal, because it gets no memory or no thread, the process ends with
/// ExitCode::OutOfMemory, for other faults with ExitCode::Internal.
void take_glib_messages(void (*say)(const std::string& sentence));

}  // namespace contorno
