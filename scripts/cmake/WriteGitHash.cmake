# Run at every build: cmake -DSOURCE=<repository> -DOUTPUT=<header> -P WriteGitHash.cmake
# Writes the header only when the hash has changed, so that nothing else is rebuilt.
unset(ENV{GIT_DIR})
unset(ENV{GIT_WORK_TREE})
# A checkout that lies inside somebody else's repository has no hash of its own.
get_filename_component(parent "${SOURCE}" DIRECTORY)
set(ENV{GIT_CEILING_DIRECTORIES} "${parent}")
set(hash "")
find_program(GIT_EXECUTABLE git)
if(GIT_EXECUTABLE)
  execute_process(COMMAND "${GIT_EXECUTABLE}" describe --always --dirty --abbrev=12 --exclude *
                  WORKING_DIRECTORY "${SOURCE}" OUTPUT_VARIABLE hash ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT hash MATCHES "^[0-9a-f]+(-dirty)?$")
  set(hash "unknown")
endif()
set(text "#define MAILBENCH_GIT_HASH \"${hash}\"\n")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
