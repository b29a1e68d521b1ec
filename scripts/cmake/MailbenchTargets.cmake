# The layers, kernels <- harness <- src, and the functions that add to them.
#
# Includes are written from the repository's root ("kernels/...", "harness/...",
# "src/..."), but each layer only sees a folder of links to the layers below it,
# so that an include that points the wrong way does not compile.
foreach(layer kernels harness src)
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/include/${layer}")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${layer}"
       "${CMAKE_BINARY_DIR}/include/${layer}/${layer}" SYMBOLIC)
endforeach()

# mailbench_library(NAME LAYER kernels|harness|src SOURCES ... LINK ...)
function(mailbench_library name)
  cmake_parse_arguments(ARG "" "LAYER" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC "${CMAKE_BINARY_DIR}/include/${ARG_LAYER}")
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE mailbench_flags)
endfunction()

# Sets `variable` to what tests with these labels must not use at the same time: the GPU.
function(mailbench_resource_lock variable)
  set(lock "")
  if("gpu" IN_LIST ARGN)
    set(lock gpu)
  endif()
  set(${variable} "${lock}" PARENT_SCOPE)
endfunction()

# mailbench_test(NAME SOURCES ... LINK ... [LABELS ...] [RANKS N...]): a GoogleTest
# program, run once, or once for each N under mpirun with TestRanks() (harness/ranks/test_ranks.h).
function(mailbench_test name)
  if(NOT MAILBENCH_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS;RANKS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS host)
  endif()
  mailbench_resource_lock(lock ${ARG_LABELS})
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_RANKS)
    target_link_libraries(${name} PRIVATE ${ARG_LINK} mailbench_mpi_test_main mailbench_flags)
    foreach(ranks ${ARG_RANKS})
      mailbench_mpi_test(${name}.np${ranks} RANKS ${ranks} COMMAND $<TARGET_FILE:${name}>
                         LABELS ${ARG_LABELS})
    endforeach()
  else()
    target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main GTest::gmock mailbench_flags)
    # Found when ctest runs: the test programs are not started during the build.
    gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                         PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300 RESOURCE_LOCK "${lock}"
                         ENVIRONMENT "${MAILBENCH_TEST_ENVIRONMENT}")
  endif()
endfunction()

# What every test's environment holds, so that mpirun starts N ranks as root on
# fewer cores, whatever the user's own settings are; and that no test makes a
# multicast object of the machine's, which a crash might leave behind.
set(MAILBENCH_TEST_ENVIRONMENT
  "MAILBENCH_MULTICAST=0"
  "OMPI_ALLOW_RUN_AS_ROOT=1" "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
  "OMPI_MCA_rmaps_base_oversubscribe=1" "OMPI_MCA_hwloc_base_binding_policy=none")
if(MAILBENCH_SANITIZE)
  list(APPEND MAILBENCH_TEST_ENVIRONMENT
    "MAILBENCH_LARGEST=8192"
    "ASAN_OPTIONS=fast_unwind_on_malloc=0"  # lsan.supp says why
    "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/scripts/sanitize/lsan.supp:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1")
endif()

# mailbench_mpi_test(NAME RANKS N COMMAND ... [LABELS ...])
function(mailbench_mpi_test name)
  cmake_parse_arguments(ARG "" "RANKS" "COMMAND;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS host)
  endif()
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ARG_RANKS} ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300 SKIP_RETURN_CODE 77
                       ENVIRONMENT "${MAILBENCH_TEST_ENVIRONMENT}")
endfunction()

# mailbench_sanitizer_test(NAME TOOL tool RANKS N COMMAND ...): ranks on GPUs under compute-sanitizer.
# NCCL is left out: its kernels take too long there.
function(mailbench_sanitizer_test name)
  if(NOT MAILBENCH_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TOOL;RANKS" "COMMAND" ${ARGN})
  add_test(NAME ${name} COMMAND "${CMAKE_SOURCE_DIR}/scripts/sanitize/compute_sanitizer_run"
                                ${ARG_TOOL} ${ARG_RANKS} ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS gpu TIMEOUT 600 SKIP_RETURN_CODE 77
    RESOURCE_LOCK gpu ENVIRONMENT "${MAILBENCH_TEST_ENVIRONMENT};MAILBENCH_NCCL=none")
endfunction()

# mailbench_collective(BINARY KERNELS folder): a collective is a folder of kernels
# and a folder of src; the binary lands in bin/.
function(mailbench_collective binary)
  cmake_parse_arguments(ARG "" "KERNELS" "" ${ARGN})
  add_subdirectory(kernels/${ARG_KERNELS})
  add_subdirectory(src/${binary})
endfunction()

# mailbench_binary(NAME SOURCES ... LINK ...): a binary of the suite. Whatever is
# not found on every system travels beside it: `bin/` can be copied elsewhere.
function(mailbench_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE "${CMAKE_BINARY_DIR}/include/src")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} mailbench_harness mailbench_flags)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin"
    BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
  # Debian ships no static Google Benchmark.
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E copy_if_different
            $<TARGET_SONAME_FILE:benchmark::benchmark>
            "${CMAKE_BINARY_DIR}/bin/$<TARGET_SONAME_FILE_NAME:benchmark::benchmark>" VERBATIM)
