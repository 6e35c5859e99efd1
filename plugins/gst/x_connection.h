// Keeps the program alive when the X display goes away, where Xlib would end the process. Works on the Xlib
// that the window's GStreamer plugin has loaded; nothing else of the program needs X. Functions may be called
// from any thread.
#pragma once

namespace contorno::gst {

/// From now on a broken connection to an X display stops the threads that use it, for good, and not the
/// process. Call it when a window's element exists; without Xlib in the process nothing changes.
void survive_x_errors();
/// True once a connection was lost. The pipeline of its window can then not be stopped, only left alone.
bool x_connection_lost();

}  // namespace contorno::gst
