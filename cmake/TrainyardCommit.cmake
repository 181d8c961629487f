# commit.h: the commit and its day, for `train --version` and the manual pages. It is written anew when HEAD
# moves. Without a git repository, as in an unpacked archive, the commit is TRAINYARD_COMMIT, and the day that
# of the build (SOURCE_DATE_EPOCH, if set).

set(TRAINYARD_COMMIT "unknown" CACHE STRING "Commit of the sources, where they are in no git repository")
set(commit_header ${PROJECT_BINARY_DIR}/generated/cli/commit.h)
find_package(Git QUIET)
set(git_log ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} log -1 --abbrev=8
  "--format=#define TRAINYARD_COMMIT \"%h\"%n#define TRAINYARD_DATE \"%cs\"")
set(git_fails 1)
if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${git_log} RESULT_VARIABLE git_fails OUTPUT_QUIET ERROR_QUIET)
endif()
if(git_fails)
  string(TIMESTAMP day "%Y-%m-%d" UTC)
  file(CONFIGURE OUTPUT ${commit_header} @ONLY
    CONTENT "#define TRAINYARD_COMMIT \"@TRAINYARD_COMMIT@\"\n#define TRAINYARD_DATE \"@day@\"\n")
else()
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} rev-parse --git-path logs/HEAD
    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE)
  cmake_path(ABSOLUTE_PATH head BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(NOT EXISTS ${head}) # a repository without reflogs
    set(head)
  endif()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated/cli)
  add_custom_command(OUTPUT ${commit_header} COMMAND ${git_log} > ${commit_header} DEPENDS ${head} VERBATIM)
endif()
