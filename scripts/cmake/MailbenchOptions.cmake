# Build options, and the one target that carries every compiler flag.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

option(MAILBENCH_BUILD_TESTS "Build the tests" ON)
option(MAILBENCH_WERROR "Treat warnings as errors" OFF)
option(MAILBENCH_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(MAILBENCH_FUZZ "Build the libFuzzer targets (clang)" OFF)
set(MAILBENCH_CUDA "AUTO" CACHE STRING "GPU code: AUTO builds it where a toolkit is found; ON requires one; OFF")
set_property(CACHE MAILBENCH_CUDA PROPERTY STRINGS AUTO ON OFF)

add_library(mailbench_flags INTERFACE)
target_compile_options(mailbench_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wnon-virtual-dtor;-Woverloaded-virtual>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${MAILBENCH_WERROR}>>:-Werror>)
if(MAILBENCH_SANITIZE)
  target_compile_options(mailbench_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined;-fno-sanitize-recover=undefined;-fno-omit-frame-pointer>)
  target_link_options(mailbench_flags INTERFACE -fsanitize=address,undefined)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()
