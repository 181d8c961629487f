# Run by CPack before it writes a package. Sets what the .deb depends on: the C and C++ libraries, in the versions that
# dpkg-shlibdeps finds its files to need. CPack's own CPACK_DEBIAN_PACKAGE_SHLIBDEPS would add the packages of the
# libraries that the .deb has itself, whose names are other ones in the next Debian.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(work ${CPACK_TOPLEVEL_DIRECTORY}/dependencies)
file(WRITE ${work}/debian/control "Source: trainyard\n")
file(GLOB libraries ${CPACK_TEMPORARY_DIRECTORY}/usr/lib/trainyard/*.so*)
execute_process(COMMAND dpkg-shlibdeps --ignore-missing-info -l${CPACK_TEMPORARY_DIRECTORY}/usr/lib/trainyard -O
    ${CPACK_TEMPORARY_DIRECTORY}/usr/bin/train ${libraries}
  WORKING_DIRECTORY ${work} OUTPUT_VARIABLE found ERROR_VARIABLE problem RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "dpkg-shlibdeps (of the package dpkg-dev) found no dependencies: ${problem}")
endif()
string(REGEX MATCHALL "lib(c6|gcc-s1|stdc\\+\\+6) \\([^)]*\\)" depends "${found}")
list(JOIN depends ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
