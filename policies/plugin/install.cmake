# What runs (`core/app/shipped_files` finds inputs by name), and what authors of policies need: the headers of the policy
# interface, and `find_package(atoll)`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(atoll_policy INTERFACE)
set_target_properties(atoll_policy PROPERTIES EXPORT_NAME policy)
target_include_directories(atoll_policy INTERFACE $<BUILD_INTERFACE:$<TARGET_PROPERTY:atoll_policies,INTERFACE_INCLUDE_DIRECTORIES>>
                                                  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/atoll>)
target_compile_features(atoll_policy INTERFACE cxx_std_20)
target_link_libraries(atoll_policy INTERFACE Boost::serialization)

install(TARGETS atoll_policy EXPORT atoll)
install(TARGETS atoll RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Below lib, whatever the distribution's folder for libraries is: the program looks for them from where it lies.
if(TARGET atoll_python_policy)
  install(TARGETS atoll_python_policy LIBRARY DESTINATION lib/atoll)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/inputs/workloads ${PROJECT_SOURCE_DIR}/inputs/experiments
        DESTINATION ${CMAKE_INSTALL_DATADIR}/atoll PATTERN "cuda" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/atoll)
foreach(folder core/engine core/stats inputs/config policies)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/atoll/${folder}
          FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def" PATTERN "plugin/python" EXCLUDE)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/partition/bandwidth.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/atoll/partition)
install(EXPORT atoll NAMESPACE atoll:: FILE atollTargets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/atoll)
file(WRITE ${PROJECT_BINARY_DIR}/generated/atollConfig.cmake
     "include(CMakeFindDependencyMacro)
find_dependency(Boost 1.74 COMPONENTS serialization)
include(\${CMAKE_CURRENT_LIST_DIR}/atollTargets.cmake)
")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/atollConfigVersion.cmake COMPATIBILITY ExactVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/atollConfig.cmake ${PROJECT_BINARY_DIR}/generated/atollConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/atoll)
