# mailbench_build_facts(TARGET): lets the target's harness/build_facts.cc name the
# version, the git hash and the CUDA toolkit. The hash is looked up at every build.
function(mailbench_build_facts target)
  set(header "${CMAKE_BINARY_DIR}/generated/mailbench_git_hash.h")
  if(NOT TARGET mailbench_git_hash)
    add_custom_target(mailbench_git_hash
      COMMAND ${CMAKE_COMMAND} "-DSOURCE=${CMAKE_SOURCE_DIR}" "-DOUTPUT=${header}"
              -P "${CMAKE_SOURCE_DIR}/scripts/cmake/WriteGitHash.cmake"
      BYPRODUCTS "${header}" COMMENT "" VERBATIM)
  endif()
  set(cuda "")
  if(MAILBENCH_HAS_CUDA)
    set(cuda "${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR}")
  endif()
  add_dependencies(${target} mailbench_git_hash)
  target_include_directories(${target} PRIVATE "${CMAKE_BINARY_DIR}/generated")
  set_property(SOURCE "${CMAKE_SOURCE_DIR}/harness/build_facts.cc" TARGET_DIRECTORY ${target}
    PROPERTY COMPILE_DEFINITIONS
    "MAILBENCH_VERSION=\"${PROJECT_VERSION}\"" "MAILBENCH_CUDA_VERSION=\"${cuda}\"")
endfunction()
