# shellcheck shell=bash
# Builds a container image from files of this machine: one layer, as an archive that containerd and buildah import.
# Fill a directory first: it becomes the root file system of the image.

# Copies a program into a root file system, with the shared libraries that it is linked to.
image_add() { # root source destination
  local library
  install -D -m 755 "$2" "$1$3"
  # ldd fails on a static program.
  while read -r library; do install -D -m 755 "$library" "$1$library"; done < <(ldd "$2" 2>/dev/null | grep -o '/[^ ]*')
}

# The same files give the same archive: sorted names, no times, all owned by root.
image_tar() { tar --sort=name --mtime=@0 --numeric-owner --owner=0 --group=0 "$@"; }

# Configuration is the "config" object of the OCI image format: Entrypoint, Cmd, User, ...
image_archive() { # root archive configuration name...
  local root=$1 archive=$2 configuration=$3 work digest names
  shift 3
  work=$(mktemp -d)
  image_tar -C "$root" -cf "$work/layer.tar" .
  digest=$(sha256sum <"$work/layer.tar" | cut -d' ' -f1)
  names=$(printf '"%s",' "$@")
  cat >"$work/config.json" <<JSON
{
  "architecture": "$(image_architecture)", "os": "linux", "config": $configuration,
  "rootfs": {"type": "layers", "diff_ids": ["sha256:$digest"]}, "history": [{"created_by": "traffic-lab"}]
}
JSON
  cat >"$work/manifest.json" <<JSON
[{"Config": "config.json", "RepoTags": [${names%,}], "Layers": ["layer.tar"]}]
JSON
  image_tar -C "$work" -cf "$archive.tmp" manifest.json config.json layer.tar
  mv "$archive.tmp" "$archive"
  rm -rf "$work"
}

image_architecture() {
  case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
  esac
}
