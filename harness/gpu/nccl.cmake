# NCCL, loaded at run time, and the names of the kernels that it ran.
target_sources(mailbench_harness PRIVATE
  kernel_names.cc nccl_api.cc nccl_comm.cc nccl_error.cc nccl_window.cc)

mailbench_test(kernel_names_test SOURCES kernel_names_test.cc LINK mailbench_harness)
mailbench_test(kernel_names_gpu_test SOURCES kernel_names_gpu_test.cu LINK mailbench_harness LABELS gpu)

if(MAILBENCH_BUILD_TESTS)
  # Stands in for libnccl.so.2: one as 2.32 is, one without what came later, one that is not NCCL.
  add_library(mailbench_fake_nccl MODULE nccl_fake.c)
  add_library(mailbench_fake_old_nccl MODULE nccl_fake.c)
  target_compile_definitions(mailbench_fake_old_nccl PRIVATE MAILBENCH_FAKE_WITHOUT_WINDOWS)
  add_library(mailbench_fake_ancient_nccl MODULE nccl_fake.c)
  target_compile_definitions(mailbench_fake_ancient_nccl PRIVATE MAILBENCH_FAKE_WITHOUT_ABORT)
  foreach(name nccl_api_test nccl_comm_test nccl_reference_test)
    if(name STREQUAL nccl_comm_test)
      mailbench_test(${name} SOURCES ${name}.cc LINK mailbench_harness RANKS 1 2 4)
    elseif(name STREQUAL nccl_reference_test)
      mailbench_test(${name} SOURCES ${name}.cc LINK mailbench_fake_runtime mailbench_harness RANKS 2 4)
    else()
      mailbench_test(${name} SOURCES ${name}.cc LINK mailbench_harness ${CMAKE_DL_LIBS})
    endif()
    add_dependencies(${name} mailbench_fake_nccl mailbench_fake_old_nccl mailbench_fake_ancient_nccl)
    target_compile_definitions(${name} PRIVATE
      FAKE_NCCL="$<TARGET_FILE:mailbench_fake_nccl>"
      FAKE_OLD_NCCL="$<TARGET_FILE:mailbench_fake_old_nccl>"
      FAKE_ANCIENT_NCCL="$<TARGET_FILE:mailbench_fake_ancient_nccl>")
  endforeach()
endif()
