# What programs of others need to use the library: headers, a CMake package, contorno.pc (component `dev`). The target
# contorno::contorno, found or added as a folder, hands on C++20 and the folder of these headers, and nothing else.
add_library(contorno::contorno ALIAS contorno_library)
target_compile_features(contorno_library INTERFACE cxx_std_20)
target_include_directories(contorno_library INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(contorno_library INTERFACE Threads::Threads)
set_target_properties(contorno_library PROPERTIES EXPORT_NAME contorno)

# The headers of the list. Installed and added projects see these alone: what they include is <contorno/pipeline/...>.
set(header_list ${CMAKE_CURRENT_LIST_DIR}/headers.txt)
set(header_script ${CMAKE_CURRENT_LIST_DIR}/rewrite_headers.cmake)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header_list})
file(STRINGS ${header_list} headers)
set(headers_made ${headers})
list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/)
list(TRANSFORM headers_made PREPEND ${PROJECT_BINARY_DIR}/include/contorno/)
set(headers_stamp ${PROJECT_BINARY_DIR}/include/.rewritten)
add_custom_command(OUTPUT ${headers_stamp} BYPRODUCTS ${headers_made} DEPENDS ${headers} ${header_list} ${header_script}
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DLIST=${header_list} -DTARGET=${PROJECT_BINARY_DIR}/include/contorno
    -P ${header_script}
  COMMAND ${CMAKE_COMMAND} -E touch ${headers_stamp}
  COMMENT "Rewriting the headers that are installed" VERBATIM)
add_custom_target(contorno_headers ALL DEPENDS ${headers_stamp})
add_dependencies(contorno_library contorno_headers)

# The same objects with every name of contorno shown, for tests and benchmarks of what lies inside. It has the file name and the
# SONAME of the other in a folder of its own, so that the modules, which are opened beside it, find it in the place of the other.
set(whole_folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/whole)
add_library(contorno_whole_library SHARED EXCLUDE_FROM_ALL)
target_link_libraries(contorno_whole_library PRIVATE ${parts})
set(whole_symbols ${CMAKE_CURRENT_LIST_DIR}/whole.symbols)
target_link_options(contorno_whole_library PRIVATE LINKER:--version-script,${whole_symbols} LINKER:-Bsymbolic-functions)
set_target_properties(contorno_whole_library PROPERTIES OUTPUT_NAME contorno LINKER_LANGUAGE CXX LINK_DEPENDS ${whole_symbols}
  INSTALL_RPATH "" LIBRARY_OUTPUT_DIRECTORY ${whole_folder} VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
add_custom_command(TARGET contorno_whole_library POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E create_symlink ../${CONTORNO_MODULE_FOLDER} ${whole_folder}/${CONTORNO_MODULE_FOLDER} VERBATIM)
# contorno_sees_all(TARGET...): programs that use more than installed headers declare.
function(contorno_sees_all)
  foreach(target ${ARGN})
    target_link_libraries(${target} PRIVATE contorno_whole_library)
    # No paths of what is linked: CMake would ask in which of the two folders the one SONAME is meant.
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/whole;${CMAKE_INSTALL_RPATH}"
      INSTALL_RPATH_USE_LINK_PATH OFF)
  endforeach()
endfunction()

if(DEFINED SKBUILD)  # a wheel has none of this
  return()
endif()
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/contorno)
set(package_made ${PROJECT_BINARY_DIR}/package)
configure_file(${CMAKE_CURRENT_LIST_DIR}/contorno-config.cmake.in ${package_made}/contorno-config.cmake @ONLY)
write_basic_package_version_file(${package_made}/contorno-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH from_pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" from_pc_to_prefix ${from_pc_to_prefix})
configure_file(${CMAKE_CURRENT_LIST_DIR}/contorno.pc.in ${package_made}/contorno.pc @ONLY)

install(DIRECTORY ${PROJECT_BINARY_DIR}/include/contorno DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(EXPORT contorno FILE contorno-targets.cmake NAMESPACE contorno:: DESTINATION ${package_folder} COMPONENT dev)
install(FILES ${package_made}/contorno-config.cmake ${package_made}/contorno-config-version.cmake DESTINATION ${package_folder}
  COMPONENT dev)
install(FILES ${package_made}/contorno.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
