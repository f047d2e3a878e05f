# Included by the build: adds a generated version.cpp to atoll_stats. Run as a script at every build: writes that file anew
# when, and only when, the version or the commit changed. So a commit recompiles one small file and nothing else.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(atoll_version_cpp ${PROJECT_BINARY_DIR}/generated/version.cpp)
  add_custom_target(
    atoll_version
    COMMAND
      ${CMAKE_COMMAND} -D ATOLL_VERSION=${PROJECT_VERSION} -D SOURCE=${PROJECT_SOURCE_DIR} -D OUTPUT=${atoll_version_cpp} -P
      ${CMAKE_CURRENT_LIST_FILE}
    BYPRODUCTS ${atoll_version_cpp}
    COMMENT "Looking up the git commit"
    VERBATIM)
  target_sources(atoll_stats PRIVATE ${atoll_version_cpp})
  add_dependencies(atoll_stats atoll_version)
  return()
endif()

set(ATOLL_GIT_COMMIT unknown)
find_program(git_program git)
if(git_program)
  # Several builds may look at one checkout at a time: none of them may take the index lock.
  set(ENV{GIT_OPTIONAL_LOCKS} 0)
  # Sources unpacked inside somebody else's repository must not report its commit.
  execute_process(
    COMMAND ${git_program} -C ${SOURCE} rev-parse --show-prefix
    OUTPUT_VARIABLE prefix RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed EQUAL 0 AND prefix STREQUAL "")
    execute_process(
      COMMAND ${git_program} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
      OUTPUT_VARIABLE commit RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed EQUAL 0 AND NOT commit STREQUAL "")
      set(ATOLL_GIT_COMMIT ${commit})
    endif()
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.cpp.in ${OUTPUT} @ONLY)
