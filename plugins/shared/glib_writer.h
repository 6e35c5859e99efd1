// GLib's writer of messages that take_glib_messages asks for. Compiled into each module with GLib.
#pragma once

namespace contorno {

/// Gives GLib the writer, unless another module has, or nobody asked for one. Called when a module starts.
void install_glib_writer();

}  // namespace contorno
