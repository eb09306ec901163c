#!/bin/sh
# A database of the pod only: no password, no socket, nothing that outlives the pod unless $PGDATA is on a volume.
set -e
: "${PGDATA:=/var/lib/postgresql/data}"
[ -s "$PGDATA/PG_VERSION" ] || initdb -D "$PGDATA" -U postgres --auth=trust --locale=C --encoding=UTF8 --no-sync
exec postgres -D "$PGDATA" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c jit=off -c fsync=off
