# Writes a header that names the commit of the sources, when it builds and only where it has changed. An archive of the sources has
# them in the file tools/COMMIT, commit and day in a line each: it may lie in the repository of something else.
#   cmake -DSOURCE=FOLDER -DHEADER=FILE -P commit.cmake
if(EXISTS ${SOURCE}/tools/COMMIT)
  file(STRINGS ${SOURCE}/tools/COMMIT lines)
  list(GET lines 0 commit)
  list(GET lines 1 day)
else()
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env TZ=UTC git -C ${SOURCE} log -1 --date=format-local:%Y-%m-%d --format=%cd
    OUTPUT_VARIABLE day OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(failed)
    set(commit "")
    set(day "")
  endif()
endif()
set(text "#define CONTORNO_COMMIT \"${commit}\"\n#define CONTORNO_COMMIT_DATE \"${day}\"\n")
set(written "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} written)
endif()
if(NOT text STREQUAL written)
  file(WRITE ${HEADER} "${text}")
endif()
