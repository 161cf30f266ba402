// The schema on a cluster of ClickHouse servers: what each statement of the migrations becomes there. A table that knows its trace lies in shards, as `NAME_local`, and is
// read and written through a Distributed table of its own name; a table that does not (prices, retention, environments, applied migrations) is whole on every server.
// All of a trace is on one shard, so FINAL, joins and `IN` by trace are right where each shard answers for itself.

/** Where the tables are to be. */
export interface ClusterPlace {
  /** As `remote_servers` of the ClickHouse servers names it. */
  cluster: string
  database: string
}

/**
 * Sent with every statement. An insert is answered when a majority of the replicas of its shard have it, not when the first server has noted it down;
 * equal blocks are written again, since a row that was erased may come back; `IN` over two tables stays within the shard.
 */
export const clusterSettings = {
  distributed_foreground_insert: 1,
  insert_quorum: 'auto',
  insert_deduplicate: 0,
  distributed_product_mode: 'local',
  // The shards would be sent a select that still calls the table by its name here.
  parallel_distributed_insert_select: '0',
  distributed_ddl_task_timeout: '600',
} as const

/** Tables that lie in shards: all that have a trace. */
const sharded = ['spans', 'span_heads', 'feedback', 'trace_days']

/** The statements that do on the cluster what one statement of the migrations does on one server. Each may run twice. */
export function clusterStatements(statement: string, place: ClusterPlace): string[] {
  const table = /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(statement)?.[1]
  if (table !== undefined) return tableStatements(statement, table, place)
  if (statement.startsWith('CREATE MATERIALIZED VIEW')) {
    return [
      statement
        .replace(/^(CREATE MATERIALIZED VIEW IF NOT EXISTS \w+) TO (\w+)/, `$1${onCluster(place)} TO $2_local`)
        .replace(/\bspans(?=\.|\s|$)/g, 'spans_local'),
    ]
  }
  if (statement.startsWith('CREATE OR REPLACE VIEW')) return [statement.replace(/^(CREATE OR REPLACE VIEW \w+)/, `$1${onCluster(place)}`)]
  return [statement.replace(/^ALTER TABLE (\w+)/, (_, name: string) => alterTable(name, place))]
}

/** How an `ALTER` of the table begins: the tables that hold the rows, on every server. */
export function alterTable(table: string, place: ClusterPlace | undefined): string {
  return place === undefined ? `ALTER TABLE ${table}` : `ALTER TABLE ${holderOf(table, place)}${onCluster(place)}`
}

/** The table that holds the rows on each server. */
export function holderOf(table: string, place: ClusterPlace | undefined): string {
  return place !== undefined && sharded.includes(table) ? `${table}_local` : table
}

/** For `CREATE DATABASE`, too. */
export function onCluster({ cluster }: Pick<ClusterPlace, 'cluster'>): string {
  return ` ON CLUSTER '${cluster}'`
}

function tableStatements(statement: string, table: string, place: ClusterPlace): string[] {
  const holder = holderOf(table, place)
  // Whole on every server: all of them are replicas of one, whatever their shard.
  const path =
    holder === table ? `/clickhouse/tables/all/${place.database}/${holder}` : `/clickhouse/tables/{shard}/${place.database}/${holder}`
  const replica = holder === table ? '{shard}-{replica}' : '{replica}'
  const created = statement
    .replace(/^CREATE TABLE IF NOT EXISTS \w+/, `CREATE TABLE IF NOT EXISTS ${holder}${onCluster(place)}`)
    .replace(
      /\bENGINE = (\w*MergeTree)(?:\(([^)]*)\))?/,
      (_, engine: string, version: string | undefined) =>
        `ENGINE = Replicated${engine}('${path}', '${replica}'${version === undefined ? '' : `, ${version}`})`,
    )
  if (holder === table) return [created]
  return [
    created,
    `CREATE TABLE IF NOT EXISTS ${table}${onCluster(place)} AS ${holder} ENGINE = Distributed('${place.cluster}', '${place.database}', '${holder}', cityHash64(trace_id))`,
  ]
}
