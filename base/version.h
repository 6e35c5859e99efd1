// The version of contorno that these headers are of, and what code that shares its types has to have in
// common with it. As literals: a variable in a header would be that of the library in every file that is
// loaded.
#pragma once

#include <string>  // says which ABI of the standard library is used

#define CONTORNO_VERSION_MAJOR 0
#define CONTORNO_VERSION_MINOR 1
#define CONTORNO_VERSION_PATCH 0

#define CONTORNO_QUOTED_(text) #text
#define CONTORNO_QUOTED(macro) CONTORNO_QUOTED_(macro)
#define CONTORNO_MINOR_TEXT \
  CONTORNO_QUOTED(CONTORNO_VERSION_MAJOR) "." CONTORNO_QUOTED(CONTORNO_VERSION_MINOR)
/// "0.1.0"
#define CONTORNO_VERSION_TEXT CONTORNO_MINOR_TEXT "." CONTORNO_QUOTED(CONTORNO_VERSION_PATCH)

#ifdef _GLIBCXX_USE_CXX11_ABI
#define CONTORNO_STANDARD_LIBRARY_ABI "libstdcxx_cxx11=" CONTORNO_QUOTED(_GLIBCXX_USE_CXX11_ABI)
#else
#define CONTORNO_STANDARD_LIBRARY_ABI "other_standard_library"
#endif
#ifdef _GLIBCXX_DEBUG
#define CONTORNO_CONTAINERS_ABI " libstdcxx_debug=1"  // containers of another size
#else
#define CONTORNO_CONTAINERS_ABI ""
#endif

/// "0.1 gxx_abi=1017 libstdcxx_cxx11=1": two files in which it is equal understand each other's types.
#define CONTORNO_ABI_TEXT                          \
  CONTORNO_MINOR_TEXT " gxx_abi=" CONTORNO_QUOTED( \
      __GXX_ABI_VERSION) " " CONTORNO_STANDARD_LIBRARY_ABI CONTORNO_CONTAINERS_ABI

/// "g++ 12", for messages.
#ifdef __clang__
#define CONTORNO_COMPILER_TEXT "clang++ " CONTORNO_QUOTED(__clang_major__)
#else
#define CONTORNO_COMPILER_TEXT "g++ " CONTORNO_QUOTED(__GNUC__)
#endif
