# contorno.symbols is made again by `cmake --build build/release --target contorno_symbols`: for that the program is linked with the
# library that shows every name, and the other users, which may miss names when they are linked, as they are.
add_executable(contorno_whole EXCLUDE_FROM_ALL contorno.cpp)
target_link_libraries(contorno_whole PRIVATE contorno_commands)
contorno_sees_all(contorno_whole)
if(Python_EXECUTABLE)
  set(python ${Python_EXECUTABLE})
else()
  set(python python3)
endif()
add_custom_target(contorno_symbols COMMENT "Writing contorno.symbols" VERBATIM USES_TERMINAL
  COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/symbols.py --build ${PROJECT_BINARY_DIR} --program $<TARGET_FILE:contorno_whole> --write)
add_dependencies(contorno_symbols contorno_whole contorno_headers contorno_modules)
foreach(target contorno_python_package contorno_gst_plugin)
  if(TARGET ${target})
    add_dependencies(contorno_symbols ${target})
  endif()
endforeach()
# The linker says what is missing, and this how it is listed.
set_target_properties(contorno PROPERTIES RULE_LAUNCH_LINK
  "${CMAKE_CURRENT_LIST_DIR}/link ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target contorno_symbols --")
