// What contorno finds in an extension that was built with other headers, or by another compiler: the texts
// alone can be read, and what they stand before must not be touched.
#include <cstdlib>

#ifdef FOREIGN_NAME
namespace contorno {
void FOREIGN_NAME();  // of no contorno
}
#define FOREIGN_TYPES &contorno::FOREIGN_NAME
#else
#define FOREIGN_TYPES &std::abort
#endif

namespace {

struct Entry {
  const char *version, *abi, *compiler;
  void (*types)();
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Entry contorno_extension;
const Entry contorno_extension = {FOREIGN_VERSION, FOREIGN_ABI, FOREIGN_COMPILER, FOREIGN_TYPES};
