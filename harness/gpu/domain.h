// NVLink domains: which ranks' GPUs reach one another over NVLink, and what keeps ranks from
// sharing memory or a multicast object. Plain functions of what all ranks know, free of CUDA.
#pragma once

#include <string>
#include <vector>

#include "harness/gpu/gpu_facts.h"

namespace mailbench {

// Why the ranks are not in one NVLink domain, with who is where; "" when they are. GPUs that have
// registered with a fabric (state completed, status success) are in one domain where cluster UUID
// and clique are equal. Where the UUID is 0 (HGX boards), where the GPU knows no fabric, and where
// NVML says nothing, a domain is a host. A GPU whose registration is under way or has failed is in
// none. `hosts` by rank, as `facts_by_rank`.
std::string DomainRefusal(const std::vector<GpuFacts>& facts_by_rank,
                          const std::vector<std::string>& hosts);

// Why these ranks cannot have a multicast object; "" when nothing known here speaks against it:
// a single rank; a GPU without multicast; ranks that share a GPU, since an object takes a device
// once; ranks that are not in one domain.
std::string MulticastRefusal(const std::vector<GpuFacts>& facts_by_rank,
                             const std::vector<std::string>& hosts);

}  // namespace mailbench
