#!/bin/sh
# Puts other names of namespaces into these files. Once, before the first apply: sh deploy/rename.sh <of the server> <of the agents>
set -eu
[ $# = 2 ] && [ "$1" != "$2" ] || { echo "usage: sh rename.sh <namespace of the server> <another one for the agents>" >&2; exit 2; }
cd "$(dirname "$0")"
for file in *.yaml admission/*.yaml; do
  sed -e 's/paperclip-agents/@agents@/g' \
    -e "s/namespace: paperclip\$/namespace: $1/" \
    -e "s/name: paperclip # namespace\$/name: $1 # namespace/" \
    -e "s/metadata\.name: paperclip\$/metadata.name: $1/" \
    -e "s/serviceaccount:paperclip:/serviceaccount:$1:/" \
    -e "s/paperclip\.paperclip/paperclip.$1/g" \
    -e "s/paperclip-server-data/$1-data/" \
    -e "s/@agents@/$2/g" "$file" > "$file.renamed"
  mv "$file.renamed" "$file"
done
