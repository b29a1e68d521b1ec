// The table of the fake driver: each entry acts on the current fake of the calling thread.
#include <utility>

#include "harness/gpu/fake_driver.h"

namespace mailbench {
namespace {

struct NamedError {
  CUresult code;
  const char* name;
  const char* text;
};

// Names and texts as the driver has them.
constexpr NamedError kErrors[] = {
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_SYSTEM_NOT_READY, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {CUDA_ERROR_TIMEOUT, "CUDA_ERROR_TIMEOUT", "wait operation timed out"},
};

CUresult Error(CUresult code, const char* NamedError::*part, const char** out) {
  *out = nullptr;
  for (const NamedError& error : kErrors) {
    if (error.code == code) *out = error.*part;
  }
  return *out == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

thread_local FakeDriver* current = nullptr;

}  // namespace

// Counts the call, and fails when it is its turn; otherwise does as the member function says.
// NOLINTBEGIN(bugprone-macro-parentheses): the parameters are in parentheses already
#define MAILBENCH_FAKE(name, parameters, call)                            \
  table.name = [] parameters -> CUresult {                                \
    FakeDriver& fake = FakeDriver::Current();                             \
    if (const auto failure = fake.Intercept("cu" #name)) return *failure; \
    return fake.call;                                                     \
  }
// NOLINTEND(bugprone-macro-parentheses)

class FakeDriverTable {
 public:
  static DriverTable Make() {
    DriverTable table;
    table.GetErrorName = [](CUresult code, const char** name) {
      return Error(code, &NamedError::name, name);
    };
    table.GetErrorString = [](CUresult code, const char** text) {
      return Error(code, &NamedError::text, text);
    };
    AddDevices(table);
    AddMemory(table);
    AddAddresses(table);
    AddMulticast(table);
    return table;
  }

 private:
  using Handle = CUmemGenericAllocationHandle;
  using Flags = unsigned long long;  // NOLINT(google-runtime-int): the driver's own type
  using Type = CUmemAllocationHandleType;
  using Size = std::size_t;

  static void AddDevices(DriverTable& table) {
    MAILBENCH_FAKE(DeviceGet, (CUdevice * out, int ordinal), DeviceGet(out, ordinal));
    MAILBENCH_FAKE(DeviceGetAttribute, (int* out, CUdevice_attribute attribute, CUdevice),
                   Attribute(out, attribute));
    MAILBENCH_FAKE(CtxSynchronize, (), Synchronize());
  }

  static void AddMemory(DriverTable& table) {
    MAILBENCH_FAKE(MemGetAllocationGranularity,
                   (Size * out, const CUmemAllocationProp*, CUmemAllocationGranularity_flags),
                   Granularity(out));
    MAILBENCH_FAKE(MemCreate,
                   (Handle * out, Size bytes, const CUmemAllocationProp* what, Flags flags),
                   Create(out, bytes, what, flags));
    MAILBENCH_FAKE(MemRelease, (Handle handle), Release(handle));
    MAILBENCH_FAKE(MemExportToShareableHandle, (void* out, Handle handle, Type type, Flags flags),
                   Export(out, handle, type, flags));
    MAILBENCH_FAKE(MemImportFromShareableHandle, (Handle * out, void* in, Type type),
                   Import(out, in, type));
  }

  static void AddAddresses(DriverTable& table) {
    MAILBENCH_FAKE(MemAddressReserve,
                   (CUdeviceptr * out, Size bytes, Size alignment, CUdeviceptr, Flags flags),
                   Reserve(out, bytes, alignment, flags));
    MAILBENCH_FAKE(MemAddressFree, (CUdeviceptr start, Size bytes), Free(start, bytes));
    MAILBENCH_FAKE(MemMap, (CUdeviceptr start, Size bytes, Size offset, Handle handle, Flags flags),
                   Map(start, bytes, offset, handle, flags));
    MAILBENCH_FAKE(MemUnmap, (CUdeviceptr start, Size bytes), Unmap(start, bytes));
    MAILBENCH_FAKE(MemSetAccess,
                   (CUdeviceptr start, Size bytes, const CUmemAccessDesc* access, Size count),
                   SetAccess(start, bytes, access, count));
    MAILBENCH_FAKE(MemsetD32, (CUdeviceptr start, unsigned value, Size words),
                   Memset(start, value, words));
  }

  static void AddMulticast(DriverTable& table) {
    MAILBENCH_FAKE(
        MulticastGetGranularity,
        (Size * out, const CUmulticastObjectProp* what, CUmulticastGranularity_flags which),
        MulticastGranularity(out, what, which));
    MAILBENCH_FAKE(MulticastCreate, (Handle * out, const CUmulticastObjectProp* what),
                   MulticastCreate(out, what));
    MAILBENCH_FAKE(MulticastAddDevice, (Handle handle, CUdevice device),
                   MulticastAddDevice(handle, device));
    MAILBENCH_FAKE(
        MulticastBindMem,
        (Handle handle, Size offset, Handle memory, Size memory_offset, Size bytes, Flags flags),
        MulticastBind(handle, offset, memory, memory_offset, bytes, flags));
    MAILBENCH_FAKE(MulticastUnbind, (Handle handle, CUdevice device, Size offset, Size bytes),
                   MulticastUnbind(handle, device, offset, bytes));
  }
};

const DriverTable& FakeDriver::table() {
  static const DriverTable table = FakeDriverTable::Make();
  return table;
}

FakeDriver& FakeDriver::Get() {
  static FakeDriver driver;
  return driver;
}

FakeDriver& FakeDriver::Current() { return current == nullptr ? Get() : *current; }

FakeDriverScope::FakeDriverScope(FakeDriver& fake) : before_(std::exchange(current, &fake)) {}

FakeDriverScope::~FakeDriverScope() { current = before_; }

}  // namespace mailbench
