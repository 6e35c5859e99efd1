# How a wheel is compiled (SKBUILD is defined by scikit-build-core): its files need nothing but the C and C++ runtime and OpenMP,
# name no folder of the machine that built them, and are the same bytes when they are built again. Included before the targets.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH OFF)
if(NOT CONTORNO_ARCHIVES)  # `pip install` has no archive of fmt: its code is compiled in every file, which takes half as long again
  set(CONTORNO_FMT fmt::fmt-header-only)
endif()

# For `tools/package wheel`, whose wheels go to other machines, libraries are linked in: CONTORNO_ARCHIVES is the folder with those
# that it compiled, which CMAKE_PREFIX_PATH and PKG_CONFIG_PATH name as well; the others are the distribution's.
macro(contorno_prefer_archives)  # in the folder that calls it
  if(CONTORNO_ARCHIVES)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a ${CMAKE_FIND_LIBRARY_SUFFIXES})
  endif()
endmacro()

foreach(pair ${CMAKE_BINARY_DIR}=build ${PROJECT_SOURCE_DIR}=.)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${pair}> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffile-prefix-map=${pair}>)
endforeach()
# nvcc writes the names of its temporary files into objects.
add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:--objdir-as-tempdir>)
