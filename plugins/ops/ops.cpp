#include "plugins/ops/ops.h"

#include "plugins/modules.h"

namespace contorno {

const OpsModule& ops_module() {
  return *static_cast<const OpsModule*>(open_module(kOpsModule));
}

}  // namespace contorno
