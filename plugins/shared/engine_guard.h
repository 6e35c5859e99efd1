// For engines that are written in C++: what a function throws becomes the result that engine.h wants.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "stages/network/engine.h"

namespace contorno {

/// Calls f, which may throw std::bad_alloc for want of memory, and anything else for a failure, whose what()
/// goes into `why`: CONTORNO_ENGINE_WHY bytes of the caller's, longer texts are cut. On success and for want
/// of memory `why` stays as it was.
template <class F>
contorno_engine_result guard_engine(char* why, const F& f) {
  const auto write = [why](std::string_view text) {
    const std::size_t count = std::min<std::size_t>(text.size(), CONTORNO_ENGINE_WHY - 1);
    std::memcpy(why, text.data(), count);
    why[count] = '\0';
  };
  try {
    f();
    return CONTORNO_ENGINE_OK;
  } catch (const std::bad_alloc&) {
    return CONTORNO_ENGINE_NO_MEMORY;
  } catch (const std::exception& error) {
    write(error.what());
  } catch (...) {
    write("an exception of an unknown type");
  }
  return CONTORNO_ENGINE_FAILED;
}

}  // namespace contorno