endfunction()

# Adds the rule by which `ptx` is made of the source, for an architecture ("90").
function(mailbench_ptx ptx source architecture)
  add_custom_command(OUTPUT "${ptx}"
    COMMAND ${CMAKE_CUDA_COMPILER} -ptx -std=c++20 -arch=compute_${architecture}
            -I "${CMAKE_BINARY_DIR}/include/kernels" -MD -MF "${ptx}.d" -MT "${ptx}"
            "${CMAKE_CURRENT_SOURCE_DIR}/${source}" -o "${ptx}"
    DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${source}" DEPFILE "${ptx}.d" VERBATIM)
endfunction()

# mailbench_ptx_test(NAME SOURCE file.cu SCRIPT file.py [BY_HAND file.cu ...]): compiles the file to
# PTX for each architecture that is built and runs the script on it, and on kernels to compare with,
# for the oldest one; see kernels/machine/gpu/ptx_checks.py.
function(mailbench_ptx_test name)
  if(NOT MAILBENCH_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SOURCE;SCRIPT" "BY_HAND" ${ARGN})
  find_program(MAILBENCH_PTXAS ptxas HINTS "${CUDAToolkit_BIN_DIR}" REQUIRED)
  set(ptx "")
  foreach(architecture 90 100 103)
    set(path "${CMAKE_CURRENT_BINARY_DIR}/${name}_${architecture}.ptx")
    mailbench_ptx("${path}" "${ARG_SOURCE}" ${architecture})
    list(APPEND ptx "${path}")
  endforeach()
  set(by_hand "")
  foreach(source IN LISTS ARG_BY_HAND)
    get_filename_component(stem "${source}" NAME_WE)
    set(by_hand_ptx "${CMAKE_CURRENT_BINARY_DIR}/${name}_${stem}.ptx")
    mailbench_ptx("${by_hand_ptx}" "${source}" 90)
    list(APPEND by_hand "${by_hand_ptx}")
  endforeach()
  add_custom_target(${name} ALL DEPENDS ${ptx} ${by_hand})
  mailbench_script_test(${name} "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SCRIPT}" "${MAILBENCH_PTXAS}"
                        ${ptx} ${by_hand})
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    "PYTHONPATH=${CMAKE_SOURCE_DIR}/kernels/machine/gpu" "PYTHONDONTWRITEBYTECODE=1")
endfunction()

# mailbench_python_test(NAME BINARY target SCRIPT file.py [ARGUMENTS ...] [LABELS ...]): a test of a
# binary, and of its build with planted faults <target>_faults, if any, from outside; see
# harness/run/mpi_run.py.
function(mailbench_python_test name)
  cmake_parse_arguments(ARG "" "BINARY;SCRIPT" "ARGUMENTS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS host)
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME ${name}
           COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SCRIPT}" ${ARG_ARGUMENTS})
  mailbench_resource_lock(lock ${ARG_LABELS})
  set(faults "")
  if(TARGET ${ARG_BINARY}_faults)
    set(faults ";MAILBENCH_FAULTS=$<TARGET_FILE:${ARG_BINARY}_faults>")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600 PROCESSORS 2
    RESOURCE_LOCK "${lock}" SKIP_RETURN_CODE 77 ENVIRONMENT
    "${MAILBENCH_TEST_ENVIRONMENT};PYTHONPATH=${CMAKE_SOURCE_DIR}/harness/run;PYTHONDONTWRITEBYTECODE=1;MAILBENCH_ROOT=${CMAKE_SOURCE_DIR};MAILBENCH_BIN=$<TARGET_FILE:${ARG_BINARY}>${faults};MPIEXEC=${MPIEXEC_EXECUTABLE}")
endfunction()

# mailbench_script_test(NAME SCRIPT ARGUMENTS...): a test that is a Python script and no more.
function(mailbench_script_test name)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME ${name} COMMAND Python3::Interpreter ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS host TIMEOUT 300 SKIP_RETURN_CODE 77
                       ENVIRONMENT "${MAILBENCH_TEST_ENVIRONMENT}")
endfunction()
