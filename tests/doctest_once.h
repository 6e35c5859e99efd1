// doctest, whose test cases are compiled to be small, as is what only they call: they run once, and most of
// them is checks. It takes a quarter less time. Precompiled before tests that are optimised; these include
// doctest itself.
#pragma once

#include <doctest/doctest.h>

#undef DOCTEST_CREATE_AND_REGISTER_FUNCTION
#define DOCTEST_CREATE_AND_REGISTER_FUNCTION(function, decorators) \
  [[gnu::cold]] static void function();                            \
  DOCTEST_REGISTER_FUNCTION(DOCTEST_EMPTY, function, decorators)   \
  static void function()
