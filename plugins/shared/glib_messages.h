// What GLib, on which the modules gst and text stand, has to say: shown as messages of the program, without
// passwords of addresses, and its end where memory ends. For programs, not for libraries in the process of
// others. GLib itself is loaded with the first of these modules.
#pragma once

#include <string>

namespace contorno {

using GlibMessageTaker = void (*)(const std::string& sentence);

/// GLib's warnings will be given to `say`, a line each, on the thread that they arise on. Where GLib would
/// end the process with a signal, because it gets no memory or no thread, the process ends with
/// ExitCode::OutOfMemory, for other faults with ExitCode::Internal. Called before the first module is opened.
void take_glib_messages(GlibMessageTaker say);

/// For the modules: what take_glib_messages was given to the first that asks, null to all others, because
/// GLib has one writer of messages in a process. Any thread.
GlibMessageTaker claim_glib_messages();

}  // namespace contorno
