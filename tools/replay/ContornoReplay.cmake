# contorno_add_replay_test(NAME name GRAPH graph.yaml EXPECT record [DATASET dataset] [TOLERANCE px] [PROGRAM contorno])
# adds a test that replays a dataset and fails where the results differ from the record by more than the tolerance
# (`contorno replay`). Relative paths begin at the current source folder; a page that shows differences is written to the
# current binary folder, as NAME.html.
function(contorno_add_replay_test)
  cmake_parse_arguments(PARSE_ARGV 0 replay "" "NAME;GRAPH;DATASET;EXPECT;TOLERANCE;PROGRAM" "")
  foreach(required NAME GRAPH EXPECT)
    if(NOT replay_${required})
      message(FATAL_ERROR "contorno_add_replay_test: ${required} is missing")
    endif()
  endforeach()
  if(replay_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "contorno_add_replay_test: unknown arguments '${replay_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT replay_PROGRAM)
    find_program(CONTORNO_PROGRAM contorno REQUIRED)
    set(replay_PROGRAM ${CONTORNO_PROGRAM})
  endif()
  if(NOT DEFINED replay_TOLERANCE)
    set(replay_TOLERANCE 0)
  endif()
  add_test(NAME ${replay_NAME} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMAND ${replay_PROGRAM} replay ${replay_GRAPH} ${replay_DATASET} --expect ${replay_EXPECT}
      --tolerance ${replay_TOLERANCE} --html ${CMAKE_CURRENT_BINARY_DIR}/${replay_NAME}.html --quiet)
endfunction()
