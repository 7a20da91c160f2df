#!/bin/sh
# Creates the users of docs/clickhouse-users.sql with the passwords in the environment of the container.
set -eu
sed -e "s/'OWNER_PASSWORD'/'$OWNER_PASSWORD'/; s/'WRITER_PASSWORD'/'$WRITER_PASSWORD'/; s/'READER_PASSWORD'/'$READER_PASSWORD'/" \
  /opt/clickhouse-users.sql |
  clickhouse-client --user "$CLICKHOUSE_USER" --password "$CLICKHOUSE_PASSWORD" --multiquery
