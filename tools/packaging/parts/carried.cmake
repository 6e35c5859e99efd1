# What a wheel has of others: a list for machines (CycloneDX 1.6) and the licence of each, both in its dist-info. What is added to
# it later, beside the package, auditwheel lists in a file of its own.
set(CONTORNO_CARRIED "")
set(CONTORNO_CARRIED_NOTES ${CMAKE_BINARY_DIR}/carried)
# contorno_licence(NAME FILE...): the first FILE that is there has the text of its licence.
function(contorno_licence name)
  foreach(file ${ARGN})
    if(EXISTS ${file})
      configure_file(${file} ${CONTORNO_CARRIED_NOTES}/licenses/${name}.txt COPYONLY)
      break()
    endif()
  endforeach()
  if(NOT EXISTS ${CONTORNO_CARRIED_NOTES}/licenses/${name}.txt)
    message(STATUS "contorno: the licence of ${name} was not found; a wheel that is given to others must have it")
  endif()
endfunction()
# contorno_carry(NAME VERSION LICENCE FILE...): NAME is in the wheel.
function(contorno_carry name version licence)
  contorno_licence(${name} ${ARGN})
  set(component "    {\"type\": \"library\", \"name\": \"${name}\", \"version\": \"${version}\", \"licenses\": [{\"expression\": \"${licence}\"}]}")
  set(CONTORNO_CARRIED ${CONTORNO_CARRIED} ${component} PARENT_SCOPE)
endfunction()
macro(contorno_carry_of_debian name version licence package)
  contorno_carry(${name} "${version}" "${licence}" /usr/share/doc/${package}/copyright /usr/share/licenses/${name}/LICENSE)
endmacro()
# contorno_carry_archive(NAME VERSION LICENCE PACKAGE LIBRARY): the same, where LIBRARY is an archive.
macro(contorno_carry_archive name version licence package library)
  if("${library}" MATCHES "\\.a$")
    contorno_carry_of_debian(${name} "${version}" "${licence}" ${package})
  endif()
endmacro()

file(REMOVE_RECURSE ${CONTORNO_CARRIED_NOTES})
contorno_carry_of_debian(fmt ${fmt_VERSION} MIT libfmt-dev)
contorno_carry_of_debian(nlohmann-json ${nlohmann_json_VERSION} MIT nlohmann-json3-dev)
contorno_carry_of_debian(CLI11 ${CLI11_VERSION} BSD-3-Clause libcli11-dev)
contorno_carry(pybind11 "${CONTORNO_PYBIND11_VERSION}" BSD-3-Clause ${CONTORNO_PYBIND11_LICENCE} /usr/share/doc/pybind11-dev/copyright)
get_target_property(yaml_cpp_type yaml-cpp TYPE)
if(yaml_cpp_type STREQUAL "STATIC_LIBRARY")
  contorno_carry_of_debian(yaml-cpp ${yaml-cpp_VERSION} MIT libyaml-cpp-dev)
endif()
contorno_carry_archive(libjpeg-turbo "${PICTURE_FILES_libjpeg_VERSION}" "IJG AND BSD-3-Clause AND Zlib" libjpeg62-turbo-dev
  "${pkgcfg_lib_PICTURE_FILES_jpeg}")
contorno_carry_archive(libpng "${PICTURE_FILES_libpng_VERSION}" libpng-2.0 libpng-dev "${pkgcfg_lib_PICTURE_FILES_png16}")
contorno_carry_archive(zlib "${ZLIB_VERSION_STRING}" Zlib zlib1g-dev "${ZLIB_LIBRARY_RELEASE}")
contorno_carry_archive(giflib "${GIF_VERSION}" MIT libgif-dev "${GIF_LIBRARY}")
contorno_licence(libgomp /usr/share/doc/libgomp1/copyright)  # auditwheel adds and lists it
if(CONTORNO_HAVE_CUDA)
  find_package(CUDAToolkit REQUIRED)
  file(GLOB texts ${CUDAToolkit_TARGET_DIR}/../../EULA.txt ${CUDAToolkit_BIN_DIR}/../EULA.txt ${CUDAToolkit_BIN_DIR}/../LICENSE
    ${CUDAToolkit_BIN_DIR}/../dist-info/nvidia_cuda_runtime-*/licenses/License.txt /usr/share/doc/cuda-cudart-dev-*/copyright)
  contorno_carry(cuda-cudart ${CUDAToolkit_VERSION} LicenseRef-NVIDIA-CUDA-EULA ${texts})
endif()

list(JOIN CONTORNO_CARRIED ",\n" CONTORNO_CARRIED)
file(WRITE ${CONTORNO_CARRIED_NOTES}/sboms/contorno.cdx.json "{
  \"bomFormat\": \"CycloneDX\",
  \"specVersion\": \"1.6\",
  \"version\": 1,
  \"metadata\": {\"component\": {\"type\": \"library\", \"name\": \"contorno\", \"version\": \"${PROJECT_VERSION}\",
    \"licenses\": [{\"expression\": \"MIT\"}]}},
  \"components\": [
${CONTORNO_CARRIED}
  ]
}
")
install(DIRECTORY ${CONTORNO_CARRIED_NOTES}/sboms ${CONTORNO_CARRIED_NOTES}/licenses DESTINATION ${SKBUILD_METADATA_DIR} COMPONENT python)
