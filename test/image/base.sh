# shellcheck shell=bash
# The root file systems of the base images that the Dockerfile names, made from files of this machine: the Node that
# the lock file pins, busybox, and npm. They have what the Dockerfile relies on in the real ones, under the same paths.
# Sourced by build.sh, which sets CACHE and sources the lab's image.sh.

NPM_VERSION=11.6.2

# Installs what is missing where that can be done without asking: as root on Debian. Otherwise says what to install.
require_programs() {
  local missing=() program
  for program in buildah busybox; do command -v "$program" >/dev/null || missing+=("$program"); done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
    "$ROOT/test/lab/install.sh" "${missing[@]}" >&2
  else
    echo "image: missing: ${missing[*]}; install them with your package manager (Debian: apt-get install ${missing[*]})" >&2
    return 1
  fi
}

common_rootfs() { # rootfs
  install -d -m 755 "$1/etc/ssl/certs"
  install -d -m 1777 "$1/tmp"
  [[ ! -f /etc/ssl/certs/ca-certificates.crt ]] ||
    install -m 644 /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/ca-certificates.crt"
}

# node:24-slim: node and npm in /usr/local, a shell and the usual commands.
build_rootfs() { # rootfs
  local applet
  common_rootfs "$1"
  install -d "$1/root" "$1/usr/bin" "$1/usr/local/lib/node_modules"
  echo 'root:x:0:0:root:/root:/bin/sh' >"$1/etc/passwd"
  image_add "$1" "$(node -p process.execPath)" /usr/local/bin/node
  image_add "$1" "$(command -v busybox)" /bin/busybox
  for applet in sh cat cp env ls mkdir mv rm; do ln -s busybox "$1/bin/$applet"; done
  ln -s /bin/busybox "$1/usr/bin/env"
  cp -r "$(npm_package)" "$1/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"
}

# npm as one self-contained package: a distribution's own may be spread over the file system.
npm_package() {
  local directory=$CACHE/npm-$NPM_VERSION
  [[ -d $directory/node_modules/npm ]] ||
    npm install --silent --no-save --no-package-lock --prefix "$directory" "npm@$NPM_VERSION" >&2
  echo "$directory/node_modules/npm"
}

# gcr.io/distroless/nodejs24-debian12:nonroot: node in /nodejs, the user 65532, no shell.
runtime_rootfs() { # rootfs
  common_rootfs "$1"
  install -d "$1/home/nonroot"
  printf '%s\n' 'root:x:0:0:root:/root:/sbin/nologin' 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin' \
    >"$1/etc/passwd"
  printf '%s\n' 'root:x:0:' 'nonroot:x:65532:' >"$1/etc/group"
  image_add "$1" "$(node -p process.execPath)" /nodejs/bin/node
}
