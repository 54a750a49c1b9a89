# Sourced by scripts: exports CARGO_TARGET_DIR, the folder of build output that all clones share, so that a fresh clone does
# not build its dependencies again.
#
# Cargo identifies the crates of a workspace by their paths relative to it, and takes them for built if the output is newer
# than the sources. Output that another clone has built from other sources would thus be taken for this clone's, so the
# records of our own crates are removed when the clone changes. Dependencies stay.
#
# usage: . tools/target-folder.sh FOLDER_OF_THE_CLONE
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$HOME/.cache/cento/target}"
mkdir -p "$CARGO_TARGET_DIR"
clone="$(cd "$1" && pwd -P)"
if [ "$(cat "$CARGO_TARGET_DIR/clone" 2>/dev/null)" != "$clone" ]; then
  rm -rf "$CARGO_TARGET_DIR"/*/.fingerprint/cento-* "$CARGO_TARGET_DIR"/*/*/.fingerprint/cento-*
  printf '%s\n' "$clone" > "$CARGO_TARGET_DIR/clone"
fi
