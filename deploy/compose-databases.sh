#!/usr/bin/env bash
# Gives each service a database and a role that owns that one and may connect to no other. PostgreSQL's
# image runs it once, when its data directory is new.
set -euo pipefail

prepare() {
  psql --set=ON_ERROR_STOP=1 --set=name="$1" --set=password="$2" <<'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE CONNECT, TEMPORARY ON DATABASE :"name" FROM PUBLIC;
SQL
}

export PGUSER="$POSTGRES_USER"
prepare creditlane_integrations "$INTEGRATIONS_DATABASE_PASSWORD"
prepare creditlane_applications "$APPLICATIONS_DATABASE_PASSWORD"
prepare creditlane_decisions "$DECISIONS_DATABASE_PASSWORD"
prepare creditlane_webhooks "$WEBHOOK_DISPATCHER_DATABASE_PASSWORD"
