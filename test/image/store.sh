# shellcheck shell=bash
# buildah's storage for one build. Sourced by the scripts that build an image, which set CACHE and hold its lock.

# buildah with its storage in $STORE, which is thrown away: nothing of a build is left on the machine.
in_store() {
  TMPDIR=$CACHE BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs \
    buildah --root "$STORE/root" --runroot "$STORE/run" "$@"
}

# Removes a store. What buildah left mounted in it goes first: a stage that others copy from stays mounted.
remove_store() { # directory
  awk -v within="$1/" 'index($2, within) == 1 { print $2 }' /proc/self/mounts | sort -r | xargs -r umount
  rm -rf --one-file-system "$1"
}

# Sets $STORE, which is removed when the script ends.
make_store() {
  local left
  # A build that was killed may have left its store behind.
  for left in "$CACHE"/store.*; do if [[ -d $left ]]; then remove_store "$left"; fi; done
  STORE=$(mktemp -d "$CACHE/store.XXXXXX")
  trap 'remove_store "$STORE"' EXIT
}
