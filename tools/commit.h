// Which sources the program was built from.
#pragma once

namespace contorno {

/// At least ten digits of the commit, and "-dirty" where files differed from it; empty where the sources
/// were in no git checkout.
const char* build_commit();

}  // namespace contorno
