// Shows the messages of GLib, which the modules gst and text are built on, as messages of the program, and
// ends the process with an exit code of contorno's where GLib would end it with a signal. For programs only:
// a library leaves GLib's messages to its host. GLib itself is loaded with the first of these modules.
#pragma once

#include <string>

namespace contorno {

using GlibMessageTaker = void (*)(const std::string& sentence);

/// Once a module with GLib is open, GLib's warnings are given to `say`, a sentence each, on the thread that
/// they arise on. Where GLib would end the process with a signal, the process ends with ExitCode::OutOfMemory
/// if an allocation or a thread failed, for other faults with ExitCode::Internal. Called before the first
/// module is opened.
void take_glib_messages(GlibMessageTaker say);

/// What a module asks: gives the first that asks what take_glib_messages was given, and null to all others,
/// because GLib has one writer of messages in a process. May be called from any thread.
GlibMessageTaker claim_glib_messages();

}  // namespace contorno
