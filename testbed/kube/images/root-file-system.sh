#!/bin/bash
# root-file-system.sh OUT PACKAGE...  a root file system from Debian packages (their scripts are not run), for uid 1000
set -euo pipefail
out=$1; shift
mkdir -p "$out"/usr/{bin,sbin,lib,lib64} "$out"/{etc/ssl/certs,tmp,proc,sys,dev,home/agent,root,run,var/tmp}
for d in bin sbin lib lib64; do ln -sfn "usr/$d" "$out/$d"; done
w=$(mktemp -d); trap 'rm -rf "$w"' EXIT
download() { (cd "$w" && apt-get -qq -o APT::Sandbox::User=root download "$@"); }
download "$@" 2> /dev/null || { apt-get -qq update; download "$@"; }
for deb in "$w"/*.deb; do
  dpkg-deb --fsys-tarfile "$deb" | tar -C "$out" --keep-directory-symlink -x \
    --exclude=./usr/share/{doc,man,locale,info,lintian,bash-completion}
done
if [ -e "$out/usr/bin/busybox" ]; then
  for a in $("$out/usr/bin/busybox" --list); do [ -e "$out/usr/bin/$a" ] || ln -s busybox "$out/usr/bin/$a"; done
else
  ln -sfn dash "$out/usr/bin/sh"
  [ ! -d "$out/usr/share/ca-certificates" ] || cat "$out"/usr/share/ca-certificates/mozilla/*.crt > "$out/etc/ssl/certs/ca-certificates.crt"
  ldconfig -r "$out"
fi
printf 'root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n' > "$out/etc/passwd"
printf 'root:x:0:\nagent:x:1000:\n' > "$out/etc/group"
echo 'hosts: files dns' > "$out/etc/nsswitch.conf"
chmod 1777 "$out/tmp" "$out/var/tmp"
chown 1000:1000 "$out/home/agent"
