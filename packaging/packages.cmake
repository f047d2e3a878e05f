# `cpack --preset package`: a .deb for the distribution that builds it, and a tarball that runs from any folder.
# Who makes packages: as Debian's tools know them, or else as git does.
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(packager "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
  foreach(key name email)
    execute_process(
      COMMAND git -C ${PROJECT_SOURCE_DIR} config user.${key}
      OUTPUT_VARIABLE packager_${key} RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  endforeach()
  if(packager_name AND packager_email)
    set(packager "${packager_name} <${packager_email}>")
  else()
    cmake_host_system_information(RESULT host QUERY FQDN)
    set(packager "Whoever built this <root@${host}>")
  endif()
endif()
set(ATOLL_PACKAGER "${packager}" CACHE STRING "Name and address of who makes packages")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/atoll)
else()
  set(doc ${CMAKE_INSTALL_DOCDIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/packaging/copyright ${PROJECT_SOURCE_DIR}/CITATION.cff DESTINATION ${doc})
# Debian wants an entry of its own per package; what changed in Atoll is in the other.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${PROJECT_BINARY_DIR}/generated/changelog.Debian
     "atoll (${PROJECT_VERSION}-1) unstable; urgency=low\n\n  * Version ${PROJECT_VERSION}; changelog.gz says what is new.\n\n"
     " -- ${ATOLL_PACKAGER}  ${now}\n")
configure_file(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_BINARY_DIR}/generated/changelog COPYONLY)
find_program(gzip gzip)
if(gzip)
  foreach(file changelog changelog.Debian)
    execute_process(COMMAND ${gzip} -9nfk ${PROJECT_BINARY_DIR}/generated/${file} COMMAND_ERROR_IS_FATAL ANY)
    install(FILES ${PROJECT_BINARY_DIR}/generated/${file}.gz DESTINATION ${doc})
  endforeach()
endif()

set(CPACK_PACKAGE_NAME atoll)
set(CPACK_PACKAGE_VENDOR "The Atoll authors")
set(CPACK_PACKAGE_CONTACT ${ATOLL_PACKAGER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "parallel simulator of multi-chip GPU memory systems")
set(CPACK_PACKAGE_DESCRIPTION
    "Atoll simulates GPUs of several chips, a chip in each MPI rank, and compares
the ways to organise their last-level caches: memory-side, SM-side or chosen
between, replicated, or kept coherent by directories. Workloads are recorded
CUDA programs, SASS traces of Accel-Sim, or parametric profiles.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)

set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libboost-serialization-dev, python3-h5py, python3-jinja2, python3-matplotlib, python3-numpy, python3-pandas")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
include(CPack)
