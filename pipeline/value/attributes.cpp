#include "pipeline/value/attributes.h"

#include <algorithm>

namespace contorno {

std::optional<Attribute> attribute_called(std::string_view name) {
  const auto* const found = std::find(kAttributeNames.begin(), kAttributeNames.end(), name);
  if (found == kAttributeNames.end()) return std::nullopt;
  return static_cast<Attribute>(found - kAttributeNames.begin());
}

}  // namespace contorno
