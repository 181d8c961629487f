# Contents of `cmake --install` and the package (`--target package`, a .tar.gz): bin/train, lib/ with the
# GPU part and the libraries that a bare system lacks, share/ with configs, models and documents. The tree is
# relocatable.

# RPATH, not RUNPATH: only RPATH also applies to the dependencies of libdnnl. The C and C++ libraries of the
# target system are used, since older ones in the package would hide newer ones from other libraries.
target_link_options(train PRIVATE -Wl,--disable-new-dtags)
set_target_properties(train PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS train RUNTIME_DEPENDENCY_SET beside_train)
install(RUNTIME_DEPENDENCY_SET beside_train
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so")

# bin/train finds the configs in share/trainyard, and they find their networks and schemas relative to them.
install(DIRECTORY configs models DESTINATION share/trainyard)
install(DIRECTORY docs DESTINATION share/trainyard FILES_MATCHING PATTERN "*.md" PATTERN "*.json"
  PATTERN results EXCLUDE)
install(FILES LICENSE README.md DESTINATION share/doc/trainyard)

# Where man, bash-completion, zsh (and Debian's) and fish look, if the prefix is /usr or /usr/local.
set(completions ${PROJECT_BINARY_DIR}/completions)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man1 DESTINATION share/man FILES_MATCHING PATTERN "*.1")
install(FILES ${completions}/train DESTINATION share/bash-completion/completions)
install(FILES ${completions}/_train DESTINATION share/zsh/site-functions)
install(FILES ${completions}/_train DESTINATION share/zsh/vendor-completions)
install(FILES ${completions}/train.fish DESTINATION share/fish/vendor_completions.d)

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME trainyard)
set(CPACK_PACKAGE_FILE_NAME trainyard-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
