# What the scripts share. Sourced, never run.
# shellcheck shell=bash disable=SC2034 # variables that the callers use

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# fail CODE MESSAGE...
fail() {
  local code=$1
  shift
  echo "$(basename "$0"): $*" >&2
  exit "$code"
}

# Prints the comment that the script begins with, and exits, when the first argument asks for help.
usage_when_asked() {
  [[ ${1:-} == -h || ${1:-} == --help ]] || return 0
  sed -n '2,/^[^#]/{s/^# \{0,1\}//;t print;b;:print p}' "$0"
  exit 0
}

# quietly NAME COMMAND...: runs the command, its output in build/logs/NAME.log. When it fails, the
# end of the log is shown, and the script ends with the command's exit code.
quietly() {
  local status=0 log="$root/build/logs/$1.log"
  shift
  mkdir -p "$root/build/logs"
  "$@" > "$log" 2>&1 < /dev/null || status=$?
  if ((status != 0)); then
    tail -n 60 "$log" >&2
    fail "$status" "failed: $* (all of it in ${log#"$root"/})"
  fi
}

# Compiler processes at a time: a core each, and 2 GB of memory each.
build_jobs() {
  local cores gigabytes
  cores=$(nproc)
  gigabytes=$(awk '/^MemAvailable:/ {print int($2 / 2097152)}' /proc/meminfo)
  ((gigabytes < cores)) && cores=$gigabytes
  echo $((cores > 0 ? cores : 1))
}

# Sets `preset`: cuda where an nvcc of 12.9 or later is found (CUDACXX, PATH, /usr/local/cuda),
# host otherwise.
choose_preset() {
  preset=host
  local nvcc version
  nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
  [[ -x $nvcc ]] || return 0
  version=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p')
  if [[ $(printf '%s\n' 12.9 "$version" | sort -V | head -n 1) == 12.9 ]]; then
    export CUDACXX=$nvcc
    preset=cuda
  else
    echo "CUDA $version is older than 12.9: building without GPU code" >&2
  fi
}

# configure PRESET: once; from then on the build itself notices changes in the CMake files.
configure() {
  cd "$root" || exit
  if [[ ! -f build/$1/build.ninja || CMakePresets.json -nt build/$1/build.ninja ]]; then
    quietly "configure-$1" cmake --preset "$1"
  fi
}

# build PRESET [TARGET...]. On a terminal the user watches ninja's line of progress.
build() {
  local command=(cmake --build "build/$1" --parallel "$(build_jobs)" ${2:+--target "${@:2}"})
  [[ -d $root/build/$1 ]] || echo "building into build/$1: minutes the first time; logs are in build/logs"
  configure "$1"
  if [[ -t 1 ]]; then
    "${command[@]}" || exit $?
  else
    quietly "build-$1" "${command[@]}"
  fi
}

# Sets `mpirun`, the beginning of a command that starts N ranks here: as root too, and on fewer
# cores than ranks.
mpirun_command() {
  mpirun=(mpirun)
  if mpirun --version 2> /dev/null | grep -q 'Open MPI'; then
    [[ $(id -u) -eq 0 ]] && mpirun+=(--allow-run-as-root)
    mpirun+=(--oversubscribe --bind-to none)
  fi
  mpirun+=(-np "$1")
}

# Prints how many GPUs a program sees here.
visible_gpus() {
  local gpus
  gpus=$(timeout 30 nvidia-smi -L 2> /dev/null | grep -c '^GPU ') || gpus=0
  if ((gpus > 0)) && [[ -n ${CUDA_VISIBLE_DEVICES+set} ]]; then
    gpus=$(tr ',' '\n' <<< "$CUDA_VISIBLE_DEVICES" | grep -c '[^ ]') || gpus=0
  fi
  echo "$gpus"
}

# launch_command RANKS GPUS BINARY ARGUMENTS...: sets `command`, which runs the binary on so many
# ranks. Ranks that outnumber the GPUs share them, under MPS where it is present.
launch_command() {
  local ranks=$1 gpus=$2 arguments=" ${*:4} "
  shift 2
  mpirun_command "$ranks"
  command=("${mpirun[@]}" "$@")
  [[ $gpus == 0 || $arguments =~ \ --transport[\ =]host ]] && return
  ((ranks > gpus)) || return 0
  [[ $arguments =~ \ --ranks-per-gpu[\ =] ]] \
    || command+=(--ranks-per-gpu $(((ranks + gpus - 1) / gpus)))
  if command -v nvidia-cuda-mps-control > /dev/null; then
    command=("$root/scripts/launch/mps" "${command[@]}")
  else
    echo "$ranks ranks on $gpus GPU(s) without MPS (nvidia-cuda-mps-control is not on PATH):" \
      "they take turns on a GPU, and their times say little" >&2
  fi
}
