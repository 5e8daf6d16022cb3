#!/bin/sh
# Run once by the image of PostgreSQL, when its volume is empty: the role that Palimpsest connects as, and its database.
# The image's own user is a superuser, whom row-level security does not hold.
set -eu
psql --set ON_ERROR_STOP=1 --set key="$POSTGRES_PASSWORD" --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE palimpsest LOGIN PASSWORD :'key';
CREATE DATABASE palimpsest OWNER palimpsest;
SQL
