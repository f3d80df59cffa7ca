# What the image postgres:18 does at its start, as far as compose.yaml relies on it.
set -euo pipefail
if [ "$(id --user)" = 0 ]; then
  install --directory --owner=postgres --mode=0700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --clear-groups bash "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # The image, too, trusts connections from within its container.
  initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile=<(echo "$POSTGRES_PASSWORD") \
    --auth=trust --encoding=UTF8 --locale=C.UTF-8
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
fi
exec "$@"
