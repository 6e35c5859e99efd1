// The writer of GLib's messages that take_glib_messages (glib_messages.h) asks for. Compiled into each module
// that uses GLib.
#pragma once

namespace contorno {

/// Gives GLib the writer, unless another module has done so or take_glib_messages was not called. Called when
/// a module starts.
void install_glib_writer();

}  // namespace contorno
