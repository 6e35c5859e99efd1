# Writes a header that names the commit of the sources, when it builds and only where it has changed.
#   cmake -DSOURCE=FOLDER -DHEADER=FILE -P commit.cmake
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
execute_process(COMMAND ${CMAKE_COMMAND} -E env TZ=UTC git -C ${SOURCE} log -1 --date=format-local:%Y-%m-%d --format=%cd
  OUTPUT_VARIABLE day OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed)
  set(commit "")
  set(day "")
endif()
set(text "#define CONTORNO_COMMIT \"${commit}\"\n#define CONTORNO_COMMIT_DATE \"${day}\"\n")
set(written "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} written)
endif()
if(NOT text STREQUAL written)
  file(WRITE ${HEADER} "${text}")
endif()
