// Names picture formats that nothing here reads, so that a file of one is refused by its name and not by what
// some reader makes of it. Stateless.
#pragma once

#include <string>
#include <string_view>

namespace contorno {

/// Bytes of a file that are enough; an animated PNG with more before what says that it is one is taken for a
/// still one.
inline constexpr std::size_t kUnreadStart = 4096;

/// Throws Error(BadData) that names `path` and the format where `start`, its first bytes, is that of a
/// picture which nothing here reads: AVIF, HEIC, JPEG XL, an animated WebP, ...
void refuse_unread(const std::string& path, std::string_view start);
/// Refuses the file at `path` likewise. One that cannot be read is not refused: its reader says so.
void refuse_unread(const std::string& path);

}  // namespace contorno
