# Contents of `cmake --install` and of the packages, an archive and a .deb (`--target package`): bin/train; lib/trainyard
# with the GPU part and the libraries that a bare system lacks; share/ with configs, models and documents. The tree is
# relocatable. Because it has its libraries, one .deb serves Debian 12 and 13 and Ubuntu 22.04 and 24.04, whose
# versions of these libraries differ.

# RPATH, not RUNPATH: only RPATH also applies to the dependencies of libdnnl. The C and C++ libraries of the
# target system are used, since older ones in the package would hide newer ones from other libraries.
target_link_options(train PRIVATE -Wl,--disable-new-dtags)
set_target_properties(train PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/trainyard" BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS train RUNTIME_DEPENDENCY_SET beside_train)
install(RUNTIME_DEPENDENCY_SET beside_train
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so"
  LIBRARY DESTINATION lib/trainyard)

# bin/train finds the configs in share/trainyard, and they find their networks and schemas relative to them.
install(DIRECTORY configs models DESTINATION share/trainyard)
install(DIRECTORY docs DESTINATION share/trainyard FILES_MATCHING PATTERN "*.md" PATTERN "*.json"
  PATTERN results EXCLUDE)
set(notices share/doc/trainyard)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${notices})
install(CODE "
  execute_process(COMMAND \"${PROJECT_SOURCE_DIR}/scripts/licences.sh\" \"$<TARGET_FILE:train>\"
    OUTPUT_FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${notices}/copyright\" COMMAND_ERROR_IS_FATAL ANY)")

# Where man, bash-completion, zsh (and Debian's) and fish look, if the prefix is /usr or /usr/local.
set(completions ${PROJECT_BINARY_DIR}/completions)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man1 DESTINATION share/man FILES_MATCHING PATTERN "*.1")
install(FILES ${completions}/train DESTINATION share/bash-completion/completions)
install(FILES ${completions}/_train DESTINATION share/zsh/site-functions)
install(FILES ${completions}/_train DESTINATION share/zsh/vendor-completions)
install(FILES ${completions}/train.fish DESTINATION share/fish/vendor_completions.d)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME trainyard)
set(CPACK_PACKAGE_FILE_NAME trainyard-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "trains neural networks from two YAML files")
set(CPACK_PACKAGE_DESCRIPTION "A native program that turns a network and a run, both YAML files, into a trained model,
on the CPU or on NVIDIA GPUs, exactly repeatable. It needs a processor with AVX2 and FMA.")
set(CPACK_PACKAGE_CONTACT "The Trainyard authors")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/DebianDependencies.cmake)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, gnuplot-nox, graphviz, libcurl4")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libcudnn9-cuda-13, libnccl2")
include(CPack)
