// Which sources the program was built from.
#pragma once

namespace contorno {

/// At least ten digits of the commit, and "-dirty" where files differed from it; empty where the sources
/// were in no git checkout.
const char* build_commit();
/// The day of that commit, as 2026-11-28; empty where build_commit() is.
const char* build_date();

}  // namespace contorno
