# For scripts that install packages in minimal roots of a suite: read by them, with $suite, $root and the repository as the
# current folder; what apt fetches is kept in $archives, where it is set, else for all trials of the suite.
# shellcheck shell=bash disable=SC2154

require_root_tools() { # name of the script
  command -v mmdebstrap >/dev/null || { echo "$1: mmdebstrap is missing: apt-get install mmdebstrap" >&2; exit 69; }
  [ "$(id -u)" -eq 0 ] || { echo "$1: roots are made and entered by root: sudo tools/packaging/$1" >&2; exit 69; }
}

archives() {
  echo "${archives:-build/roots/$suite-archives}"
}

minimal_root() { # a fresh one
  mkdir -p build/roots
  [ -e "build/roots/$suite-min.tar" ] ||
    mmdebstrap --variant=minbase --include=ca-certificates "$suite" "build/roots/$suite-min.tar" >"build/roots/$suite-min.log" 2>&1 || return 1
  rm -rf "$root"
  mkdir -p "$root" "$(archives)/partial"
  tar -xf "build/roots/$suite-min.tar" -C "$root" --exclude='./dev/*'
  cp /etc/resolv.conf "$root/etc/"
  mkdir -p "$root/debs" "$root/srv"
}

inside() { # script; in the root, which sees nothing of this checkout
  unshare --mount ${network_off:+--net} bash -c '
    mount --bind /dev "$1/dev" && mount -t proc proc "$1/proc" && mount --bind "$2" "$1/var/cache/apt/archives" || exit
    exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      sh -euxc "$3"' _ "$root" "$(archives)" "$1"
}

offline() { # script
  network_off=yes inside "$1"
}
