// The two settings files that ClickHouse reads at its start: limits for a shared machine, and who may come in.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

/**
 * Writes them and gives the path of the first.
 * Two users: `homeground` with a password made for this start, and ClickHouse's own `default`, which keeps the server statement running and may do nothing else:
 * without a password any web page open on this machine could query the port.
 */
export function writeEngineSettings(folder: string, options: { user: string; password: string; greeting: string }): string {
  const server = path.join(folder, 'server.xml')
  const users = path.join(folder, 'users.xml')
  fs.writeFileSync(users, usersXml(options), { mode: 0o600 })
  fs.writeFileSync(server, serverXml(users, backupsFolder(folder), options.greeting), { mode: 0o600 })
  return server
}

/** Where the engine may read and write backups. */
export function backupsFolder(folder: string): string {
  return path.join(path.resolve(folder), 'backups')
}

function serverXml(users: string, backups: string, greeting: string): string {
  return `<clickhouse>
  <logger><console>false</console><level>none</level></logger>
  <users_config>${xmlText(users)}</users_config>
  <http_server_default_response>${xmlText(greeting)}</http_server_default_response>
  <backups><allowed_path>${xmlText(backups)}</allowed_path></backups>
  <max_server_memory_usage_to_ram_ratio>0.5</max_server_memory_usage_to_ram_ratio>
  <mark_cache_size>67108864</mark_cache_size>
  <uncompressed_cache_size>67108864</uncompressed_cache_size>
</clickhouse>
`
}

function usersXml({ user, password }: { user: string; password: string }): string {
  const network = '<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>'
  return `<clickhouse>
  <users>
    <default><no_password/>${network}<grants><query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT SELECT ON system.numbers</query></grants></default>
    <${user}><password_sha256_hex>${createHash('sha256').update(password).digest('hex')}</password_sha256_hex>${network}</${user}>
  </users>
  <profiles><default></default></profiles>
  <quotas><default></default></quotas>
</clickhouse>
`
}

function xmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
