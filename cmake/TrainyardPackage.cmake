# What `cmake --install` and the package (`--target package`, a .tar.gz) hold: bin/train, lib/ with
# the GPU part and the libraries that a bare system lacks, share/ with configs, models and pages. The
# tree may lie anywhere.

# RPATH, not RUNPATH: only that one also serves what libdnnl itself needs. The C and C++ libraries are
# the target's own, since older ones beside the program would hide newer ones from other libraries.
target_link_options(train PRIVATE -Wl,--disable-new-dtags)
set_target_properties(train PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS train RUNTIME_DEPENDENCY_SET beside_train)
install(RUNTIME_DEPENDENCY_SET beside_train
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so")

# bin/train finds the configs in share/trainyard, and they their networks and schemas beside them.
install(DIRECTORY configs models DESTINATION share/trainyard)
install(DIRECTORY docs DESTINATION share/trainyard FILES_MATCHING PATTERN "*.md" PATTERN "*.json"
  PATTERN results EXCLUDE)
install(FILES LICENSE README.md DESTINATION share/doc/trainyard)

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME trainyard)
set(CPACK_PACKAGE_FILE_NAME trainyard-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
