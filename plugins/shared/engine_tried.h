// Entries for the list of operators that an engine was tried with.
#pragma once

#include "stages/network/engine.h"

namespace contorno {

/// The opsets of models that were tried.
inline constexpr int kFirstOpset = 9, kLastOpset = 21;

/// Computed right in all of these opsets; a form that is null stands for any.
constexpr contorno_engine_tried right(const char* op, const char* form = "", int first = kFirstOpset,
                                      int last = kLastOpset) {
  return {.op = op, .form = form, .first_opset = first, .last_opset = last, .wrong = nullptr};
}
/// `what` says what goes wrong, and the remedy, as contorno_engine_tried::wrong.
constexpr contorno_engine_tried wrong(const char* op, const char* form, const char* what,
                                      int first = kFirstOpset, int last = kLastOpset) {
  return {.op = op, .form = form, .first_opset = first, .last_opset = last, .wrong = what};
}

}  // namespace contorno
