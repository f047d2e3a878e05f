# The page is a file of its own, and part of the program.
file(READ ${PROJECT_SOURCE_DIR}/core/monitor/page.html ATOLL_PAGE)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/monitor/page.html)
configure_file(${PROJECT_SOURCE_DIR}/core/monitor/page.cpp.in ${PROJECT_BINARY_DIR}/generated/page.cpp @ONLY)
target_sources(atoll_monitor PRIVATE ${PROJECT_BINARY_DIR}/generated/page.cpp)
