# The runtime that programs get instead of NVIDIA's: build/.../cuda/libcudart.so.13, found there by `atoll record`.
#
# The executor is linked into it, so it must be position-independent too; calls inside it need not be replaceable.
set_target_properties(atoll_inputs PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(atoll_inputs PRIVATE -fno-semantic-interposition)
# A sanitizer's run-time library would have to be in the recorded program.
if(ATOLL_SANITIZE)
  return()
endif()

set(atoll_cudart_dir ${PROJECT_SOURCE_DIR}/inputs/cuda/runtime)
foreach(api cudart cuda)
  set(names ${PROJECT_BINARY_DIR}/generated/${api}_names.cpp)
  add_custom_command(
    OUTPUT ${names}
    COMMAND ${CMAKE_COMMAND} -D NAMES=${atoll_cudart_dir}/${api}_names.txt -D OUT=${names} -D TABLE=atoll_${api}_names
            -D HANDLER=atoll_${api}_unsupported -P ${atoll_cudart_dir}/names.cmake
    DEPENDS ${atoll_cudart_dir}/${api}_names.txt ${atoll_cudart_dir}/names.cmake
    COMMENT "Generating a stub for every name of the CUDA runtime or driver (${api})"
    VERBATIM)
  # A weak stub and the function that replaces it may not be in one unit.
  set_source_files_properties(${names} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  list(APPEND atoll_cudart_names ${names})
endforeach()
file(GLOB atoll_cudart_sources CONFIGURE_DEPENDS ${atoll_cudart_dir}/*.cpp)
add_library(atoll_cudart SHARED ${atoll_cudart_sources} ${atoll_cudart_names})
target_link_libraries(atoll_cudart PRIVATE atoll_inputs Threads::Threads)
# Own names come before the program's: an executable may export a CUDA runtime of its own. Its constructor is the first of
# all (redirect.cpp).
target_link_options(atoll_cudart PRIVATE -Wl,-Bsymbolic -Wl,-z,initfirst -Wl,--no-undefined -Wl,--version-script=${atoll_cudart_dir}/libcudart.map)
set_target_properties(
  atoll_cudart
  PROPERTIES OUTPUT_NAME cudart
             PREFIX lib
             SUFFIX .so.13
             NO_SONAME OFF
             LINK_DEPENDS ${atoll_cudart_dir}/libcudart.map
             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/cuda)
# libcuda.so.1 has nothing of its own: who opens it or is linked with it finds the driver API in the library that it needs.
file(WRITE ${PROJECT_BINARY_DIR}/generated/libcuda.cpp "using atoll_libcuda = int;\n")
add_library(atoll_cuda SHARED ${PROJECT_BINARY_DIR}/generated/libcuda.cpp)
target_link_options(atoll_cuda PRIVATE -Wl,--no-as-needed)
target_link_libraries(atoll_cuda PRIVATE atoll_cudart)
set_target_properties(
  atoll_cuda
  PROPERTIES OUTPUT_NAME cuda
             PREFIX lib
             SUFFIX .so.1
             BUILD_RPATH "$ORIGIN"
             INSTALL_RPATH "$ORIGIN"
             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/cuda)
if(TARGET atoll)
  add_dependencies(atoll atoll_cudart atoll_cuda)
endif()
install(TARGETS atoll_cudart atoll_cuda LIBRARY DESTINATION lib/atoll/cuda)
install(FILES ${PROJECT_SOURCE_DIR}/inputs/cuda/atoll_cuda_compat.h ${PROJECT_SOURCE_DIR}/inputs/cuda/atoll_cuda_properties.h
              ${PROJECT_SOURCE_DIR}/inputs/cuda/atoll_cuda_references.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/atoll)
