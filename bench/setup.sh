# Sourced by bench/run and bench/compare: where benchmarks keep their data, the programs of peers in virtual environments with pinned
# versions, and a function that builds.
#
# usage: . bench/setup.sh (in the folder of the clone)
export CENTO_BENCH="${CENTO_BENCH:-$HOME/.cache/cento/bench}"
. tools/target-folder.sh .
mkdir -p "$CENTO_BENCH"

# environment NAME: makes the virtual environment NAME from bench/peers/NAME.txt, unless it is there already. A peer that cannot be
# installed is reported by the comparisons, so this is no error.
environment() {
  local folder="$CENTO_BENCH/$1" packages="bench/peers/$1.txt"
  cmp -s "$packages" "$folder/installed.txt" && return
  rm -rf "$folder"
  # Packages are installed without their dependencies, because the file lists these too.
  if python3 -m venv "$folder" && "$folder/bin/pip" -q --disable-pip-version-check install --no-deps -r "$packages"; then
    cp "$packages" "$folder/installed.txt"
  else
    echo "error: packages of $packages were not installed" >&2
  fi
}

# build ARGUMENTS: builds for a release, with the line numbers of the crates that a profile is about, so that it can tell which function was inlined. They
# change no instruction.
build() {
  local lines=(--config 'profile.release.strip="none"') name
  for name in align file find fingerprint flow labels read store text; do
    lines+=(--config "profile.release.package.cento-$name.debug=\"line-tables-only\"")
  done
  nice -n "${CENTO_BENCH_NICE:-0}" cargo build --quiet --release --locked "${lines[@]}" "$@"
}
